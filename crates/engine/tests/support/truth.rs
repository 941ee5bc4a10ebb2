//! Truth in ordinary maps.

use std::collections::{BTreeMap, BTreeSet};

use design::model::*;
use engine::{Change, Command, Fetch, HashPart, NULL, Outcome, Program, Scratch, Truth, Word};

/// More than the last part of a key that has two; its first part is at least 1.
pub const SPREAD: Word = 1000;

#[derive(Clone, Default, Debug)]
pub struct MapTruth {
    pub records: BTreeMap<(SubjectId, Word), Vec<Word>>,
    pub caches: BTreeMap<(SubjectId, StateId, Word, Word), Vec<Word>>,
    pub times: BTreeMap<(SubjectId, Word), Word>,
    pub unknown: BTreeSet<(SubjectId, Word)>,
    pub stored: BTreeMap<Word, bool>,
    pub keys: BTreeMap<SubjectId, Vec<Word>>,
    pub done: BTreeMap<OperationId, Vec<Vec<Word>>>,
    pub now: Word,
    /// subjects whose keys have one part; all others have two
    pub single: BTreeSet<SubjectId>,
}

impl Truth for MapTruth {
    fn record(&self, subject: SubjectId, key: Word) -> Fetch<'_> {
        match self.records.get(&(subject, key)) {
            _ if self.unknown.contains(&(subject, key)) => Fetch::Unknown,
            Some(words) => Fetch::Present(words),
            None => Fetch::Absent,
        }
    }

    fn cache(&self, subject: SubjectId, state: StateId, key: Word, principal: Word) -> Fetch<'_> {
        match self.caches.get(&(subject, state, key, principal)) {
            Some(words) => Fetch::Present(words),
            None => Fetch::Absent,
        }
    }

    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word {
        if self.single.contains(&subject) {
            return key;
        }
        match part {
            // one part: a text whose handle is none of the program's
            0 if (0..SPREAD).contains(&key) => key + (1 << 32),
            0 => key.wrapping_div(SPREAD),
            _ => key.wrapping_rem(SPREAD),
        }
    }

    fn key_of(&self, _subject: SubjectId, parts: &[Word]) -> Word {
        parts.iter().fold(0, |key, part| key.wrapping_mul(SPREAD).wrapping_add(*part))
    }

    fn stored(&self, _blob: BlobId, digest: Word) -> Option<bool> {
        self.stored.get(&digest).copied()
    }

    /// Small numbers give different digests.
    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word {
        words.iter().fold(parts.len() as Word, |all, word| {
            all.wrapping_mul(SPREAD).wrapping_add(*word).wrapping_abs().max(0)
        })
    }

    /// A signature is the sum of the key and the digest.
    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool {
        signature == key.wrapping_add(digest)
    }

    /// A proof is the digest beside the leaf.
    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool {
        root == self.hash(&[HashPart::Digest, HashPart::Digest], &[leaf, proof])
    }

    /// A schedule is how much later it comes; 0: never.
    fn next_of(&self, schedule: Word, after: Word) -> Option<Word> {
        match schedule {
            0 => Some(NULL),
            later if later > 0 => Some(after.saturating_add(later)),
            _ => None,
        }
    }

    fn stored_time(&self, subject: SubjectId, key: Word) -> Word {
        self.times.get(&(subject, key)).copied().unwrap_or(NULL)
    }
}

impl engine::World for MapTruth {
    fn now(&self) -> Word {
        self.now
    }

    fn keys(&self, subject: SubjectId) -> &[Word] {
        self.keys.get(&subject).map_or(&[], |keys| keys)
    }

    fn done(&self, effect: OperationId, row: usize) -> Option<&[Word]> {
        self.done.get(&effect)?.get(row).map(|row| &row[..])
    }
}

impl MapTruth {
    pub fn with(mut self, subject: u32, key: Word, words: &[Word]) -> MapTruth {
        self.records.insert((SubjectId(subject), key), words.to_vec());
        self
    }

    pub fn at(&self, subject: u32, key: Word) -> Option<&[Word]> {
        self.records.get(&(SubjectId(subject), key)).map(|words| &words[..])
    }

    /// Makes the step's writes its own.
    pub fn commit(&mut self, scratch: &Scratch) {
        for write in scratch.writes() {
            let place = (write.subject, write.key);
            assert_eq!(self.records.get(&place).map(|words| &words[..]), write.before);
            match write.change {
                Change::Put(words) => self.records.insert(place, words.to_vec()),
                Change::Delete => self.records.remove(&place),
            };
            self.times.insert(place, scratch.now());
        }
        for write in scratch.cache_writes() {
            let place = (write.subject, write.state, write.key, write.principal);
            self.caches.insert(place, write.words.to_vec());
        }
    }
}

/// A call without memory, by principal 1, at time 100.
pub fn command(operation: u32, params: &[Word]) -> Command<'_> {
    Command {
        operation: OperationId(operation),
        params,
        memory: &[],
        me: 1,
        now: 100,
        answer: None,
    }
}

/// The reason of a refusal; `"done"` and `"need"` otherwise.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Need => "need",
        Outcome::Refused(refusal) => refusal.reason.name(),
    }
}

/// Runs one call of the only operation and says how it ended.
pub fn run(design: &Design, truth: &MapTruth, params: &[Word]) -> &'static str {
    let program = Program::new(design);
    outcome(engine::step(&program, truth, &command(0, params), &mut Scratch::new()))
}
