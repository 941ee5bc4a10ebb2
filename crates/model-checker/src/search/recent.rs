//! States that a thread came to a moment ago: they are known, or will be.

pub(super) struct Recent {
    width: usize,
    hashes: Vec<u64>,
    states: Vec<u64>,
}

const RECENT: usize = 1 << 13;

impl Recent {
    pub(super) fn new(width: usize) -> Recent {
        Recent { width, hashes: vec![0; RECENT], states: vec![0; RECENT * width] }
    }

    /// Was it here just now? From now on it was.
    #[inline]
    pub(super) fn seen(&mut self, state: &[u64], hash: u64) -> bool {
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

    pub(super) fn bytes(&self) -> usize {
        (self.hashes.len() + self.states.len()) * 8
    }
}
