//! What can happen.

use design::model::{BlobId, Fault, OperationId};
use engine::AnswerKind;

/// One transition, small enough to keep and exact enough to tell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Move {
    /// a call is made and answered
    Call {
        instance: u32,
        how: How,
    },
    Repair {
        instance: u32,
        how: How,
    },
    /// a call leaves, to land later
    Leave {
        instance: u32,
    },
    /// a call in flight lands; `refused`: and comes to nothing
    Land {
        call: u32,
        refused: bool,
    },
    Drop {
        call: u32,
    },
    /// the open entry's call reaches the world
    Attempt {
        effect: OperationId,
        key: u32,
    },
    /// the world decides: yes (with the value of this number) or no
    Decide {
        effect: OperationId,
        key: u32,
        yes: bool,
        answer: u32,
    },
    /// without the key's protection: the world does it once more
    Again {
        effect: OperationId,
        key: u32,
    },
    /// the world's answer commits; `dropped`: the guard does not hold any more
    Answer {
        effect: OperationId,
        key: u32,
        kind: AnswerKind,
        dropped: bool,
    },
    /// a message arrives
    Deliver {
        plan: u32,
        at: u32,
        principal: u32,
        how: How,
    },
    /// a message is lost
    Lose {
        plan: u32,
        at: u32,
    },
    Tick,
    Crash {
        principal: u32,
    },
    Evict {
        cache: u32,
        key: u32,
        principal: u32,
    },
    /// messages do not pass between these places and the others
    Cut {
        side: u32,
    },
    Heal,
    /// the first entry of a log that keeps its entries for a time is forgotten: the slot of its start
    Forget {
        start: u32,
    },
    /// content is put into the store
    Put {
        blob: BlobId,
        digest: u32,
    },
}

/// What went wrong with a call, if anything. At most one thing goes wrong in one transition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum How {
    Plain,
    LostReply,
    Duplicate,
    /// the memory that is overwritten is kept, to be used once more
    Pause,
    /// older memory is used
    Stale,
    /// the clock is ahead or behind
    ClockAhead,
    ClockBehind,
    /// the cache keeps its old copy
    StaleCache,
    /// without the outbox: a crash before the call
    CallLost,
    /// a message is delivered and stays
    Doubled,
    /// a message arrives and is refused
    Refused,
    /// without `at_least`: a read is answered from an older state
    Older,
}

impl How {
    pub(crate) fn fault(self) -> Option<Fault> {
        Some(match self {
            How::LostReply => Fault::LostReply,
            How::Duplicate => Fault::Duplicate,
            How::Pause | How::Stale => Fault::Pause,
            How::ClockAhead | How::ClockBehind => Fault::ClockStep,
            How::StaleCache => Fault::Stale,
            How::CallLost => Fault::Crash,
            How::Doubled => Fault::DoubledMessage,
            How::Plain | How::Refused | How::Older => return None,
        })
    }
}

impl Move {
    /// The fault that struck, if one did.
    pub(crate) fn fault(self) -> Option<Fault> {
        Some(match self {
            Move::Call { how, .. } | Move::Repair { how, .. } | Move::Deliver { how, .. } => {
                return how.fault();
            }
            Move::Leave { .. } => Fault::Late,
            Move::Lose { .. } => Fault::LostMessage,
            Move::Crash { .. } => Fault::Crash,
            Move::Evict { .. } => Fault::Evict,
            Move::Cut { .. } => Fault::Partition,
            _ => return None,
        })
    }
}
