//! Loops over sets and maps for which it makes a difference in which order they go. What such a loop visits is told
//! apart: the records of a subject, or the principals.

use std::collections::BTreeSet;

use design::model::{
    AssignOp, AttrId, Design, Expr, ExprKind, LocalId, OperationId, OperationKind, Stmt, StmtKind,
    SubjectId, Target, Type, visit,
};

use super::sorts::element;

/// What must not be exchanged.
#[derive(Default)]
pub(crate) struct Visited {
    pub(crate) subjects: BTreeSet<SubjectId>,
    pub(crate) principals: bool,
}

pub(crate) fn visited(design: &Design) -> Visited {
    let mut found = Visited::default();
    for operation in &design.operations {
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |stmt| {
                let StmtKind::For { local, domain, body } = &stmt.kind else { return };
                if matches!(domain.ty.required(), Type::List { .. }) {
                    return;
                }
                let of = element(&domain.ty);
                let told = matches!(of.required(), Type::Ref(_) | Type::Actor);
                if told && depends(design, *local, body) {
                    found.tell_apart(design, of);
                }
            });
        }
    }
    found
}

impl Visited {
    /// A record is told from others by its key.
    fn tell_apart(&mut self, design: &Design, ty: &Type) {
        match ty.required() {
            Type::Actor => self.principals = true,
            Type::Ref(subject) if self.subjects.insert(*subject) => {
                for key in &design.subjects[subject.index()].keys {
                    self.tell_apart(design, &key.ty);
                }
            }
            _ => {}
        }
    }
}

/// An attribute.
type Place = (SubjectId, AttrId);

fn place(base: &Expr, attr: AttrId) -> Option<Place> {
    base.ty.subject().map(|subject| (subject, attr))
}

/// What the body of a loop does.
#[derive(Default)]
struct Body {
    /// locals that differ from turn to turn
    own: BTreeSet<LocalId>,
    /// attributes of the record whose turn it is
    in_turn: BTreeSet<Place>,
    /// the value of a map under it
    elements: BTreeSet<Place>,
    /// everything else that is written
    elsewhere: Vec<Place>,
    /// records that are made or deleted
    made: BTreeSet<SubjectId>,
}

impl Body {
    fn of(turn: LocalId, body: &[Stmt]) -> Body {
        let mut found = Body { own: BTreeSet::from([turn]), ..Body::default() };
        visit::each_statement(body, &mut |stmt| match &stmt.kind {
            StmtKind::Let { local, value } if mentions(value, &found.own) => {
                found.own.insert(*local);
            }
            StmtKind::For { local, .. } => {
                found.own.insert(*local);
            }
            StmtKind::Assign { target: Target::Attr { base, attr }, .. } => {
                match is_own(base, turn) {
                    true => found.in_turn.extend(place(base, *attr)),
                    false => found.elsewhere.extend(place(base, *attr)),
                }
            }
            StmtKind::Assign { target: Target::Element { base, attr, key }, .. } => {
                match is_own(base, turn) || is(key, turn) {
                    true => found.elements.extend(place(base, *attr)),
                    false => found.elsewhere.extend(place(base, *attr)),
                }
            }
            StmtKind::New { subject, .. } => {
                found.made.insert(*subject);
            }
            StmtKind::Delete { target } => found.made.extend(target.ty.subject()),
            _ => {}
        });
        found
    }

    /// Does it read what another turn may have written?
    fn reads(&self, expr: &Expr, turn: LocalId) -> bool {
        let mut found = false;
        let mut whole: Vec<Place> = Vec::new();
        visit::each(expr, &mut |part| match &part.kind {
            ExprKind::Attr { base, attr } => {
                let Some(read) = place(base, *attr) else { return };
                found |= self.elsewhere.contains(&read);
                found |= self.in_turn.contains(&read) && !is_own(base, turn);
                if self.elements.contains(&read) && !is_own(base, turn) {
                    whole.push(read);
                }
            }
            ExprKind::Exists { base, .. } => {
                let subject = base.ty.subject();
                found |= subject.is_some_and(|of| self.made.contains(&of)) && !is_own(base, turn);
            }
            // What is counted may be anything that is written.
            ExprKind::Counter { .. } => {
                found |=
                    !self.made.is_empty() || !self.in_turn.is_empty() || !self.elsewhere.is_empty();
            }
            _ => {}
        });
        // Of a map that is written to, only what is under the key whose turn it is.
        visit::each(expr, &mut |part| {
            if let ExprKind::Index { base, index } = &part.kind
                && is(index, turn)
                && let ExprKind::Attr { base, attr } = &base.kind
                && let Some(at) = whole.iter().position(|read| Some(*read) == place(base, *attr))
            {
                whole.remove(at);
            }
        });
        found || !whole.is_empty()
    }
}

