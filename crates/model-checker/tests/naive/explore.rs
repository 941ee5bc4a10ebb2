//! Every state, and what is so in all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::ast::*;
use super::eval::Scene;
use super::leads;
use super::moves::{Action, Called, Event};
use super::recover;
use super::state::State;
use super::world::{Seen, World};

/// The word for a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    Proved,
    HoldsWithin,
    /// with the length of the shortest history, of an invariant
    Violated(usize),
    NotKnown,
}

#[derive(Clone, Debug)]
pub struct Found {
    pub states: u64,
    pub words: Vec<Word>,
    pub seen: Seen,
}

/// What can happen from one state when clients are silent: each action, whether it is owed, and
/// the state after it; none: it is cut.
pub type Ways = Vec<(Action, bool, Option<usize>)>;

/// One thing that can happen from a state, clients and faults included.
pub struct Going {
    /// what happens without any client, and is it owed?
    pub action: Option<(Action, bool)>,
    /// no fault
    pub calm: bool,
    pub call: Option<Called>,
    /// none: it is cut
    pub to: Option<usize>,
    /// the state and the clock after something that is cut
    pub beyond: Option<(State, i64)>,
}

/// Every state, breadth first. None: more than `max`.
pub fn explore(world: &World<'_>, max: usize) -> Option<Found> {
    let goals = &world.design.goals;
    let first = settle(world, &world.first(), 0).0;
    let mut numbers: HashMap<State, usize> = HashMap::from([(first.clone(), 0)]);
    let mut states = vec![first];
    let mut depths = vec![0];
    let mut ways: Vec<Ways> = Vec::new();
    let mut all: Vec<Vec<Going>> = Vec::new();
    let mut violated: BTreeMap<usize, usize> = BTreeMap::new();
    let mut cut = false;
    let mut at = 0;
    while at < states.len() {
        let state = states[at].clone();
        let depth = depths[at];
        let mut breaks = |goal: usize, depth: usize| {
            let held = violated.entry(goal).or_insert(depth);
            *held = depth.min(*held);
        };
        for (number, goal) in goals.iter().enumerate() {
            if !goal.of_histories() && !goal.uses_old && !holds(world, goal, &state, None, 0) {
                breaks(number, depth);
            }
        }
        let mut own = Ways::new();
        let mut going = Vec::new();
        let events = world.moves(&state);
        for event in events {
            let Event { next, now, moved_on, action, calm, call } = event;
            let (settled, mut cuts) = settle(world, &next, now);
            if moved_on {
                cuts.insert("a time that is moved on");
            }
            let beyond = !cuts.is_empty();
            world.seen.borrow_mut().cuts.extend(cuts);
            for (number, goal) in goals.iter().enumerate() {
                let judged = !goal.of_histories() && (goal.uses_old || beyond);
                if judged && !holds(world, goal, &next, Some(&state), now) {
                    breaks(number, depth + 1);
                }
            }
            let mut to = None;
            if beyond {
                cut = true;
            } else if let Some(known) = numbers.get(&settled) {
                to = Some(*known);
            } else {
                if states.len() >= max {
                    return None;
                }
                to = Some(states.len());
                numbers.insert(settled.clone(), states.len());
                states.push(settled);
                depths.push(depth + 1);
            }
            let beyond = beyond.then_some((next, now));
            going.push(Going { action: action.clone(), calm, call, to, beyond });
            own.extend(action.map(|(action, owed)| (action, owed, to)));
        }
        ways.push(own);
        all.push(going);
        at += 1;
    }
    let words = goals.iter().enumerate().map(|(number, goal)| {
        if goal.recovers {
            let failing: Vec<bool> =
                states.iter().map(|state| !holds(world, goal, state, None, 0)).collect();
            return recover::word(&ways, &failing, cut);
        }
        if let Some(by) = &goal.leads {
            return leads::word(world, goal, by, &states, &all, cut);
        }
        match violated.get(&number) {
            Some(depth) => Word::Violated(*depth),
            None if cut => Word::HoldsWithin,
            None => Word::Proved,
        }
    });
    let words = words.collect();
    let seen = world.seen.borrow().clone();
    Some(Found { states: states.len() as u64, words, seen })
}

