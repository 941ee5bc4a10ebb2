//! Logs that keep their entries for a time.

mod forget;

pub use forget::{ACTOR, Aged, Forgotten, dues, dues_anew, forget, name};
