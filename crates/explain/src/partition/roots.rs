//! The value that decides in which partition a record lies, as an expression of the operation that reaches it.
//!
//! Two records are in one partition where both expressions are the same. That is never said of two that may differ; of
//! two that are always equal for a reason that the text does not show, it is not said either.

use std::collections::{BTreeMap, BTreeSet};

use design::model::*;

use super::lead::{Lead, Leads};
use crate::facts::{Facts, Unit};

/// An operation, and what it mentions.
pub struct Looked<'a> {
    pub unit: Unit<'a>,
    pub facts: Facts<'a>,
    /// what the variables of loops and quantifiers range over
    ranges: BTreeMap<LocalId, &'a Expr>,
}

impl<'a> Looked<'a> {
    pub fn at(unit: Unit<'a>) -> Looked<'a> {
        let mut ranges = BTreeMap::new();
        for body in visit::bodies(unit.operation) {
            visit::each_statement(body, &mut |statement| {
                if let StmtKind::For { local, domain, .. } = &statement.kind {
                    ranges.insert(*local, domain);
                }
            });
        }
        visit::operation_exprs(unit.operation, &mut |value| {
            visit::each(value, &mut |part| match &part.kind {
                ExprKind::Quantifier { local, domain, .. }
                | ExprKind::Aggregate { local, domain, .. } => {
                    if let Domain::Elements(elements) = &**domain {
                        ranges.insert(*local, elements);
                    }
                }
                _ => {}
            });
        });
        Looked { unit, facts: Facts::of(&unit), ranges }
    }

    fn param(&self, local: LocalId) -> Option<&'a Param> {
        self.unit.operation.params.iter().find(|param| param.local == local)
    }

    /// Is it where the answer of the world outside is bound?
    fn is_answer(&self, local: LocalId) -> bool {
        let OperationKind::Effect(effect) = &self.unit.operation.kind else { return false };
        [&effect.on_ok, &effect.on_refused, &effect.on_unknown]
            .iter()
            .any(|answer| answer.param == Some(local))
    }
}

/// In which partition something lies.
#[derive(Clone, Debug)]
pub struct Root {
    /// without places in the text
    pub value: Expr,
    /// it follows from what the call brings along: nothing has to be read to know it
    pub known: bool,
    /// it is another one in each round of a loop
    pub many: bool,
}

impl Root {
    pub fn is(&self, other: &Root) -> bool {
        !self.many && !other.many && self.value == other.value
    }
}

/// The partitions of a design whose subjects are keyed in one way.
pub struct Roots<'d, 'a> {
    design: &'a Design,
    pub leads: Leads,
    /// References that lead to the partition of the record which has them, whoever wrote them.
    within: BTreeSet<(SubjectId, AttrId)>,
    units: &'d [Looked<'a>],
}

