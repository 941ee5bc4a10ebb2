//! The records of one step: as they were, and as they are so far.

use design::model::{StateId, SubjectId};

use crate::fault::Fault;
use crate::program::Program;
use crate::{NULL, Word};

/// What has become of a record in this step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    Absent,
    /// absent, but reads as its defaults, and is made by the first change
    Virtual,
    Same,
    Changed,
    Deleted,
}

/// A record that the step has looked at, or one principal's copy of a cache state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub subject: SubjectId,
    /// of a cache
    pub state: Option<StateId>,
    pub key: Word,
    pub principal: Word,
    status: Status,
    status_before: Status,
    /// into `words`; nothing stands there if it was absent
    before: u32,
    current: u32,
    pub width: u32,
    /// made by this step: every attribute must have a value in the end
    pub made: bool,
    /// made for a `new` parameter, and nothing more yet
    pub blank: bool,
    /// into `contributions`: what the parent's counters have counted of it
    pub counted: Option<u32>,
    /// changed since then
    pub uncounted: bool,
}

#[derive(Default, Debug)]
pub(crate) struct Overlay {
    pub entries: Vec<Entry>,
    words: Vec<Word>,
    pub contributions: Vec<Word>,
    /// records are shown as they were before the step
    pub show_before: bool,
    /// some record with counted changes was touched
    pub unsettled: bool,
    /// counting is under way
    pub settling: bool,
    /// some record was made
    pub made: bool,
}

