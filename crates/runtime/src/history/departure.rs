//! What a walk says of one transition: it is allowed, or the history departs from the design there.

use engine::Word;
use telemetry::Trace;

use crate::calls::CallError;
use crate::core::ReadError;

/// Where a history departs from the design.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Departure {
    /// from 0
    pub transition: u64,
    pub operation: String,
    pub what: String,
}

impl Departure {
    pub(super) fn at(transition: u64, operation: &str, what: impl Into<String>) -> Departure {
        Departure { transition, operation: operation.to_string(), what: what.into() }
    }

    pub(super) fn unreadable(transition: u64, why: impl std::fmt::Display) -> Departure {
        Departure::at(transition, "", format!("an entry that cannot be read: {why}"))
    }

    pub(super) fn damaged(transition: u64, error: ReadError) -> Departure {
        Departure::unreadable(transition, CallError::from(error))
    }
}

impl std::fmt::Display for Departure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "transition {} (`{}`): {}", self.transition, self.operation, self.what)
    }
}

/// A transition that the design allows.
#[derive(Clone, PartialEq, Debug)]
pub struct Taken {
    pub actor: String,
    /// or the forgetting of a log
    pub operation: String,
    pub principal: Vec<u8>,
    pub at: Word,
    /// which request caused it
    pub trace: Option<Trace>,
    /// it rests on something from before the walk begins, and is taken as it was recorded
    pub trusted: bool,
}
