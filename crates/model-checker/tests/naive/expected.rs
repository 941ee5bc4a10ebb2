//! What the interpreter found in each world of a design.

use super::ast::*;
use super::explore::{Found, explore};
use super::world::World;

/// More states than this are not explored.
pub(super) const STATES_MAX: usize = 3_000;

/// What the interpreter found in one world: as written, and without each failure's protection.
pub(super) struct Expected {
    /// with the goals and failures of this world alone
    pub(super) part: Part,
    pub(super) found: Found,
    pub(super) arms: Vec<Option<Found>>,
    /// times are kept in the same steps on both sides, so states and lengths are the same
    pub(super) exact: bool,
    pub(super) has_time: bool,
}

impl Expected {
    /// Are these other states than there are? A clock that is set back takes off its budget in the checker also where
    /// nobody looks at the times that are there: two states for one.
    pub(super) fn counts_otherwise(&self, states: u64) -> bool {
        let more = states > self.found.states && self.part.design.has(Fault::ClockStep);
        self.exact && !more && states != self.found.states
    }
}

/// A design as it is in one of its worlds.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) design: Design,
    /// the number of each failure in the whole design
    pub(super) failures: Vec<usize>,
}

/// Each goal, and each failure that breaks it, belongs to one world.
pub(super) fn parts(design: &Design) -> Vec<Part> {
    let part = |whole: Design, here: &dyn Fn(usize) -> bool| {
        let numbers: Vec<usize> = (0..whole.goals.len()).filter(|goal| here(*goal)).collect();
        let failures: Vec<usize> =
            (0..whole.failures.len()).filter(|at| here(whole.failures[*at].breaks)).collect();
        let mut own = whole.clone();
        own.other = None;
        own.goals = numbers.iter().map(|goal| whole.goals[*goal].clone()).collect();
        own.failures = failures
            .iter()
            .map(|at| {
                let held = &whole.failures[*at];
                let breaks = numbers.iter().position(|goal| *goal == held.breaks);
                Failure { without: held.without.clone(), breaks: breaks.expect("it is here") }
            })
            .collect();
        Part { design: own, failures }
    };
    match &design.other {
        None => vec![part(design.clone(), &|_| true)],
        Some(other) => vec![
            part(design.clone(), &|goal| !other.goals.contains(&goal)),
            part(design.in_other(other), &|goal| other.goals.contains(&goal)),
        ],
    }
}

/// What was found in all worlds together. What is seen in any world is seen.
pub(super) fn joined(design: &Design, all: &[Expected]) -> Found {
    let mut found = all[0].found.clone();
    for one in &all[1..] {
        found.seen.add(&one.found.seen);
    }
    let word = |goal: &Goal| {
        let of = |one: &Expected| {
            let at = one.part.design.goals.iter().position(|held| held.name == goal.name)?;
            Some(one.found.words[at])
        };
        all.iter().find_map(of).expect("each goal has a world")
    };
    found.words = design.goals.iter().map(word).collect();
    found
}

pub(super) fn expect(part: Part, finer: i64) -> Option<Expected> {
    let design = &part.design;
    let fine = match design.check.time {
        Some(steps) => steps,
        None => (World::new(design, 1, None).stored_times() as i64 + 1) * finer,
    };
    let world = World::new(design, fine, None);
    let found = explore(&world, STATES_MAX)?;
    let arms = design.failures.iter().map(|failure| {
        explore(&World::new(design, fine, Some(failure.without.clone())), STATES_MAX)
    });
    let arms = arms.collect();
    // A counter of children stands in the record of their parent. Whoever moves it reads and writes that
    // record, and a clock that was set back is then not before it; the interpreter knows no counters.
    let counts = (0..design.subjects.len()).any(|subject| world.counts_children(subject));
    let steps_back = design.has(Fault::ClockStep);
    let exact = !(counts && steps_back)
        && (!world.has_time || design.check.time.is_some() && !world.times_meet);
    let has_time = world.has_time;
    Some(Expected { found, arms, exact, has_time, part })
}
