//! The set of operations that are in order so far.

/// Operations are put into order roughly as they began, so the set is a full front with a few bits
/// behind it.
pub struct Linearized {
    words: Vec<u64>,
    /// So many words are full.
    full: usize,
    /// No word from here on has a bit.
    end: usize,
}

/// A copy of the set without its full front.
#[derive(PartialEq, Eq, Hash)]
pub struct Front {
    full: usize,
    ragged: Box<[u64]>,
}

impl Linearized {
    pub fn new(operations: usize) -> Self {
        Linearized { words: vec![0; operations.div_ceil(64)], full: 0, end: 0 }
    }

    pub fn insert(&mut self, operation: usize) {
        let word = operation / 64;
        self.words[word] |= 1 << (operation % 64);
        self.end = self.end.max(word + 1);
        while self.words.get(self.full) == Some(&u64::MAX) {
            self.full += 1;
        }
    }

    pub fn remove(&mut self, operation: usize) {
        let word = operation / 64;
        self.words[word] &= !(1 << (operation % 64));
        self.full = self.full.min(word);
        while self.end > 0 && self.words[self.end - 1] == 0 {
            self.end -= 1;
        }
    }

    pub fn front(&self) -> Front {
        let ragged = &self.words[self.full.min(self.end)..self.end];
        Front { full: self.full, ragged: ragged.into() }
    }
}
