//! The step: one command evaluated against the truth it needs.
//!
//! Pure and synchronous: no clock, no I/O, no randomness. The checker and the runtime call the
//! same functions, for the step and for the small machines around it.

mod command;
mod due;
mod holds;
pub mod idempotency;
mod layout;
mod legal;
mod outcome;
pub mod outbox;
mod program;
mod scratch;
mod step;
pub mod token;
mod truth;
mod word;

pub use command::{AnswerKind, Command};
pub use due::{Due, due};
pub use holds::holds;
pub use layout::{Field, Layout, ParamsLayout, StateLayout, width_of};
pub use legal::{LegalStep, legal_steps};
pub use outcome::{Outcome, Reason, Refusal};
pub use program::{Program, Shape};
pub use scratch::{
    Append, CacheWrite, Change, Emit, EphemeralWrite, Need, Query, Read, Scratch, Send, Write,
};
pub use step::{call, guard, step};
pub use truth::{Fetch, Truth, World};
pub use word::{NULL, Word};
