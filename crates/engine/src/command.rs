//! What is asked of a step.

use design::model::OperationId;

use crate::Word;

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

/// How the world outside answered a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AnswerKind {
    Ok,
    /// decided for good: no
    Refused,
    /// anything else
    Unknown,
}
