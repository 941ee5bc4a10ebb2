//! A history that shows something, in the design's own words.

use design::model::{OperationId, Span};

/// Steps from the first state on. A lasso when `cycle_start` says where it comes back to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// every attribute of every record that is there at first
    pub initial: Vec<StateLine>,
    pub steps: Vec<TraceStep>,
    /// After the last step the history is again where it was before this one, for ever.
    pub cycle_start: Option<usize>,
    /// one sentence: what the last step shows
    pub ending: String,
}

/// One value of the state, as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateLine {
    /// `resource-1`, or what is not a record: `call in flight`, `outbox of authorize`
    pub record: String,
    /// `OwnerEpoch.current`
    pub attribute: String,
    pub value: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TraceStep {
    pub kind: StepKind,
    /// `claimant`; the fault's or the world's name where no actor acts
    pub actor: String,
    /// `claimant-2`
    pub principal: Option<String>,
    /// none: a tick, a crash, …
    pub operation: Option<OperationId>,
    /// `claim`, `tick`, `crash`, …
    pub name: String,
    /// (name, value)
    pub params: Vec<(String, String)>,
    /// what the caller remembered and gave along: (field, value)
    pub remembered: Vec<(String, String)>,
    /// the fault that shaped this step: `lost_reply`, `duplicate`, …
    pub fault: Option<String>,
    pub changes: Vec<ChangeLine>,
    /// what each actor believes afterwards
    pub memory: Vec<MemoryLine>,
    /// the clause by which it was refused (a delivery that came to nothing)
    pub refused: Option<String>,
    /// For a guard that was taken away: the clause that would have refused this step.
    pub would_have_refused: Option<String>,
    /// where the operation stands in the text
    pub span: Option<Span>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StepKind {
    /// a call, answered
    Step,
    /// something the environment does
    World,
    Repair,
    /// a call to the world outside, or its decision
    Effect,
    /// the world's answer commits
    Answer,
    Tick,
    Fault,
    /// a call or a message that was in flight lands or is dropped
    Delivery,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangeLine {
    pub record: String,
    pub attribute: String,
    pub before: String,
    pub after: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryLine {
    /// `claimant-1`
    pub principal: String,
    /// `my_epoch`
    pub field: String,
    /// the record it belongs to
    pub record: Option<String>,
    pub value: String,
}
