//! Transitions drawn from the small world, as plain data: for whoever carries them out somewhere
//! else, such as on the runtime, and compares.
//!
//! A sample is a tree. Each node is a state with everything that can be compared, and leads from
//! the first state to it by real steps: numbers as they are counted, times as ticks since the
//! beginning. At some nodes transitions are drawn: what happens and the state after it, or a call
//! and the clause that refuses it.

mod draw;
mod event;
mod scale;
mod state;
mod story;
mod tree;
mod value;

use design::model::{BlobId, Design, Fault, FaultSetting, OperationId, StateId, SubjectId};

pub use draw::{TOLD, sample};
pub use story::{Claim, Story, StoryStep, claims, goal_claim, story};
pub use value::Value;

/// How to draw.
#[derive(Clone, Debug)]
pub struct Draw {
    pub seed: u64,
    /// so many transitions, or all if there are fewer
    pub transitions: usize,
    pub states_max: usize,
    pub threads: usize,
    /// The faults that can be carried out; those of the design that are not among them are left
    /// out, and what can only be reached by them.
    pub faults: Vec<Fault>,
    /// also states in which somebody keeps a copy of a cache
    pub copies: bool,
    /// operations of which no call is drawn
    pub without: Vec<OperationId>,
}

/// One tick of the checker's clock, in the design that a sample is carried out with.
pub const TICK_MS: i64 = 1_000;

/// Transitions of one design.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The design to run: each duration is as many ticks as the checker took it for.
    pub design: Design,
    /// the first is where every history begins; the others come after the one they follow
    pub nodes: Vec<Node>,
    /// Faults of the design that were left out.
    pub left_out: Vec<FaultSetting>,
    /// of the world without what was left out
    pub states: usize,
    pub depth: u32,
    /// states that were drawn and are not in the tree, since no event can tell how they come about
    pub untold: usize,
    /// a budget ended the search
    pub stopped: bool,
}

#[derive(Clone, Debug)]
pub struct Node {
    /// which node it follows, and by what
    pub from: Option<(usize, Event)>,
    pub depth: u32,
    pub state: State,
    /// what was drawn here
    pub drawn: Vec<Drawn>,
}

#[derive(Clone, Debug)]
pub enum Drawn {
    Taken(Event, State),
    /// a call or a repair that a clause refuses
    Refused(Event, Refusal),
}

/// Why something is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// the name of the clause, or of what else stood in the way
    pub clause: String,
    /// such as `clause` or `exists`
    pub reason: &'static str,
}

/// Everything that can be compared.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct State {
    /// since the beginning
    pub ticks: i64,
    /// for every key of the small world
    pub records: Vec<Record>,
    pub memory: Vec<(Slot, Value)>,
    /// how many copies there are, of all caches
    pub copies: usize,
    /// effects whose outbox entry is open, with their arguments
    pub open: Vec<(OperationId, Vec<Value>)>,
    /// messages under way, with their arguments
    pub messages: Vec<(OperationId, Vec<Value>)>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    pub subject: SubjectId,
    pub key: Vec<Value>,
    /// none: there is no record
    pub truth: Option<Truth>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Truth {
    /// by the number of the attribute
    pub attributes: Vec<(u32, Value)>,
    /// where each log begins and ends
    pub logs: Vec<(StateId, i64, i64)>,
}

/// One thing that a principal may remember: a field, of one record or of none.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    pub principal: String,
    /// `actor.field`, of the actor whose principals these are
    pub field: String,
    pub record: Option<String>,
}

/// An operation that somebody calls.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub operation: OperationId,
    pub principal: String,
    pub params: Vec<Value>,
    /// what each use of memory of the operation refers to, and what is given along
    pub memory: Vec<(Slot, Value)>,
}

/// What a call does besides changing truth.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Answer {
    /// what its actor is to remember, by the number of the use of memory
    pub memory: Vec<(usize, Value)>,
    /// of a read
    pub result: Option<Value>,
}

/// What went wrong with a call that was made: at most two things.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Trouble {
    /// the answer is not heard
    pub lost_reply: bool,
    /// the same call comes once more, later
    pub duplicate: bool,
    /// what is overwritten in memory is kept beside it
    pub pause: bool,
    /// made with what was kept beside memory, for the last time; the answer is not heard
    pub stale: bool,
    /// the clock is so many ticks off, for this call alone
    pub clock: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answered {
    Ok,
    Refused,
    Unknown,
}

/// What happens.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    Call(Call, Trouble, Answer),
    /// a call leaves, to land later
    Leave(Call),
    /// a call that left earlier, or comes twice; the clock is so many ticks off
    Land(Call, Option<Refusal>, i64),
    Drop(Call),
    Repair {
        repair: OperationId,
        key: Vec<Value>,
        /// ticks that the clock is off
        clock: i64,
    },
    /// the call of an open entry reaches the world; `signs`: a keystore is asked for this signature
    Attempt {
        effect: OperationId,
        params: Vec<Value>,
        signs: Option<(u32, u32)>,
    },
    /// the world decides what becomes of a call that has reached it
    Decide {
        effect: OperationId,
        params: Vec<Value>,
        yes: bool,
    },
    /// the world's answer to an open entry; `dropped`: it comes to nothing
    Answer {
        effect: OperationId,
        params: Vec<Value>,
        kind: Answered,
        value: Value,
        dropped: bool,
        /// ticks that the clock is off
        clock: i64,
    },
    Deliver {
        operation: OperationId,
        params: Vec<Value>,
        refused: Option<Refusal>,
        /// an event that comes again
        again: bool,
        /// ticks that the clock is off
        clock: i64,
    },
    Lose {
        operation: OperationId,
        params: Vec<Value>,
    },
    Tick,
    Crash {
        principal: String,
    },
    Cut,
    Heal,
    /// a copy is forgotten
    Evict,
    Put {
        blob: BlobId,
        content: String,
    },
}