impl Overlay {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.words.clear();
        self.contributions.clear();
        self.show_before = false;
        self.unsettled = false;
        self.settling = false;
        self.made = false;
    }

    /// Forgets what the step did, keeps what it read.
    pub fn rewind(&mut self) {
        for entry in &mut self.entries {
            entry.status = entry.status_before;
            entry.current = entry.before;
            entry.made = false;
            entry.blank = false;
            entry.counted = None;
            entry.uncounted = false;
        }
        self.contributions.clear();
        self.show_before = false;
        self.unsettled = false;
        self.settling = false;
        self.made = false;
    }

    #[inline]
    pub fn find(&self, subject: SubjectId, key: Word) -> Option<usize> {
        self.entries
            .iter()
            .position(|entry| entry.key == key && entry.subject == subject && entry.state.is_none())
    }

    pub fn find_copy(
        &self,
        subject: SubjectId,
        state: StateId,
        key: Word,
        principal: Word,
    ) -> Option<usize> {
        self.entries.iter().position(|entry| {
            entry.key == key
                && entry.subject == subject
                && entry.state == Some(state)
                && entry.principal == principal
        })
    }

    /// Adds what was found; `words` are its own, or the defaults of one that is `Virtual`.
    // inlined, so that the tuple stays in registers: through memory it stalls for longer than
    // all the rest takes
    #[inline(always)]
    pub fn add(
        &mut self,
        (subject, state, key, principal): (SubjectId, Option<StateId>, Word, Word),
        status: Status,
        words: &[Word],
        width: u32,
    ) -> usize {
        let before = self.words.len() as u32;
        if status != Status::Absent {
            let length = words.len().min(width as usize);
            self.words.extend_from_slice(&words[..length]);
            self.words.resize(before as usize + width as usize, 0);
        }
        self.entries.push(Entry {
            subject,
            state,
            key,
            principal,
            status,
            status_before: status,
            before,
            current: before,
            width,
            made: false,
            blank: false,
            counted: None,
            uncounted: false,
        });
        self.entries.len() - 1
    }

    /// Its words as they are now; none: it is not there.
    #[inline]
    pub fn words(&self, index: usize) -> Option<&[Word]> {
        let entry = &self.entries[index];
        if self.show_before {
            return self.before(index);
        }
        match entry.status {
            Status::Absent | Status::Deleted => None,
            _ => Some(&self.words[range(entry.current, entry.width)]),
        }
    }

    /// As it was before the step; none: it was not there.
    pub fn before(&self, index: usize) -> Option<&[Word]> {
        let entry = &self.entries[index];
        (entry.status_before == Status::Same).then(|| &self.words[range(entry.before, entry.width)])
    }

    pub fn status(&self, index: usize) -> Status {
        self.entries[index].status
    }

    /// Why a record that is not there is not there.
    pub fn missing(&self, index: usize) -> Fault {
        match self.entries[index].status {
            Status::Deleted => Fault::Deleted,
            _ => Fault::NoSuchRecord,
        }
    }

    /// Its words, to be changed.
    pub fn touch(&mut self, index: usize) -> Result<&mut [Word], Fault> {
        let entry = &mut self.entries[index];
        match entry.status {
            Status::Absent | Status::Deleted => return Err(self.missing(index)),
            Status::Same | Status::Virtual => {
                let from = range(entry.current, entry.width);
                entry.current = self.words.len() as u32;
                entry.status = Status::Changed;
                self.words.extend_from_within(from);
            }
            Status::Changed => {}
        }
        entry.uncounted = true;
        entry.blank = false;
        self.unsettled = true;
        Ok(&mut self.words[range(entry.current, entry.width)])
    }

    /// The words of a parent's counters: also of one that this step deleted, as long as it is
    /// known what they were.
    pub fn touch_counters(&mut self, index: usize) -> Result<&mut [Word], Fault> {
        let entry = self.entries[index];
        if entry.status != Status::Deleted {
            return self.touch(index);
        }
        Ok(&mut self.words[range(entry.current, entry.width)])
    }

    /// Makes the record anew from `defaults`. What its counters count is still there, so they
    /// keep their values.
    pub fn make(&mut self, index: usize, defaults: &[Word], counters: std::ops::Range<u32>) {
        let entry = self.entries[index];
        let current = self.words.len() as u32;
        self.words.extend_from_slice(defaults);
        if entry.status != Status::Absent {
            for counter in counters {
                let kept = self.words[(entry.current + counter) as usize];
                self.words[(current + counter) as usize] = kept;
            }
        }
        let entry = &mut self.entries[index];
        entry.current = current;
        entry.status = Status::Changed;
        entry.made = true;
        self.made = true;
        entry.blank = true;
        entry.uncounted = true;
        self.unsettled = true;
    }

    pub fn delete(&mut self, index: usize) -> Result<(), Fault> {
        // counters of the deleted record go on being counted, so it has words of its own
        self.touch(index)?;
        let entry = &mut self.entries[index];
        entry.status = Status::Deleted;
        entry.made = false;
        Ok(())
    }

    /// The words of a deleted record, for the check of its counters.
    pub fn remains(&self, index: usize) -> Option<&[Word]> {
        let entry = &self.entries[index];
        (entry.status == Status::Deleted).then(|| &self.words[range(entry.current, entry.width)])
    }

    /// Shows an absent record as its defaults from now on.
    pub fn pretend(&mut self, index: usize, defaults: &[Word]) {
        let at = self.words.len() as u32;
        self.words.extend_from_slice(defaults);
        let entry = &mut self.entries[index];
        entry.before = at;
        entry.current = at;
        entry.status = Status::Virtual;
        entry.status_before = Status::Virtual;
    }
}

fn range(start: u32, width: u32) -> std::ops::Range<usize> {
    start as usize..(start + width) as usize
}

/// The key of a record in the overlay.
pub(crate) fn record_key(
    subject: SubjectId,
    key: Word,
) -> (SubjectId, Option<StateId>, Word, Word) {
    (subject, None, key, NULL)
}

/// Where the counters of a record stand.
pub(crate) fn counters_of(program: &Program, subject: SubjectId) -> std::ops::Range<u32> {
    let rules = program.subject(subject);
    let start = rules.layout.counter(design::model::CounterId(0));
    start..start + rules.counters
}
