//! One command, evaluated.

use crate::{Command, Outcome, Program, Scratch, Truth};

/// Evaluates one call: the guard (`exists`, `fresh`, then the clauses in order), then the
/// statements in order over an overlay. For a read, its answer too; for an effect, the handler
/// that `command.answer` selects (whether the entry is open is the outbox machine's decision).
///
/// `now` is the largest of `command.now` and the stored time of every record read.
pub fn step<T: Truth>(
    _program: &Program,
    _truth: &T,
    _command: &Command<'_>,
    _scratch: &mut Scratch,
) -> Outcome {
    Outcome::Done
}

/// Evaluates the guard alone: `Done` if the step is legal now.
pub fn guard<T: Truth>(
    _program: &Program,
    _truth: &T,
    _command: &Command<'_>,
    _scratch: &mut Scratch,
) -> Outcome {
    Outcome::Done
}

/// Evaluates the body of an effect's call into `scratch.result()`, and its key into the single
/// `scratch.sends()`. The guard is not looked at.
pub fn call<T: Truth>(
    _program: &Program,
    _truth: &T,
    _command: &Command<'_>,
    _scratch: &mut Scratch,
) -> Outcome {
    Outcome::Done
}
