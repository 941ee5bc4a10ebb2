//! From a design to its report.

use design::model::{Design, Goal};

use crate::arm::{Arm, Findings};
use crate::machine::Machine;
use crate::search::{Limits, explore};
use crate::ticks::in_ticks;
use crate::witness::Watch;
use crate::{ArmResult, GoalVerdict, Options, Progress, Report, Trace, Verdict, WorldError, WorldSummary};

pub fn check(
    design: &Design,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, WorldError> {
    let design = in_ticks(design);
    let machine = Machine::new(&design, &[], options, true, &[])?;
    let watch = Watch::of(&machine);
    let arm = Arm {
        machine: &machine,
        states: (0..design.invariants.len() as u32)
            .filter(|at| !design.invariants[*at as usize].uses_old)
            .collect(),
        transitions: (0..design.invariants.len() as u32)
            .filter(|at| design.invariants[*at as usize].uses_old)
            .collect(),
        watch: Some(&watch),
        one_is_enough: false,
    };
    let limits = Limits {
        states: options.max_states,
        bytes: options.max_memory,
        threads: options.threads,
    };
    let mut workers = Vec::new();
    let explored = explore(&arm, &mut workers, &limits, progress);
    let mut found = Findings::default();
    for worker in workers {
        found.merge(worker.found);
    }
    let goals = design
        .invariants
        .iter()
        .enumerate()
        .map(|(at, goal)| GoalVerdict {
            goal: Goal::Invariant(at as u32),
            name: goal.name.clone(),
            verdict: if found.violations.iter().any(|v| v.goal == at as u32) {
                Verdict::Violated(Trace::default())
            } else {
                Verdict::Proved
            },
        })
        .collect();
    Ok(Report {
        design: design.name.clone(),
        world: WorldSummary::default(),
        base: ArmResult {
            name: "as written".into(),
            states: explored.len() as u64,
            transitions: explored.transitions,
            depth: explored.depth,
            seconds: explored.seconds,
            bytes: explored.bytes_max as u64,
            state_bits: machine.plan.slots.bits(),
            closed: explored.stop.is_none(),
        },
        goals,
        failures: vec![],
        witnesses: vec![],
        unwitnessed: vec![],
    })
}
