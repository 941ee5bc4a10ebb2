//! Refusals inside an evaluation: small, because every value on the way may be one.

use crate::Reason;
use crate::program::node::NodeId;

/// A [`Reason`] that is not about one clause or parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    NoSuchRecord,
    Deleted,
    AlreadyExists,
    NoParent,
    EmptyKey,
    HasChildren,
    Nothing,
    NullValue,
    Overflow,
    DivisionByZero,
    CollectionFull,
    OutOfRange,
    Unsupported,
}

impl Fault {
    const ALL: [Fault; 13] = [
        Fault::NoSuchRecord,
        Fault::Deleted,
        Fault::AlreadyExists,
        Fault::NoParent,
        Fault::EmptyKey,
        Fault::HasChildren,
        Fault::Nothing,
        Fault::NullValue,
        Fault::Overflow,
        Fault::DivisionByZero,
        Fault::CollectionFull,
        Fault::OutOfRange,
        Fault::Unsupported,
    ];
}

/// Why an evaluation does not end with a value. One word, so that a value or a stop is returned
/// in two registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stop(u64);

impl Stop {
    /// something is not loaded
    pub const NEED: Stop = Stop(u64::MAX);
    /// a record was read that is newer than the `now` already used: begin again
    pub const AGAIN: Stop = Stop(u64::MAX - 1);

    pub const fn refuse(fault: Fault, at: NodeId) -> Stop {
        Stop((fault as u64) << 32 | at as u64)
    }

    /// The refusal and the node where it happened.
    pub fn refusal(self) -> Option<(Fault, NodeId)> {
        let fault = Fault::ALL.get((self.0 >> 32) as usize)?;
        Some((*fault, self.0 as NodeId))
    }

    pub fn is_refusal(self) -> bool {
        self != Stop::NEED && self != Stop::AGAIN
    }
}

impl From<Fault> for Reason {
    fn from(fault: Fault) -> Reason {
        match fault {
            Fault::NoSuchRecord => Reason::NoSuchRecord,
            Fault::Deleted => Reason::Deleted,
            Fault::AlreadyExists => Reason::AlreadyExists,
            Fault::NoParent => Reason::NoParent,
            Fault::EmptyKey => Reason::EmptyKey,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_keeps_what_it_was_made_of() {
        for fault in Fault::ALL {
            for node in [0, 7, NodeId::MAX] {
                let stop = Stop::refuse(fault, node);
                assert_eq!(stop.refusal(), Some((fault, node)));
                assert!(stop.is_refusal());
            }
        }
        assert_eq!(Stop::NEED.refusal(), None);
        assert_eq!(Stop::AGAIN.refusal(), None);
        assert_eq!(size_of::<Result<crate::Word, Stop>>(), 16);
    }
}
