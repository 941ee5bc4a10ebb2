//! Histories without an end: a way to a state, and what goes on there for ever, if anything does.

use crate::Trace;
use crate::leads::Waits;
use crate::machine::Machine;
use crate::search::Explored;
use crate::trace_builder::{Replay, Wanted};

/// A history that ends where nothing more happens.
pub(crate) fn dead_end(
    machine: &Machine,
    explored: &Explored,
    state: u32,
    ending: String,
) -> Option<Trace> {
    Replay::new(machine).follow(explored, &explored.path(state), ending)
}

/// A history that leads to a cycle and goes round it for ever.
pub(crate) fn lasso(
    machine: &Machine,
    explored: &Explored,
    cycle: &[u32],
    ending: String,
) -> Option<Trace> {
    let mut replay = Replay::new(machine);
    let first = cycle.first()?;
    let mut trace = replay.follow(explored, &explored.path(*first), ending)?;
    trace.cycle_start = Some(trace.steps.len());
    for id in cycle.iter().skip(1).chain(std::iter::once(first)) {
        trace.steps.push(replay.step(Wanted::To(explored.state(*id), None), true)?);
    }
    Some(trace)
}

/// A history in which something begins to wait, and waits for ever.
pub(crate) fn waits(
    machine: &Machine,
    explored: &Explored,
    found: &Waits,
    ending: String,
) -> Option<Trace> {
    let mut replay = Replay::new(machine);
    let mut trace = replay.follow(explored, &found.way, ending)?;
    if found.dead_end {
        return Some(trace);
    }
    let first = found.cycle.first()?;
    trace.cycle_start = Some(trace.steps.len());
    for id in found.cycle.iter().skip(1).chain(std::iter::once(first)) {
        trace.steps.push(replay.step(Wanted::Calm(explored.state(*id)), false)?);
    }
    Some(trace)
}

impl Replay<'_> {
    /// Goes this way, which begins with the first state.
    pub(crate) fn follow(
        &mut self,
        explored: &Explored,
        way: &[u32],
        ending: String,
    ) -> Option<Trace> {
        let initial = self.machine.lines(&self.words);
        let mut trace = Trace { initial, ending, ..Trace::default() };
        for id in way.iter().skip(1) {
            trace.steps.push(self.step(Wanted::To(explored.state(*id), None), false)?);
        }
        Some(trace)
    }
}