/// May it make a difference in which order this loop goes?
fn depends(design: &Design, turn: LocalId, body: &[Stmt]) -> bool {
    let held = Body::of(turn, body);
    let mut depends = false;
    visit::each_statement(body, &mut |stmt| {
        visit::statement_exprs(stmt, &mut |expr| depends |= held.reads(expr, turn));
        depends |= match &stmt.kind {
            StmtKind::Assign { target, op, value } => match target {
                Target::Attr { base, .. } if is_own(base, turn) => false,
                Target::Attr { base, attr } => {
                    let Some((subject, attr)) = place(base, *attr) else { return };
                    let ways = held.elsewhere.iter().filter(|of| **of == (subject, attr)).count();
                    let of = &design.subjects[subject.index()].attributes[attr.index()];
                    ways > 1
                        || match op {
                            // the same each time, or whatever comes last
                            AssignOp::Set => {
                                mentions(value, &held.own) || mentions(base, &held.own)
                            }
                            // However they are added up, as long as nothing is refused on the way.
                            AssignOp::Add | AssignOp::Subtract => {
                                of.range.is_some() || matches!(of.ty.required(), Type::List { .. })
                            }
                        }
                }
                Target::Element { base, key, .. } => !is_own(base, turn) && !is(key, turn),
                Target::Memory(_) => true,
            },
            StmtKind::New { keys, .. } => !keys.iter().any(|key| is(key, turn)),
            StmtKind::Delete { target } => !is_own(target, turn),
            // Those of one key are handled in the order in which they were emitted.
            StmtKind::Emit { .. } => design.operations.iter().any(|held| held.hears.is_some()),
            StmtKind::Send { operation, args } => meets(design, *operation, args, turn),
            StmtKind::Let { .. }
            | StmtKind::Append { .. }
            | StmtKind::For { .. }
            | StmtKind::If { .. } => false,
        };
    });
    depends
}

/// Do calls of several turns meet at one entry of the outbox?
fn meets(design: &Design, to: OperationId, args: &[Expr], turn: LocalId) -> bool {
    let to = &design.operations[to.index()];
    let OperationKind::Effect(effect) = &to.kind else { return false };
    if effect.key.is_empty() {
        return !args.iter().any(|arg| is_own(arg, turn));
    }
    let tells = |part: &Expr| match part.kind {
        ExprKind::Local(local) => {
            let mut given = to.params.iter().zip(args);
            given.any(|(param, arg)| param.local == local && is_own(arg, turn))
        }
        _ => false,
    };
    !effect.key.iter().any(tells)
}

/// Is it the record whose turn it is, or one whose key holds that?
fn is_own(expr: &Expr, turn: LocalId) -> bool {
    match &expr.kind {
        ExprKind::Keyed { key, .. } => key.iter().any(|part| is(part, turn)),
        ExprKind::Old(inner) => is_own(inner, turn),
        _ => is(expr, turn),
    }
}

/// Is it the record whose turn it is?
fn is(expr: &Expr, turn: LocalId) -> bool {
    matches!(expr.kind, ExprKind::Local(local) if local == turn)
}

fn mentions(expr: &Expr, own: &BTreeSet<LocalId>) -> bool {
    let mut found = false;
    visit::each(expr, &mut |part| {
        found |= matches!(part.kind, ExprKind::Local(local) if own.contains(&local));
    });
    found
}
