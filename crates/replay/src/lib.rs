//! Histories of the checker, carried out on the runtime.
//!
//! A `Carrier` is a runtime with a clock that is set by hand, and everybody around it: the callers with what
//! they remember, the network, the world outside. It makes one event after the other happen, and compares
//! what is stored with what the checker says. `broken` goes the history of a failure, once without the
//! protection and once with it.

mod broken;
mod carrier;
mod compare;
mod door;
mod json;
mod judge;
mod line;
mod outside;
mod settle;

pub use broken::{ESCAPES, End, Shown, as_written, is_prevented, weakened, with, without};
pub use carrier::{Carried, Carrier, Stop, measures};
pub use door::{Door, Outcome};
pub use line::Line;
