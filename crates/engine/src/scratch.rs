//! The room in which a step is evaluated, and its result. Reused from step to step, so that the
//! steady state allocates nothing.

use design::model::{
    AttrId, BlobId, EventId, MemoryUseId, OperationId, StateId, SubjectId, ViewId,
};

use crate::Word;
use crate::clock::Clock;
use crate::overlay::{Overlay, Status};

/// What must be loaded before the step can go on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Need {
    Record { subject: SubjectId, key: Word },
    Cache { subject: SubjectId, state: StateId, key: Word, principal: Word },
    Stored { blob: BlobId, digest: Word },
}

/// A record that was looked at, whatever came of it: what the commit has to check, and the truth
/// that a refusal shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read<'a> {
    pub subject: SubjectId,
    pub key: Word,
    /// as it was before the step; none: absent
    pub record: Option<&'a [Word]>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write<'a> {
    pub subject: SubjectId,
    pub key: Word,
    /// as it was before the step; none: absent
    pub before: Option<&'a [Word]>,
    pub change: Change<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change<'a> {
    Put(&'a [Word]),
    Delete,
}

/// The copy that a principal keeps from now on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheWrite<'a> {
    pub subject: SubjectId,
    pub state: StateId,
    pub key: Word,
    pub principal: Word,
    pub words: &'a [Word],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EphemeralWrite<'a> {
    pub subject: SubjectId,
    pub state: StateId,
    pub key: Word,
    pub attr: AttrId,
    pub words: &'a [Word],
}

/// A new entry of a log; the record's new start and end of the log are in its write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Append<'a> {
    pub subject: SubjectId,
    pub key: Word,
    pub log: StateId,
    pub offset: Word,
    /// laid out as [`crate::Program::state`] says
    pub words: &'a [Word],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Emit<'a> {
    pub event: EventId,
    /// laid out as [`crate::Program::event`] says
    pub words: &'a [Word],
}

/// To an effect: an outbox entry under `key`. To a step: a message, with an empty key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Send<'a> {
    pub operation: OperationId,
    pub key: &'a [Word],
    /// laid out as [`crate::Program::params`] says
    pub args: &'a [Word],
}

/// Something that a read's result asks of the caller. In the result stands its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Query<'a> {
    View { view: ViewId, args: &'a [Word] },
    Log { subject: SubjectId, key: Word, log: StateId, from: Word, limit: Word },
}

/// Room for the evaluation of steps, and what the last one did.
///
/// After `Need` only `needs` and `reads` mean something; after a refusal only `reads` and `now`.
#[derive(Default, Debug)]
pub struct Scratch {
    pub(crate) overlay: Overlay,
    pub(crate) needs: Vec<Need>,
    pub(crate) clock: Clock,
    pub(crate) memory: Vec<Word>,
    pub(crate) frame: Vec<Word>,
    pub(crate) stack: Vec<Word>,
    pub(crate) queries: Vec<QueryOut>,
    pub(crate) query_words: Vec<Word>,
    pub(crate) out: Output,
    /// of `due`
    pub(crate) turns: Vec<Word>,
}

/// What a step did besides changing records.
#[derive(Default, Debug)]
pub(crate) struct Output {
    pub words: Vec<Word>,
    pub ephemerals: Vec<(SubjectId, StateId, Word, AttrId, Part)>,
    pub appends: Vec<(SubjectId, Word, StateId, Word, Part)>,
    pub emits: Vec<(EventId, Part)>,
    pub sends: Vec<(OperationId, Part, Part)>,
    pub memory: Vec<MemoryUseId>,
    pub result: Vec<Word>,
}

/// Some of `Output::words`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum QueryOut {
    View { view: ViewId, start: u32, end: u32 },
    Log { subject: SubjectId, key: Word, log: StateId, from: Word, limit: Word },
}

impl Output {
    pub fn clear(&mut self) {
        self.words.clear();
        self.ephemerals.clear();
        self.appends.clear();
        self.emits.clear();
        self.sends.clear();
        self.memory.clear();
        self.result.clear();
    }

