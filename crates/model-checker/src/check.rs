//! From a design to its report.

use std::cell::RefCell;
use std::time::Instant;

use design::model::{Design, Goal, OperationId};

use crate::arm::NEVER;
use crate::clock::Scaled;
use crate::failures::Judge;
use crate::islands::reduce;
use crate::report::WitnessKind;
use crate::run::{Outcome, Run, Wanted};
use crate::summary::summary;
use crate::{
    ArmResult, GoalVerdict, Options, Progress, Report, Stop, Verdict, Witness, WorldError,
};
use crate::{free, protocols, several};

/// Explores the small worlds of a design, as written and without each of its protections.
pub fn check(
    design: &Design,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, WorldError> {
    if design.worlds.is_empty() {
        check_world(design, options, progress)
    } else {
        several::check_worlds(design, options, progress)
    }
}

/// Explores the default world alone.
pub(crate) fn check_world(
    design: &Design,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, WorldError> {
    let started = Instant::now();
    let searches = RefCell::new(Vec::new());
    let whole = Scaled::of(design, options.regions);
    let (reduced, notes) = if options.symmetry && !whole.design.world.symmetry_off {
        reduce(&whole.design)
    } else {
        (whole.design.clone(), Vec::new())
    };
    let reduced = whole.with(reduced);
    let together = (!notes.is_empty()).then_some(&whole);
    let mut report = explore(&reduced, together, &notes, options, &searches, progress)?;
    // What one of several independent worlds cannot tell, all of them together must.
    let untold = report.goals.iter().any(|goal| {
        matches!((&goal.goal, &goal.verdict), (Goal::Recovery(_), Verdict::Unknown(_)))
    });
    if !notes.is_empty() && report.base.closed && untold {
        report = explore(&whole, None, &[], options, &searches, progress)?;
    }
    report.searches = searches.into_inner();
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

/// `whole`: the design is one of several independent worlds; these are all of them together.
fn explore(
    scaled: &Scaled,
    whole: Option<&Scaled>,
    notes: &[String],
    options: &Options,
    searches: &RefCell<Vec<ArmResult>>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, WorldError> {
    let design = &scaled.design;
    let wanted = Wanted {
        name: "as written".into(),
        protections: &[],
        invariants: (0..design.invariants.len() as u32).collect(),
        witnesses: options.witnesses || options.failures,
        one_is_enough: false,
        symmetric: true,
        announce: true,
        whole,
        searches,
    };
    let base = Run::new(scaled, &wanted, options, progress)?;
    if base.explored.len() == 0 {
        let cut = summary(&base.machine, &base.found.beyond, &base.barred).cut;
        let what = cut.into_iter().next().unwrap_or_else(|| "the world".into());
        return Err(WorldError::StartsOutside { what });
    }
    let mut goals = Vec::new();
    for (at, goal) in design.invariants.iter().enumerate() {
        let goal_id = Goal::Invariant(at as u32);
        let verdict = verdict(base.outcome(goal_id));
        goals.push(GoalVerdict { goal: goal_id, name: goal.name.clone(), verdict });
    }
    // What was explored stays in memory while other searches run.
    let left = options.max_memory.saturating_sub(base.explored.bytes());
    let rest = Options { max_memory: left.max(options.max_memory / 16), ..options.clone() };
    let stopped = base.explored.stop.is_some_and(Stop::is_budget);
    if options.recovery && !design.recoveries.is_empty() {
        // Fairness is owed to each thing by itself, not to whichever of several takes its place. Where
        // the budget ended already, it would end again.
        let apart = match base.machine.symmetry {
            None => None,
            Some(_) if stopped => None,
            Some(_) => {
                let wanted = Wanted {
                    name: "recovery, without symmetry".into(),
                    invariants: vec![],
                    witnesses: false,
                    symmetric: false,
                    ..wanted
                };
                Some(Run::new(scaled, &wanted, &rest, progress)?)
            }
        };
        let run = apart.as_ref().unwrap_or(&base);
        for (at, goal) in design.recoveries.iter().enumerate() {
            let goal_id = Goal::Recovery(at as u32);
            let verdict = verdict(run.outcome(goal_id));
            if let Verdict::Violated(trace) = &verdict {
                let violated = Some((goal.name.clone(), trace.clone()));
                progress(&Progress { arm: wanted.name.clone(), violated, ..Progress::default() });
            }
            goals.push(GoalVerdict { goal: goal_id, name: goal.name.clone(), verdict });
        }
    }
    let judge = Judge { scaled, options: &rest, base: &base, goals: &goals, whole, searches };
    let mut failures = Vec::new();
    if options.failures {
        for failure in &design.failures {
            judge.failure(failure, progress, &mut failures)?;
        }
    }
    let (witnesses, unwitnessed) =
        if options.witnesses { witnesses(&base) } else { (vec![], vec![]) };
    let wanted = options.free && options.failures && base.explored.stop.is_none();
    let small = base.explored.len() <= free::STATES_MAX;
    let free = if wanted && small { free::clauses(&judge, progress)? } else { Vec::new() };
    let mut world = summary(&base.machine, &base.found.beyond, &base.barred);
    if wanted && !small {
        let most = free::STATES_MAX;
        world.notes.push(format!("free clauses are not looked for beyond {most} states"));
    }
    world.symmetry.extend_from_slice(notes);
    Ok(Report {
        design: design.name.clone(),
        world,
        base: base.result(),
        goals,
        failures,
        witnesses,
        unwitnessed,
        free,
        searches: Vec::new(),
        worlds: Vec::new(),
        seconds: 0.0,
    })
}

fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Holds(bounds) if bounds.is_empty() => Verdict::Proved,
        Outcome::Holds(bounds) => Verdict::Holds(bounds),
        Outcome::Fails(trace) => Verdict::Violated(trace),
        Outcome::Unknown(why) => Verdict::Unknown(why),
    }
}

fn witnesses(base: &Run) -> (Vec<Witness>, Vec<String>) {
    let mut seen = Vec::new();
    let mut unseen = Vec::new();
    let Some(watch) = &base.watch else { return (seen, unseen) };
    for ((kind, what), depth) in watch.list.iter().zip(&base.found.witnessed) {
        if *depth != NEVER {
            seen.push(Witness { kind: *kind, what: what.clone(), depth: *depth });
        } else if !watch.defended.contains(what) {
            unseen.push(what.clone());
        }
    }
    for route in protocols::routes(&base.machine.design) {
        match protocols::shortest(&base.machine, &base.explored, &route) {
            Some(depth) => {
                seen.push(Witness { kind: WitnessKind::Path, what: route.name, depth });
            }
            None => unseen.push(route.name),
        }
    }
    (seen, unseen)
}

/// The operations of a design, with their numbers.
pub(crate) fn operations(
    design: &Design,
) -> impl Iterator<Item = (OperationId, &design::model::Operation)> {
    design.operations.iter().enumerate().map(|(at, held)| (OperationId::of(at), held))
}
