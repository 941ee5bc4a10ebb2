//! What can happen.

use design::model::{BlobId, Fault, OperationId, SubjectId};
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
        operation: OperationId,
        refused: bool,
        how: How,
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
        how: How,
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
    /// a place loses what is volatile in it
    Down {
        place: u32,
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
    /// from here on clients are silent
    Silence,
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

/// What went wrong with a call, if anything: at most two things in one transition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct How(pub(super) u16);

impl How {
    pub(crate) const PLAIN: How = How(0);
    pub(crate) const LOST_REPLY: How = How(1);
    pub(crate) const DUPLICATE: How = How(1 << 1);
    /// the memory that is overwritten is kept, to be used once more
    pub(crate) const PAUSE: How = How(1 << 2);
    /// older memory is used
    pub(crate) const STALE: How = How(1 << 3);
    pub(crate) const CLOCK_AHEAD: How = How(1 << 4);
    pub(crate) const CLOCK_BEHIND: How = How(1 << 5);
    /// the cache keeps its old copy
    pub(crate) const STALE_CACHE: How = How(1 << 6);
    /// a message is delivered and stays
    pub(crate) const DOUBLED: How = How(1 << 7);
    /// without the outbox: a crash before the call
    pub(crate) const CALL_LOST: How = How(1 << 8);
    /// a message arrives and is refused
    pub(crate) const REFUSED: How = How(1 << 9);
    /// without `at_least`: a read is answered from an older state
    pub(crate) const OLDER: How = How(1 << 10);
    /// an event is delivered, and comes again before the next one of its key
    pub(crate) const AGAIN: How = How(1 << 11);
    /// `where` says no to the record whose turn it is
    pub(crate) const PASSED: How = How(1 << 12);

    const FAULTS: [(How, Fault); 10] = [
        (How::LOST_REPLY, Fault::LostReply),
        (How::DUPLICATE, Fault::Duplicate),
        (How::PAUSE, Fault::Pause),
        (How::STALE, Fault::Pause),
        (How::CLOCK_AHEAD, Fault::ClockStep),
        (How::CLOCK_BEHIND, Fault::ClockStep),
        (How::STALE_CACHE, Fault::Stale),
        (How::DOUBLED, Fault::DoubledMessage),
        (How::AGAIN, Fault::DoubledEvent),
        (How::CALL_LOST, Fault::Crash),
    ];

    pub(crate) const fn and(self, other: How) -> How {
        How(self.0 | other.0)
    }

    pub(crate) const fn has(self, other: How) -> bool {
        self.0 & other.0 != 0
    }

    /// How many faults strike.
    pub(super) fn count(self) -> u32 {
        How::FAULTS.iter().filter(|(how, _)| self.has(*how)).count() as u32
    }

    /// Without this.
    pub(crate) fn but(self, other: How) -> How {
        How(self.0 & !other.0)
    }

    pub(crate) fn faults(self) -> impl Iterator<Item = Fault> {
        How::FAULTS.into_iter().filter(move |(how, _)| self.has(*how)).map(|(_, fault)| fault)
    }

    /// How many units the clock is ahead.
    pub(crate) fn shift(self) -> i64 {
        i64::from(self.has(How::CLOCK_AHEAD)) - i64::from(self.has(How::CLOCK_BEHIND))
    }
}

impl Move {
    /// No fault strikes, and the world outside does not answer `unknown`: what may go on for ever.
    pub(crate) fn is_calm(self) -> bool {
        match self {
            Move::Answer { kind: AnswerKind::Unknown, .. } => false,
            Move::Call { how, .. }
            | Move::Repair { how, .. }
            | Move::Deliver { how, .. }
            | Move::Land { how, .. }
            | Move::Answer { how, .. } => how.count() == 0,
            _ => self.faults().is_empty(),
        }
    }

    /// The faults that struck.
    pub(crate) fn faults(self) -> Vec<Fault> {
        match self {
            Move::Call { how, .. }
            | Move::Repair { how, .. }
            | Move::Deliver { how, .. }
            | Move::Answer { how, .. } => how.faults().collect(),
            Move::Land { how, .. } => how.faults().collect(),
            Move::Leave { .. } => vec![Fault::Late],
            Move::Lose { .. } => vec![Fault::LostMessage],
            Move::Crash { .. } | Move::Down { .. } => vec![Fault::Crash],
            Move::Evict { .. } => vec![Fault::Evict],
            Move::Cut { .. } => vec![Fault::Partition],
            Move::Drop { .. }
            | Move::Attempt { .. }
            | Move::Decide { .. }
            | Move::Again { .. }
            | Move::Tick
            | Move::Heal
            | Move::Silence
            | Move::Forget { .. }
            | Move::Put { .. } => Vec::new(),
        }
    }
}

/// Something for which the small world has no room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Beyond {
    /// what this slot would hold has no code
    Slot(u32),
    /// a record whose key is not of the world
    Key(SubjectId),
    /// a message too many
    Messages,
    /// a message that carries a value which is not of the world
    Carried(OperationId),
    /// a call to the world outside under a key that is not of the world
    EffectKey(OperationId),
    /// the time in this slot is moved on from beyond the horizon
    MovedOn(u32),
    /// a list that would have more elements than can be computed with
    List(OperationId),
}
