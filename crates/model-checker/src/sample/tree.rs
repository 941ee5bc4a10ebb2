//! From the first state to those that were chosen, by real steps.

use design::model::OperationId;
use engine::Word;
use rustc_hash::{FxHashMap, FxHashSet};

use super::value::Reader;
use super::{Event, Node};
use crate::machine::{Beyond, Machine, Move, Sink, Step};
use crate::run::Run;

/// A node, and what can be drawn there.
pub(super) struct Grown {
    pub(super) node: Node,
    /// times are as they are, however long ago
    pub(super) words: Vec<Word>,
    /// the same as the checker has it: what is too long ago to be told apart is one
    settled: Vec<Word>,
    pub(super) taken: Vec<(Move, Vec<Word>)>,
    /// the numbers of calls that are refused
    pub(super) refused: Vec<u32>,
}

/// Which of the transitions lead to where, in the checker's own terms.
struct Collector<'a> {
    /// packed states that are to be reached from here, and by what
    wanted: FxHashMap<Vec<u64>, Option<(Move, Vec<Word>)>>,
    chosen: bool,
    taken: Vec<Move>,
    /// operations of which no call is drawn
    without: &'a [OperationId],
}

impl Sink for Collector<'_> {
    // what goes beyond the small world is not drawn
    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        if let Some(found) = self.wanted.get_mut(step.packed)
            && found.is_none()
        {
            *found = Some((step.what, step.next(machine)));
        }
        if self.chosen && acts(machine, step.what, self.without) {
            self.taken.push(step.what);
        }
    }
}

/// What the same transitions come to where times are as they are.
#[derive(Default)]
struct Real(FxHashMap<Move, Vec<Word>>);

impl Sink for Real {
    fn moved(&mut self, _machine: &Machine, step: &Step<'_>) {
        self.0.entry(step.what).or_insert_with(|| step.next_as_it_is().to_vec());
    }

    fn beyond(&mut self, machine: &Machine, step: &Step<'_>, _what: Beyond) {
        self.moved(machine, step);
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
        let settled = words.clone();
        grown.push(Grown { node, words, settled, taken: Vec::new(), refused: Vec::new() });
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
        let mut sink = Collector { wanted, chosen, taken: Vec::new(), without };
        if machine.load_words(&mut worker, &grown[at].settled).is_ok() {
            machine.expand(&mut worker, &mut sink, false);
        }
        let Collector { mut wanted, taken, .. } = sink;
        let mut real = Real::default();
        machine.load_as_it_is(&mut worker, &words);
        machine.expand(&mut worker, &mut real, false);
        for id in below {
            let found = wanted.remove(explored.state(id)).flatten();
            let Some((what, settled)) = found else { continue };
            let event = reader.event(what, &words);
            let Some((event, next)) = event.zip(real.0.get(&what).cloned()) else { continue };
            let ticks = ticks + i64::from(event == Event::Tick);
            let state = Reader { machine, ticks }.state(&next);
            let from = Some((at, event));
            let node = Node { from, depth: depth + 1, state, drawn: Vec::new() };
            let (taken, refused) = (Vec::new(), Vec::new());
            grown.push(Grown { node, words: next, settled, taken, refused });
            ids.push(id);
        }
        if chosen {
            reader.refused(&words, &mut |number| {
                if !without.contains(&machine.instances[number as usize].operation) {
                    grown[at].refused.push(number);
                }
            });
            let next = |what: Move| real.0.get(&what).map(|next| (what, next.clone()));
            grown[at].taken = taken.into_iter().filter_map(next).collect();
        }
        at += 1;
    }
    grown
}
