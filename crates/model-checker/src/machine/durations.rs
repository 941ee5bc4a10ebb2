//! How far back and ahead a design looks at times, and which of them it compares with each other.

use std::collections::BTreeSet;

use design::model::{
    ActorId, ArithmeticOp, AssignOp, AttrId, Const, Design, Expr, ExprKind, LocalId, MemoryId,
    Operation, OperationId, StmtKind, SubjectId, Target, Type, Values, visit,
};
use engine::Word;

use crate::clock::Clock;
use crate::gaps;
use crate::world::plan::{Plan, SlotName};

/// In words.
pub(super) struct Durations {
    /// how far back times are told apart
    pub(super) compared: Word,
    /// how far ahead they are set
    pub(super) given: Word,
    /// is a stored time ever moved on?
    pub(super) moves_on: bool,
    /// is it used how far a time lies back, not only compared with a duration?
    pub(super) measures: bool,
}

/// Where a time comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Source {
    Attr(SubjectId, AttrId),
    Memory(ActorId, MemoryId),
    /// a local: it may be any
    Other,
}

fn is_time(expr: &Expr) -> bool {
    *expr.ty.required() == Type::Time
}

fn mentions_now(expr: &Expr) -> bool {
    let mut found = false;
    visit::each(expr, &mut |part| found |= matches!(part.kind, ExprKind::Now));
    found
}

/// Every expression with the operation it stands in.
fn each_expr<'d>(design: &'d Design, look: &mut dyn FnMut(&'d Expr, Option<OperationId>)) {
    for (index, operation) in design.operations.iter().enumerate() {
        let id = Some(OperationId::of(index));
        visit::operation_exprs(operation, &mut |expr| look(expr, id));
    }
    for goal in design.goals() {
        look(&goal.body, None);
    }
}

impl Durations {
    pub(super) fn of(design: &Design) -> Durations {
        let longest = longest(design);
        let moves_on = moved_on(design).iter().any(|sources| !sources.is_empty());
        let mut found = Durations { compared: 0, given: longest, moves_on, measures: false };
        each_expr(design, &mut |expr, operation| {
            found.look(design, operation, expr, longest, false);
        });
        found
    }

    /// `compared`: the value of this expression is compared with another.
    fn look(
        &mut self,
        design: &Design,
        operation: Option<OperationId>,
        expr: &Expr,
        longest: Word,
        compared: bool,
    ) {
        let total = |expr: &Expr| total(design, operation, expr, longest);
        let mut inside = false;
        match &expr.kind {
            ExprKind::Compare { left, right, .. } => {
                inside = true;
                let times = is_time(left) || is_time(right);
                if times || *left.ty.required() == Type::Duration {
                    self.compared = self.compared.max(total(left) + total(right));
                }
            }
            ExprKind::NextOf { after, .. } => {
                self.given = self.given.max(total(expr));
                // What is late is moved on from where it was due.
                if !mentions_now(after) {
                    self.compared = self.compared.max(total(expr));
                }
            }
            ExprKind::Arithmetic { op, left, right } if is_time(left) => {
                if is_time(right) {
                    self.compared = self.compared.max(longest);
                    self.measures |= !compared;
                } else if *op == ArithmeticOp::Add || *op == ArithmeticOp::Subtract {
                    self.given = self.given.max(total(right));
                }
            }
            // Durations that are added up and then compared.
            ExprKind::Arithmetic { op: ArithmeticOp::Add | ArithmeticOp::Subtract, .. }
                if *expr.ty.required() == Type::Duration =>
            {
                inside = compared;
            }
            ExprKind::Old(_) => inside = compared,
            _ => {}
        }
        visit::children(expr, &mut |child| {
            self.look(design, operation, child, longest, inside);
        });
    }
}

/// The record whose times alone an expression looks at, if there is one.
fn only_record(operation: Option<&Operation>, exprs: &[&Expr]) -> Option<LocalId> {
    let mut bases: Vec<Option<LocalId>> = Vec::new();
    for expr in exprs {
        visit::each(expr, &mut |part| match &part.kind {
            ExprKind::Attr { base, .. } if is_time(part) => bases.push(match &base.kind {
                ExprKind::Local(local) => Some(*local),
                ExprKind::Old(inner) => match inner.kind {
                    ExprKind::Local(local) => Some(local),
                    _ => None,
                },
                _ => None,
            }),
            ExprKind::Memory(usage) if is_time(part) => {
                bases.push(operation.and_then(|operation| operation.memory[usage.index()].of));
            }
            ExprKind::Local(_) if is_time(part) => bases.push(None),
            _ => {}
        });
    }
    let first = (*bases.first()?)?;
    bases.iter().all(|base| *base == Some(first)).then_some(first)
}

