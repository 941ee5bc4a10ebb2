//! One search loop for every arm: breadth first by levels, exact states, all cores.
//!
//! A level is worked in blocks. First the block's states are expanded, in chunks, by whoever is
//! free; then each shard of the known states takes its newcomers in the order of the chunks.
//! Neither the chunks nor the shards depend on the number of threads, so every run numbers the
//! states the same way.

mod arena;
mod block;
mod recent;
mod table;

use std::time::Instant;

pub(crate) use arena::Arena;
use block::Block;
pub(crate) use table::hash;
use table::{CAPACITY_MAX, Table};

use crate::{Progress, Stop};

const SHARD_BITS: u32 = 6;
pub(crate) const SHARDS: usize = 1 << SHARD_BITS;
/// How many states are expanded before the newcomers are put in: at least, and at most.
const BLOCK_STATES_MIN: usize = 1 << 9;
const BLOCK_STATES_MAX: usize = 1 << 16;
/// About how many bytes the successors of a block may take.
const BLOCK_BYTES: usize = 8 << 20;

/// The parent of an initial state.
pub(crate) const NO_PARENT: u32 = u32::MAX;

/// What follows a state.
#[derive(Default)]
pub(crate) struct Out {
    /// one after the other
    pub(crate) states: Vec<u64>,
    pub(crate) transitions: u64,
}

impl Out {
    fn clear(&mut self) {
        self.states.clear();
        self.transitions = 0;
    }

    #[inline]
    pub(crate) fn push(&mut self, state: &[u64]) {
        self.states.extend_from_slice(state);
        self.transitions += 1;
    }
}

/// Something to explore: packed states and what follows them.
pub(crate) trait Space: Sync {
    /// What one thread works with.
    type Worker: Send;

    /// How many words a state takes.
    fn width(&self) -> usize;

    fn worker(&self) -> Self::Worker;

    /// States that were reached already: the search goes on from all of them. Then there is no other beginning.
    fn reached(&self) -> Option<&Explored> {
        None
    }

    /// The states where histories begin, one after the other.
    fn initial(&self, worker: &mut Self::Worker, out: &mut Vec<u64>);

    /// Puts every successor of `state` into `out`. `at` is its number and place in the search.
    fn expand(&self, worker: &mut Self::Worker, state: &[u64], at: Place, out: &mut Out);

    /// After each level: is there nothing more to learn?
    fn enough(&self, workers: &mut [Self::Worker], depth: u32) -> bool;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) id: u32,
    /// its turn in the level: the order in which one thread would come to it
    pub(crate) turn: u64,
    pub(crate) depth: u32,
}

pub(crate) struct Limits {
    pub(crate) states: usize,
    pub(crate) bytes: usize,
    /// how many transitions from the first state
    pub(crate) depth: Option<u32>,
    pub(crate) threads: usize,
}

#[derive(Clone)]
struct Shard {
    arena: Arena,
    table: Table,
    /// how many states were found in this level
    found: usize,
}

/// What was reached.
pub(crate) struct Explored {
    width: usize,
    shards: Vec<Shard>,
    pub(crate) transitions: u64,
    pub(crate) depth: u32,
    pub(crate) seconds: f64,
    /// none: closed, or the space had enough
    pub(crate) stop: Option<Stop>,
    /// the most memory that was held at once
    pub(crate) bytes_max: usize,
}

#[inline]
fn shard_of(hash: u64) -> usize {
    (hash >> (64 - SHARD_BITS)) as usize
}

impl Explored {
    fn new(width: usize) -> Explored {
        let shard = || Shard { arena: Arena::new(width), table: Table::new(), found: 0 };
        Explored {
            width,
            shards: (0..SHARDS).map(|_| shard()).collect(),
            transitions: 0,
            depth: 0,
            seconds: 0.0,
            stop: None,
            bytes_max: 0,
        }
    }

    /// The same states with the same numbers, all of them just found.
    fn found_again(&self) -> Explored {
        let again = |shard: &Shard| Shard { found: shard.arena.len(), ..shard.clone() };
        Explored { shards: self.shards.iter().map(again).collect(), ..Explored::new(self.width) }
    }

    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.arena.len()).sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        let shard = |shard: &Shard| shard.arena.bytes() + shard.table.bytes();
        self.shards.iter().map(shard).sum()
    }

    pub(crate) fn state(&self, id: u32) -> &[u64] {
        self.shards[id as usize % SHARDS].arena.state(id as usize / SHARDS)
    }

    pub(crate) fn parent(&self, id: u32) -> Option<u32> {
        let parent = self.shards[id as usize % SHARDS].arena.parent(id as usize / SHARDS);
        (parent != NO_PARENT).then_some(parent)
    }

    pub(crate) fn find(&self, state: &[u64]) -> Option<u32> {
        let hash = hash(state);
        let shard = shard_of(hash);
        let index = self.shards[shard].table.find(&self.shards[shard].arena, state, hash)?;
        Some((index * SHARDS + shard) as u32)
    }

    fn lens(&self) -> [usize; SHARDS] {
        std::array::from_fn(|shard| self.shards[shard].arena.len())
    }

    /// Every id, shard by shard.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.shards.iter().enumerate().flat_map(|(shard, held)| {
            (0..held.arena.len()).map(move |index| (index * SHARDS + shard) as u32)
        })
    }

    /// From the initial state to this one.
    pub(crate) fn path(&self, id: u32) -> Vec<u32> {
        let mut path = vec![id];
        let mut at = id;
        while let Some(parent) = self.parent(at) {
            path.push(parent);
            at = parent;
        }
        path.reverse();
        path
    }

    /// May so many newcomers be taken in?
    fn has_room(&self, newcomers: &[usize; SHARDS], overhead: usize, limits: &Limits) -> bool {
        let fits = |(new, shard): (&usize, &Shard)| shard.arena.len() + new < CAPACITY_MAX;
        newcomers.iter().zip(&self.shards).all(fits)
            && self.bytes_after(newcomers) + overhead <= limits.bytes
    }

    /// The most that taking in so many newcomers for each shard can take.
    fn bytes_after(&self, newcomers: &[usize; SHARDS]) -> usize {
        let mut bytes = 0;
        let mut growing = 0;
        for (shard, new) in self.shards.iter().zip(newcomers) {
            let len = shard.arena.len() + new;
            let table = shard.table.bytes_for(len);
            bytes += Arena::bytes_for(self.width, len) + table;
            growing = growing.max(table);
        }
        bytes + growing
    }
}