impl<'d, 'a> Roots<'d, 'a> {
    pub fn of(design: &'a Design, units: &'d [Looked<'a>], leads: Leads) -> Roots<'d, 'a> {
        let mut within = BTreeSet::new();
        for (at, subject) in design.subjects.iter().enumerate() {
            for (number, attribute) in subject.attributes.iter().enumerate() {
                let held = (SubjectId::of(at), AttrId::of(number));
                // one that leads says itself where home is
                let leads = leads.of(held.0) == Lead::Attr(held.1);
                if matches!(attribute.ty.required(), Type::Ref(_)) && !leads {
                    within.insert(held);
                }
            }
        }
        let mut roots = Roots { design, leads, within, units };
        // All of them stay at home, until a write is found that may lead away: what is left is kept by every commit.
        while let Some(leads_away) = roots.leads_away() {
            roots.within.remove(&leads_away);
        }
        roots
    }

    /// A reference that some operation lets lead to another partition.
    fn leads_away(&self) -> Option<(SubjectId, AttrId)> {
        for one in self.units {
            for write in &one.facts.writes {
                let place = &one.facts.places[write.place];
                let held = (place.subject, write.attr);
                if self.within.contains(&held)
                    && !self.stays(one, write.value, &self.root(one, &place.base))
                {
                    return Some(held);
                }
            }
        }
        None
    }

    fn stays(&self, one: &Looked<'a>, value: &Expr, home: &Root) -> bool {
        match &value.kind {
            ExprKind::Literal(Const::Null) => true,
            ExprKind::If { then, otherwise, .. } => {
                self.stays(one, then, home) && self.stays(one, otherwise, home)
            }
            _ => self.root(one, value).is(home),
        }
    }

    /// The partition of a record, or of what begins with a value.
    pub fn root(&self, one: &Looked<'a>, value: &Expr) -> Root {
        let value = self.plain(one, value);
        let Some(subject) = value.ty.required().subject() else {
            let (known, many) = (self.is_known(one, &value), is_many(one, &value));
            return Root { value, known, many };
        };
        if let ExprKind::Attr { base, attr } = &value.kind
            && let Some(holder) = base.ty.required().subject()
            && self.within.contains(&(holder, *attr))
        {
            return self.root(one, base);
        }
        let declared = &self.design.subjects[subject.index()];
        let (base, span) = (Box::new(value), Default::default());
        let next = match self.leads.of(subject) {
            Lead::Part(part) => Expr {
                ty: declared.keys[part as usize].ty.clone(),
                kind: ExprKind::KeyPart { base, part },
                span,
            },
            Lead::Attr(attr) => Expr {
                ty: declared.attributes[attr.index()].ty.clone(),
                kind: ExprKind::Attr { base, attr },
                span,
            },
        };
        self.root(one, &next)
    }

    /// The same value, without names that were given to it on the way.
    fn plain(&self, one: &Looked<'a>, value: &Expr) -> Expr {
        match &value.kind {
            ExprKind::Local(local) => {
                if let Some(given) = one.facts.let_of(*local) {
                    return self.plain(one, given);
                }
            }
            ExprKind::KeyPart { base, part } => {
                let base = self.plain(one, base);
                if let Some(same) = self.part(one, &base, *part) {
                    return same;
                }
                let kind = ExprKind::KeyPart { base: Box::new(base), part: *part };
                return Expr { kind, ty: value.ty.clone(), span: Default::default() };
            }
            ExprKind::Attr { base, attr } => {
                let base = self.plain(one, base);
                if let Some(given) = self.given(one, &base, *attr) {
                    return self.plain(one, given);
                }
                let kind = ExprKind::Attr { base: Box::new(base), attr: *attr };
                return Expr { kind, ty: value.ty.clone(), span: Default::default() };
            }
            _ => {}
        }
        let mut plain = value.clone();
        plain.span = Default::default();
        visit::children_mut(&mut plain, &mut |child| *child = self.plain(one, child));
        plain
    }

    /// A part of the key of this record, where it is known as something else.
    fn part(&self, one: &Looked<'a>, base: &Expr, part: u32) -> Option<Expr> {
        match &base.kind {
            ExprKind::Keyed { key, .. } => Some(self.plain(one, &key[part as usize])),
            ExprKind::Local(local) => {
                let operation = one.unit.operation;
                let param = one.param(*local)?;
                if let Some(Generated::Next(next)) = &param.generated {
                    let args: Vec<Expr> =
                        next.args.iter().map(|arg| named(operation, *arg)).collect();
                    return self.row_part(one, next.view, &args, part);
                }
                // each record of a set that belongs to one record
                let [each, owner, ..] = &operation.params[..] else { return None };
                let turns = operation.each.is_some() && each.local == *local && part == 0;
                turns.then(|| named(operation, owner.local))
            }
            _ => None,
        }
    }

    /// What all rows of a view have as this part of their key.
    pub fn row_part(
        &self,
        one: &Looked<'a>,
        view: ViewId,
        args: &[Expr],
        part: u32,
    ) -> Option<Expr> {
        let view = &self.design.views[view.index()];
        let is_part = |value: &Expr| {
            matches!(&value.kind, ExprKind::KeyPart { base, part: p }
                if *p == part && matches!(base.kind, ExprKind::Local(LocalId(0))))
        };
        let (local, value) = view.group.iter().find(|(_, value)| is_part(value))?;
        if view.caller.as_ref().is_some_and(|caller| caller.me == *local) {
            return Some(Expr {
                kind: ExprKind::Me,
                ty: value.ty.clone(),
                span: Default::default(),
            });
        }
        let at = view.params.iter().position(|param| param.local == *local)?;
        args.get(at).map(|arg| self.plain(one, arg))
    }

    /// What the record that is made here is given for an attribute that leads.
    fn given(&self, one: &Looked<'a>, base: &Expr, attr: AttrId) -> Option<&'a Expr> {
        let subject = base.ty.required().subject()?;
        if self.leads.of(subject) != Lead::Attr(attr) {
            return None;
        }
        let facts = &one.facts;
        let place = facts.places.iter().position(|place| {
            place.is_made() && place.subject == subject && self.plain(one, &place.base) == *base
        })?;
        let mut writes =
            facts.writes.iter().filter(|write| write.place == place && write.attr == attr);
        let only = writes.next()?;
        (writes.next().is_none() && only.op == AssignOp::Set).then_some(only.value)
    }

    fn is_known(&self, one: &Looked<'a>, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Local(local) => match (one.param(*local), one.ranges.get(local)) {
                (Some(param), _) => !matches!(param.generated, Some(Generated::Next(_))),
                (None, Some(range)) => self.is_known(one, &self.plain(one, range)),
                (None, None) => one.is_answer(*local),
            },
            ExprKind::Attr { base, attr } => {
                let leads = base.ty.required().subject().map(|subject| self.leads.of(subject));
                leads == Some(Lead::Attr(*attr)) && self.is_known(one, base)
            }
            ExprKind::LogEnd { .. }
            | ExprKind::LogStart { .. }
            | ExprKind::LogSlice { .. }
            | ExprKind::Exists { .. }
            | ExprKind::Stored(_)
            | ExprKind::Counter { .. }
            | ExprKind::View { .. }
            | ExprKind::Quantifier { .. }
            | ExprKind::Aggregate { .. }
            | ExprKind::Error => false,
            _ => {
                let mut known = true;
                visit::children(value, &mut |child| known &= self.is_known(one, child));
                known
            }
        }
    }
}

fn named(operation: &Operation, local: LocalId) -> Expr {
    let ty = operation.locals[local.index()].ty.clone();
    Expr { kind: ExprKind::Local(local), ty, span: Default::default() }
}

/// Can it stand for several values in one call: a variable of a loop, or memory that the step itself writes?
fn is_many(one: &Looked<'_>, value: &Expr) -> bool {
    let mut many = false;
    visit::each(value, &mut |part| {
        many |= match &part.kind {
            ExprKind::Local(local) => one.param(*local).is_none() && !one.is_answer(*local),
            ExprKind::Memory(memory) => one.unit.operation.memory[memory.index()].written,
            _ => false,
        };
    });
    many
}
