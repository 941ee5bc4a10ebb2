//! From the first state to those that were chosen, by real steps.

use design::model::OperationId;
use engine::Word;
use rustc_hash::{FxHashMap, FxHashSet};

use super::value::Reader;
use super::{Event, Node};
use crate::machine::{Machine, Move, Sink, Step};
use crate::run::Run;

/// A node, and what can be drawn there.
pub(super) struct Grown {
    pub(super) node: Node,
    pub(super) words: Vec<Word>,
    pub(super) taken: Vec<(Move, Vec<Word>)>,
    /// the numbers of calls that are refused
    pub(super) refused: Vec<u32>,
}

struct Collector<'a> {
    reader: Reader<'a>,
    before: &'a [Word],
    /// packed states that are to be reached from here, and how
    wanted: FxHashMap<Vec<u64>, Option<(Event, Vec<Word>)>>,
    chosen: bool,
    taken: Vec<(Move, Vec<Word>)>,
    /// operations of which no call is drawn
    without: &'a [OperationId],
}

impl Sink for Collector<'_> {
    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        if let Some(found) = self.wanted.get_mut(step.packed)
            && found.is_none()
        {
            let event = self.reader.event(step.what, self.before);
            *found = event.map(|event| (event, step.next.to_vec()));
        }
        if self.chosen && acts(machine, step.what, self.without) {
            self.taken.push((step.what, step.next.to_vec()));
        }
    }
}

/// Is it more than the passing of time, or something that happens outside of what runs?
fn acts(machine: &Machine, what: Move, without: &[OperationId]) -> bool {
    if let Move::Call { instance, .. } = what {
        return !without.contains(&machine.instances[instance as usize].operation);
    }
    matches!(
        what,
        Move::Repair { .. }
            | Move::Land { .. }
            | Move::Attempt { .. }
            | Move::Answer { .. }
            | Move::Deliver { .. }
            | Move::Put { .. }
    )
}

/// The tree that leads to the chosen states. Those that cannot be reached by events are not in it.
pub(super) fn grow(run: &Run, chosen: &FxHashSet<u32>, without: &[OperationId]) -> Vec<Grown> {
    let (machine, explored) = (&run.machine, &run.explored);
    let mut children: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let mut known: FxHashSet<u32> = FxHashSet::default();
    let mut roots = Vec::new();
    let mut order: Vec<u32> = chosen.iter().copied().collect();
    order.sort_unstable();
    for id in order {
        let mut at = id;
        while known.insert(at) {
            match explored.parent(at) {
                Some(parent) => children.entry(parent).or_default().push(at),
                None => {
                    roots.push(at);
                    break;
                }
            }
            at = explored.parent(at).unwrap_or(at);
        }
    }
    let mut worker = machine.worker();
    let mut grown: Vec<Grown> = Vec::new();
    let mut ids: Vec<u32> = Vec::new();
    for root in roots {
        let words = machine.initial();
        let reader = Reader { machine, ticks: 0 };
        let node = Node { from: None, depth: 0, state: reader.state(&words), drawn: Vec::new() };
        grown.push(Grown { node, words, taken: Vec::new(), refused: Vec::new() });
        ids.push(root);
    }
    let mut at = 0;
    while at < grown.len() {
        let words = grown[at].words.clone();
        let (depth, ticks) = (grown[at].node.depth, grown[at].node.state.ticks);
        let below = children.remove(&ids[at]).unwrap_or_default();
        let wanted = below.iter().map(|id| (explored.state(*id).to_vec(), None)).collect();
        let reader = Reader { machine, ticks };
        let chosen = chosen.contains(&ids[at]);
        let mut sink =
            Collector { reader, before: &words, wanted, chosen, taken: Vec::new(), without };
        if machine.load_words(&mut worker, &words).is_ok() {
            machine.expand(&mut worker, &mut sink, false);
        }
        let Collector { mut wanted, taken, .. } = sink;
        for id in below {
            let Some((event, next)) = wanted.remove(explored.state(id)).flatten() else { continue };
            let ticks = ticks + i64::from(event == Event::Tick);
            let state = Reader { machine, ticks }.state(&next);
            let from = Some((at, event));
            let node = Node { from, depth: depth + 1, state, drawn: Vec::new() };
            grown.push(Grown { node, words: next, taken: Vec::new(), refused: Vec::new() });
            ids.push(id);
        }
        if chosen {
            reader.refused(&words, &mut |number| {
                if !without.contains(&machine.instances[number as usize].operation) {
                    grown[at].refused.push(number);
                }
            });
            grown[at].taken = taken;
        }
        at += 1;
    }
    grown
}