impl Shard {
    /// Takes a state in, if it is new.
    #[inline]
    fn take(&mut self, state: &[u64], hash: u64, parent: u32) {
        if !self.table.has_room(self.arena.len() + 1) {
            self.table.grow(&self.arena);
        }
        if self.table.add(&self.arena, state, hash) {
            self.arena.push(state, parent);
            self.found += 1;
        }
    }
}

/// A level: its states, those that were found together close to each other, since what follows them is
/// often the same.
#[derive(Default)]
struct Level {
    ids: Vec<u32>,
}

impl Level {
    /// What was found since each shard held `from`.
    fn gather(&mut self, shards: &mut [Shard], from: &[usize; SHARDS]) {
        const RUN: usize = 8;
        self.ids.clear();
        let longest = shards.iter().map(|shard| shard.found).max().unwrap_or(0);
        for start in (0..longest).step_by(RUN) {
            for (number, shard) in shards.iter().enumerate() {
                let end = shard.found.min(start + RUN);
                for at in start..end {
                    self.ids.push(((from[number] + at) * SHARDS + number) as u32);
                }
            }
        }
        shards.iter_mut().for_each(|shard| shard.found = 0);
    }

    fn bytes(&self) -> usize {
        self.ids.capacity() * 4
    }
}

/// How many states make a block, if each has so many successors.
fn block_states(width: usize, emitted: u64, states: u64, bytes_max: usize) -> usize {
    let each = (width as u64 * 8 + 4) * (emitted / states.max(1) + 1);
    let bytes = BLOCK_BYTES.min(bytes_max / 8) as u64;
    ((bytes / each) as usize).clamp(BLOCK_STATES_MIN, BLOCK_STATES_MAX)
}

/// Is told how far the search has come, with what is known by then.
pub(crate) type Tell<'a, W> = dyn FnMut(&Progress, &Explored, &[W]) + 'a;

/// Explores everything that can be reached, within the limits.
pub(crate) fn explore<S: Space>(
    space: &S,
    workers: &mut Vec<S::Worker>,
    limits: &Limits,
    progress: &mut Tell<'_, S::Worker>,
) -> Explored {
    let started = Instant::now();
    let width = space.width();
    let threads = limits.threads.max(1);
    while workers.len() < threads {
        workers.push(space.worker());
    }
    let mut first = Vec::new();
    let mut known = match space.reached() {
        Some(reached) => reached.found_again(),
        None => {
            space.initial(&mut workers[0], &mut first);
            Explored::new(width)
        }
    };
    for state in first.chunks_exact(width) {
        let hash = hash(state);
        known.shards[shard_of(hash)].take(state, hash, NO_PARENT);
    }
    let mut block = Block::new(width, threads);
    let mut level = Level::default();
    let mut from = [0; SHARDS];
    let mut states = BLOCK_STATES_MIN;
    loop {
        level.gather(&mut known.shards, &from);
        from = known.lens();
        let mut turn = 0;
        while turn < level.ids.len() && known.stop.is_none() {
            let range = turn..level.ids.len().min(turn + states);
            let ids = &level.ids[range.clone()];
            let expanded = block.expand(space, workers, &known, ids, turn as u64);
            turn = range.end;
            states = block_states(width, expanded.emitted, range.len() as u64, limits.bytes);
            known.transitions += expanded.transitions;
            let overhead = block.bytes() + level.bytes();
            if !known.has_room(&block.newcomers(), overhead, limits) {
                block.sift(&known);
                if !known.has_room(&block.newcomers(), overhead, limits) {
                    known.stop = Some(Stop::Memory);
                    break;
                }
            }
            block.admit(&mut known.shards, ids, threads);
            known.bytes_max = known.bytes_max.max(known.bytes() + overhead);
            if known.len() > limits.states {
                known.stop = Some(Stop::States);
            }
            known.seconds = started.elapsed().as_secs_f64();
            let at = Progress {
                states: known.len() as u64,
                depth: known.depth,
                seconds: known.seconds,
                bytes: (known.bytes() + overhead) as u64,
                ..Progress::default()
            };
            progress(&at, &known, workers);
        }
        let enough = space.enough(workers, known.depth);
        if enough || known.stop.is_some() || known.lens() == from {
            break;
        }
        known.depth += 1;
        if limits.depth == Some(known.depth) {
            // What was found last is not looked at any more.
            known.stop = Some(Stop::Depth);
            break;
        }
    }
    known.seconds = started.elapsed().as_secs_f64();
    known
}