/// Where the times in an expression come from.
fn sources(operation: Option<&Operation>, expr: &Expr, found: &mut BTreeSet<Source>) {
    if let ExprKind::Attr { base, attr } = &expr.kind
        && is_time(expr)
    {
        found.extend(base.ty.subject().map(|subject| Source::Attr(subject, *attr)));
        return;
    }
    match &expr.kind {
        ExprKind::Memory(usage) if is_time(expr) => {
            let usage = operation.map(|operation| &operation.memory[usage.index()]);
            found.insert(usage.map_or(Source::Other, |u| Source::Memory(u.actor, u.field)));
        }
        ExprKind::Local(_) if is_time(expr) => {
            found.insert(Source::Other);
        }
        _ => visit::children(expr, &mut |child| sources(operation, child, found)),
    }
}

/// The slots of times that are compared with each other, and by how much, in words.
pub(super) fn groups(design: &Design, plan: &Plan) -> Vec<(Vec<u32>, Word)> {
    let mut pairs: Vec<(BTreeSet<Source>, Word, bool)> = Vec::new();
    let longest = longest(design);
    each_expr(design, &mut |expr, id| {
        let operation = id.map(|id| &design.operations[id.index()]);
        visit::each(expr, &mut |expr| {
            let (left, right, apart) = match &expr.kind {
                ExprKind::Compare { left, right, .. } if is_time(left) && is_time(right) => {
                    let total = |expr: &Expr| total(design, id, expr, longest);
                    (left, right, total(left) + total(right))
                }
                ExprKind::Arithmetic { op: ArithmeticOp::Subtract, left, right }
                    if is_time(left) && is_time(right) =>
                {
                    (left, right, 2 * longest)
                }
                ExprKind::Min(list) | ExprKind::Max(list) if list.iter().any(is_time) => {
                    // Which of several is the latest is a comparison of all of them.
                    let mut found = BTreeSet::new();
                    list.iter().for_each(|expr| sources(operation, expr, &mut found));
                    let stored = list.iter().filter(|expr| !mentions_now(expr)).count();
                    if stored > 1 {
                        pairs.push((found, longest, false));
                    }
                    return;
                }
                _ => return,
            };
            if mentions_now(left) || mentions_now(right) {
                return;
            }
            let mut found = BTreeSet::new();
            sources(operation, left, &mut found);
            sources(operation, right, &mut found);
            if !found.is_empty() {
                let alone = only_record(operation, &[left, right]).is_some();
                pairs.push((found, apart, alone));
            }
        });
    });
    let mut groups: Vec<(Vec<u32>, Word)> = Vec::new();
    let mut sets: Vec<(BTreeSet<u32>, Word)> = Vec::new();
    for (sources, apart, alone) in pairs {
        let slots: BTreeSet<u32> = super::time::slots_of(plan, &sources)
            .into_iter()
            .filter(|slot| plan.names[*slot as usize] != SlotName::StoredTime)
            .collect();
        let record = |slot: &u32| match plan.names[*slot as usize] {
            SlotName::Attr { key, .. } | SlotName::CacheAttr { key, .. } => Some(key),
            SlotName::Memory { record, .. } => record,
            _ => None,
        };
        if alone && slots.iter().all(|slot| record(slot).is_some()) {
            let keys: BTreeSet<Option<u32>> = slots.iter().map(record).collect();
            for key in keys {
                let own = slots.iter().copied().filter(|slot| record(slot) == key);
                sets.push((own.collect(), apart));
            }
        } else {
            sets.push((slots, apart));
        }
    }
    for (mut slots, mut apart) in sets {
        // Groups that share a time are one.
        groups.retain(|(held, held_apart)| {
            let meets = held.iter().any(|slot| slots.contains(slot));
            if meets {
                slots.extend(held);
                apart = apart.max(*held_apart);
            }
            !meets
        });
        if slots.len() > 1 {
            groups.push((slots.into_iter().collect(), apart));
        }
    }
    groups
}

/// How many units further back than others times are kept that are compared with each other.
pub(super) fn behind(design: &Design, clock: &Clock, plan: &Plan) -> Word {
    let of_group = |(slots, apart): &(Vec<u32>, Word)| {
        (slots.len() as Word - 1) * (apart / clock.per_unit + 2) + 2
    };
    groups(design, plan).iter().map(of_group).max().unwrap_or(0)
}

