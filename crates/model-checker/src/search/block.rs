//! The work of one block: expand its states in chunks, then let each shard take what is its own.
//!
//! Nothing is looked up while states are expanded. What follows them is put in the order of the
//! shards first, so that all of it that belongs to one shard is looked up together: a shard is
//! small, and the memory is asked for many of its entries at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::recent::Recent;
use super::{Explored, Out, Place, SHARDS, Shard, Space, hash, shard_of};

/// How many states a thread takes at once.
const CHUNK: usize = 512;
/// Below this, starting threads costs more than they bring.
const ALONE: usize = 1024;
/// How many entries are asked for at once.
const BATCH: usize = 64;

/// What may be new after one chunk.
struct Chunk {
    /// in the order of the shards
    states: Vec<u64>,
    /// for each: the place of its parent in the chunk
    origins: Vec<u32>,
    /// where each shard's begin
    starts: Box<[u32]>,
    transitions: u64,
    emitted: u64,
}

impl Chunk {
    fn new() -> Chunk {
        Chunk {
            states: Vec::new(),
            origins: Vec::new(),
            starts: vec![0; SHARDS + 1].into(),
            transitions: 0,
            emitted: 0,
        }
    }

    fn bytes(&self) -> usize {
        self.states.capacity() * 8 + self.origins.capacity() * 4 + self.starts.len() * 4
    }

    fn run(&self, shard: usize) -> std::ops::Range<usize> {
        self.starts[shard] as usize..self.starts[shard + 1] as usize
    }
}

/// What one thread expands with.
struct Hand {
    recent: Recent,
    out: Out,
    /// what may be new, in the order found
    states: Vec<u64>,
    origins: Vec<u32>,
    shards: Vec<u16>,
}

impl Hand {
    fn new(width: usize) -> Hand {
        Hand {
            recent: Recent::new(width),
            out: Out::default(),
            states: Vec::new(),
            origins: Vec::new(),
            shards: Vec::new(),
        }
    }

    fn bytes(&self) -> usize {
        let words = self.states.capacity() + self.out.states.capacity();
        let rest = self.origins.capacity() * 4 + self.shards.capacity() * 2;
        words * 8 + rest + self.recent.bytes()
    }

    /// Keeps of what follows one state what was not seen a moment ago.
    #[inline]
    fn keep(&mut self, width: usize, parent: usize) {
        for state in self.out.states.chunks_exact(width) {
            let hash = hash(state);
            if !self.recent.seen(state, hash) {
                self.states.extend_from_slice(state);
                self.origins.push(parent as u32);
                self.shards.push(shard_of(hash) as u16);
            }
        }
    }

    /// Puts what was kept in the order of the shards.
    fn sort(&mut self, width: usize, chunk: &mut Chunk) {
        let mut next = [0_u32; SHARDS];
        for shard in &self.shards {
            next[usize::from(*shard)] += 1;
        }
        let mut start = 0;
        for (next, held) in next.iter_mut().zip(&mut chunk.starts) {
            *held = start;
            start += *next;
            *next = *held;
        }
        chunk.starts[SHARDS] = start;
        chunk.states.resize(self.states.len(), 0);
        chunk.origins.resize(self.origins.len(), 0);
        let kept = self.states.chunks_exact(width).zip(&self.origins).zip(&self.shards);
        for ((state, origin), shard) in kept {
            let at = &mut next[usize::from(*shard)];
            let to = *at as usize;
            *at += 1;
            chunk.origins[to] = *origin;
            let room = &mut chunk.states[to * width..(to + 1) * width];
            for (room, word) in room.iter_mut().zip(state) {
                *room = *word;
            }
        }
        self.states.clear();
        self.origins.clear();
        self.shards.clear();
    }
}

/// What came of expanding a block.
pub(super) struct Expanded {
    pub(super) transitions: u64,
    /// how many successors were handed out
    pub(super) emitted: u64,
}

pub(super) struct Block {
    width: usize,
    hands: Vec<Hand>,
    chunks: Vec<Mutex<Chunk>>,
    used: usize,
}

impl Block {
    pub(super) fn new(width: usize, threads: usize) -> Block {
        let hands = (0..threads).map(|_| Hand::new(width)).collect();
        Block { width, hands, chunks: Vec::new(), used: 0 }
    }

