//! The design as written, explored in parts that have no state in common.

use std::cell::RefCell;
use std::collections::BTreeSet;

use design::model::{Design, Goal, OperationId, Protection};

use crate::arm::NEVER;
use crate::check::{goals, operations};
use crate::clock::Scaled;
use crate::islands::reduce;
use crate::protocols;
use crate::report::WitnessKind;
use crate::run::{Outcome, Run, Wanted};
use crate::slice::{Seeds, Slice, close, groups, project};
use crate::summary::summary;
use crate::{ArmResult, GoalVerdict, Options, Progress, Stop, Verdict, WorldError};

/// A part of a design, ready to be explored.
pub(crate) struct Prepared {
    pub(crate) scaled: Scaled,
    /// one of several independent worlds stands for all
    pub(crate) island: bool,
    /// what stands for what
    notes: Vec<String>,
    /// none: the whole design
    pub(crate) slice: Option<Slice>,
}

/// `reduces`: may one of several independent keys stand for all?
pub(crate) fn prepare(
    whole: &Scaled,
    slice: Option<Slice>,
    options: &Options,
    reduces: bool,
) -> Prepared {
    let slice = slice.filter(|slice| !is_whole(&whole.design, slice));
    let scaled = match &slice {
        Some(slice) => whole.slice(slice),
        None => whole.clone(),
    };
    let symmetry = options.symmetry && !whole.design.world.symmetry_off;
    if !symmetry || !reduces {
        return Prepared { scaled, island: false, notes: Vec::new(), slice };
    }
    let (reduced, notes) = reduce(&scaled.design);
    Prepared { scaled: scaled.with(reduced), island: !notes.is_empty(), notes, slice }
}

/// Is nothing left out that would make a difference?
fn is_whole(design: &Design, slice: &Slice) -> bool {
    let all = Slice { goals: goals(design, true), ..slice.clone() };
    let (made, left) = project(design, &all);
    made == *design && !left.some_operation()
}

/// The slice of a goal without some of the design's protections; none: it is explored whole.
pub(crate) fn slice_of(
    design: &Design,
    protections: &[Protection],
    goals: &[Goal],
    options: &Options,
) -> Option<Slice> {
    // An older state is kept whole.
    let older = protections.iter().any(|held| matches!(held, Protection::AtLeast { .. }));
    let seeds = Seeds { goals: goals.to_vec(), ..Seeds::default() };
    (options.slices && !older).then(|| close(design, protections, &seeds))
}

/// What was explored of one part, and what its goals have become.
pub(crate) struct Group {
    pub(crate) run: Run,
    goals: Vec<GoalVerdict>,
    pub(crate) notes: Vec<String>,
    /// none: the whole design
    slice: Option<Slice>,
}

impl Group {
    pub(crate) fn has_all(&self, operations: &[OperationId]) -> bool {
        let has = |id: &OperationId| match &self.slice {
            Some(slice) => slice.operations[id.index()].operation,
            None => true,
        };
        operations.iter().all(has)
    }
}

/// The design as written.
pub(crate) struct Base {
    pub(crate) groups: Vec<Group>,
}

pub(crate) struct Groups<'a> {
    pub(crate) whole: &'a Scaled,
    pub(crate) options: &'a Options,
    pub(crate) searches: &'a RefCell<Vec<ArmResult>>,
}

impl Groups<'_> {
    pub(crate) fn explore(&self, progress: &mut dyn FnMut(&Progress)) -> Result<Base, WorldError> {
        let design = &self.whole.design;
        let watched = self.options.witnesses || self.options.failures;
        let slices: Vec<Option<Slice>> = if self.options.slices {
            let all: Vec<OperationId> = match watched {
                true => operations(design).map(|(id, _)| id).collect(),
                false => Vec::new(),
            };
            let together: Vec<Vec<OperationId>> = match watched {
                true => {
                    protocols::routes(design).iter().map(protocols::Route::operations).collect()
                }
                false => Vec::new(),
            };
            let wanted = goals(design, self.options.recovery);
            groups(design, &wanted, &all, &together).into_iter().map(Some).collect()
        } else {
            vec![None]
        };
        let mut base = Base { groups: Vec::new() };
        for slice in slices {
            let left = self.options.max_memory.saturating_sub(base.bytes());
            let max_memory = left.max(self.options.max_memory / 16);
            let options = Options { max_memory, ..self.options.clone() };
            base.groups.push(self.group(slice, &options, progress)?);
        }
        Ok(base)
    }

    fn group(
        &self,
        slice: Option<Slice>,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Group, WorldError> {
        let wanted = match &slice {
            Some(slice) => slice.goals.clone(),
            None => goals(&self.whole.design, options.recovery),
        };
        let prepared = prepare(self.whole, slice.clone(), options, true);
        let island = prepared.island;
        let group = self.search(prepared, &wanted, options, progress)?;
        // What one of several independent worlds cannot tell, all of them together must.
        let untold = group
            .goals
            .iter()
            .any(|goal| matches!(goal.goal, Goal::Recovery(_)) && goal.is_unknown());
        if island && group.run.explored.stop.is_none() && untold {
            let prepared = prepare(self.whole, slice, options, false);
            return self.search(prepared, &wanted, options, progress);
        }
        Ok(group)
    }

    fn search(
        &self,
        prepared: Prepared,
        goals: &[Goal],
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Group, WorldError> {
        let Prepared { scaled, island, notes, slice } = prepared;
        let wanted = Wanted {
            name: "as written".into(),
            protections: &[],
            invariants: invariants(goals),
            witnesses: options.witnesses || options.failures,
            one_is_enough: false,
            symmetric: true,
            announce: true,
            island,
            whole: self.whole,
            searches: self.searches,
        };
        let run = Run::new(&scaled, &wanted, options, progress)?;
        if run.explored.len() == 0 {
            let cut = summary(&run.machine, run.bounds_of_world(), &run.barred).cut;
            let what = cut.into_iter().next().unwrap_or_else(|| "the world".into());
            return Err(WorldError::StartsOutside { what });
        }
        let mut verdicts = Vec::new();
        for goal in goals.iter().filter(|goal| matches!(goal, Goal::Invariant(_))) {
            verdicts.push(self.verdict(*goal, run.outcome(*goal), &run));
        }
        let recoveries: Vec<Goal> =
            goals.iter().copied().filter(|goal| matches!(goal, Goal::Recovery(_))).collect();
        if !recoveries.is_empty() {
            // What was explored stays in memory while other searches run.
            let left = options.max_memory.saturating_sub(run.explored.bytes());
            let rest = Options { max_memory: left.max(options.max_memory / 16), ..options.clone() };
            let stopped = run.explored.stop.is_some_and(Stop::is_budget);
            // Fairness is owed to each thing by itself, not to whichever of several takes its place. Where
            // the budget ended already, it would end again.
            let apart = match run.machine.symmetry {
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
                    Some(Run::new(&scaled, &wanted, &rest, progress)?)
                }
            };
            let of = apart.as_ref().unwrap_or(&run);
            for goal in recoveries {
                let verdict = self.verdict(goal, of.outcome(goal), of);
                if let Verdict::Violated(trace) = &verdict.verdict {
                    let violated = Some((verdict.name.clone(), trace.clone()));
                    let arm = "as written".into();
                    progress(&Progress { arm, violated, ..Progress::default() });
                }
                verdicts.push(verdict);
            }
        }
        Ok(Group { run, goals: verdicts, notes, slice })
    }

    fn verdict(&self, goal: Goal, outcome: Outcome, run: &Run) -> GoalVerdict {
        let design = &self.whole.design;
        let name = match goal {
            Goal::Invariant(at) => design.invariants[at as usize].name.clone(),
            Goal::Recovery(at) => design.recoveries[at as usize].name.clone(),
        };
        let states = run.explored.len() as u64;
        GoalVerdict { goal, name, verdict: verdict(outcome), slice: None, states }
    }
}