fn holds(world: &World<'_>, goal: &Goal, state: &State, old: Option<&State>, now: i64) -> bool {
    scene(world, state, old, now).test(&goal.body).unwrap_or(false)
}

/// What a goal sees.
pub fn scene<'a>(
    world: &'a World<'a>,
    state: &State,
    old: Option<&'a State>,
    now: i64,
) -> Scene<'a> {
    Scene {
        world,
        state: state.clone(),
        old,
        back: false,
        now,
        me: None,
        params: Vec::new(),
        locals: BTreeMap::new(),
        memory: BTreeMap::new(),
        goal: true,
        lenient_records: false,
        copied: BTreeMap::new(),
    }
}

/// The state as it is kept: times from its own clock, those of long ago all alike; and what it has
/// no room for.
pub fn settle(world: &World<'_>, state: &State, now: i64) -> (State, BTreeSet<&'static str>) {
    let design = world.design;
    let check = &design.check;
    let mut cuts = BTreeSet::new();
    let mut state = state.clone();
    let lists = [Ty::List, Ty::Lines];
    let given = |op: &Op| op.params.iter().any(|param| lists.contains(&param.ty));
    // `check` says it where callers give lists; else there is room for all.
    let list_room = if design.ops.iter().any(given) { design.list_room() } else { usize::MAX };
    for (record, held) in &mut state.records {
        for (at, value) in held.attrs.iter_mut().enumerate() {
            let is_time = design.subjects[record.subject].attrs[at].ty == Ty::Time;
            if is_time && !world.read_times.contains(&(record.subject, at)) {
                *value = Value::Null;
            }
        }
        if held.end > check.log {
            cuts.insert("the end of a log");
        }
        if !world.keys(record.subject).contains(record) {
            cuts.insert("a key outside of the world");
        }
    }
    if world.times_meet {
        differences(world, &mut state, now);
    }
    let attrs = state.records.values_mut().flat_map(|held| &mut held.attrs);
    let memory = state.memory.values_mut().chain(state.older.values_mut());
    let messages = state.messages.iter_mut().flat_map(|held| &mut held.args);
    let taken = state.calls.iter_mut().flat_map(|held| held.taken.values_mut());
    let sent = state.outbox.values_mut().flatten();
    let all = attrs.chain(memory).chain(messages).chain(taken).chain(sent);
    for value in all.chain(state.copies.values_mut()) {
        match value {
            Value::Time(at) if !world.times_meet => *at = (*at - now).max(world.beyond()),
            Value::List(list) if list.len() > list_room => {
                cuts.insert("a list");
            }
            Value::Int(number) if *number < check.bound.0 || *number > check.bound.1 => {
                cuts.insert("a number");
            }
            _ => {}
        }
    }
    if state.messages.len() > check.messages {
        cuts.insert("a message");
    }
    state.memory.retain(|_, value| *value != Value::Null);
    state.calls.sort_unstable();
    match world.design.events {
        // those of one key stay in the order in which they were emitted
        true => state.messages.sort_by(|a, b| a.args[0].cmp(&b.args[0])),
        false => state.messages.sort_unstable(),
    }
    for at in state.written.values_mut() {
        *at -= now;
    }
    state.written.retain(|_, at| *at > -world.fine);
    (state, cuts)
}

/// Times that are compared with each other: beyond the horizon their differences are kept, as far
/// as they can be told apart.
fn differences(world: &World<'_>, state: &mut State, now: i64) {
    let attrs = state.records.values_mut().flat_map(|held| &mut held.attrs);
    let memory = state.memory.values_mut().chain(state.older.values_mut());
    let mut times: Vec<&mut i64> = attrs
        .chain(memory)
        .filter_map(|value| match value {
            Value::Time(at) => Some(at),
            _ => None,
        })
        .collect();
    times.sort_by_key(|at| -**at);
    let apart = (world.horizon + 1) * world.fine;
    let mut last = now;
    let mut before: Option<i64> = None;
    for at in times {
        let least = (now + world.beyond()).min(last - apart);
        let kept = match before {
            // the same moment stays the same moment
            Some(moment) if moment == *at => last,
            _ => (*at).max(least),
        };
        before = Some(*at);
        *at = kept - now;
        last = kept;
    }
}
