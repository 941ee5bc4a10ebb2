//! What is asked of a step.

use design::model::OperationId;

use crate::{NULL, Word};

/// One call of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    pub operation: OperationId,
    /// laid out as [`crate::Program::params`] says
    pub params: &'a [Word],
    /// One for each of the operation's `memory`; [`crate::NULL`] where nothing is remembered.
    pub memory: &'a [Word],
    /// the principal that acts
    pub me: Word,
    /// the server's clock, in milliseconds
    pub now: Word,
    /// For an effect: what the world answered, and the value that goes with it (or NULL).
    /// Without one, only the guard of an effect is evaluated.
    pub answer: Option<(AnswerKind, Word)>,
}

impl<'a> Command<'a> {
    /// Asked by nobody, so nothing is remembered: a repair, a message, a call that leaves.
    pub fn of_nobody(operation: OperationId, params: &'a [Word], now: Word) -> Self {
        Self { operation, params, memory: &[], me: NULL, now, answer: None }
    }
}

/// How the world outside answered a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AnswerKind {
    Ok,
    /// decided for good: no
    Refused,
    /// anything else
    Unknown,
}
