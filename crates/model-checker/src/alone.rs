//! One goal by itself, in as little of the design as will do.
//!
//! First in its slice, with every guard whole, as far as a small budget goes. Where that is not enough,
//! clauses that read other records than the goal's own are left open: they may hold or not. What
//! holds then, holds; a history that breaks the goal and cannot be gone in the whole design shows
//! which clauses are needed after all, and they join the slice.

use std::cell::RefCell;
use std::collections::BTreeSet;

use design::model::{ClauseRef, Design, Goal, OperationId, Protection};

use crate::clock::Scaled;
use crate::group::{invariants, prepare};
use crate::run::{Outcome, Run, Wanted};
use crate::slice::{Seeds, Slice, close};
use crate::world::plan::Network;
use crate::{ArmResult, Options, Progress, Stop, WorldError};

/// So many states are looked at before clauses are left open.
pub(crate) const FIRST: usize = 1_200_000;

/// After so many steps it is looked whether a `recovers` breaks, as long as that takes no more states.
const EARLY_STEPS: &[u32] = &[4, 8, 12];
const EARLY: usize = 50_000;

/// What is asked.
pub(crate) struct Alone<'a> {
    pub(crate) whole: &'a Scaled,
    pub(crate) protections: &'a [Protection],
    pub(crate) name: &'a str,
    pub(crate) goals: &'a [Goal],
    /// Are `recovers` looked at with symmetry first?
    pub(crate) symmetric: bool,
    /// as soon as one of them breaks, the others need not be known
    pub(crate) one_is_enough: bool,
    /// with the clause that is taken away: the search goes on from what was reached there
    pub(crate) from: Option<&'a Run>,
    pub(crate) searches: &'a RefCell<Vec<ArmResult>>,
}

/// How much of it is explored.
#[derive(Clone, Copy)]
struct How {
    /// one of several independent keys stands for all
    reduces: bool,
    /// states that differ in the names of interchangeable things are one
    symmetric: bool,
    silent_from: Option<u32>,
}

/// What was explored for it.
pub(crate) struct Answer {
    pub(crate) run: Run,
    /// none: the whole design
    pub(crate) slice: Option<Slice>,
}

