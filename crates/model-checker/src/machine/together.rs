//! Which times are compared with each other: of these the differences are kept, however long ago they are.

use std::collections::BTreeSet;

use design::model::{
    ArithmeticOp, AssignOp, Design, Expr, ExprKind, LocalId, Operation, StmtKind, Target, visit,
};
use engine::Word;

use super::durations::{Source, is_time, mentions_now, sources};
use super::lengths::Lengths;
use crate::bindings::each_expr;
use crate::clock::Clock;
use crate::world::flow::Scope;
use crate::world::plan::{Plan, SlotName};
use crate::world::sizes::holds_times;

/// The record whose times alone an expression looks at, if there is one.
fn only_record(operation: Option<&Operation>, exprs: &[&Expr]) -> Option<LocalId> {
    let mut bases: Vec<Option<LocalId>> = Vec::new();
    for expr in exprs {
        visit::each(expr, &mut |part| match &part.kind {
            ExprKind::Attr { base, .. } if holds_times(&part.ty) => bases.push(match &base.kind {
                ExprKind::Local(local) => Some(*local),
                ExprKind::Old(inner) => match inner.kind {
                    ExprKind::Local(local) => Some(local),
                    _ => None,
                },
                _ => None,
            }),
            ExprKind::Memory(usage) if holds_times(&part.ty) => {
                bases.push(operation.and_then(|operation| operation.memory[usage.index()].of));
            }
            ExprKind::Local(_) | ExprKind::Remembered { .. } | ExprKind::WorldArg { .. }
                if holds_times(&part.ty) =>
            {
                bases.push(None);
            }
            _ => {}
        });
    }
    let first = (*bases.first()?)?;
    bases.iter().all(|base| *base == Some(first)).then_some(first)
}

/// The slots of times that are compared with each other, and by how much, in words.
pub(super) fn groups(design: &Design, lengths: &Lengths<'_>, plan: &Plan) -> Vec<(Vec<u32>, Word)> {
    let mut pairs: Vec<(BTreeSet<Source>, Word, bool)> = Vec::new();
    let longest = lengths.longest;
    each_expr(design, &mut |expr, scope| {
        let operation = lengths.operation(scope);
        let total = |expr: &Expr| lengths.total(scope, expr);
        visit::each(expr, &mut |expr| {
            let (left, right, apart) = match &expr.kind {
                ExprKind::Compare { left, right, .. }
                    if holds_times(&left.ty) && holds_times(&right.ty) =>
                {
                    (left, right, total(left) + total(right))
                }
                // What is looked for among others is compared with each of them.
                ExprKind::In { item: left, collection: right }
                | ExprKind::Index { index: left, base: right }
                    if is_time(left) =>
                {
                    (left, right, total(left) + total(right))
                }
                ExprKind::Arithmetic { op: ArithmeticOp::Subtract, left, right }
                    if is_time(left) && is_time(right) =>
                {
                    (left, right, 2 * longest)
                }
                ExprKind::Min(list) | ExprKind::Max(list) | ExprKind::Set(list)
                    if list.iter().any(is_time) =>
                {
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
    put_in(design, lengths, &mut pairs);
    let mut groups: Vec<(Vec<u32>, Word)> = Vec::new();
    let mut sets: Vec<(BTreeSet<u32>, Word)> = Vec::new();
    // The elements of a set, and the keys of a map, are told apart and kept in their order.
    for (len, _) in &plan.sorted {
        let within =
            |slot: &u32| plan.slots.list[*slot as usize].room.is_some_and(|(of, _)| of == *len);
        sets.push((plan.times.iter().copied().filter(within).collect(), 0));
    }
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
pub(super) fn behind(design: &Design, lengths: &Lengths<'_>, clock: &Clock, plan: &Plan) -> Word {
    let of_group = |(slots, apart): &(Vec<u32>, Word)| {
        (slots.len() as Word - 1) * (apart / clock.per_unit + 2) + 2
    };
    groups(design, lengths, plan).iter().map(of_group).max().unwrap_or(0)
}

/// What is put into a collection, or taken out, is compared with what is in there.
fn put_in(design: &Design, lengths: &Lengths<'_>, pairs: &mut Vec<(BTreeSet<Source>, Word, bool)>) {
    for (index, operation) in design.operations.iter().enumerate() {
        let mut look = |base: &Expr, attr, value: &Expr| {
            let mut found = BTreeSet::new();
            sources(Some(operation), value, &mut found);
            let Some(subject) = base.ty.subject().filter(|_| !found.is_empty()) else { return };
            found.insert(Source::Attr(subject, attr));
            let own = only_record(Some(operation), &[value]);
            let alone = own.is_some_and(|own| matches!(base.kind, ExprKind::Local(l) if l == own));
            pairs.push((found, lengths.total(Scope::Operation(index as u32), value), alone));
        };
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |stmt| match &stmt.kind {
                StmtKind::Assign { target: Target::Attr { base, attr }, op, value }
                    if *op != AssignOp::Set && is_time(value) =>
                {
                    look(base, *attr, value);
                }
                StmtKind::Assign { target: Target::Element { base, attr, key }, .. }
                    if is_time(key) =>
                {
                    look(base, *attr, key);
                }
                _ => {}
            });
        }
    }
}
