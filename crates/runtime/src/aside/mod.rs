//! Entries that cannot be worked on leave their queue, so that everything behind them goes on. They lie in
//! a space of their own, with the reason and the time, until a person has them tried again or discarded.

mod attempt;
mod listing;
mod moving;

pub use attempt::{Trouble, attempt, caught};
pub use listing::{Aside, AsideError};
pub use moving::{Moved, move_aside};