    /// Expands these states.
    pub(super) fn expand<S: Space>(
        &mut self,
        space: &S,
        workers: &mut [S::Worker],
        known: &Explored,
        ids: &[u32],
        turn: u64,
    ) -> Expanded {
        self.used = ids.len().div_ceil(CHUNK);
        while self.chunks.len() < self.used {
            self.chunks.push(Mutex::new(Chunk::new()));
        }
        let next = AtomicUsize::new(0);
        let (used, width, chunks) = (self.used, self.width, &self.chunks);
        let work = |worker: &mut S::Worker, hand: &mut Hand| {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= used {
                    return;
                }
                let mut chunk = chunks[at].lock().expect("no thread panicked");
                (chunk.transitions, chunk.emitted) = (0, 0);
                let start = at * CHUNK;
                let own = &ids[start..ids.len().min(start + CHUNK)];
                for (index, id) in own.iter().enumerate() {
                    let turn = turn + (start + index) as u64;
                    let place = Place { id: *id, turn, depth: known.depth };
                    hand.out.clear();
                    space.expand(worker, known.state(place.id), place, &mut hand.out);
                    chunk.transitions += hand.out.transitions;
                    chunk.emitted += hand.out.transitions;
                    hand.keep(width, index);
                }
                hand.sort(width, &mut chunk);
            }
        };
        let hands = &mut self.hands;
        if workers.len() == 1 || ids.len() < ALONE {
            work(&mut workers[0], &mut hands[0]);
        } else {
            std::thread::scope(|scope| {
                let work = &work;
                for (worker, hand) in workers.iter_mut().zip(hands) {
                    scope.spawn(move || work(worker, hand));
                }
            });
        }
        let mut expanded = Expanded { transitions: 0, emitted: 0 };
        for chunk in self.chunks() {
            expanded.transitions += chunk.transitions;
            expanded.emitted += chunk.emitted;
        }
        expanded
    }

    fn chunks(&mut self) -> impl Iterator<Item = &mut Chunk> {
        self.chunks[..self.used].iter_mut().map(|chunk| chunk.get_mut().expect("no panic"))
    }

    /// How many may be new in each shard.
    pub(super) fn newcomers(&mut self) -> [usize; SHARDS] {
        let mut count = [0; SHARDS];
        for chunk in self.chunks() {
            for (shard, count) in count.iter_mut().enumerate() {
                *count += chunk.run(shard).len();
            }
        }
        count
    }

    /// Drops what is known. The shards do this anyway; this is for when it must be known
    /// beforehand how many there are.
    pub(super) fn sift(&mut self, known: &Explored) {
        let width = self.width;
        for chunk in self.chunks() {
            let mut to = 0;
            for (shard, held) in known.shards.iter().enumerate() {
                let run = chunk.run(shard);
                chunk.starts[shard] = to as u32;
                for at in run {
                    let state = &chunk.states[at * width..(at + 1) * width];
                    if held.table.find(&held.arena, state, hash(state)).is_none() {
                        chunk.states.copy_within(at * width..(at + 1) * width, to * width);
                        chunk.origins[to] = chunk.origins[at];
                        to += 1;
                    }
                }
            }
            chunk.starts[SHARDS] = to as u32;
        }
    }

    /// Puts the newcomers in, in the order of their chunks. `ids`: those that were expanded.
    pub(super) fn admit(&mut self, shards: &mut [Shard], ids: &[u32], threads: usize) {
        let waiting: usize = self.newcomers().iter().sum();
        let chunks: Vec<_> =
            self.chunks[..self.used].iter().map(|chunk| chunk.lock().expect("no panic")).collect();
        let width = self.width;
        let take = |number: usize, shard: &mut Shard| {
            for (chunk, ids) in chunks.iter().zip(ids.chunks(CHUNK)) {
                let run = chunk.run(number);
                let states = chunk.states[run.start * width..run.end * width].chunks(BATCH * width);
                for (states, origins) in states.zip(chunk.origins[run].chunks(BATCH)) {
                    shard.admit(width, states, origins, ids);
                }
            }
        };
        if threads == 1 || waiting < ALONE {
            for (number, shard) in shards.iter_mut().enumerate() {
                take(number, shard);
            }
            return;
        }
        let waiting = Mutex::new(shards.iter_mut().enumerate());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let taken = waiting.lock().expect("no panic").next();
                        let Some((number, shard)) = taken else { return };
                        take(number, shard);
                    }
                });
            }
        });
    }

    pub(super) fn bytes(&mut self) -> usize {
        let hands: usize = self.hands.iter().map(Hand::bytes).sum();
        let chunks = self.chunks.iter_mut().map(|chunk| chunk.get_mut().expect("no panic").bytes());
        hands + chunks.sum::<usize>()
    }
}

impl Shard {
    /// Takes at most a batch of states in, those of them that are new.
    fn admit(&mut self, width: usize, states: &[u64], origins: &[u32], ids: &[u32]) {
        let mut hashes = [0; BATCH];
        let mut heads = [0; BATCH];
        let known = states.chunks_exact(width).zip(&mut hashes).zip(&mut heads);
        for ((state, held), head) in known {
            *held = hash(state);
            *head = self.table.head(*held);
        }
        let mut touched = 0;
        for (hash, head) in hashes.iter().zip(&heads).take(origins.len()) {
            touched ^= self.table.touch(&self.arena, *hash, *head);
        }
        std::hint::black_box(touched);
        for ((state, origin), hash) in states.chunks_exact(width).zip(origins).zip(&hashes) {
            self.take(state, *hash, ids[*origin as usize]);
        }
    }
}
