//! What a step answers.

use design::model::{AttrId, ClauseRef, OperationId, Span, SubjectId};

use crate::Word;

/// The details are in the [`crate::Scratch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Load what `scratch.needs()` lists and ask again.
    Need,
    /// Nothing changes.
    Refused(Refusal),
    /// `scratch.writes()` and its kin say what changes, all at once.
    Done,
}

/// Why a step does not happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub reason: Reason,
    /// The clause that failed, or in which the value was missing; none: in the body.
    pub clause: Option<ClauseRef>,
    /// the clause, parameter, expression or statement
    pub at: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// this clause of the guard does not hold
    Clause(u32),
    /// the record that this parameter refers to is not there; of a `new` parameter, its parent
    Exists(u32),
    /// the record that this `new` parameter would make is there already
    Fresh(u32),
    /// a record that is read or changed is not there
    NoSuchRecord,
    /// a record that is read or changed was deleted by this step
    Deleted,
    /// `new` of a record that is there already
    AlreadyExists,
    /// `new` of a record whose parent is not there: part of `exists`
    NoParent,
    /// `new` of a record whose key has a part that is empty
    EmptyKey,
    /// a counted parent cannot be deleted while children are counted
    HasChildren,
    /// a reference to nothing was followed
    Nothing,
    /// no value where one is required
    NullValue,
    Overflow,
    DivisionByZero,
    CollectionFull,
    /// an argument is not a value of its type
    OutOfRange,
    /// a value lies outside the range that the design gives it
    Range(Outside),
    /// an answer came for an outbox entry that is not open
    EntryClosed,
    /// the form is not evaluated here (a scan in a guard, a read of an ephemeral); a design that
    /// compiled has none
    Unsupported,
}

/// A value that lies outside its range, and where it would stand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Outside {
    pub place: Place,
    pub value: Word,
}

/// What has a range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// of the operation that was called
    Param(u32),
    /// of a record that an argument refers to, or that would be made
    Key {
        subject: SubjectId,
        part: u32,
    },
    /// of truth, a log, a cache or an ephemeral
    Attribute {
        subject: SubjectId,
        attr: AttrId,
    },
    /// of an effect that would be sent
    Sent {
        operation: OperationId,
        param: u32,
    },
    /// a field of one of the records in an argument, which is a list
    InParam {
        param: u32,
        index: u32,
        field: u32,
    },
    InAttribute {
        subject: SubjectId,
        attr: AttrId,
        index: u32,
        field: u32,
    },
    InSent {
        operation: OperationId,
        param: u32,
        index: u32,
        field: u32,
    },
}

/// What may keep any step from being taken, besides the clauses of its guard and `exists`, `fresh` and `range`: it
/// stands alone, or behind the clause in which it occurred (`free.overflow`).
pub const FAULTS: [&str; 13] = [
    "no_such_record",
    "deleted",
    "already_exists",
    "no_parent",
    "empty_key",
    "has_children",
    "nothing",
    "null_value",
    "overflow",
    "division_by_zero",
    "collection_full",
    "out_of_range",
    "unsupported",
];

impl Reason {
    /// Stable: part of the wire format and of metrics.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Clause(_) => "clause",
            Reason::Exists(_) => "exists",
            Reason::Fresh(_) => "fresh",
            Reason::NoSuchRecord => "no_such_record",
            Reason::Deleted => "deleted",
            Reason::AlreadyExists => "already_exists",
            Reason::NoParent => "no_parent",
            Reason::EmptyKey => "empty_key",
            Reason::HasChildren => "has_children",
            Reason::Nothing => "nothing",
            Reason::NullValue => "null_value",
            Reason::Overflow => "overflow",
            Reason::DivisionByZero => "division_by_zero",
            Reason::CollectionFull => "collection_full",
            Reason::OutOfRange => "out_of_range",
            Reason::Range(_) => "range",
            Reason::EntryClosed => "entry_closed",
            Reason::Unsupported => "unsupported",
        }
    }
}
