//! One arm, explored: the design as written, or without some of its protections.

use design::model::{Design, Goal, Protection};

use crate::arm::{Arm, Findings, Look, Violation};
use crate::machine::Machine;
use crate::recover::{Recovery, recover, settles};
use crate::search::{Explored, Limits, explore};
use crate::witness::Watch;
use crate::{ArmResult, Options, Progress, Trace, WorldError, explain};

pub(crate) struct Run {
    pub(crate) machine: Machine,
    pub(crate) explored: Explored,
    pub(crate) found: Findings,
    pub(crate) watch: Option<Watch>,
    pub(crate) name: String,
    /// sorts that ranks did not do for
    pub(crate) barred: Vec<usize>,
    /// one of several independent worlds
    pub(crate) island: bool,
    /// for goals that a step in another of these worlds breaks: all of them together
    together: Vec<(u32, Run)>,
    /// of the memory budget
    bytes_max: usize,
}

/// What to explore, and for what.
pub(crate) struct Wanted<'a> {
    pub(crate) name: String,
    pub(crate) protections: &'a [Protection],
    /// numbers of invariants
    pub(crate) invariants: Vec<u32>,
    pub(crate) witnesses: bool,
    pub(crate) one_is_enough: bool,
    pub(crate) symmetric: bool,
    /// the design is one of several independent worlds; these are all of them together
    pub(crate) whole: Option<&'a Design>,
}

/// What became of a goal in one arm.
pub(crate) enum Outcome {
    Holds,
    Fails(Trace),
    Unknown(String),
}

impl Run {
    /// `design` has its durations in ticks.
    pub(crate) fn new(
        design: &Design,
        wanted: &Wanted<'_>,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Run, WorldError> {
        let mut barred = Vec::new();
        loop {
            let machine =
                Machine::new(design, wanted.protections, options, wanted.symmetric, &barred)?;
            let watch = wanted.witnesses.then(|| Watch::of(&machine));
            let uses_old = |at: &u32| design.invariants[*at as usize].uses_old;
            let states: Vec<u32> =
                wanted.invariants.iter().copied().filter(|at| !uses_old(at)).collect();
            let (looks, states) =
                if options.memo { Look::of(&machine, states) } else { (Vec::new(), states) };
            let arm = Arm {
                machine: &machine,
                states,
                looks,
                transitions: wanted.invariants.iter().copied().filter(uses_old).collect(),
                watch: watch.as_ref(),
                island: wanted.whole.is_some(),
                one_is_enough: wanted.one_is_enough,
            };
            let limits = Limits {
                states: options.max_states,
                bytes: options.max_memory,
                threads: options.threads,
            };
            let mut workers = Vec::new();
            let explored = explore(&arm, &mut workers, &limits, &mut |at| {
                progress(&Progress { arm: wanted.name.clone(), ..at.clone() });
            });
            let mut found = Findings::default();
            found.witnessed =
                workers.first().map_or(Vec::new(), |worker| worker.found.witnessed.clone());
            for worker in workers {
                found.merge(worker.found);
            }
            if let Some(sort) = found.unranked {
                barred.push(sort);
                continue;
            }
            let name = wanted.name.clone();
            let together = together(&found, wanted, options, progress)?;
            let island = wanted.whole.is_some();
            let bytes_max = options.max_memory;
            return Ok(Run {
                machine,
                explored,
                found,
                watch,
                name,
                barred,
                island,
                together,
                bytes_max,
            });
        }
    }

    pub(crate) fn result(&self) -> ArmResult {
        ArmResult {
            name: self.name.clone(),
            states: self.explored.len() as u64,
            transitions: self.explored.transitions,
            depth: self.explored.depth,
            seconds: self.explored.seconds,
            bytes: self.explored.bytes_max as u64,
            state_bits: self.machine.plan.slots.bits(),
            closed: self.explored.stop.is_none(),
        }
    }

    pub(crate) fn outcome(&self, goal: Goal) -> Outcome {
        match goal {
            Goal::Invariant(at) => self.invariant(at),
            Goal::Recovery(at) => self.recovery(at),
        }
    }

    fn invariant(&self, at: u32) -> Outcome {
        if let Some((_, whole)) = self.together.iter().find(|(goal, _)| *goal == at) {
            return whole.invariant(at);
        }
        // Of the shortest histories, one with as few faults as can be.
        let violations = self.found.violations.iter().filter(|held| held.goal == at);
        let trace = violations.map(|held| self.violated(held)).min_by_key(|trace| {
            let faults = trace.steps.iter().filter(|step| step.fault.is_some()).count();
            let plain: Vec<String> =
                trace.steps.iter().map(|step| format!("{} {:?}", step.name, step.params)).collect();
            (trace.steps.len(), faults, plain)
        });
        match (trace, self.explored.stop) {
            (Some(trace), _) => Outcome::Fails(trace),
            (None, Some(stop)) => Outcome::Unknown(stop.to_string()),
            (None, None) => Outcome::Holds,
        }
    }

    fn violated(&self, violation: &Violation) -> Trace {
        let name = &self.machine.design.invariants[violation.goal as usize].name;
        let ending = match violation.next {
            Some(_) => format!("`{name}` does not hold of the last step"),
            None => format!("`{name}` does not hold"),
        };
        let next = violation.next.as_deref();
        explain::trace(&self.machine, &self.explored, violation.state, next, ending)
    }

    fn recovery(&self, at: u32) -> Outcome {
        if let Some(stop) = self.explored.stop {
            return Outcome::Unknown(stop.to_string());
        }
        let name = &self.machine.design.recoveries[at as usize].name;
        let left = self.bytes_max.saturating_sub(self.explored.bytes_max);
        match recover(&self.machine, &self.explored, at, left) {
            Recovery::Holds if self.island && !settles(&self.machine, &self.explored, at, left) => {
                Outcome::Unknown("each record recovers, perhaps not all at once".into())
            }
            Recovery::Holds => Outcome::Holds,
            Recovery::Unknown(why) => Outcome::Unknown(why.into()),
            Recovery::Fails { cycle, dead_end: true } => Outcome::Fails(explain::trace(
                &self.machine,
                &self.explored,
                cycle[0],
                None,
                format!("nothing more happens, and `{name}` does not hold"),
            )),
            Recovery::Fails { cycle, dead_end: false } => Outcome::Fails(explain::lasso(
                &self.machine,
                &self.explored,
                &cycle,
                format!("this goes on for ever, and `{name}` never holds"),
            )),
        }
    }
}

/// One world cannot tell what happens in another. A goal that a step there would break is looked
/// at in all of them together, up to where it breaks.
fn together(
    found: &Findings,
    wanted: &Wanted<'_>,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Vec<(u32, Run)>, WorldError> {
    let Some(whole) = wanted.whole else { return Ok(Vec::new()) };
    let mut goals: Vec<u32> =
        found.violations.iter().filter(|held| held.elsewhere).map(|held| held.goal).collect();
    goals.sort_unstable();
    goals.dedup();
    let mut runs = Vec::new();
    for goal in goals {
        let wanted = Wanted {
            name: format!("{}, all keys together", wanted.name),
            protections: wanted.protections,
            invariants: vec![goal],
            witnesses: false,
            one_is_enough: true,
            symmetric: wanted.symmetric,
            whole: None,
        };
        runs.push((goal, Run::new(whole, &wanted, options, progress)?));
    }
    Ok(runs)
}