/// The invariants among these goals, by their numbers.
pub(crate) fn invariants(goals: &[Goal]) -> Vec<u32> {
    let number = |goal: &Goal| match goal {
        Goal::Invariant(at) => Some(*at),
        Goal::Recovery(_) => None,
    };
    goals.iter().filter_map(number).collect()
}

fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Holds(bounds) if bounds.is_empty() => Verdict::Proved,
        Outcome::Holds(bounds) => Verdict::Holds(bounds),
        Outcome::Fails(trace) => Verdict::Violated(trace),
        Outcome::Unknown(why) => Verdict::Unknown(why),
    }
}

impl Base {
    /// In the order written.
    pub(crate) fn goals(&self, design: &Design) -> Vec<GoalVerdict> {
        let all = goals(design, true);
        let told = || self.groups.iter().flat_map(|group| &group.goals);
        all.iter().filter_map(|goal| told().find(|held| held.goal == *goal).cloned()).collect()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.groups.iter().map(|group| group.run.explored.bytes()).sum()
    }

    pub(crate) fn states(&self) -> usize {
        self.groups.iter().map(|group| group.run.explored.len()).sum()
    }

    pub(crate) fn closed(&self) -> bool {
        self.groups.iter().all(|group| group.run.explored.stop.is_none())
    }

    pub(crate) fn bounds(&self) -> Vec<String> {
        let bounds: BTreeSet<String> =
            self.groups.iter().flat_map(|group| group.run.bounds()).collect();
        bounds.into_iter().collect()
    }

    pub(crate) fn result(&self) -> ArmResult {
        let mut all = self.groups[0].run.result();
        for group in &self.groups[1..] {
            let one = group.run.result();
            all.states += one.states;
            all.transitions += one.transitions;
            all.depth = all.depth.max(one.depth);
            all.seconds += one.seconds;
            all.bytes = all.bytes.max(one.bytes);
            all.state_bits = all.state_bits.max(one.state_bits);
            all.closed &= one.closed;
        }
        all
    }

    /// Everything that should be seen, with the least depth at which it was, and whether the design says
    /// why it need not be.
    pub(crate) fn watched(&self) -> Vec<(WitnessKind, String, Option<u32>, bool)> {
        let mut all: Vec<(u32, WitnessKind, String, Option<u32>, bool)> = Vec::new();
        for run in self.groups.iter().map(|group| &group.run) {
            let Some(watch) = &run.watch else { continue };
            let seen = run.found.witnessed.iter().map(|depth| (*depth != NEVER).then_some(*depth));
            for ((kind, what, of), depth) in watch.list.iter().zip(seen) {
                match all.iter_mut().find(|held| held.2 == *what) {
                    // A fault can strike in several parts.
                    Some(held) => held.3 = held.3.into_iter().chain(depth).min(),
                    None => {
                        let defended = watch.defended.contains(what);
                        all.push((*of, *kind, what.clone(), depth, defended));
                    }
                }
            }
        }
        all.sort_by_key(|held| held.0);
        all.into_iter()
            .map(|(_, kind, what, depth, defended)| (kind, what, depth, defended))
            .collect()
    }

    /// Was this seen? None: it was not looked for.
    pub(crate) fn seen(&self, what: &str) -> Option<bool> {
        let watched = self.groups.iter().filter_map(|group| {
            let at = group.run.watch.as_ref()?.list.iter().position(|held| held.1 == what)?;
            Some(group.run.found.witnessed[at] != NEVER)
        });
        watched.reduce(|one, other| one || other)
    }
}
