//! Records that a call looked at or changed.

use std::ops::Range;

use design::model::SubjectId;
use engine::Word;

/// Records by their handles, valid with the call's pool.
#[derive(Debug, Default)]
pub struct Records {
    list: Vec<(SubjectId, Word, Option<Range<usize>>)>,
    words: Vec<Word>,
}

#[derive(Clone, Copy, Debug)]
pub struct Seen<'r> {
    pub subject: SubjectId,
    pub key: Word,
    /// none: absent
    pub words: Option<&'r [Word]>,
}

impl Records {
    pub fn clear(&mut self) {
        self.list.clear();
        self.words.clear();
    }

    pub fn push(&mut self, subject: SubjectId, key: Word, words: Option<&[Word]>) {
        let start = self.words.len();
        let words = words.map(|words| {
            self.words.extend_from_slice(words);
            start..self.words.len()
        });
        self.list.push((subject, key, words));
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn get(&self, at: usize) -> Seen<'_> {
        let (subject, key, words) = &self.list[at];
        let words = words.clone().map(|words| &self.words[words]);
        Seen { subject: *subject, key: *key, words }
    }

    pub fn iter(&self) -> impl Iterator<Item = Seen<'_>> {
        (0..self.len()).map(|at| self.get(at))
    }
}
