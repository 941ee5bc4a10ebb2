//! Several worlds: each is explored by itself, for its own goals, and the reports are joined.

use std::time::Instant;

use design::model::{Design, FailureProof, OneWorld};

use crate::already::Already;
use crate::check::check_world;
use crate::free::named_anywhere;
use crate::{
    FailureVerdict, FreeClause, GoalVerdict, Options, Progress, Report, Verdict, WorldError,
    WorldReport,
};

pub(crate) fn check_worlds(
    design: &Design,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, WorldError> {
    let started = Instant::now();
    let mut worlds: Vec<(OneWorld, Option<Report>)> =
        design.each_world().into_iter().map(|one| (one, None)).collect();
    // What is used comes first, with what its goals need alone: what is seen there to happen need not be looked
    // for in the larger world of the design.
    let of_use = |one: &OneWorld| {
        let name = one.name.as_deref().unwrap_or_default();
        design.uses.iter().any(|used| used.scope == name)
    };
    let named = named_anywhere(design);
    let mut already = Already::nothing(design, named.clone());
    for used in [true, false] {
        for (one, report) in worlds.iter_mut().filter(|(one, _)| of_use(one) == used) {
            let name = one.name.clone();
            // Worlds that the author wrote are explored whole.
            let mut anew = Already::nothing(design, named.clone());
            let seen = if used || name.is_none() { &mut already } else { &mut anew };
            seen.goals_alone = used;
            let done = check_world(&one.design, options, seen, &mut |at| {
                progress(&Progress { arm: titled(name.as_deref(), &at.arm), ..at.clone() });
            });
            *report = Some(done.map_err(|why| match &name {
                Some(name) => WorldError::Within { world: name.clone(), why: Box::new(why) },
                None => why,
            })?);
        }
    }
    let explored: Vec<(OneWorld, Report)> =
        worlds.into_iter().filter_map(|(one, report)| Some((one, report?))).collect();
    let mut report = join(design, explored);
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

/// `races: as written`
fn titled(world: Option<&str>, arm: &str) -> String {
    world.map_or_else(|| arm.to_string(), |world| format!("{world}: {arm}"))
}

/// The default world comes first.
fn join(design: &Design, mut explored: Vec<(OneWorld, Report)>) -> Report {
    let free = free(design, &explored);
    let goals = goals(design, &explored);
    let failures = failures(design, &explored);
    for (one, report) in &mut explored {
        for search in &mut report.searches {
            search.name = titled(one.name.as_deref(), &search.name);
        }
    }
    let mut rest = explored.into_iter();
    let Some((_, mut whole)) = rest.next() else { return Report::default() };
    whole.goals = goals;
    whole.failures = failures;
    whole.free = free;
    for (one, report) in rest {
        whole.searches.extend(report.searches);
        // What is seen in any world is seen.
        for seen in report.witnesses {
            whole.unwitnessed.retain(|what| *what != seen.what);
            if !whole.witnesses.iter().any(|held| held.what == seen.what) {
                whole.witnesses.push(seen);
            }
        }
        for unseen in report.unwitnessed {
            let known = whole.witnesses.iter().any(|held| held.what == unseen)
                || whole.unwitnessed.contains(&unseen);
            if !known {
                whole.unwitnessed.push(unseen);
            }
        }
        whole.worlds.push(WorldReport {
            name: one.name.unwrap_or_default(),
            goals: report.goals.iter().map(|goal| goal.name.clone()).collect(),
            world: report.world,
            base: report.base,
        });
    }
    whole
}

/// As the whole design has them: invariants, then recoveries, then what leads to something, in the order written.
fn goals(design: &Design, explored: &[(OneWorld, Report)]) -> Vec<GoalVerdict> {
    let mut all: Vec<GoalVerdict> = Vec::new();
    for (one, report) in explored {
        let moved = report.goals.iter().map(|held| {
            let goal = one.whole(held.goal);
            GoalVerdict { goal, ..held.clone() }
        });
        all.extend(moved);
    }
    let invariants = design.invariants.len() as u32;
    let states = invariants + design.recoveries.len() as u32;
    all.sort_by_key(|held| match held.goal {
        design::model::Goal::Invariant(at) => at,
        design::model::Goal::Recovery(at) => invariants + at,
        design::model::Goal::LeadsTo(at) => states + at,
    });
    all
}

/// As the whole design has them.
fn failures(design: &Design, explored: &[(OneWorld, Report)]) -> Vec<FailureVerdict> {
    let mut left: Vec<FailureVerdict> = Vec::new();
    for (one, report) in explored {
        for held in &report.failures {
            let mut held = held.clone();
            if let FailureProof::Without { breaks, .. } = &mut held.proof {
                *breaks = one.whole(*breaks);
            }
            left.push(held);
        }
    }
    let mut all = Vec::new();
    for failure in &design.failures {
        for proof in &failure.proofs {
            let same = |held: &FailureVerdict| held.title == failure.title && held.proof == *proof;
            if let Some(at) = left.iter().position(same) {
                all.push(left.remove(at));
            }
        }
    }
    all
}

/// What no goal of any world needs. A world in which no goal holds tells nothing.
fn free(design: &Design, explored: &[(OneWorld, Report)]) -> Vec<FreeClause> {
    let holds = |goal: &GoalVerdict| matches!(goal.verdict, Verdict::Proved | Verdict::Holds(_));
    let mut telling = explored.iter().filter(|(_, report)| report.goals.iter().any(holds));
    let Some((_, first)) = telling.next() else { return Vec::new() };
    let mut free = first.free.clone();
    for (_, report) in telling {
        free.retain_mut(|held| {
            let other = report.free.iter().find(|other| other.clause == held.clause);
            let Some(other) = other else { return false };
            held.known &= other.known;
            held.within.extend(other.within.iter().cloned());
            held.within.sort_unstable();
            held.within.dedup();
            true
        });
    }
    let named = named_anywhere(design);
    free.retain(|held| !named.contains(&held.clause));
    free
}
