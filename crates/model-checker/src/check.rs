//! From a design to its report.

use design::model::{Design, Goal};

use crate::arm::NEVER;
use crate::failures::Judge;
use crate::islands::reduce;
use crate::protocols;
use crate::report::WitnessKind;
use crate::run::{Outcome, Run, Wanted};
use crate::summary::summary;
use crate::ticks::in_ticks;
use crate::{GoalVerdict, Options, Progress, Report, Verdict, Witness, WorldError};

/// Explores the small world of a design, as written and without each of its protections.
pub fn check(
    design: &Design,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, WorldError> {
    let whole = in_ticks(design);
    let (design, notes) = if options.symmetry && !whole.world.symmetry_off {
        reduce(&whole)
    } else {
        (whole.clone(), Vec::new())
    };
    let together = (!notes.is_empty()).then_some(&whole);
    let report = explore(&design, together, &notes, options, progress)?;
    // What one of several independent worlds cannot tell, all of them together must.
    let untold = report.goals.iter().any(|goal| {
        matches!((&goal.goal, &goal.verdict), (Goal::Recovery(_), Verdict::Unknown(_)))
    });
    if !notes.is_empty() && report.base.closed && untold {
        return explore(&whole, None, &[], options, progress);
    }
    Ok(report)
}

/// `whole`: the design is one of several independent worlds; these are all of them together.
fn explore(
    design: &Design,
    whole: Option<&Design>,
    notes: &[String],
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, WorldError> {
    let wanted = Wanted {
        name: "as written".into(),
        protections: &[],
        invariants: (0..design.invariants.len() as u32).collect(),
        witnesses: options.witnesses || options.failures,
        one_is_enough: false,
        symmetric: true,
        whole,
    };
    let base = Run::new(design, &wanted, options, progress)?;
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
    if options.recovery && !design.recoveries.is_empty() {
        // Fairness is owed to each thing by itself, not to whichever of several takes its place.
        let apart = match base.machine.symmetry {
            None => None,
            Some(_) => {
                let wanted = Wanted {
                    name: "recovery, without symmetry".into(),
                    invariants: vec![],
                    witnesses: false,
                    symmetric: false,
                    ..wanted
                };
                Some(Run::new(design, &wanted, options, progress)?)
            }
        };
        let run = apart.as_ref().unwrap_or(&base);
        for (at, goal) in design.recoveries.iter().enumerate() {
            let goal_id = Goal::Recovery(at as u32);
            let verdict = verdict(run.outcome(goal_id));
            goals.push(GoalVerdict { goal: goal_id, name: goal.name.clone(), verdict });
        }
    }
    let mut failures = Vec::new();
    if options.failures {
        let judge = Judge { design, options, base: &base, whole };
        for failure in &design.failures {
            judge.failure(failure, progress, &mut failures)?;
        }
    }
    let (witnesses, unwitnessed) =
        if options.witnesses { witnesses(&base) } else { (vec![], vec![]) };
    let mut world = summary(&base.machine, &base.found.beyond, &base.barred);
    world.symmetry.extend_from_slice(notes);
    Ok(Report {
        design: design.name.clone(),
        world,
        base: base.result(),
        goals,
        failures,
        witnesses,
        unwitnessed,
    })
}

fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Holds => Verdict::Proved,
        Outcome::Fails(trace) => Verdict::Violated(trace),
        Outcome::Unknown(why) => Verdict::Unknown(why),
    }
}

fn witnesses(base: &Run) -> (Vec<Witness>, Vec<String>) {
    let mut seen = Vec::new();
    let mut unseen = Vec::new();
    let Some(watch) = &base.watch else { return (seen, unseen) };
    for ((kind, what), depth) in watch.list.iter().zip(&base.found.witnessed) {
        if *depth == NEVER {
            unseen.push(what.clone());
        } else {
            seen.push(Witness { kind: *kind, what: what.clone(), depth: *depth });
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
