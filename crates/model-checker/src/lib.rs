//! Explores the small world of a design with the engine's own step: every interleaving, with
//! crashes, retries, lost replies, expiry and clock steps.
//!
//! What each fault means, what a state is made of and what a verdict promises is written in
//! `docs/checker.md`.

mod alone;
mod already;
mod arm;
mod base;
mod bindings;
mod check;
mod clock;
mod design_parts;
mod distances;
mod failures;
mod fair;
mod free;
mod gaps;
mod group;
mod guided;
mod islands;
mod lasso;
mod leads;
mod machine;
mod names;
mod network;
mod options;
mod protocols;
mod recover;
pub mod render;
mod report;
mod restates;
mod run;
pub mod sample;
mod script;
mod search;
mod several;
mod slice;
mod state_lines;
mod summary;
mod taken_away;
mod trace;
mod trace_builder;
mod witness;
mod word;
mod world;
mod worlds;

pub use check::check;
pub use options::{Options, Progress, Stop, WorldError};
pub use report::{
    ArmResult, FailureStatus, FailureVerdict, FreeClause, GoalVerdict, Report, Verdict, Witness,
    WitnessKind, WorldReport, WorldSummary,
};
pub use taken_away::{TakenAway, taken_away};
pub use trace::{ChangeLine, MemoryLine, StateLine, StepKind, Trace, TraceStep};
pub use word::{VERSION, Word};
pub use worlds::{Hint, Larger, LargerOutcome, hint, larger};
