//! The small world that the checker explores.

use serde::{Deserialize, Serialize};
use syntax::Span;

use super::*;

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct World {
    /// is there a `check { … }`?
    pub written: bool,
    /// for each subject, for each key part, how many values it takes. For a part that refers to
    /// a subject this is `Domain::Refs`.
    pub keys: Vec<Vec<Values>>,
    /// how many principals each actor has; an actor that continues another has that one's
    pub actors: Vec<u32>,
    /// for each operation, for each parameter, the values a caller may give
    pub params: Vec<Vec<Values>>,
    /// for each operation that is an effect, the values its `ok(answer)` may bind
    pub answers: Vec<Option<Values>>,
    /// `OwnerEpoch.current: 0..5`: states beyond the bound are not explored, and the verdict
    /// says so
    pub bounds: Vec<Bound>,
    pub faults: Vec<FaultSetting>,
    /// how many units into the past times are told apart; none: as far as the design compares
    pub horizon: Option<u32>,
    /// `symmetry: off` in `check`
    pub symmetry_off: bool,
    /// other settings, by name: `unknowns: 0` (no answer is ever `unknown`), `messages: 3`, `calls: 1`,
    /// `log: 3` (entries), `list: 4` (elements), `time: 4` (steps of a unit), `depth: 20`, `schedules: 2` (units
    /// that `next` lies ahead, at most)
    pub settings: Vec<(String, i64)>,
    pub span: Span,
}

/// The values that something takes in the small world.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Values {
    /// so many values that can only be told apart
    Opaque(u32),
    /// both ends included; integers, or millionths for a decimal
    Range(i64, i64),
    Listed(Vec<Const>),
    /// every constant of the enumeration, or both booleans
    Whole,
    /// every record that can be of this subject (for a `new` parameter: whether there or not)
    Refs(SubjectId),
    /// every principal of every actor
    Principals,
    /// every principal of these actors
    PrincipalsOf(Vec<ActorId>),
    /// a duration of so many units, from the first number to the second
    Units(u32, u32),
    /// Also null. Only outermost.
    OrNull(Box<Values>),
    /// any set of at most the bound of these
    SetOf(Box<Values>, u32),
    /// any sequence of at most the bound of these
    ListOf(Box<Values>, u32),
    /// the records of a list: any value of each field
    Fields(Vec<Values>),
    /// the environment is not asked: the value is never looked at, so one stands for all
    Irrelevant,
}

/// Of a duration, in units.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bound {
    pub subject: SubjectId,
    pub attr: AttrId,
    pub low: i64,
    pub high: i64,
}

impl World {
    /// A number from `check`'s other settings.
    pub fn setting(&self, name: &str) -> Option<i64> {
        self.settings.iter().find(|(held, _)| held == name).map(|(_, value)| *value)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FaultSetting {
    pub fault: Fault,
    /// how often it may strike in one history; none: without end
    pub budget: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fault {
    /// an actor loses its memory; its calls in flight may still land
    Crash,
    /// an actor acts on what it remembered before
    Pause,
    /// the step is done, its actor does not learn of it
    LostReply,
    /// a call is delivered twice
    Duplicate,
    /// a call is delivered at some later time
    Late,
    /// one server's clock jumps
    ClockStep,
    /// messages between places are not delivered for a while
    Partition,
    /// a message is lost
    LostMessage,
    /// a message is delivered twice
    DoubledMessage,
    /// an event is delivered, and comes again
    DoubledEvent,
    /// a cache forgets
    Evict,
    /// a cache keeps an old copy
    Stale,
}

impl Fault {
    pub const ALL: [(Fault, &'static str); 12] = [
        (Fault::Crash, "crash"),
        (Fault::Pause, "pause"),
        (Fault::LostReply, "lost_reply"),
        (Fault::Duplicate, "duplicate"),
        (Fault::Late, "late"),
        (Fault::ClockStep, "clock_step"),
        (Fault::Partition, "partition"),
        (Fault::LostMessage, "lost_message"),
        (Fault::DoubledMessage, "doubled_message"),
        (Fault::DoubledEvent, "doubled_event"),
        (Fault::Evict, "evict"),
        (Fault::Stale, "stale"),
    ];

    pub fn name(self) -> &'static str {
        Fault::ALL.iter().find(|(fault, _)| *fault == self).map_or("", |(_, name)| name)
    }
}
