//! The parts of a state, and where each has its slots.

use design::model::{ActorId, AttrId, Fault, MemoryId, OperationId, StateId, SubjectId};
use engine::Word;
use rustc_hash::FxHashMap;

use super::effects::EffectPlan;
use super::slots::{Kind, Slots};

/// What a slot holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SlotName {
    Present {
        subject: SubjectId,
        key: u32,
    },
    Attr {
        subject: SubjectId,
        key: u32,
        attr: AttrId,
    },
    Counter {
        subject: SubjectId,
        key: u32,
        counter: u32,
    },
    Log {
        subject: SubjectId,
        key: u32,
        log: StateId,
        end: bool,
    },
    StoredTime,
    Memory {
        /// at the root of its chain
        actor: ActorId,
        principal: u32,
        field: MemoryId,
        record: Option<u32>,
        stale: bool,
    },
    Call {
        call: u32,
    },
    CallMemory {
        call: u32,
    },
    Entry {
        effect: OperationId,
        key: u32,
    },
    EntryArg,
    World {
        effect: OperationId,
        key: u32,
    },
    WorldArg,
    WorldAnswer,
    /// what a keystore was asked to sign, and with which key
    Signed,
    Message {
        operation: OperationId,
        at: u32,
    },
    MessageArg,
    /// Of so many messages to a step, from this one on: which were ever sent?
    Sent {
        operation: OperationId,
        row: u32,
    },
    /// Which were sent since clients are silent, and have not arrived?
    Owed {
        operation: OperationId,
        row: u32,
    },
    /// are clients silent?
    Silent,
    CachePresent {
        subject: SubjectId,
        state: StateId,
        key: u32,
        principal: u32,
    },
    CacheAttr {
        subject: SubjectId,
        state: StateId,
        key: u32,
        principal: u32,
        attr: AttrId,
    },
    Budget(Fault),
    Cut,
    Blob,
    /// what the slot held that stands as far before, in an older state
    Older {
        key: Option<u32>,
    },
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordPlan {
    /// the first slot of the first key's record
    pub(crate) first: u32,
    pub(crate) stride: u32,
    /// words of the record
    pub(crate) width: u32,
    /// 1 if there is a slot before the words that says whether there is a record
    pub(crate) present: u32,
    /// is the slot after the words the stored time?
    pub(crate) timed: bool,
}

impl RecordPlan {
    #[inline]
    pub(crate) fn present(&self, key: usize) -> Option<u32> {
        (self.present == 1).then(|| self.first + self.stride * key as u32)
    }

    #[inline]
    pub(crate) fn words(&self, key: usize) -> std::ops::Range<usize> {
        let from = self.first + self.stride * key as u32 + self.present;
        from as usize..(from + self.width) as usize
    }

    pub(crate) fn stored_time(&self, key: usize) -> Option<u32> {
        self.timed.then(|| self.first + self.stride * key as u32 + self.present + self.width)
    }
}

/// One field of one actor's memory: a slot for each principal and record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryPlan {
    pub(crate) first: u32,
    /// how many records (1 if it is kept once for the actor)
    pub(crate) records: u32,
    /// where the older values are
    pub(crate) stale: Option<u32>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CallPlan {
    pub(crate) first: u32,
    pub(crate) stride: u32,
    pub(crate) count: u32,
    /// the field that each slot after the first is for; a field stands there as often as one
    /// operation uses it
    pub(crate) fields: Vec<(ActorId, MemoryId)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct MessagePlan {
    pub(crate) operation: OperationId,
    pub(crate) first: u32,
    /// 1 (is there one, and from which place) plus the arguments
    pub(crate) stride: u32,
    pub(crate) count: u32,
    /// to the handler of an event: those with one key arrive in the order in which they were emitted
    pub(crate) ordered: bool,
    /// of `send each`: a block for each record whose turn has not come yet
    pub(crate) each: bool,
    /// how many words of a block say where it stands: all of them, or those up to the key
    pub(crate) sorted: u32,
}

/// How the messages on their way are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Network {
    /// one by one, as many as `check` says
    OneByOne,
    /// one by one, so many: to tell a history
    Room(u32),
    /// All that were ever sent. Each may be delivered at any time, any number of times, or never.
    Set,
    /// The same, for `recovers`: also those that were sent since clients are silent, each of which is
    /// delivered once.
    Owed,
}

impl Network {
    pub(crate) fn is_set(self) -> bool {
        matches!(self, Network::Set | Network::Owed)
    }
}

