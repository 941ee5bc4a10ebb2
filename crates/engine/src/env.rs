//! The truth of one step, under its overlay.

use design::model::{BlobId, StateId, SubjectId};

use crate::clock::Clock;
use crate::counters;
use crate::eval::{Env, Eval, Stop};
use crate::fault::Fault;
use crate::overlay::{Overlay, Status, record_key};
use crate::program::Program;
use crate::scratch::Need;
use crate::{Fetch, HashPart, NULL, Truth, Word};

pub(crate) struct StepEnv<'e, T> {
    pub program: &'e Program,
    pub truth: &'e T,
    pub overlay: &'e mut Overlay,
    pub needs: &'e mut Vec<Need>,
    pub clock: &'e mut Clock,
    pub memory: &'e mut Vec<Word>,
    pub me: Word,
    /// is an absent parent of a new record a refusal? If not, it reads as its defaults.
    pub exists: bool,
}

impl<T: Truth> StepEnv<'_, T> {
    /// The record's place in the overlay.
    #[inline]
    pub fn load(&mut self, subject: SubjectId, key: Word) -> Result<usize, Stop> {
        match self.overlay.find(subject, key) {
            Some(index) => Ok(index),
            None => self.fetch(subject, key),
        }
    }

    #[inline(never)]
    fn fetch(&mut self, subject: SubjectId, key: Word) -> Result<usize, Stop> {
        let rules = self.program.subject(subject);
        let width = rules.layout.width;
        let (status, words) = match self.truth.record(subject, key) {
            Fetch::Present(words) => (Status::Same, words),
            Fetch::Absent if rules.implicit => (Status::Virtual, &rules.defaults[..]),
            Fetch::Absent => (Status::Absent, &[][..]),
            Fetch::Unknown => {
                let need = Need::Record { subject, key };
                if !self.needs.contains(&need) {
                    self.needs.push(need);
                }
                return Err(Stop::NEED);
            }
        };
        let index = self.overlay.add(record_key(subject, key), status, words, width);
        let stored = self.truth.stored_time(subject, key);
        if stored != NULL && stored > self.clock.now {
            self.clock.now = stored;
            if self.clock.used {
                return Err(Stop::AGAIN);
            }
        }
        Ok(index)
    }

    pub fn load_copy(
        &mut self,
        subject: SubjectId,
        state: StateId,
        key: Word,
    ) -> Result<usize, Stop> {
        if let Some(index) = self.overlay.find_copy(subject, state, key, self.me) {
            return Ok(index);
        }
        let width = self.program.state(subject, state).width;
        let (status, words) = match self.truth.cache(subject, state, key, self.me) {
            Fetch::Present(words) => (Status::Same, words),
            Fetch::Absent => (Status::Absent, &[][..]),
            Fetch::Unknown => {
                let need = Need::Cache { subject, state, key, principal: self.me };
                if !self.needs.contains(&need) {
                    self.needs.push(need);
                }
                return Err(Stop::NEED);
            }
        };
        Ok(self.overlay.add((subject, Some(state), key, self.me), status, words, width))
    }
}

impl<'a, T: Truth> Env<'a> for StepEnv<'_, T> {
    #[inline]
    fn record(&mut self, subject: SubjectId, key: Word) -> Result<Option<&[Word]>, Stop> {
        let index = self.load(subject, key)?;
        Ok(self.overlay.words(index))
    }

    fn copy(
        &mut self,
        subject: SubjectId,
        state: StateId,
        key: Word,
    ) -> Result<Option<&[Word]>, Stop> {
        let index = self.load_copy(subject, state, key)?;
        Ok(self.overlay.words(index))
    }

    fn exists(&mut self, subject: SubjectId, key: Word) -> Result<bool, Stop> {
        if self.program.subject(subject).implicit {
            return Ok(true);
        }
        let index = self.load(subject, key)?;
        Ok(matches!(self.overlay.status(index), Status::Same | Status::Changed))
    }

    fn missing(&self, subject: SubjectId, key: Word) -> Fault {
        match self.overlay.find(subject, key) {
            Some(index) => self.overlay.missing(index),
            None => Fault::NoSuchRecord,
        }
    }

    fn settle(eval: &mut Eval<'_, Self>) -> Result<(), Stop> {
        counters::settle(eval)
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        self.truth.key_of(subject, parts)
    }

    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word {
        self.truth.key_part(subject, key, part)
    }

    fn stored(&mut self, blob: BlobId, digest: Word) -> Result<bool, Stop> {
        self.truth.stored(blob, digest).ok_or_else(|| {
            self.needs.push(Need::Stored { blob, digest });
            Stop::NEED
        })
    }

    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word {
        self.truth.hash(parts, words)
    }

    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool {
        self.truth.verified(signature, key, digest)
    }

    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool {
        self.truth.included(leaf, root, proof)
    }

    fn next_of(&self, schedule: Word, after: Word) -> Option<Word> {
        self.truth.next_of(schedule, after)
    }

    fn now(&mut self) -> Word {
        self.clock.used = true;
        self.clock.now
    }

    fn me(&self) -> Word {
        self.me
    }

    fn memory(&self, index: usize) -> Word {
        self.memory.get(index).copied().unwrap_or(NULL)
    }

    fn keys(&self, _subject: SubjectId) -> Option<&'a [Word]> {
        None
    }

    fn look_back(&mut self, _old: bool) -> bool {
        false
    }
}
