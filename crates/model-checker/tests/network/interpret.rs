//! What a generated design does, step by step, as plainly as can be.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::generate::{Change, Design, Fault, Invariant, MOST, Number, Step, Test};

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
struct Node {
    n: i64,
    flag: bool,
}

/// On its way: to whom, with which number, about whom (if the step names another), from where.
type Message = (usize, i64, usize, usize);

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct State {
    nodes: Vec<Node>,
    /// by node and peer
    copies: BTreeMap<(usize, usize), i64>,
    /// sorted
    messages: Vec<Message>,
    cut: bool,
    /// how often each fault may still strike
    left: BTreeMap<Fault, u32>,
}

#[derive(Debug, Default)]
pub struct Found {
    pub states: u64,
    pub violated: BTreeMap<String, usize>,
    pub struck: BTreeSet<Fault>,
}

/// Why there is no next state.
enum Not {
    Refused,
    /// beyond a bound
    Cut,
}

/// What a call is about.
#[derive(Clone, Copy)]
struct Call {
    at: usize,
    other: usize,
    peer: usize,
    given: i64,
}

struct World<'d> {
    design: &'d Design,
    found: Found,
}

/// Every state, breadth first. None: more than `max`.
pub fn explore(design: &Design, max: usize) -> Option<Found> {
    let budgets = design.faults.iter().filter_map(|(fault, budget)| Some((*fault, (*budget)?)));
    let first = State {
        nodes: vec![Node::default(); design.nodes],
        left: budgets.collect(),
        ..State::default()
    };
    let mut world = World { design, found: Found::default() };
    let mut seen: HashMap<State, usize> = HashMap::from([(first.clone(), 0)]);
    let mut queue = VecDeque::from([first]);
    while let Some(state) = queue.pop_front() {
        let depth = seen[&state];
        world.judge(&state, None, depth);
        for next in world.successors(&state) {
            world.judge(&next, Some(&state), depth + 1);
            if !seen.contains_key(&next) {
                if seen.len() >= max {
                    return None;
                }
                seen.insert(next.clone(), depth + 1);
                queue.push_back(next);
            }
        }
    }
    world.found.states = seen.len() as u64;
    Some(world.found)
}

