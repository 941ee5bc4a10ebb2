//! Numbers that are advanced and then compared, before they are kept. A rank says how they stand to others only once
//! they are kept, so such numbers have none.

use std::collections::BTreeSet;

use design::model::{
    AssignOp, AttrId, Const, Design, Domain, Expr, ExprKind, Stmt, StmtKind, SubjectId, Target,
    Type, visit,
};

use super::{Flow, PlaceOf, Scope};

/// Places with numbers that were advanced in this run of a step.
type Fresh = BTreeSet<PlaceOf>;

impl Flow<'_> {
    pub(super) fn compared_before_kept(&mut self) {
        let design = self.design;
        for (index, operation) in design.operations.iter().enumerate() {
            let scope = Scope::Operation(index as u32);
            for body in visit::bodies(operation) {
                let mut found = BTreeSet::new();
                let walk = Walk { design, scope };
                walk.body(body, &mut Fresh::new(), &mut found);
                for place in found {
                    let node = self.node(place);
                    self.class(node).fresh = true;
                }
            }
        }
    }
}

struct Walk<'d> {
    design: &'d Design,
    scope: Scope,
}

impl Walk<'_> {
    fn body(&self, body: &[Stmt], fresh: &mut Fresh, found: &mut Fresh) {
        for stmt in body {
            visit::statement_exprs(stmt, &mut |expr| self.look(expr, fresh, found));
            match &stmt.kind {
                StmtKind::Let { local, value } => {
                    self.set(PlaceOf::Local(self.scope, *local), value, false, fresh);
                }
                StmtKind::Assign { target, op, value } => {
                    if let Some(place) = self.target(target) {
                        let keeps = *op != AssignOp::Set;
                        if keeps && is_number(&value.ty) && self.is_number(place) {
                            fresh.insert(place);
                        }
                        self.set(place, value, keeps, fresh);
                    }
                }
                StmtKind::New { subject, fields, .. } => {
                    for (attr, value) in fields {
                        self.set(PlaceOf::Attr(*subject, *attr), value, true, fresh);
                    }
                }
                StmtKind::For { local, domain, body } => {
                    // What is advanced the first time is looked at the second time.
                    for _ in 0..2 {
                        self.set(PlaceOf::Local(self.scope, *local), domain, true, fresh);
                        self.body(body, fresh, found);
                    }
                }
                StmtKind::If { then, otherwise, .. } => {
                    let mut other = fresh.clone();
                    self.body(then, fresh, found);
                    self.body(otherwise, &mut other, found);
                    fresh.append(&mut other);
                }
                StmtKind::Delete { .. }
                | StmtKind::Append { .. }
                | StmtKind::Emit { .. }
                | StmtKind::Send { .. } => {}
            }
        }
    }

    fn is_number(&self, place: PlaceOf) -> bool {
        let attribute = |subject: SubjectId, attr: AttrId| {
            &self.design.subjects[subject.index()].attributes[attr.index()].ty
        };
        match place {
            PlaceOf::Attr(subject, attr) => is_number(attribute(subject, attr)),
            PlaceOf::Memory(actor, field) => {
                is_number(&self.design.actors[actor.index()].memory[field.index()].ty)
            }
            PlaceOf::MapValue(..) => true,
            _ => false,
        }
    }

    /// `keeps`: is what was there before there still, in this record or in another?
    fn set(&self, place: PlaceOf, value: &Expr, keeps: bool, fresh: &mut Fresh) {
        if self.is_fresh(value, fresh) {
            fresh.insert(place);
        } else if !keeps && matches!(place, PlaceOf::Local(..)) {
            fresh.remove(&place);
        }
    }

    fn target(&self, target: &Target) -> Option<PlaceOf> {
        Some(match target {
            Target::Attr { base, attr } => PlaceOf::Attr(base.ty.subject()?, *attr),
            Target::Element { base, attr, .. } => PlaceOf::MapValue(base.ty.subject()?, *attr),
            Target::Memory(usage) => self.memory(*usage)?,
        })
    }

    fn memory(&self, usage: design::model::MemoryUseId) -> Option<PlaceOf> {
        let Scope::Operation(index) = self.scope else { return None };
        let usage = &self.design.operations[index as usize].memory[usage.index()];
        Some(PlaceOf::Memory(usage.actor, usage.field))
    }

    fn place(&self, expr: &Expr) -> Option<PlaceOf> {
        match &expr.kind {
            ExprKind::Local(local) => Some(PlaceOf::Local(self.scope, *local)),
            ExprKind::Memory(usage) => self.memory(*usage),
            ExprKind::Attr { base, attr } => Some(PlaceOf::Attr(base.ty.subject()?, *attr)),
            ExprKind::Index { base, .. } => match &base.kind {
                ExprKind::Attr { base: of, attr } => {
                    let subject = of.ty.subject()?;
                    Some(match base.ty.required() {
                        Type::Map { .. } => PlaceOf::MapValue(subject, *attr),
                        _ => PlaceOf::Attr(subject, *attr),
                    })
                }
                _ => self.place(base),
            },
            _ => None,
        }
    }

    /// Is it, or is it made of, a number that was advanced?
    fn is_fresh(&self, expr: &Expr, fresh: &Fresh) -> bool {
        let mut found = false;
        visit::each(expr, &mut |part| {
            found |= self.place(part).is_some_and(|place| fresh.contains(&place));
            found |= matches!(part.kind, ExprKind::Arithmetic { .. }) && is_number(&part.ty);
        });
        found
    }

    /// Finds the places with numbers that are compared with one that was advanced.
    fn look(&self, expr: &Expr, fresh: &mut Fresh, found: &mut Fresh) {
        visit::each(expr, &mut |part| match &part.kind {
            ExprKind::Let { local, value, .. } if self.is_fresh(value, fresh) => {
                fresh.insert(PlaceOf::Local(self.scope, *local));
            }
            ExprKind::Quantifier { local, domain, .. }
            | ExprKind::Aggregate { local, domain, .. } => {
                if let Domain::Elements(of) = &**domain
                    && self.is_fresh(of, fresh)
                {
                    fresh.insert(PlaceOf::Local(self.scope, *local));
                }
            }
            ExprKind::Compare { left, right, .. }
            | ExprKind::In { item: left, collection: right }
            | ExprKind::Index { index: left, base: right } => {
                self.compare(&[left, right], fresh, found);
            }
            ExprKind::Min(list) | ExprKind::Max(list) => {
                self.compare(&list.iter().collect::<Vec<_>>(), fresh, found);
            }
            _ => {}
        });
    }

    fn compare(&self, sides: &[&Expr], fresh: &Fresh, found: &mut Fresh) {
        // How it stands to 0 is known.
        let known =
            |side: &&&Expr| matches!(side.kind, ExprKind::Literal(Const::Null | Const::Int(0)));
        let others = sides.len() - sides.iter().filter(known).count();
        if others < 2 || !sides.iter().any(|side| self.is_fresh(side, fresh)) {
            return;
        }
        for side in sides {
            visit::each(side, &mut |part| {
                found.extend(self.place(part).filter(|_| holds_numbers(&part.ty)));
            });
        }
    }
}

fn is_number(ty: &Type) -> bool {
    *ty.required() == Type::Int
}

fn holds_numbers(ty: &Type) -> bool {
    is_number(crate::world::sorts::element(ty))
}
