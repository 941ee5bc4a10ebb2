//! The room in which a step is evaluated, and its result. Reused from step to step, so that the
//! steady state allocates nothing.

use design::model::{
    AttrId, BlobId, EventId, MemoryUseId, OperationId, StateId, SubjectId, ViewId,
};

use crate::Word;

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
pub struct Scratch {}

impl Scratch {
    pub fn new() -> Scratch {
        Scratch::default()
    }

    pub fn needs(&self) -> &[Need] {
        &[]
    }

    /// In the order first looked at.
    pub fn reads(&self) -> impl Iterator<Item = Read<'_>> {
        std::iter::empty()
    }

    /// Records that are different after the step, parents whose counters moved among them, each
    /// once.
    pub fn writes(&self) -> impl Iterator<Item = Write<'_>> {
        std::iter::empty()
    }

    pub fn cache_writes(&self) -> impl Iterator<Item = CacheWrite<'_>> {
        std::iter::empty()
    }

    pub fn ephemeral_writes(&self) -> impl Iterator<Item = EphemeralWrite<'_>> {
        std::iter::empty()
    }

    pub fn appends(&self) -> impl Iterator<Item = Append<'_>> {
        std::iter::empty()
    }

    pub fn emits(&self) -> impl Iterator<Item = Emit<'_>> {
        std::iter::empty()
    }

    pub fn sends(&self) -> impl Iterator<Item = Send<'_>> {
        std::iter::empty()
    }

    /// What the actor is to remember, for each use that the step wrote.
    pub fn memory(&self) -> impl Iterator<Item = (MemoryUseId, Word)> {
        std::iter::empty()
    }

    /// The answer of a read, or the body of a call, laid out as its [`crate::Shape`] says.
    pub fn result(&self) -> &[Word] {
        &[]
    }

    pub fn query(&self, _number: Word) -> Option<Query<'_>> {
        None
    }

    /// The `now` that the step used.
    pub fn now(&self) -> Word {
        0
    }
}
