//! A part of the graph of recovery in which interchangeable things take each other's place, with each of them by
//! itself again: fairness is owed to each thing, not to whichever takes its place.
//!
//! States are kept up to the exchange of things, so a part stands for all its states with things exchanged in
//! every way. What can go on for ever among those comes, up to an exchange, to the part again. So it is enough
//! to look at them.

use engine::Word;
use rustc_hash::FxHashMap;

use crate::fair::{Graph, STATE_BYTES, fair, parts};
use crate::machine::{Beyond, Machine, Sink, Step};
use crate::recover::{Action, action};
use crate::search::Explored;

/// Besides what a graph takes: a state and its place in the index.
const INDEX_BYTES: usize = 64;

struct Edges<'a> {
    index: &'a FxHashMap<Box<[u64]>, u32>,
    actions: &'a mut FxHashMap<Action, u32>,
    initial: &'a [Word],
    out: Vec<(u32, u32)>,
    enabled: Vec<u32>,
}

impl Edges<'_> {
    fn possible(&mut self, machine: &Machine, step: &Step<'_>) -> u32 {
        let Some(action) = action(machine, self.initial, step.what, step.before) else {
            return crate::fair::NONE;
        };
        let next = self.actions.len() as u32;
        let number = *self.actions.entry(action).or_insert(next);
        self.enabled.push(number);
        number
    }
}

impl Sink for Edges<'_> {
    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        let action = self.possible(machine, step);
        if let Some(to) = self.index.get(step.plain) {
            self.out.push((*to, action));
        }
    }

    fn beyond(&mut self, machine: &Machine, step: &Step<'_>, _what: Beyond) {
        self.possible(machine, step);
    }
}

/// Can a history stay for ever, and fairly, among these states with things exchanged in any way? None: that
/// would take too much, or cannot be told.
pub(crate) fn stays(
    machine: &Machine,
    explored: &Explored,
    part: &[u32],
    initial: &[Word],
    bytes_max: usize,
) -> Option<bool> {
    let mut states: Vec<Box<[u64]>> = Vec::new();
    let mut index: FxHashMap<Box<[u64]>, u32> = FxHashMap::default();
    let each = STATE_BYTES + INDEX_BYTES + 2 * 8 * explored.state(part[0]).len();
    for id in part {
        for state in machine.exchanged(explored.state(*id))? {
            let next = states.len() as u32;
            index.entry(state.clone()).or_insert_with(|| {
                states.push(state);
                next
            });
        }
        if states.len().saturating_mul(each) > bytes_max {
            return None;
        }
    }
    let held = states.len() * (each - STATE_BYTES);
    let mut graph = Graph { states: (0..states.len() as u32).collect(), ..Graph::default() };
    let mut actions = FxHashMap::default();
    let (out, enabled) = (Vec::new(), Vec::new());
    let mut edges = Edges { index: &index, actions: &mut actions, initial, out, enabled };
    let mut worker = machine.worker();
    for state in &states {
        graph.first.push(graph.edges.len() as u32);
        graph.first_enabled.push(graph.enabled.len() as u32);
        edges.out.clear();
        edges.enabled.clear();
        machine.load(&mut worker, state);
        machine.expand(&mut worker, &mut edges, true);
        graph.edges.extend_from_slice(&edges.out);
        edges.enabled.sort_unstable();
        edges.enabled.dedup();
        graph.enabled.extend_from_slice(&edges.enabled);
        if graph.bytes() + held > bytes_max {
            return None;
        }
    }
    graph.first.push(graph.edges.len() as u32);
    graph.first_enabled.push(graph.enabled.len() as u32);
    let stays = parts(&graph).iter().any(|part| fair(&graph, part).is_some());
    Some(stays)
}