/// The messages that one step can be sent, where they are kept as a set: one bit for each.
#[derive(Clone, Debug)]
pub(crate) struct SentPlan {
    pub(crate) operation: OperationId,
    /// the place it is from, where that is kept, and its arguments
    pub(crate) rows: Vec<Vec<Word>>,
    pub(crate) index: FxHashMap<Vec<Word>, u32>,
    pub(crate) kinds: Vec<Kind>,
    /// does a row begin with the place it is from?
    pub(crate) placed: bool,
    /// the slot of the first rows
    pub(crate) first: u32,
    /// the same, of those that are owed
    pub(crate) owed: Option<u32>,
}

/// So many messages have their bits in one slot.
pub(crate) const ROWS: u32 = 32;

/// The rows whose bits are set.
pub(crate) fn rows_in(words: &[Word], first: u32, count: u32) -> impl Iterator<Item = u32> + '_ {
    (0..count.div_ceil(ROWS)).flat_map(move |part| {
        let mut bits = words[(first + part) as usize];
        std::iter::from_fn(move || {
            let row = (bits != 0).then(|| bits.trailing_zeros())?;
            bits &= bits - 1;
            Some(part * ROWS + row)
        })
    })
}

impl SentPlan {
    pub(crate) fn args(&self, row: u32) -> &[Word] {
        &self.rows[row as usize][usize::from(self.placed)..]
    }
}

#[derive(Clone, Debug)]
pub(crate) struct CachePlan {
    pub(crate) subject: SubjectId,
    pub(crate) state: StateId,
    pub(crate) first: u32,
    pub(crate) stride: u32,
    pub(crate) width: u32,
    /// those that keep a copy
    pub(crate) principals: Vec<u32>,
    pub(crate) keys: u32,
}

impl CachePlan {
    pub(crate) fn slot(&self, key: usize, principal: u32) -> u32 {
        let at = self.principals.iter().position(|held| *held == principal);
        let at = at.expect("a principal that keeps a copy");
        let copy = key * self.principals.len() + at;
        self.first + copy as u32 * self.stride
    }
}

/// What shapes the state besides the design.
pub(crate) struct Settings {
    pub(crate) faults: Vec<(Fault, Option<u32>)>,
    pub(crate) calls: u32,
    /// may the answer to a call be `unknown`?
    pub(crate) unknowns: bool,
    pub(crate) messages: u32,
    pub(crate) network: Network,
    /// in units
    pub(crate) horizon: Word,
    /// does the design look further back than that?
    pub(crate) short_horizon: bool,
    /// in units
    pub(crate) duration_max: Word,
    /// words of a unit
    pub(crate) unit: Word,
    pub(crate) regions: bool,
    /// by region: how many fractions there can be at once
    pub(crate) fractions: u64,
    /// how many units further back times are kept that are compared with each other
    pub(crate) behind: Word,
    /// null may come where the type does not allow it: a protection is gone
    pub(crate) all_nullable: bool,
    /// a read may be answered from an older state: a protection is gone
    pub(crate) older: bool,
}

impl Settings {
    pub(crate) fn on(&self, fault: Fault) -> bool {
        self.faults.iter().any(|(held, budget)| *held == fault && *budget != Some(0))
    }
}

#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) slots: Slots,
    pub(crate) names: Vec<SlotName>,
    pub(crate) records: Vec<RecordPlan>,
    /// so many slots, the first ones, are the records'
    pub(crate) truth: u32,
    /// where an older truth stands, slot by slot
    pub(crate) older: Option<u32>,
    pub(crate) memory: Vec<Vec<MemoryPlan>>,
    pub(crate) calls: CallPlan,
    pub(crate) effects: Vec<Option<EffectPlan>>,
    pub(crate) messages: Vec<MessagePlan>,
    pub(crate) messages_max: u32,
    /// where messages are kept as a set; then there are no `messages`
    pub(crate) sent: Vec<SentPlan>,
    pub(crate) silent: Option<u32>,
    /// why they are not, though it was asked for
    pub(crate) no_set: Option<String>,
    pub(crate) caches: Vec<CachePlan>,
    /// slots of faults with a budget
    pub(crate) budgets: Vec<(Fault, u32)>,
    pub(crate) cut: Option<u32>,
    /// first slot and sort of each blob's digests
    pub(crate) blobs: Vec<Option<(u32, usize)>>,
    /// slots that hold a time
    pub(crate) times: Vec<u32>,
    /// sets and maps, which are kept sorted: the slot of the length, and the words of an element
    pub(crate) sorted: Vec<(u32, u32)>,
}