impl Alone<'_> {
    fn design(&self) -> &Design {
        &self.whole.design
    }

    /// With whole guards; none: what is asked for is explored whole.
    fn strict(&self, options: &Options) -> Option<Slice> {
        // An older state is kept whole.
        let older = self.protections.iter().any(|held| matches!(held, Protection::AtLeast { .. }));
        (options.slices && !older)
            .then(|| close(self.design(), self.protections, &self.seeds(None)))
    }

    fn seeds(&self, clauses: Option<BTreeSet<(OperationId, u32)>>) -> Seeds {
        Seeds { goals: self.goals.to_vec(), operations: Vec::new(), clauses }
    }

    /// The operations that happen in its slice.
    pub(crate) fn operations(&self, options: &Options) -> Vec<bool> {
        let strict = self.strict(options);
        let operations = strict.iter().flat_map(|slice| &slice.operations);
        operations.map(|kept| kept.operation).collect()
    }

    /// The smallest slice that could do, if it is smaller than the other.
    fn loose(
        &self,
        strict: &Slice,
        kept: &BTreeSet<(OperationId, u32)>,
        options: &Options,
    ) -> Option<Slice> {
        let invariants = invariants(self.goals).len() == self.goals.len();
        if !invariants || !options.open {
            return None;
        }
        let loose = close(self.design(), self.protections, &self.seeds(Some(kept.clone())));
        (loose.parts.len() < strict.parts.len()).then_some(loose)
    }

    /// Is there a smaller slice than this one to look at?
    pub(crate) fn has_smaller_than(&self, slice: &Slice, options: &Options) -> bool {
        self.strict(options).is_some_and(|strict| {
            strict.parts.len() < slice.parts.len()
                || self.loose(&strict, &BTreeSet::new(), options).is_some()
        })
    }

    fn search(
        &self,
        slice: Option<Slice>,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, WorldError> {
        if let Some(answer) = self.breaks_early(slice.as_ref(), options, progress)? {
            return Ok(answer);
        }
        let all = self.symmetric || !invariants(self.goals).is_empty();
        let first = How { reduces: true, symmetric: all, silent_from: None };
        let mut answer = self.search_in(slice.clone(), options, first, progress)?;
        // Goals of both kinds are asked for together to learn what one search can tell of them.
        if self.goals.iter().any(|goal| !goal.needs_fairness()) {
            return Ok(answer);
        }
        let untold = |answer: &Answer| {
            let told = |goal: &Goal| answer.run.outcome(*goal);
            answer.run.explored.stop.is_none()
                && self.goals.iter().any(|goal| {
                    matches!(told(goal), Outcome::Unknown(_) | Outcome::Untold)
                        && !answer.run.lacks_room(*goal)
                })
        };
        // Where one thing takes the place of another for ever, each must be looked at by itself.
        if answer.run.machine.symmetry.is_some() && untold(&answer) {
            let how = How { symmetric: false, ..first };
            answer = self.search_in(slice.clone(), options, how, progress)?;
        }
        // What one of several independent worlds cannot tell, all of them together must.
        if answer.run.island && untold(&answer) {
            let how = How { reduces: false, symmetric: false, ..first };
            return self.search_in(slice, options, how, progress);
        }
        // What cannot be gone in the whole design is looked at there.
        let unshown = |goal: &Goal| matches!(answer.run.outcome(*goal), Outcome::Untold);
        if answer.slice.is_some() && self.goals.iter().any(unshown) {
            let how = How { reduces: false, symmetric: false, ..first };
            return self.search_in(None, options, how, progress);
        }
        Ok(answer)
    }

    /// A `recovers` that breaks without some protection mostly does so after a few steps. So it is looked
    /// for there before everything is explored: what happens once clients are silent takes few states.
    fn breaks_early(
        &self,
        slice: Option<&Slice>,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Answer>, WorldError> {
        let recovers = |goal: &Goal| matches!(goal, Goal::Recovery(_));
        let one = self.goals.len() == 1 && !self.one_is_enough;
        if self.protections.is_empty() || !one || !self.goals.iter().all(recovers) {
            return Ok(None);
        }
        let early = Options { max_states: options.max_states.min(EARLY), ..options.clone() };
        for steps in EARLY_STEPS {
            let how = How { reduces: true, symmetric: false, silent_from: Some(*steps) };
            let answer = self.search_in(slice.cloned(), &early, how, progress)?;
            let fails = |goal: &Goal| matches!(answer.run.outcome(*goal), Outcome::Fails(_));
            if answer.run.explored.stop.is_some() {
                break;
            }
            if self.goals.iter().any(fails) {
                return Ok(Some(answer));
            }
            if answer.run.explored.depth < *steps {
                // That was everything.
                break;
            }
        }
        Ok(None)
    }

    fn search_in(
        &self,
        slice: Option<Slice>,
        options: &Options,
        how: How,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, WorldError> {
        let invariants = invariants(self.goals);
        // Clients go on under `leads_to`: there is no moment from which messages are owed.
        let leads = self.goals.iter().any(|goal| matches!(goal, Goal::LeadsTo(_)));
        let network = match (!invariants.is_empty(), leads) {
            (true, _) => Network::Set,
            (false, false) => Network::Owed,
            (false, true) => Network::OneByOne,
        };
        let prepared = prepare(self.whole, slice, options, how.reduces);
        let wanted = Wanted {
            name: self.name.into(),
            protections: self.protections,
            invariants,
            witnesses: false,
            one_is_enough: self.one_is_enough || self.goals.len() == 1,
            symmetric: how.symmetric && !leads,
            announce: false,
            island: prepared.island,
            whole: self.whole,
            network,
            silent_from: how.silent_from,
            from: self.from,
            searches: self.searches,
        };
        let run = Run::new(&prepared.scaled, &wanted, options, progress)?;
        Ok(Answer { run, slice: prepared.slice })
    }

    pub(crate) fn answer(
        &self,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, WorldError> {
        let strict = self.strict(options);
        let Some(slice) = &strict else { return self.search(None, options, progress) };
        let may_loosen = self.loose(slice, &BTreeSet::new(), options).is_some();
        let budget = match may_loosen {
            true => Options { max_states: options.max_states.min(FIRST), ..options.clone() },
            false => options.clone(),
        };
        let first = self.search(strict.clone(), &budget, progress)?;
        let stopped = first.run.explored.stop.is_some_and(Stop::is_budget);
        // To ask what became of `recovers` is a search of its own: only where it makes a difference.
        let fails = |goal: &Goal| matches!(first.run.outcome(*goal), Outcome::Fails(_));
        if !stopped || !may_loosen || self.goals.iter().any(fails) {
            return Ok(first);
        }
        drop(first);
        match self.loosened(slice, options, progress)? {
            Some(answer) => Ok(answer),
            None => self.search(strict, options, progress),
        }
    }

    /// With clauses left open, as few as will do.
    fn loosened(
        &self,
        strict: &Slice,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Answer>, WorldError> {
        let mut kept = BTreeSet::new();
        while let Some(slice) = self.loose(strict, &kept, options) {
            let answer = self.search(Some(slice.clone()), options, progress)?;
            let known = |goal: &Goal| {
                !matches!(answer.run.outcome(*goal), Outcome::Unknown(_) | Outcome::Untold)
            };
            if self.goals.iter().all(known) {
                return Ok(Some(answer));
            }
            let needed = self.left_open(&slice, &answer.run);
            if needed.is_empty() {
                return Ok(None);
            }
            kept.extend(needed);
        }
        Ok(None)
    }

    /// The clauses that were left open in steps of a history that is none of the whole design.
    fn left_open(&self, slice: &Slice, run: &Run) -> Vec<(OperationId, u32)> {
        let mut open = Vec::new();
        for id in &run.unshown {
            for (at, kept) in slice.operations[id.index()].clauses.iter().enumerate() {
                let clause = ClauseRef::Named(at as u32);
                let gone = Protection::Clause { operation: *id, clause };
                if !kept && !self.protections.contains(&gone) {
                    open.push((*id, at as u32));
                }
            }
        }
        open
    }
}
