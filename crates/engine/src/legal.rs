//! What the caller may do instead.

use design::model::OperationId;

use crate::{Command, Program, Scratch, Truth, Word};

/// A step whose guard holds now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LegalStep {
    pub operation: OperationId,
    /// For each parameter, what was filled in; `None`: the guard does not look at it, the caller
    /// chooses.
    pub params: Vec<Option<Word>>,
}

/// After a refusal: the steps of the same actor (and of those that continue it, or that it
/// continues) whose references can be filled from the records in `refused.reads()`, whose memory
/// is among that of the command, and whose guard holds now.
pub fn legal_steps<T: Truth>(
    _program: &Program,
    _truth: &T,
    _command: &Command<'_>,
    _refused: &Scratch,
    _scratch: &mut Scratch,
) -> Vec<LegalStep> {
    Vec::new()
}