/// For each operation, the times that it moves on: a stored time plus or minus a duration is stored.
pub(super) fn moved_on(design: &Design) -> Vec<BTreeSet<Source>> {
    let of_operation = |operation: &Operation| {
        let mut found = BTreeSet::new();
        let mut value = |expr: &Expr| {
            visit::each(expr, &mut |part| {
                if let ExprKind::Arithmetic { left, right, .. } = &part.kind
                    && is_time(part)
                    && is_time(left)
                    && !is_time(right)
                {
                    sources(Some(operation), left, &mut found);
                }
                if let ExprKind::NextOf { after, .. } = &part.kind {
                    sources(Some(operation), after, &mut found);
                }
            });
        };
        let mut added = Vec::new();
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |stmt| {
                match &stmt.kind {
                    StmtKind::Assign { target, op, value } if *op != AssignOp::Set => {
                        if *value.ty.required() == Type::Duration
                            && let Target::Attr { base, attr } = target
                            && let Some(subject) = base.ty.subject()
                        {
                            added.push(Source::Attr(subject, *attr));
                        }
                    }
                    _ => {}
                }
                // What a condition compares is not stored.
                if !matches!(stmt.kind, StmtKind::If { .. }) {
                    visit::statement_exprs(stmt, &mut value);
                }
            });
        }
        found.extend(added.into_iter().filter(|source| match source {
            Source::Attr(subject, attr) => {
                let ty = &design.subjects[subject.index()].attributes[attr.index()].ty;
                *ty.required() == Type::Time
            }
            _ => true,
        }));
        found
    };
    design.operations.iter().map(of_operation).collect()
}

/// The longest single duration: written, or given by a caller.
fn longest(design: &Design) -> Word {
    let mut longest = gaps::longest(design);
    let mut look = |value: &Const| {
        if let Const::Duration(words) = value {
            longest = longest.max(words.abs());
        }
    };
    each_expr(design, &mut |expr, _| {
        visit::each(expr, &mut |expr| {
            if let ExprKind::Literal(value) = &expr.kind {
                look(value);
            }
        });
    });
    let attributes = design.subjects.iter().flat_map(|subject| &subject.attributes);
    attributes.filter_map(|attribute| attribute.default.as_ref()).for_each(&mut look);
    let params = design.operations.iter().flat_map(|operation| &operation.params);
    params.filter_map(|param| param.default.as_ref()).for_each(&mut look);
    for values in design.world.params.iter().flatten() {
        longest = longest.max(most(values));
    }
    for bound in &design.world.bounds {
        let ty = &design.subjects[bound.subject.index()].attributes[bound.attr.index()].ty;
        if *ty.required() == Type::Duration {
            longest = longest.max(bound.high.abs()).max(bound.low.abs());
        }
    }
    longest
}

/// The longest duration, or the latest time, among these.
fn most(values: &Values) -> Word {
    match values {
        Values::Listed(list) => list
            .iter()
            .map(|value| if let Const::Duration(words) = value { words.abs() } else { 0 })
            .max()
            .unwrap_or(0),
        Values::OrNull(inner) => most(inner),
        _ => 0,
    }
}

/// Is a duration compared with one that is written? Then callers give that one, too.
fn compares_durations(design: &Design) -> bool {
    let mut found = false;
    each_expr(design, &mut |expr, _| {
        visit::each(expr, &mut |expr| {
            if let ExprKind::Compare { left, right, .. } = &expr.kind {
                let written =
                    |side: &Expr| matches!(side.kind, ExprKind::Literal(Const::Duration(_)));
                found |= written(left) || written(right);
            }
        });
    });
    found
}

/// The most that the durations in an expression add up to.
fn total(design: &Design, operation: Option<OperationId>, expr: &Expr, longest: Word) -> Word {
    let inner = |expr: &Expr| total(design, operation, expr, longest);
    match &expr.kind {
        ExprKind::Literal(Const::Duration(words)) => words.abs(),
        ExprKind::Local(local) if *expr.ty.required() == Type::Duration => {
            let given = operation.and_then(|id| {
                let params = &design.operations[id.index()].params;
                let at = params.iter().position(|param| param.local == *local)?;
                let default = match params[at].default {
                    Some(Const::Duration(words)) => words.abs(),
                    _ => 0,
                };
                let given = most(design.world.params.get(id.index())?.get(at)?);
                (given > 0 && !compares_durations(design)).then_some(given.max(default))
            });
            given.unwrap_or(longest)
        }
        ExprKind::Arithmetic { op: ArithmeticOp::Multiply, left, right } => {
            let factor = [left, right].iter().find_map(|side| match side.kind {
                ExprKind::Literal(Const::Int(factor)) => Some(factor.abs()),
                _ => None,
            });
            (inner(left) + inner(right)) * factor.unwrap_or(2)
        }
        ExprKind::Arithmetic { left, right, .. } => inner(left) + inner(right),
        ExprKind::Min(list) | ExprKind::Max(list) => list.iter().map(inner).max().unwrap_or(0),
        ExprKind::If { then, otherwise, .. } => inner(then).max(inner(otherwise)),
        ExprKind::Old(expr) => inner(expr),
        ExprKind::NextOf { after, .. } => gaps::longest(design) + inner(after),
        _ if *expr.ty.required() == Type::Duration => longest,
        _ => 0,
    }
}
