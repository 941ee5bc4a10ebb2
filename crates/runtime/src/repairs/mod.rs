//! Repairs: an index of due times, and what fires when a time has come.

mod elsewhere;
mod fire;

pub use elsewhere::{Elsewhere, REEXAMINE_MS, again};
pub use fire::Fired;
