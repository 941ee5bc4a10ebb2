//! The records that one call has fetched so far: what the engine reads.

use std::cell::RefCell;

use design::model::{BlobId, StateId, SubjectId};
use engine::{Fetch, NULL, Truth, Word};

use crate::pool::Pool;
use crate::record::Head;

#[derive(Debug)]
pub struct Loaded<'s> {
    /// Behind a cell because the engine makes handles while it reads.
    pub pool: &'s RefCell<Pool>,
    pub entries: Vec<Entry>,
    words: Vec<Word>,
    stored: Vec<(BlobId, Word, bool)>,
}

#[derive(Debug)]
pub struct Entry {
    pub subject: SubjectId,
    pub key: Word,
    /// where it lies in the store
    pub stored_key: Vec<u8>,
    /// its version in the store; none: absent
    pub version: Option<u64>,
    pub head: Head,
    /// where its words stand; none: absent
    words: Option<(u32, u32)>,
}

impl<'s> Loaded<'s> {
    pub fn new(pool: &'s RefCell<Pool>) -> Loaded<'s> {
        Loaded { pool, entries: Vec::new(), words: Vec::new(), stored: Vec::new() }
    }

    pub fn find(&self, subject: SubjectId, key: Word) -> Option<usize> {
        self.entries.iter().position(|entry| entry.subject == subject && entry.key == key)
    }

    pub fn add(
        &mut self,
        subject: SubjectId,
        key: Word,
        stored_key: Vec<u8>,
        version: Option<u64>,
        head: Head,
        words: Option<&[Word]>,
    ) {
        let words = words.map(|words| self.keep(words));
        self.entries.push(Entry { subject, key, stored_key, version, head, words });
    }

    /// From now on the record reads like this.
    pub fn replace(&mut self, at: usize, words: Option<&[Word]>) {
        self.entries[at].words = words.map(|words| self.keep(words));
    }

    pub fn words(&self, at: usize) -> Option<&[Word]> {
        self.entries[at].words.map(|(start, end)| &self.words[start as usize..end as usize])
    }

    pub fn set_stored(&mut self, blob: BlobId, digest: Word, stored: bool) {
        self.stored.push((blob, digest, stored));
    }

    fn keep(&mut self, words: &[Word]) -> (u32, u32) {
        let start = self.words.len() as u32;
        self.words.extend_from_slice(words);
        (start, self.words.len() as u32)
    }
}

impl Truth for Loaded<'_> {
    fn record(&self, subject: SubjectId, key: Word) -> Fetch<'_> {
        match self.find(subject, key) {
            None => Fetch::Unknown,
            Some(at) => match self.words(at) {
                Some(words) => Fetch::Present(words),
                None => Fetch::Absent,
            },
        }
    }

    /// Copies live in the memory of the node that keeps them, which may forget at any moment: a
    /// runtime that keeps none has always forgotten.
    fn cache(&self, _: SubjectId, _: StateId, _: Word, _: Word) -> Fetch<'_> {
        Fetch::Absent
    }

    fn key_part(&self, _subject: SubjectId, key: Word, part: u32) -> Word {
        self.pool.borrow().parts(key).get(part as usize).copied().unwrap_or(NULL)
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        self.pool.borrow_mut().key(subject, parts)
    }

    fn stored(&self, blob: BlobId, digest: Word) -> Option<bool> {
        self.stored
            .iter()
            .find(|(known, known_digest, _)| *known == blob && *known_digest == digest)
            .map(|(_, _, stored)| *stored)
    }

    fn stored_time(&self, subject: SubjectId, key: Word) -> Word {
        match self.find(subject, key) {
            Some(at) if self.entries[at].version.is_some() => self.entries[at].head.written_at,
            _ => NULL,
        }
    }
}
