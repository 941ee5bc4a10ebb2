//! The clock of one step.

use crate::Word;

/// The `now` of a step: fixed at its first use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    pub now: Word,
    pub used: bool,
}
