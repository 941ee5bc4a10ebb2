//! The design as written, explored in parts that have no state in common.

use std::cell::RefCell;

use design::model::{Design, Goal, OperationId};

use crate::alone::{Alone, FIRST};
use crate::already::Already;
use crate::arm::NEVER;
use crate::base::Base;
use crate::clock::Scaled;
use crate::design_parts::goals;
use crate::islands::reduce;
use crate::network::may_be_set;
use crate::options::beside;
use crate::run::{NOT_REPLAYED, Outcome, Run, Wanted};
use crate::slice::{Slice, groups, pieces, project};
use crate::world::plan::Network;
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
    let (reduced, notes) = reduce(&scaled.design, &scaled.left);
    Prepared { scaled: scaled.reduced(reduced), island: !notes.is_empty(), notes, slice }
}

/// Is nothing left out that would make a difference?
fn is_whole(design: &Design, slice: &Slice) -> bool {
    let all = Slice { goals: goals(design, true), ..slice.clone() };
    let (made, left) = project(design, &all);
    made == *design && !left.some_operation()
}

/// What was explored of one part, and what its goals have become.
pub(crate) struct Group {
    pub(crate) run: Run,
    pub(crate) goals: Vec<GoalVerdict>,
    pub(crate) notes: Vec<String>,
    /// none: the whole design
    slice: Option<Slice>,
    /// the same, in words
    told: Option<String>,
}

impl Group {
    /// These verdicts in place of what was found here, if they are better.
    fn take(&mut self, verdicts: Vec<GoalVerdict>, better: impl Fn(&GoalVerdict) -> bool) {
        for verdict in verdicts.into_iter().filter(better) {
            self.goals.retain(|held| held.goal != verdict.goal);
            self.goals.push(verdict);
        }
    }

    /// Was something not seen that should be?
    fn misses_something(&self) -> bool {
        let defended = |at: usize| {
            self.run.watch.as_ref().is_none_or(|watch| watch.defended.contains(&watch.list[at].1))
        };
        let witnessed = self.run.found.witnessed.iter().enumerate();
        witnessed.into_iter().any(|(at, depth)| *depth == NEVER && !defended(at))
    }

    pub(crate) fn has_all(&self, operations: &[OperationId]) -> bool {
        let has = |id: &OperationId| match &self.slice {
            Some(slice) => slice.operations[id.index()].operation,
            None => true,
        };
        operations.iter().all(has)
    }
}

pub(crate) struct Groups<'a> {
    pub(crate) whole: &'a Scaled,
    pub(crate) options: &'a Options,
    pub(crate) searches: &'a RefCell<Vec<ArmResult>>,
    /// what need not be looked for again
    pub(crate) already: &'a Already,
}

