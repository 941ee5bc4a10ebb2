//! The least form of a state is looked for among all permutations, and the same states come up again and
//! again. So the last ones are remembered: each in one place, which the next one there takes over.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// So many words are remembered, at most.
const WORDS_MAX: usize = 1 << 16;

#[derive(Default)]
pub(super) struct Forms {
    width: usize,
    /// how many have a place; a power of two
    count: usize,
    /// a state as it came up, and then its least form; nothing was kept there while both are empty
    words: Vec<u64>,
    used: Vec<bool>,
}

impl Forms {
    pub(super) fn new(width: usize) -> Forms {
        let count = (WORDS_MAX / (2 * width)).max(1);
        // The power of two that is not above it.
        let count = 1 << count.ilog2();
        Forms { width, count, words: Vec::new(), used: Vec::new() }
    }

    pub(super) fn place(&self, packed: &[u64]) -> usize {
        let mut hasher = FxHasher::default();
        packed.iter().for_each(|word| hasher.write_u64(*word));
        (hasher.finish() >> 32) as usize & (self.count - 1)
    }

    fn at(&self, place: usize) -> usize {
        2 * self.width * place
    }

    /// Puts the least form in the place of the state, if it is remembered.
    pub(super) fn find(&self, place: usize, packed: &mut [u64]) -> bool {
        let (at, width) = (self.at(place), self.width);
        let known = self.used.get(place) == Some(&true) && self.words[at..at + width] == *packed;
        if known {
            packed.copy_from_slice(&self.words[at + width..at + 2 * width]);
        }
        known
    }

    /// A state whose least form is looked for now.
    pub(super) fn keep(&mut self, place: usize, packed: &[u64]) {
        if self.words.is_empty() {
            self.words = vec![0; 2 * self.width * self.count];
            self.used = vec![false; self.count];
        }
        let at = self.at(place);
        self.words[at..at + self.width].copy_from_slice(packed);
        self.used[place] = false;
    }

    /// Is the least form another than the state's own?
    pub(super) fn answer(&mut self, place: usize, least: &[u64]) -> bool {
        let (at, width) = (self.at(place), self.width);
        let (own, held) = self.words[at..at + 2 * width].split_at_mut(width);
        held.copy_from_slice(least);
        self.used[place] = true;
        own != held
    }
}
