//! The step: one command evaluated against the truth it needs.
//!
//! Pure and synchronous: no clock, no I/O, no randomness. The checker and the runtime call the
//! same functions, for the step and for the small machines around it.

mod assign;
mod children;
mod clock;
mod collection;
mod command;
mod counters;
mod due;
mod env;
mod eval;
mod execute;
mod fault;
mod hash_part;
mod holds;
pub mod idempotency;
mod layout;
mod legal;
mod legality;
pub mod outbox;
mod outcome;
mod overlay;
mod program;
mod ranges;
mod refuses;
pub mod retention;
pub mod round;
mod scratch;
mod step;
pub mod token;
mod truth;
mod word;

pub use command::{AnswerKind, Command};
pub use due::{Due, due};
pub use eval::average;
pub use hash_part::HashPart;
pub use holds::{Side, holds, leads_to};
pub use layout::{Field, Layout, ParamsLayout, StateLayout, width_of};
pub use legal::{LegalStep, legal_steps};
pub use outcome::{FAULTS, Outcome, Outside, Place, Reason, Refusal};
pub use program::{Column, Equality, Program, Shape, column, equality};
pub use refuses::refuses;
pub use scratch::{
    Append, CacheWrite, Change, Emit, EphemeralWrite, Need, Query, Read, Scratch, Send, Write,
};
pub use step::{call, guard, step};
pub use truth::{Fetch, Truth, World};
pub use word::{NULL, Word};