impl World<'_> {
    fn judge(&mut self, state: &State, old: Option<&State>, depth: usize) {
        for (number, invariant) in self.design.invariants.iter().enumerate() {
            let pairs = || old.into_iter().flat_map(|old| old.nodes.iter().zip(&state.nodes));
            let holds = match invariant {
                Invariant::NeverLess => pairs().all(|(old, new)| new.n >= old.n),
                Invariant::KeepsFlag => pairs().all(|(old, new)| !old.flag || new.flag),
                Invariant::AtMost(most) => state.nodes.iter().all(|node| node.n <= *most),
                Invariant::NotBoth(n) => !state.nodes.iter().all(|node| node.n == *n && node.flag),
                Invariant::OneFlag => state.nodes.iter().filter(|node| node.flag).count() <= 1,
            };
            if !holds {
                let held = self.found.violated.entry(format!("i{number}")).or_insert(depth);
                *held = (*held).min(depth);
            }
        }
    }

    /// A state that a fault made, if it may strike.
    fn strike(&mut self, state: &State, fault: Fault, next: State, list: &mut Vec<State>) {
        let mut next = next;
        if !self.may(state, fault) {
            return;
        }
        if let Some(left) = next.left.get_mut(&fault) {
            *left -= 1;
        }
        self.found.struck.insert(fault);
        list.push(next);
    }

    fn may(&self, state: &State, fault: Fault) -> bool {
        self.design.faults.iter().any(|(held, _)| *held == fault)
            && state.left.get(&fault).is_none_or(|left| *left > 0)
    }

    fn successors(&mut self, state: &State) -> Vec<State> {
        let mut list = Vec::new();
        let design = self.design;
        for step in &design.steps {
            for at in 0..design.nodes {
                for other in 0..if step.other { design.nodes } else { 1 } {
                    for peer in 0..design.peers {
                        let call = Call { at, other, peer, given: 0 };
                        self.call(state, step, call, &mut list);
                    }
                }
            }
        }
        for copy in state.copies.keys() {
            let mut next = state.clone();
            next.copies.remove(copy);
            self.strike(state, Fault::Evict, next, &mut list);
        }
        for peer in 0..design.peers {
            let mut next = state.clone();
            next.copies.retain(|(_, held), _| *held != peer);
            if next != *state {
                self.strike(state, Fault::Crash, next, &mut list);
            }
        }
        if state.cut {
            list.push(State { cut: false, ..state.clone() });
        } else if !design.faults.is_empty() {
            self.strike(state, Fault::Partition, State { cut: true, ..state.clone() }, &mut list);
        }
        for at in 0..state.messages.len() {
            self.deliver(state, at, &mut list);
        }
        list
    }

    fn call(&mut self, state: &State, step: &Step, call: Call, list: &mut Vec<State>) {
        if let Ok(next) = self.step(state, step, call) {
            if step.body.iter().any(|change| matches!(change, Change::Copy(_))) {
                let old = State { copies: state.copies.clone(), ..next.clone() };
                self.strike(state, Fault::Stale, old, list);
            }
            list.push(next);
        }
    }

    fn deliver(&mut self, state: &State, at: usize, list: &mut Vec<State>) {
        let hear = self.design.hear.as_ref().expect("somebody hears");
        let (to, given, other, from) = state.messages[at];
        let gone = |state: &State| {
            let mut next = state.clone();
            let held = next.messages.iter().position(|held| *held == (to, given, other, from));
            next.messages.remove(held.expect("it is on its way"));
            next
        };
        self.strike(state, Fault::Lost, gone(state), list);
        if state.cut && from != to {
            return;
        }
        let call = Call { at: to, other, peer: 0, given };
        match self.step(&gone(state), hear, call) {
            Ok(next) => list.push(next),
            Err(Not::Refused) => list.push(gone(state)),
            Err(Not::Cut) => {}
        }
        if let Ok(next) = self.step(state, hear, call) {
            self.strike(state, Fault::Doubled, next, list);
        }
    }

    fn step(&self, state: &State, step: &Step, call: Call) -> Result<State, Not> {
        let mut next = state.clone();
        let copy = (call.at, call.peer);
        for test in &step.guard {
            let own = state.nodes[call.at];
            let number = |wanted| number(wanted, state, call);
            let holds = match test {
                Test::Less(left, right) => number(*left)? < number(*right)?,
                Test::Equal(left, right) => number(*left)? == number(*right)?,
                Test::Flag(wanted) => own.flag == *wanted,
                Test::Cached(wanted) => state.copies.contains_key(&copy) == *wanted,
            };
            if !holds {
                return Err(Not::Refused);
            }
        }
        let mut cut = false;
        for change in &step.body {
            match change {
                Change::Set(value) => next.nodes[call.at].n = number(*value, &next, call)?,
                Change::Add => next.nodes[call.at].n += 1,
                Change::Flag(value) => next.nodes[call.at].flag = *value,
                Change::Flip => next.nodes[call.at].flag ^= true,
                Change::Copy(value) => {
                    let value = number(*value, &next, call)?;
                    next.copies.insert(copy, value);
                }
                Change::Send(value) => {
                    let about = match &self.design.hear {
                        Some(hear) if hear.other => call.at,
                        _ => 0,
                    };
                    let value = number(*value, &next, call)?;
                    let message = (call.other, value, about, call.at);
                    // What may be delivered any number of times is on its way once.
                    let any_number = self.design.faults.contains(&(Fault::Doubled, None));
                    if !any_number || !next.messages.contains(&message) {
                        cut |= next.messages.len() >= self.design.messages || value > MOST;
                        next.messages.push(message);
                    }
                }
            }
        }
        next.messages.sort_unstable();
        let cut = cut
            || next.nodes.iter().any(|node| node.n > MOST)
            || next.copies.values().any(|value| *value > MOST);
        if cut { Err(Not::Cut) } else { Ok(next) }
    }
}

fn number(wanted: Number, state: &State, call: Call) -> Result<i64, Not> {
    Ok(match wanted {
        Number::Constant(value) => value,
        Number::Own => state.nodes[call.at].n,
        Number::Given => call.given,
        Number::Copied => *state.copies.get(&(call.at, call.peer)).ok_or(Not::Refused)?,
    })
}