impl Groups<'_> {
    pub(crate) fn explore(&self, progress: &mut dyn FnMut(&Progress)) -> Result<Base, WorldError> {
        let design = &self.whole.design;
        let watched = self.options.witnesses || self.options.failures;
        let wanted = goals(design, self.options.recovery);
        let (all, together) = match watched {
            true => self.already.to_look_for(design, wanted.is_empty()),
            false => (Vec::new(), Vec::new()),
        };
        let slices: Vec<Option<Slice>> = match self.options.slices {
            true => groups(design, &wanted, &all, &together).into_iter().map(Some).collect(),
            false => vec![None],
        };
        let mut base = Base { groups: Vec::new() };
        for slice in slices {
            let options = self.rest(&base);
            let all = slice.iter().flat_map(|slice| pieces(design, slice, &together));
            let pieces: Vec<Slice> = all.collect();
            if pieces.len() <= 1 {
                base.groups.push(self.group(slice, &options, progress)?);
                continue;
            }
            if let Some(group) = self.at_once(slice, &options, progress)? {
                base.groups.push(group);
                continue;
            }
            for piece in pieces {
                let options = self.rest(&base);
                base.groups.push(self.group(Some(piece), &options, progress)?);
            }
        }
        Ok(base)
    }

    /// What is left of the memory. The searches after this one have something, too.
    fn rest(&self, base: &Base) -> Options {
        let left = beside(self.options, base.bytes());
        Options { max_memory: left.max_memory / 16 * 15, ..left }
    }

    /// Explores a part that could be explored in pieces, if a small budget is enough for all of it.
    fn at_once(
        &self,
        slice: Option<Slice>,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Group>, WorldError> {
        if options.at_once == 0 {
            return Ok(None);
        }
        let numbers = self.invariants_of(slice.as_ref(), options);
        let small =
            Options { max_states: options.max_states.min(options.at_once), ..options.clone() };
        let group = self.search(slice.clone(), &numbers, &small, false, progress)?;
        if group.run.explored.stop.is_some_and(Stop::is_budget) {
            return Ok(None);
        }
        self.settle(group, slice.as_ref(), options, progress).map(Some)
    }

    fn wanted(&self, slice: Option<&Slice>, options: &Options) -> Vec<Goal> {
        match slice {
            Some(slice) => slice.goals.clone(),
            None => goals(&self.whole.design, options.recovery),
        }
    }

    fn invariants_of(&self, slice: Option<&Slice>, options: &Options) -> Vec<u32> {
        invariants(&self.wanted(slice, options))
    }

    /// Could this invariant do with less than the slice?
    fn could_do_with_less(&self, goal: u32, slice: Option<&Slice>, options: &Options) -> bool {
        let goals = [Goal::Invariant(goal)];
        slice.is_some_and(|all| self.alone(&goals).has_smaller_than(all, options))
    }

    /// Explores a part. Where some goal could do with less than that, first only as far as a small budget goes.
    fn group(
        &self,
        slice: Option<Slice>,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Group, WorldError> {
        let numbers = self.invariants_of(slice.as_ref(), options);
        let less = |goal: &u32| self.could_do_with_less(*goal, slice.as_ref(), options);
        let could_do_with_less = numbers.iter().any(less);
        let first = Options { max_states: options.max_states.min(FIRST), ..options.clone() };
        let budget = if could_do_with_less { &first } else { options };
        let mut group = self.search(slice.clone(), &numbers, budget, true, progress)?;
        if group.run.explored.stop == Some(Stop::States) && could_do_with_less {
            let mut verdicts = Vec::new();
            let rest = beside(options, group.run.explored.bytes());
            for goals in self.alike(&numbers, options) {
                verdicts.extend(self.by_itself(&goals, &rest, progress)?);
            }
            let untold = verdicts.iter().any(GoalVerdict::is_unknown);
            let more = budget.max_states < options.max_states;
            if more && (untold || group.misses_something()) {
                drop(group);
                group = self.search(slice.clone(), &numbers, options, true, progress)?;
            }
            group.take(verdicts, |verdict| !verdict.is_unknown());
        }
        self.settle(group, slice.as_ref(), options, progress)
    }

    /// What the search of a part does not tell: `recovers` and `leads_to`, and whether an invariant that holds
    /// within bounds is proved in as little as it needs.
    fn settle(
        &self,
        mut group: Group,
        slice: Option<&Slice>,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Group, WorldError> {
        let bounded = |held: &GoalVerdict| match held.goal {
            Goal::Invariant(at) if matches!(held.verdict, Verdict::Holds(_)) => Some(at),
            _ => None,
        };
        let mut numbers: Vec<u32> = group.goals.iter().filter_map(bounded).collect();
        numbers.retain(|goal| self.could_do_with_less(*goal, slice, options));
        let max_states = options.max_states.min(group.run.explored.len());
        let rest = Options { max_states, ..beside(options, group.run.explored.bytes()) };
        for goals in self.alike(&numbers, options) {
            let verdicts = self.by_itself(&goals, &rest, progress)?;
            group.take(verdicts, |verdict| verdict.verdict == Verdict::Proved);
        }
        let wanted = self.wanted(slice, options);
        self.recoveries(&mut group, &wanted, options, progress)?;
        Ok(group)
    }

    /// Invariants for which the same steps matter share a search.
    fn alike(&self, invariants: &[u32], options: &Options) -> Vec<Vec<Goal>> {
        let mut alike: Vec<(Vec<bool>, Vec<Goal>)> = Vec::new();
        for goal in invariants.iter().map(|at| Goal::Invariant(*at)) {
            let steps = self.alone(&[goal]).operations(options);
            match alike.iter_mut().find(|(held, _)| *held == steps) {
                Some((_, goals)) => goals.push(goal),
                None => alike.push((steps, vec![goal])),
            }
        }
        alike.into_iter().map(|(_, goals)| goals).collect()
    }

    fn alone<'g>(&'g self, goals: &'g [Goal]) -> Alone<'g> {
        let (whole, searches) = (self.whole, self.searches);
        let recovers = goals.iter().any(|goal| matches!(goal, Goal::Recovery(_)));
        let leads = goals.iter().any(|goal| matches!(goal, Goal::LeadsTo(_)));
        let name = match (recovers, leads) {
            (true, false) => "recovery, without symmetry",
            (false, true) => "leads_to, without symmetry",
            (true, true) => "recovery and leads_to, without symmetry",
            (false, false) => "as written",
        };
        let (protections, one_is_enough): (&[_], _) = (&[], false);
        // With symmetry they were looked at already.
        Alone { whole, protections, name, goals, symmetric: false, one_is_enough, searches }
    }

    /// These goals, each with what it reads.
    fn by_itself(
        &self,
        goals: &[Goal],
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Vec<GoalVerdict>, WorldError> {
        let answer = self.alone(goals).answer(options, progress)?;
        let told = answer.slice.as_ref().and_then(|slice| slice.told(&self.whole.design));
        let mut verdicts = Vec::new();
        for goal in goals {
            let verdict = self.verdict(*goal, answer.run.outcome(*goal), &answer.run, told.clone());
            if let Verdict::Violated(trace) = &verdict.verdict {
                let violated = Some((verdict.name.clone(), trace.clone()));
                let arm = "as written".into();
                progress(&Progress { arm, violated, ..Progress::default() });
            }
            verdicts.push(verdict);
        }
        Ok(verdicts)
    }

    /// A `recovers` is told by the search of the invariants where that will do. Else it is looked at without
    /// symmetry, and so is `leads_to`: fairness is owed to each thing by itself, not to whichever of several
    /// takes its place.
    fn recoveries(
        &self,
        group: &mut Group,
        wanted: &[Goal],
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), WorldError> {
        let recoveries: Vec<Goal> =
            wanted.iter().copied().filter(|goal| goal.needs_fairness()).collect();
        let own = match &group.slice {
            _ if recoveries.is_empty() => return Ok(()),
            _ if !options.slices => Vec::new(),
            _ => groups(&self.whole.design, &recoveries, &[], &[]),
        };
        let rest = beside(options, group.run.explored.bytes());
        let stop = group.run.explored.stop;
        let no_memory = stop == Some(Stop::Memory);
        let stopped = no_memory
            || stop == Some(Stop::States) && group.run.explored.len() >= options.max_states;
        let all: Vec<(Vec<Goal>, Option<Slice>)> = match own.is_empty() {
            true => vec![(recoveries, None)],
            false => own.into_iter().map(|slice| (slice.goals.clone(), Some(slice))).collect(),
        };
        // Messages can be kept as a set for `recovers`, and not for `leads_to`.
        let apart = may_be_set(&self.whole.design, options);
        let kinds = |(goals, slice): (Vec<Goal>, Option<Slice>)| {
            let leads = |goal: &Goal| apart && matches!(goal, Goal::LeadsTo(_));
            let (one, other): (Vec<Goal>, Vec<Goal>) = goals.into_iter().partition(leads);
            [(one, slice.clone()), (other, slice)]
                .into_iter()
                .filter(|(goals, _)| !goals.is_empty())
        };
        for (goals, slice) in all.into_iter().flat_map(kinds) {
            let goals = self.recover_here(group, goals);
            if goals.is_empty() {
                continue;
            }
            let same = match (&slice, &group.slice) {
                (Some(own), Some(all)) => {
                    own.parts == all.parts && own.operations == all.operations
                }
                (None, None) => true,
                _ => false,
            };
            let smaller = match (&slice, &group.slice) {
                (Some(own), Some(all)) => own.parts.len() < all.parts.len(),
                (Some(_), None) => options.slices,
                _ => false,
            };
            let plain = group.run.machine.symmetry.is_none()
                && !group.run.island
                && !group.run.machine.is_set();
            // Where the budget ended already, it would end again.
            let told = stopped || !group.run.explored.stop.is_some_and(Stop::is_budget);
            // What cannot be gone in the whole design is looked at there.
            let shown = |goal: &Goal| !matches!(group.run.outcome(*goal), Outcome::Untold);
            let here = (same && plain && told) || (stopped && !smaller) || no_memory;
            if here && (no_memory || stopped || goals.iter().all(shown)) {
                for goal in goals {
                    let told = group.told.clone();
                    let verdict = self.verdict(goal, group.run.outcome(goal), &group.run, told);
                    if let Verdict::Violated(trace) = &verdict.verdict {
                        let violated = Some((verdict.name.clone(), trace.clone()));
                        let arm = "as written".into();
                        progress(&Progress { arm, violated, ..Progress::default() });
                    }
                    group.goals.push(verdict);
                }
                continue;
            }
            group.goals.extend(self.by_itself(&goals, &rest, progress)?);
        }
        Ok(())
    }

    /// Settles what can be told by the search that was done for the invariants; the others remain.
    fn recover_here(&self, group: &mut Group, goals: Vec<Goal>) -> Vec<Goal> {
        let mut rest = Vec::new();
        for goal in goals {
            let told = match goal {
                Goal::Recovery(at) => group.run.recovers_here(at),
                Goal::Invariant(_) | Goal::LeadsTo(_) => None,
            };
            match told {
                Some(outcome) => {
                    let slice = group.told.clone();
                    group.goals.push(self.verdict(goal, outcome, &group.run, slice));
                }
                None => rest.push(goal),
            }
        }
        rest
    }

    /// Everything of a part but `recovers` and `leads_to`. `announce`: tell of violations as soon as they are found.
    fn search(
        &self,
        slice: Option<Slice>,
        invariants: &[u32],
        options: &Options,
        announce: bool,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Group, WorldError> {
        let Prepared { scaled, island, notes, slice } = prepare(self.whole, slice, options, true);
        let wanted = Wanted {
            name: "as written".into(),
            protections: &[],
            invariants: invariants.to_vec(),
            witnesses: options.witnesses || options.failures,
            one_is_enough: false,
            symmetric: true,
            announce,
            island,
            whole: self.whole,
            network: Network::Set,
            silent_from: None,
            searches: self.searches,
        };
        let run = Run::new(&scaled, &wanted, options, progress)?;
        if run.explored.len() == 0 {
            let cut = run.bounds_of_world();
            let what = cut.into_iter().next().unwrap_or_else(|| "the world".into());
            return Err(WorldError::StartsOutside { what });
        }
        let told = slice.as_ref().and_then(|slice| slice.told(&self.whole.design));
        let verdict = |goal: &u32| {
            let goal = Goal::Invariant(*goal);
            self.verdict(goal, run.outcome(goal), &run, told.clone())
        };
        let goals = invariants.iter().map(verdict).collect();
        Ok(Group { run, goals, notes, slice, told })
    }

    fn verdict(
        &self,
        goal: Goal,
        outcome: Outcome,
        run: &Run,
        slice: Option<String>,
    ) -> GoalVerdict {
        let name = crate::slice::goal(&self.whole.design, goal).name.clone();
        let judged = run.judged(goal);
        let states = judged.explored.len() as u64;
        let slice = slice.filter(|_| !judged.machine.left.none);
        GoalVerdict { goal, name, verdict: verdict(outcome), slice, states }
    }
}

/// The invariants among these goals, by their numbers.
pub(crate) fn invariants(goals: &[Goal]) -> Vec<u32> {
    let number = |goal: &Goal| match goal {
        Goal::Invariant(at) => Some(*at),
        Goal::Recovery(_) | Goal::LeadsTo(_) => None,
    };
    goals.iter().filter_map(number).collect()
}

fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Holds(bounds) if bounds.is_empty() => Verdict::Proved,
        Outcome::Holds(bounds) => Verdict::Holds(bounds),
        Outcome::Fails(trace) => Verdict::Violated(trace),
        Outcome::Unknown(why) => Verdict::Unknown(why),
        Outcome::Untold => Verdict::Unknown(NOT_REPLAYED.into()),
    }
}
