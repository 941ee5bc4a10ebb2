//! Refusals inside an evaluation: small, because every value on the way may be one.

use crate::Reason;

/// A [`Reason`] that is not about one clause or parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    NoSuchRecord,
    Deleted,
    AlreadyExists,
    HasChildren,
    Nothing,
    NullValue,
    Overflow,
    DivisionByZero,
    CollectionFull,
    OutOfRange,
    Unsupported,
}

impl From<Fault> for Reason {
    fn from(fault: Fault) -> Reason {
        match fault {
            Fault::NoSuchRecord => Reason::NoSuchRecord,
            Fault::Deleted => Reason::Deleted,
            Fault::AlreadyExists => Reason::AlreadyExists,
            Fault::HasChildren => Reason::HasChildren,
            Fault::Nothing => Reason::Nothing,
            Fault::NullValue => Reason::NullValue,
            Fault::Overflow => Reason::Overflow,
            Fault::DivisionByZero => Reason::DivisionByZero,
            Fault::CollectionFull => Reason::CollectionFull,
            Fault::OutOfRange => Reason::OutOfRange,
            Fault::Unsupported => Reason::Unsupported,
        }
    }
}
