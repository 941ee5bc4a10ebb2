//! Which states are known: open addressing over indices into an arena. An entry keeps eight bits
//! of the hash beside the index, so that few probes look at a state that is not the one sought.

use super::Arena;

const INDEX_BITS: u32 = 24;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
/// Entries are an index plus one: zero is empty.
pub(crate) const CAPACITY_MAX: usize = INDEX_MASK as usize;

#[derive(Clone)]
pub(crate) struct Table {
    entries: Vec<u32>,
    mask: usize,
}

/// A hash whose every bit depends on every word.
#[inline]
pub(crate) fn hash(state: &[u64]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = 0x243f_6a88_85a3_08d3_u64;
    for &word in state {
        let product = u128::from(hash ^ word).wrapping_mul(u128::from(FACTOR));
        hash = (product as u64) ^ ((product >> 64) as u64).rotate_left(23);
    }
    let product = u128::from(hash ^ FACTOR).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A state is a word or a few: comparing them here is cheaper than a call.
#[inline]
fn same(left: &[u64], right: &[u64]) -> bool {
    left.iter().zip(right).all(|(left, right)| left == right)
}

#[inline]
fn tag(hash: u64) -> u32 {
    ((hash >> 48) as u32) << INDEX_BITS
}

impl Table {
    pub(crate) fn new() -> Table {
        Table { entries: vec![0; 16], mask: 15 }
    }

    /// The entry where a state with this hash would stand.
    #[inline]
    pub(crate) fn head(&self, hash: u64) -> u32 {
        self.entries[hash as usize & self.mask]
    }

    /// A word of the state that such an entry most likely means.
    #[inline]
    pub(crate) fn touch(&self, arena: &Arena, hash: u64, head: u32) -> u64 {
        if head != 0 && head & !INDEX_MASK == tag(hash) {
            arena.state((head & INDEX_MASK) as usize - 1)[0]
        } else {
            0
        }
    }

    #[inline]
    pub(crate) fn find(&self, arena: &Arena, state: &[u64], hash: u64) -> Option<usize> {
        let tag = tag(hash);
        let mut at = hash as usize & self.mask;
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                return None;
            }
            if entry & !INDEX_MASK == tag {
                let index = (entry & INDEX_MASK) as usize - 1;
                if same(arena.state(index), state) {
                    return Some(index);
                }
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Puts the next index of the arena under this hash, unless the state is there already.
    #[inline]
    pub(crate) fn add(&mut self, arena: &Arena, state: &[u64], hash: u64) -> bool {
        let tag = tag(hash);
        let mut at = hash as usize & self.mask;
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                self.entries[at] = tag | (arena.len() as u32 + 1);
                return true;
            }
            if entry & !INDEX_MASK == tag
                && same(arena.state((entry & INDEX_MASK) as usize - 1), state)
            {
                return false;
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Puts an index under this hash; no other has the same state.
    #[inline]
    fn insert(&mut self, index: usize, hash: u64) {
        let mut at = hash as usize & self.mask;
        while self.entries[at] != 0 {
            at = (at + 1) & self.mask;
        }
        self.entries[at] = tag(hash) | (index as u32 + 1);
    }

    pub(crate) fn has_room(&self, states: usize) -> bool {
        // At most three quarters full.
        states * 4 <= self.entries.len() * 3
    }

    pub(crate) fn grow(&mut self, arena: &Arena) {
        let size = self.entries.len() * 2;
        self.entries = Vec::new();
        self.entries = vec![0; size];
        self.mask = size - 1;
        for index in 0..arena.len() {
            self.insert(index, hash(arena.state(index)));
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * 4
    }

    /// What the table takes once so many states are in it.
    pub(crate) fn bytes_for(&self, states: usize) -> usize {
        let mut size = self.entries.len();
        while states * 4 > size * 3 {
            size *= 2;
        }
        size * 4
    }
}
