//! The records that one call has fetched so far: what the engine reads.

use std::cell::RefCell;
use std::ops::Range;

use design::model::{BlobId, StateId, SubjectId};
use engine::{Fetch, HashPart, NULL, Truth, Word};
use layout::{Head, Pool, RecordKey};

use super::handles::Handles;

#[derive(Debug)]
pub struct Loaded<'s> {
    /// Behind a cell because the engine makes handles while it reads.
    pub pool: &'s RefCell<Pool>,
    /// room for a key on its way to the store
    pub key: Vec<u8>,
    held: Held,
}

/// What was fetched; its room is used again from call to call.
#[derive(Debug, Default)]
pub struct Held {
    entries: Vec<Entry>,
    words: Vec<Word>,
    keys: Vec<u8>,
    key: Vec<u8>,
    stored: Vec<(BlobId, Word, bool)>,
}

#[derive(Debug)]
pub struct Entry {
    pub subject: SubjectId,
    pub key: Word,
    /// where it lies in the store
    stored_key: Range<usize>,
    /// its version in the store; none: absent
    pub version: Option<u64>,
    pub head: Head,
    /// where its words stand; none: absent
    words: Option<(u32, u32)>,
}

impl<'s> Loaded<'s> {
    pub fn new(pool: &'s RefCell<Pool>) -> Loaded<'s> {
        Loaded::within(pool, Held::default())
    }

    /// Nothing is fetched yet, in room that was used before.
    pub fn within(pool: &'s RefCell<Pool>, mut held: Held) -> Loaded<'s> {
        held.entries.clear();
        held.words.clear();
        held.keys.clear();
        held.stored.clear();
        Loaded { pool, key: std::mem::take(&mut held.key), held }
    }

    pub fn into_held(self) -> Held {
        Held { key: self.key, ..self.held }
    }

    pub fn entry(&self, at: usize) -> &Entry {
        &self.held.entries[at]
    }

    pub fn count(&self) -> usize {
        self.held.entries.len()
    }

    pub fn stored_key(&self, at: usize) -> &[u8] {
        &self.held.keys[self.held.entries[at].stored_key.clone()]
    }

    /// Where the record lies, in its parts.
    pub fn record_key(&self, at: usize) -> RecordKey<'_> {
        RecordKey::parse(self.stored_key(at)).expect("it was fetched under the key of a record")
    }

    pub fn find(&self, subject: SubjectId, key: Word) -> Option<usize> {
        self.held.entries.iter().position(|entry| entry.subject == subject && entry.key == key)
    }

    pub fn add(
        &mut self,
        subject: SubjectId,
        key: Word,
        stored_key: &[u8],
        version: Option<u64>,
        head: Head,
        words: Option<&[Word]>,
    ) {
        let words = words.map(|words| self.keep(words));
        let start = self.held.keys.len();
        self.held.keys.extend_from_slice(stored_key);
        let stored_key = start..self.held.keys.len();
        self.held.entries.push(Entry { subject, key, stored_key, version, head, words });
    }

    pub fn set_head(&mut self, at: usize, head: Head) {
        self.held.entries[at].head = head;
    }

    /// From now on the record reads like this.
    pub fn replace(&mut self, at: usize, words: Option<&[Word]>) {
        self.held.entries[at].words = words.map(|words| self.keep(words));
    }

    pub fn words(&self, at: usize) -> Option<&[Word]> {
        let words = self.held.entries[at].words?;
        Some(&self.held.words[words.0 as usize..words.1 as usize])
    }

    pub fn set_stored(&mut self, blob: BlobId, digest: Word, stored: bool) {
        self.held.stored.push((blob, digest, stored));
    }

    fn keep(&mut self, words: &[Word]) -> (u32, u32) {
        let start = self.held.words.len() as u32;
        self.held.words.extend_from_slice(words);
        (start, self.held.words.len() as u32)
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
        Handles(self.pool).key_part(key, part)
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        Handles(self.pool).key_of(subject, parts)
    }

    fn stored(&self, blob: BlobId, digest: Word) -> Option<bool> {
        self.held
            .stored
            .iter()
            .find(|(known, known_digest, _)| *known == blob && *known_digest == digest)
            .map(|(_, _, stored)| *stored)
    }

    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word {
        Handles(self.pool).hash(parts, words)
    }

    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool {
        Handles(self.pool).verified(signature, key, digest)
    }

    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool {
        Handles(self.pool).included(leaf, root, proof)
    }

    fn next_of(&self, schedule: Word, after: Word) -> Option<Word> {
        Handles(self.pool).next_of(schedule, after)
    }

    fn stored_time(&self, subject: SubjectId, key: Word) -> Word {
        match self.find(subject, key) {
            Some(at) if self.entry(at).version.is_some() => self.entry(at).head.written_at,
            _ => NULL,
        }
    }
}
