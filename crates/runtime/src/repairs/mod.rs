//! Repairs: an index of due times, and what fires when a time has come.

mod due_times;
mod elsewhere;
mod fire;

pub use due_times::DueTimes;
pub use elsewhere::{Elsewhere, REEXAMINE_MS};
pub use fire::Fired;
