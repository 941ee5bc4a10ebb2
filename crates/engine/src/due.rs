//! When a repair's guard may come to hold for a record.

use design::model::OperationId;

use crate::{Program, Scratch, Truth, Word};

/// Exact or early, never late: nothing happens to the record in the meantime, and the guard does
/// not hold before the time that is given.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Due {
    Now,
    /// milliseconds
    At(Word),
    Never,
    /// load what `scratch.needs()` lists and ask again
    Need,
}

/// When the guard of `repair` first holds for the record `key`, from `now` on.
pub fn due<T: Truth>(
    _program: &Program,
    _truth: &T,
    _repair: OperationId,
    _key: Word,
    _me: Word,
    _now: Word,
    _scratch: &mut Scratch,
) -> Due {
    Due::Never
}
