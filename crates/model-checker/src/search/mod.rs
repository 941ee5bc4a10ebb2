//! One search loop for every arm: breadth first by levels, exact states, all cores.
//!
//! A level is worked in blocks. First the block's states are expanded, in chunks, by whoever is
//! free, and successors that are known already are dropped; then each shard of the known states
//! takes its newcomers in the order of the chunks. Neither the chunks nor the shards depend on
//! the number of threads, so every run numbers the states the same way.

mod arena;
mod block;
mod table;

use std::time::Instant;

pub(crate) use arena::Arena;
use block::Block;
pub(crate) use table::hash;
use table::{CAPACITY_MAX, Table};

use crate::{Progress, Stop};

const SHARD_BITS: u32 = 4;
pub(crate) const SHARDS: usize = 1 << SHARD_BITS;
/// How many states are expanded before the newcomers are put in.
const BLOCK_STATES: usize = 1 << 15;

/// The parent of an initial state.
pub(crate) const NO_PARENT: u32 = u32::MAX;

/// Something to explore: packed states and what follows them.
pub(crate) trait Space: Sync {
    /// What one thread works with.
    type Worker: Send;

    /// How many words a state takes.
    fn width(&self) -> usize;

    fn worker(&self) -> Self::Worker;

    /// The states where histories begin, one after the other.
    fn initial(&self, worker: &mut Self::Worker, out: &mut Vec<u64>);

    /// Appends every successor of `state` to `out`. `at` is its number and place in the search.
    fn expand(&self, worker: &mut Self::Worker, state: &[u64], at: Place, out: &mut Vec<u64>);

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
    pub(crate) threads: usize,
}

struct Shard {
    arena: Arena,
    table: Table,
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
        let shard = || Shard { arena: Arena::new(width), table: Table::new() };
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

    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.arena.len()).sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.arena.bytes() + shard.table.bytes()).sum()
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
    fn admit(&mut self, state: &[u64], parent: u32) {
        let hash = hash(state);
        if self.table.find(&self.arena, state, hash).is_some() {
            return;
        }
        if !self.table.has_room(self.arena.len() + 1) {
            self.table.grow(&self.arena);
        }
        self.table.insert(self.arena.len(), hash);
        self.arena.push(state, parent);
    }
}

/// The states of a level, those that were found together close to each other: what follows them
/// is often the same.
fn level(from: &[usize; SHARDS], to: &[usize; SHARDS]) -> Vec<u32> {
    const RUN: usize = 16;
    let longest = (0..SHARDS).map(|shard| to[shard] - from[shard]).max().unwrap_or(0);
    let mut level = Vec::with_capacity((0..SHARDS).map(|shard| to[shard] - from[shard]).sum());
    for start in (0..longest).step_by(RUN) {
        for shard in 0..SHARDS {
            let first = from[shard] + start;
            for index in first..to[shard].min(first + RUN) {
                level.push((index * SHARDS + shard) as u32);
            }
        }
    }
    level
}

/// Explores everything that can be reached, within the limits.
pub(crate) fn explore<S: Space>(
    space: &S,
    workers: &mut Vec<S::Worker>,
    limits: &Limits,
    progress: &mut dyn FnMut(&Progress),
) -> Explored {
    let started = Instant::now();
    let width = space.width();
    let threads = limits.threads.max(1);
    while workers.len() < threads {
        workers.push(space.worker());
    }
    let mut known = Explored::new(width);
    let mut first = Vec::new();
    space.initial(&mut workers[0], &mut first);
    for state in first.chunks_exact(width) {
        known.shards[shard_of(hash(state))].admit(state, NO_PARENT);
    }
    let mut block = Block::new(width);
    let mut from = [0; SHARDS];
    loop {
        let to = known.lens();
        let level = level(&from, &to);
        if level.is_empty() {
            break;
        }
        let overhead = level.capacity() * 4;
        for (turn, ids) in level.chunks(BLOCK_STATES).enumerate() {
            let turn = turn * BLOCK_STATES;
            known.transitions += block.expand(space, workers, &known, ids, turn as u64);
            let newcomers = block.newcomers();
            let fits = newcomers
                .iter()
                .zip(&known.shards)
                .all(|(new, shard)| shard.arena.len() + new < CAPACITY_MAX);
            let bytes = known.bytes_after(&newcomers) + block.bytes() + overhead;
            if bytes > limits.bytes || !fits {
                known.stop = Some(Stop::Memory);
                break;
            }
            block.admit(&mut known.shards, threads);
            known.bytes_max = known.bytes_max.max(known.bytes() + block.bytes() + overhead);
            if known.len() > limits.states {
                known.stop = Some(Stop::States);
                break;
            }
            known.seconds = started.elapsed().as_secs_f64();
            progress(&Progress {
                states: known.len() as u64,
                depth: known.depth,
                seconds: known.seconds,
                bytes: (known.bytes() + block.bytes()) as u64,
                ..Progress::default()
            });
        }
        let enough = space.enough(workers, known.depth);
        if enough || known.stop.is_some() {
            break;
        }
        from = to;
        if known.lens() != to {
            known.depth += 1;
        }
    }
    known.seconds = started.elapsed().as_secs_f64();
    known
}
