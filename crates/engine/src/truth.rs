//! What a step reads, and what an invariant ranges over.

use crate::program::Column;
use design::model::{ActorId, BlobId, MemoryId, OperationId, StateId, SubjectId};

use crate::{HashPart, Word};

/// What is known of one record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fetch<'a> {
    /// its words, laid out as [`crate::Layout`] says
    Present(&'a [Word]),
    Absent,
    /// not loaded yet: the step answers [`crate::Outcome::Need`]
    Unknown,
}

/// The truth as far as the caller has loaded it.
///
/// The answers must not change while a step is evaluated.
pub trait Truth {
    fn record(&self, subject: SubjectId, key: Word) -> Fetch<'_>;

    /// The copy of a cache state that one principal keeps.
    fn cache(&self, subject: SubjectId, state: StateId, key: Word, principal: Word) -> Fetch<'_>;

    /// A part of a key, from 0.
    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word;

    /// The handle of the key that is made of these parts.
    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word;

    /// Is the content of this digest stored? `None`: not known yet.
    fn stored(&self, blob: BlobId, digest: Word) -> Option<bool>;

    /// The handle of the digest of these values, one word for each part.
    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word;

    /// Is this a signature of the digest, made with the private half of the key?
    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool;

    /// Does the proof lead from the leaf to the root? Each of its steps is the digest of two
    /// digests, as [`Truth::hash`] gives it.
    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool;

    /// The first instant of a schedule after this one; [`crate::NULL`] if there is none. None: the schedule cannot
    /// be read.
    fn next_of(&self, schedule: Word, after: Word) -> Option<Word>;

    /// The `now` of the step that last wrote this record, [`crate::NULL`] if there is none. Asked
    /// only for records that were answered `Present` or `Absent` (a deleted record may still
    /// have one).
    fn stored_time(&self, subject: SubjectId, key: Word) -> Word;
}

/// A whole world, as invariants and recovery goals see it. Everything in it is known: an
/// `Unknown` record counts as absent.
pub trait World: Truth {
    /// The clock of this world; times in its records are measured on the same clock.
    fn now(&self) -> Word;

    /// The keys that a record of this subject may have. Keys without a record are skipped when
    /// the subject is not implicit.
    fn keys(&self, subject: SubjectId) -> &[Word];

    /// Whether `keys_by` may know anything: what is looked up there is not computed elsewhere.
    const INDEXED: bool = false;

    /// The keys of the records that have this value in this column, and perhaps others; none: no index is kept, and
    /// all keys are looked at.
    fn keys_by(&self, _subject: SubjectId, _column: Column, _value: Word) -> Option<&[Word]> {
        None
    }

    /// What the world outside has done for this effect: the words of the parameters of the
    /// `row`th call it carried out, `None` after the last.
    fn done(&self, effect: OperationId, row: usize) -> Option<&[Word]>;

    /// The messages under way to this step: the words of the parameters of the `row`th, `None` after
    /// the last.
    fn under_way(&self, _step: OperationId, _row: usize) -> Option<&[Word]> {
        None
    }

    /// The open entries of the outbox for this effect: the words of the parameters of the `row`th.
    fn waiting(&self, _effect: OperationId, _row: usize) -> Option<&[Word]> {
        None
    }

    /// Every principal that may act as this actor.
    fn principals(&self, _actor: ActorId) -> &[Word] {
        &[]
    }

    /// What a principal remembers as this actor; `of`: which record, of a memory that is kept for each.
    fn remembered(&self, _principal: Word, _memory: (ActorId, MemoryId), _of: Word) -> Word {
        crate::NULL
    }
}
