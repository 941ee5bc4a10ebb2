//! Which states, and which transitions of them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use design::model::{Design, Fault, FaultSetting, Retention, StateKind};
use rustc_hash::FxHashSet;

use super::scale::scaled;
use super::tree::{Grown, grow};
use super::value::Reader;
use super::{Draw, Drawn, Sample};
use crate::clock::Scaled;
use crate::islands::reduce;
use crate::run::{Run, Wanted};
use crate::world::plan::{Network, SlotName};
use crate::{Options, WorldError};

/// Small and repeatable.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % n.max(1) as u64) as usize
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

/// The same design with logs that keep their entries. The checker lets a log forget its first entry at any time, a
/// server when the entry is old enough: what follows cannot be told to a server.
fn remembering(design: &Design) -> Design {
    let mut design = design.clone();
    for state in design.subjects.iter_mut().flat_map(|subject| &mut subject.states) {
        if let StateKind::Log { retain: retain @ Retention::Age(_) } = &mut state.kind {
            *retain = Retention::Forever;
        }
    }
    design
}

/// Explores the small world of a design as it is written, and draws transitions from all depths.
pub fn sample(design: &Design, draw: &Draw) -> Result<Sample, WorldError> {
    let whole = Scaled::of(&remembering(design), false);
    let reduced = match whole.design.world.symmetry_off {
        true => whole,
        false => whole.reduced(reduce(&whole.design, &whole.left).0),
    };
    let told = |setting: &&FaultSetting| draw.faults.contains(&setting.fault);
    let (kept, left_out): (Vec<FaultSetting>, Vec<FaultSetting>) =
        reduced.design.world.faults.iter().cloned().partition(|setting| told(&setting));
    let options = Options {
        max_states: draw.states_max,
        threads: draw.threads,
        faults: Some(kept),
        failures: false,
        recovery: false,
        witnesses: false,
        regions: false,
        free: false,
        ..Options::default()
    };
    let searches = RefCell::new(Vec::new());
    let wanted = Wanted {
        name: "as written".into(),
        protections: &[],
        invariants: Vec::new(),
        witnesses: false,
        one_is_enough: false,
        symmetric: true,
        announce: false,
        island: false,
        whole: &reduced,
        network: Network::OneByOne,
        silent_from: None,
        searches: &searches,
    };
    let run = Run::new(&reduced, &wanted, &options, &mut |_| ())?;
    let mut chance = Chance(draw.seed);
    let chosen = states(&run, draw, &mut chance);
    let mut grown = grow(&run, &chosen, &draw.without);
    let reached = grown.iter().filter(|it| !it.taken.is_empty() || !it.refused.is_empty()).count();
    let all = chosen.len() == run.explored.len();
    transitions(&run, &mut grown, draw.transitions, all, &mut chance);
    Ok(Sample {
        design: scaled(design),
        nodes: grown.into_iter().map(|grown| grown.node).collect(),
        left_out,
        states: run.explored.len(),
        depth: run.explored.depth,
        untold: chosen.len().saturating_sub(reached),
        stopped: run.explored.stop.is_some(),
    })
}

/// A quarter as many states as transitions, as evenly over the depths as can be.
fn states(run: &Run, draw: &Draw, chance: &mut Chance) -> FxHashSet<u32> {
    let plan = &run.machine.plan;
    let is_copy = |name: &SlotName| matches!(name, SlotName::CachePresent { .. });
    let copies: Vec<usize> = (0..plan.names.len()).filter(|at| is_copy(&plan.names[*at])).collect();
    let mut words = Vec::new();
    let mut levels: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for id in run.explored.ids() {
        if !draw.copies && !copies.is_empty() {
            plan.slots.unpack(run.explored.state(id), &mut words);
            if copies.iter().any(|at| words[*at] == 1) {
                continue;
            }
        }
        levels.entry(run.explored.path(id).len()).or_default().push(id);
    }
    let levels = levels.into_values().map(|mut level| {
        level.sort_unstable();
        chance.shuffle(&mut level);
        level
    });
    evenly(levels.collect(), draw.transitions.div_ceil(4).max(1)).into_iter().collect()
}

/// Takes one from each list in turn, until there are enough.
fn evenly<T>(mut lists: Vec<Vec<T>>, enough: usize) -> Vec<T> {
    let mut taken = Vec::new();
    while taken.len() < enough && lists.iter().any(|list| !list.is_empty()) {
        for list in &mut lists {
            if taken.len() < enough {
                taken.extend(list.pop());
            }
        }
    }
    taken
}

/// What was drawn at a node: the number of a transition, or of a call that is refused.
#[derive(Clone, Copy)]
enum Which {
    Taken(usize, usize),
    Refused(usize, u32),
}

fn transitions(run: &Run, grown: &mut [Grown], most: usize, all: bool, chance: &mut Chance) {
    // of one state not all are looked at, unless all of all states are
    let of_one = if all { usize::MAX } else { 40 };
    let mut lists: BTreeMap<(u32, bool), Vec<Which>> = BTreeMap::new();
    for (at, grown) in grown.iter().enumerate() {
        let depth = grown.node.depth;
        let mut taken: Vec<Which> =
            (0..grown.taken.len()).map(|which| Which::Taken(at, which)).collect();
        let mut refused: Vec<Which> =
            grown.refused.iter().map(|number| Which::Refused(at, *number)).collect();
        for (list, is_taken) in [(&mut taken, true), (&mut refused, false)] {
            chance.shuffle(list);
            list.truncate(of_one);
            lists.entry((depth, is_taken)).or_default().append(list);
        }
    }
    let mut lists: Vec<Vec<Which>> = lists.into_values().collect();
    lists.iter_mut().for_each(|list| chance.shuffle(list));
    for which in evenly(lists, most) {
        let at = match which {
            Which::Taken(at, _) | Which::Refused(at, _) => at,
        };
        let here = &mut grown[at];
        let reader = Reader { machine: &run.machine, ticks: here.node.state.ticks };
        let drawn = match which {
            Which::Taken(_, number) => {
                let (what, next) = &here.taken[number];
                reader
                    .event(*what, &here.words)
                    .map(|event| Drawn::Taken(event, reader.state(next)))
            }
            Which::Refused(_, number) => reader
                .refused_event(number, &here.words)
                .map(|(event, refusal)| Drawn::Refused(event, refusal)),
        };
        here.node.drawn.extend(drawn);
    }
}

/// The faults that whoever calls can bring about, and those that are no business of what runs.
pub const TOLD: &[Fault] = &[
    Fault::Crash,
    Fault::LostReply,
    Fault::Duplicate,
    Fault::Late,
    Fault::Pause,
    Fault::ClockStep,
    Fault::LostMessage,
    Fault::Partition,
    Fault::DoubledEvent,
    Fault::Evict,
    Fault::Stale,
];
