//! The work of one block: expand its states in chunks, then hand the newcomers to their shards.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Explored, Place, SHARDS, Shard, Space, hash, shard_of};

/// How many states a thread takes at once.
const CHUNK: usize = 256;
/// Below this, starting threads costs more than they bring.
const ALONE: usize = 4 * CHUNK;

/// What came of one chunk: newcomers for each shard, with their parents.
struct Chunk {
    states: [Vec<u64>; SHARDS],
    parents: [Vec<u32>; SHARDS],
    transitions: u64,
}

impl Chunk {
    fn new() -> Chunk {
        Chunk {
            states: std::array::from_fn(|_| Vec::new()),
            parents: std::array::from_fn(|_| Vec::new()),
            transitions: 0,
        }
    }

    fn clear(&mut self) {
        self.states.iter_mut().for_each(Vec::clear);
        self.parents.iter_mut().for_each(Vec::clear);
        self.transitions = 0;
    }

    fn bytes(&self) -> usize {
        let states: usize = self.states.iter().map(|states| states.capacity() * 8).sum();
        let parents: usize = self.parents.iter().map(|parents| parents.capacity() * 4).sum();
        states + parents
    }
}

pub(super) struct Block {
    width: usize,
    chunks: Vec<Mutex<Chunk>>,
    used: usize,
}

impl Block {
    pub(super) fn new(width: usize) -> Block {
        Block { width, chunks: Vec::new(), used: 0 }
    }

    /// Expands these states; answers how many transitions there were.
    pub(super) fn expand<S: Space>(
        &mut self,
        space: &S,
        workers: &mut [S::Worker],
        known: &Explored,
        ids: &[u32],
        turn: u64,
    ) -> u64 {
        self.used = ids.len().div_ceil(CHUNK);
        while self.chunks.len() < self.used {
            self.chunks.push(Mutex::new(Chunk::new()));
        }
        let next = AtomicUsize::new(0);
        let work = |worker: &mut S::Worker| {
            let mut out = Vec::new();
            let mut hashes = Vec::new();
            let mut recent = Recent::new(known.width);
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= self.used {
                    return;
                }
                let mut chunk = self.chunks[at].lock().expect("no thread panicked");
                chunk.clear();
                let range = at * CHUNK..ids.len().min((at + 1) * CHUNK);
                for index in range {
                    let place =
                        Place { id: ids[index], turn: turn + index as u64, depth: known.depth };
                    out.clear();
                    space.expand(worker, known.state(place.id), place, &mut out);
                    sift(known, &out, place.id, &mut recent, &mut hashes, &mut chunk);
                }
            }
        };
        if workers.len() == 1 || ids.len() < ALONE {
            work(&mut workers[0]);
        } else {
            std::thread::scope(|scope| {
                let work = &work;
                for worker in workers {
                    scope.spawn(move || work(worker));
                }
            });
        }
        self.chunks[..self.used]
            .iter_mut()
            .map(|chunk| chunk.get_mut().expect("no thread panicked").transitions)
            .sum()
    }

    /// How many may be new in each shard.
    pub(super) fn newcomers(&mut self) -> [usize; SHARDS] {
        let mut count = [0; SHARDS];
        for chunk in &mut self.chunks[..self.used] {
            let chunk = chunk.get_mut().expect("no thread panicked");
            for (count, parents) in count.iter_mut().zip(&chunk.parents) {
                *count += parents.len();
            }
        }
        count
    }

    /// Puts the newcomers in, in the order of their chunks.
    pub(super) fn admit(&mut self, shards: &mut [Shard], threads: usize) {
        let newcomers: usize = self.newcomers().iter().sum();
        let chunks: Vec<_> =
            self.chunks[..self.used].iter().map(|chunk| chunk.lock().expect("no panic")).collect();
        let width = self.width;
        let take = |number: usize, shard: &mut Shard| {
            for chunk in &chunks {
                let states = chunk.states[number].chunks_exact(width);
                for (state, parent) in states.zip(&chunk.parents[number]) {
                    shard.admit(state, *parent);
                }
            }
        };
        if threads == 1 || newcomers < ALONE {
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
        self.chunks.iter_mut().map(|chunk| chunk.get_mut().expect("no panic").bytes()).sum()
    }
}

/// A successor that is to be looked for: its hash, the entry where it would stand, its turn.
struct Seek {
    hash: u64,
    head: u32,
    at: u32,
}

/// States that this thread came to a moment ago in this block: they are known, or will be.
struct Recent {
    width: usize,
    hashes: Vec<u64>,
    states: Vec<u64>,
}

const RECENT: usize = 1 << 13;

impl Recent {
    fn new(width: usize) -> Recent {
        Recent { width, hashes: vec![0; RECENT], states: vec![0; RECENT * width] }
    }

    /// Was it here just now? From now on it was.
    #[inline]
    fn seen(&mut self, state: &[u64], hash: u64) -> bool {
        let at = hash as usize % RECENT;
        // 0 is nothing.
        let mark = hash | 1;
        let held = &mut self.states[at * self.width..(at + 1) * self.width];
        if self.hashes[at] == mark && held.iter().zip(state).all(|(held, word)| held == word) {
            return true;
        }
        self.hashes[at] = mark;
        for (held, word) in held.iter_mut().zip(state) {
            *held = *word;
        }
        false
    }
}

/// Keeps the successors that are not known yet. Where each would stand is looked up for all of
/// them first: the memory is asked for many at once instead of one after the other.
fn sift(
    known: &Explored,
    out: &[u64],
    parent: u32,
    recent: &mut Recent,
    hashes: &mut Vec<Seek>,
    chunk: &mut Chunk,
) {
    hashes.clear();
    for (at, state) in out.chunks_exact(known.width).enumerate() {
        chunk.transitions += 1;
        let hash = hash(state);
        if !recent.seen(state, hash) {
            let head = known.shards[shard_of(hash)].table.head(hash);
            hashes.push(Seek { hash, head, at: at as u32 });
        }
    }
    let mut touched = 0;
    for Seek { hash, head, .. } in &*hashes {
        let shard = &known.shards[shard_of(*hash)];
        touched ^= shard.table.touch(&shard.arena, *hash, *head);
    }
    std::hint::black_box(touched);
    for Seek { hash, at, .. } in &*hashes {
        let from = *at as usize * known.width;
        let state = &out[from..from + known.width];
        let number = shard_of(*hash);
        let shard = &known.shards[number];
        if shard.table.find(&shard.arena, state, *hash).is_none() {
            chunk.states[number].extend_from_slice(state);
            chunk.parents[number].push(parent);
        }
    }
}
