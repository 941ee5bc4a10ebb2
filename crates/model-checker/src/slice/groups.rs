//! Which goals and steps are explored together: those that have some state in common.

use std::cmp::Reverse;

use design::model::{Design, Goal, OperationId, visit};

use super::closure::{Seeds, Slice, close};
use super::part::{self, Part, Parts};

/// One slice for everything that hangs together.
///
/// `together`: operations that are to be seen in one history.
pub(crate) fn groups(
    design: &Design,
    goals: &[Goal],
    operations: &[OperationId],
    together: &[Vec<OperationId>],
) -> Vec<Slice> {
    let seeds = Seeds { goals: goals.to_vec(), operations: operations.to_vec(), clauses: None };
    let all = close(design, &[], &seeds);
    // Each goal and each step, with what it touches of what is explored.
    let mut touched: Vec<(Parts, Seeds)> = Vec::new();
    for goal in goals {
        let mut parts = Parts::new();
        part::reads(design, None, &super::goal(design, *goal).body, &mut parts);
        touched.push((parts, Seeds { goals: vec![*goal], ..Seeds::default() }));
    }
    for (index, kept) in all.operations.iter().enumerate() {
        if !kept.operation {
            continue;
        }
        let id = OperationId::of(index);
        let one = touched_by(design, &all, id);
        let wanted = if operations.contains(&id) { vec![id] } else { Vec::new() };
        touched.push((one, Seeds { operations: wanted, ..Seeds::default() }));
    }
    for ids in together {
        let parts = ids.iter().flat_map(|id| touched_by(design, &all, *id)).collect();
        touched.push((parts, Seeds::default()));
    }
    for held in &all.parts {
        let mut parts = Parts::from([*held]);
        part::implied(design, *held, &mut parts);
        touched.push((parts, Seeds::default()));
    }
    let mut groups: Vec<(Parts, Seeds)> = Vec::new();
    for (mut parts, mut seeds) in touched {
        parts.retain(|part| all.parts.contains(part));
        groups.retain_mut(|(held, with)| {
            let meets = !held.is_disjoint(&parts);
            if meets {
                parts.append(held);
                seeds.goals.append(&mut with.goals);
                seeds.operations.append(&mut with.operations);
            }
            !meets
        });
        groups.push((parts, seeds));
    }
    // What touches nothing goes with whatever there is.
    let mut alone = Seeds::default();
    groups.retain_mut(|(parts, seeds)| {
        if parts.is_empty() {
            alone.goals.append(&mut seeds.goals);
            alone.operations.append(&mut seeds.operations);
        }
        !parts.is_empty()
    });
    let mut seeds: Vec<Seeds> = groups.into_iter().map(|(_, seeds)| seeds).collect();
    seeds.retain(|seeds| !seeds.goals.is_empty() || !seeds.operations.is_empty());
    put_in_order(&mut seeds);
    match seeds.first_mut() {
        Some(first) => {
            first.goals.append(&mut alone.goals);
            first.operations.append(&mut alone.operations);
        }
        None => seeds.push(alone),
    }
    seeds.iter().map(|seeds| close(design, &[], seeds)).collect()
}

/// The same goals and operations, each with no more than it needs: what fits into the slice of another goes with it.
///
/// Less is explored in each of them, and much of it several times.
pub(crate) fn pieces(design: &Design, slice: &Slice, together: &[Vec<OperationId>]) -> Vec<Slice> {
    let goals = slice.goals.iter().map(|goal| Seeds { goals: vec![*goal], ..Seeds::default() });
    let paths = together.iter().filter(|ids| ids.iter().all(|id| slice.looked_for.contains(id)));
    let single = slice.looked_for.iter().map(|id| vec![*id]);
    let operations =
        paths.cloned().chain(single).map(|operations| Seeds { operations, ..Seeds::default() });
    let mut own: Vec<(Slice, Seeds)> =
        goals.chain(operations).map(|seeds| (close(design, &[], &seeds), seeds)).collect();
    // Each comes after everything that it fits into.
    let size =
        |slice: &Slice| slice.operations.iter().map(|kept| kept.statements.len()).sum::<usize>();
    own.sort_by_key(|(slice, _)| Reverse((slice.parts.len(), size(slice))));
    let mut pieces: Vec<(Slice, Seeds)> = Vec::new();
    for (slice, mut seeds) in own {
        // What touches nothing goes with whatever there is.
        let fits = |held: &Slice| slice.parts.is_empty() || held.contains(&slice);
        match pieces.iter_mut().rev().find(|(held, _)| fits(held)) {
            Some((_, with)) => {
                with.goals.append(&mut seeds.goals);
                seeds.operations.retain(|id| !with.operations.contains(id));
                with.operations.append(&mut seeds.operations);
            }
            None => pieces.push((slice, seeds)),
        }
    }
    let mut seeds: Vec<Seeds> = pieces.into_iter().map(|(_, seeds)| seeds).collect();
    put_in_order(&mut seeds);
    seeds.iter().map(|seeds| close(design, &[], seeds)).collect()
}

fn put_in_order(seeds: &mut [Seeds]) {
    for seeds in &mut *seeds {
        seeds.goals.sort_by_key(|goal| order(*goal));
        seeds.operations.sort_unstable();
    }
    seeds.sort_by_key(|seeds| {
        (seeds.goals.first().map(|goal| order(*goal)), seeds.operations.first().copied())
    });
}

fn order(goal: Goal) -> (u32, u32) {
    match goal {
        Goal::Invariant(at) => (0, at),
        Goal::Recovery(at) => (1, at),
        Goal::LeadsTo(at) => (2, at),
    }
}

/// What an operation reads and writes, of what is explored.
fn touched_by(design: &Design, all: &Slice, id: OperationId) -> Parts {
    let operation = &design.operations[id.index()];
    let mut parts = Parts::new();
    visit::operation_exprs(operation, &mut |expr| {
        part::reads(design, Some(operation), expr, &mut parts);
    });
    part::made(design, operation, &mut parts);
    for body in visit::bodies(operation) {
        visit::each_statement(body, &mut |stmt| part::writes(design, operation, stmt, &mut parts));
    }
    for param in &operation.params {
        if let Some(subject) = param.ty.subject() {
            part::present(design, subject, &mut parts);
        }
    }
    for own in [Part::Effect(id), Part::Messages(id)] {
        if all.parts.contains(&own) {
            parts.insert(own);
        }
    }
    parts
}
