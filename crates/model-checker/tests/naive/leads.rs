//! `leads_to`, as plainly as it can be said: of each record, from where it begins to wait, among all states
//! in which it goes on waiting, is there a part that a fair history need never leave?

use super::ast::*;
use super::explore::{Going, Ways, Word, scene};
use super::moves::Action;
use super::recover::{fair, parts};
use super::state::State;
use super::world::World;

struct Sides<'g> {
    local: usize,
    subject: usize,
    from: &'g Expr,
    to: &'g Expr,
}

fn sides(goal: &Goal) -> Sides<'_> {
    let Expr::Quant { local, over: Domain::Subject(subject), body, .. } = &goal.body else {
        panic!("of each record")
    };
    let Expr::Implies(from, to) = &**body else { panic!("one leads to the other") };
    Sides { local: *local, subject: *subject, from, to }
}

pub fn word(
    world: &World<'_>,
    goal: &Goal,
    by: &[usize],
    states: &[State],
    all: &[Vec<Going>],
    cut: bool,
) -> Word {
    let sides = sides(goal);
    let ways: Vec<Ways> = all.iter().map(|going| calm(going, by)).collect();
    let mut open = false;
    for record in world.keys(sides.subject) {
        let test = |expr: &Expr, state: &State, now: i64| {
            let mut scene = scene(world, state, None, now);
            scene.locals.insert(sides.local, Value::Ref(record));
            scene.test(expr).ok()
        };
        // A record that is gone waits for nothing.
        let waits = |state: &State, now: i64| {
            state.records.contains_key(&record) && test(sides.to, state, now) != Some(true)
        };
        let begins = |state: &State| waits(state, 0) && test(sides.from, state, 0) != Some(false);
        let mut reached: Vec<bool> = states.iter().map(begins).collect();
        let mut left: Vec<usize> = (0..states.len()).filter(|at| reached[*at]).collect();
        while let Some(at) = left.pop() {
            for going in &all[at] {
                if let Some(to) = going.to
                    && !reached[to]
                    && waits(&states[to], 0)
                {
                    reached[to] = true;
                    left.push(to);
                }
            }
        }
        if parts(&ways, &reached).iter().any(|part| fair(&ways, part)) {
            return Word::Violated(0);
        }
        let waits_beyond =
            |going: &Going| going.beyond.as_ref().is_some_and(|(state, now)| waits(state, *now));
        open |= (0..states.len()).any(|at| reached[at] && all[at].iter().any(waits_beyond));
    }
    match (open, cut) {
        (true, _) => Word::NotKnown,
        (false, true) => Word::HoldsWithin,
        (false, false) => Word::Proved,
    }
}

/// What may go on for ever, and what of it is owed.
fn calm(going: &[Going], by: &[usize]) -> Ways {
    let way = |held: &Going| {
        let (action, owed) = match (&held.action, &held.call) {
            (Some(held), _) => held.clone(),
            (None, Some(call)) => (Action::Client(call.clone()), by.contains(&call.0)),
            (None, None) => panic!("what is calm is a call or goes on by itself"),
        };
        (action, owed, held.to)
    };
    going.iter().filter(|held| held.calm).map(way).collect()
}
