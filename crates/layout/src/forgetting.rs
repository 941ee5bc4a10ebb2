//! Numbers in the place of an operation's for what the clock does by itself: forgetting the entries
//! of a log.

use design::model::{OperationId, StateId};

/// Numbers from here on are no operations of the design: each is the forgetting of one log.
pub const OPERATIONS_MAX: usize = 0xff00;

/// The number under which the forgetting of a log stands in the index and in the feed.
pub fn forgetting(log: StateId) -> OperationId {
    OperationId(OPERATIONS_MAX as u32 | log.0)
}

/// The log that a number forgets; none: it is an operation of the design.
pub fn log_of(operation: OperationId) -> Option<StateId> {
    let log = (operation.index()).checked_sub(OPERATIONS_MAX)?;
    (log <= usize::from(u8::MAX)).then(|| StateId::of(log))
}