    pub fn keep(&mut self, words: &[Word]) -> Part {
        let start = self.words.len() as u32;
        self.words.extend_from_slice(words);
        Part { start, end: self.words.len() as u32 }
    }

    pub fn part(&self, part: Part) -> &[Word] {
        &self.words[part.start as usize..part.end as usize]
    }
}

impl Scratch {
    pub fn new() -> Scratch {
        Scratch::default()
    }

    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// In the order first looked at.
    pub fn reads(&self) -> impl Iterator<Item = Read<'_>> {
        self.overlay.entries.iter().enumerate().filter(|(_, entry)| entry.state.is_none()).map(
            |(index, entry)| Read {
                subject: entry.subject,
                key: entry.key,
                record: self.overlay.before(index),
            },
        )
    }

    /// Records that are different after the step, parents whose counters moved among them, each
    /// once.
    pub fn writes(&self) -> impl Iterator<Item = Write<'_>> {
        self.overlay
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.state.is_none())
            .filter_map(|(index, entry)| {
                let before = self.overlay.before(index);
                let change = match self.overlay.status(index) {
                    Status::Deleted if before.is_some() => Change::Delete,
                    Status::Changed => {
                        let words = self.overlay.words(index)?;
                        if before == Some(words) {
                            return None;
                        }
                        Change::Put(words)
                    }
                    _ => return None,
                };
                Some(Write { subject: entry.subject, key: entry.key, before, change })
            })
    }

    pub fn cache_writes(&self) -> impl Iterator<Item = CacheWrite<'_>> {
        self.overlay.entries.iter().enumerate().filter_map(|(index, entry)| {
            let state = entry.state?;
            if self.overlay.status(index) != Status::Changed {
                return None;
            }
            Some(CacheWrite {
                subject: entry.subject,
                state,
                key: entry.key,
                principal: entry.principal,
                words: self.overlay.words(index)?,
            })
        })
    }

    pub fn ephemeral_writes(&self) -> impl Iterator<Item = EphemeralWrite<'_>> {
        self.out.ephemerals.iter().map(|(subject, state, key, attr, part)| EphemeralWrite {
            subject: *subject,
            state: *state,
            key: *key,
            attr: *attr,
            words: self.out.part(*part),
        })
    }

    pub fn appends(&self) -> impl Iterator<Item = Append<'_>> {
        self.out.appends.iter().map(|(subject, key, log, offset, part)| Append {
            subject: *subject,
            key: *key,
            log: *log,
            offset: *offset,
            words: self.out.part(*part),
        })
    }

    pub fn emits(&self) -> impl Iterator<Item = Emit<'_>> {
        self.out
            .emits
            .iter()
            .map(|(event, part)| Emit { event: *event, words: self.out.part(*part) })
    }

    pub fn sends(&self) -> impl Iterator<Item = Send<'_>> {
        self.out.sends.iter().map(|(operation, key, args)| Send {
            operation: *operation,
            key: self.out.part(*key),
            args: self.out.part(*args),
        })
    }

    /// What the actor is to remember, for each use that the step wrote.
    pub fn memory(&self) -> impl Iterator<Item = (MemoryUseId, Word)> {
        self.out.memory.iter().map(|id| (*id, self.memory[id.index()]))
    }

    /// The answer of a read, or the body of a call, laid out as its [`crate::Shape`] says.
    pub fn result(&self) -> &[Word] {
        &self.out.result
    }

    pub fn query(&self, number: Word) -> Option<Query<'_>> {
        let query = self.queries.get(usize::try_from(number).ok()?)?;
        Some(match *query {
            QueryOut::View { view, start, end } => {
                Query::View { view, args: &self.query_words[start as usize..end as usize] }
            }
            QueryOut::Log { subject, key, log, from, limit } => {
                Query::Log { subject, key, log, from, limit }
            }
        })
    }

    /// The `now` that the step used.
    pub fn now(&self) -> Word {
        self.clock.now
    }

    /// Empties everything, keeps the room.
    pub(crate) fn begin(&mut self) {
        self.overlay.clear();
        self.needs.clear();
        self.out.clear();
    }
}
