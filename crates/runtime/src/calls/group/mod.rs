//! Calls are decided in groups: what each is sure to read is looked up together, they are decided one
//! after the other over what the earlier ones wrote, and answered when all of that is durable.
//!
//! Every call goes this way, through whichever door it came. See `docs/decisions/groups.md`.

mod answering;
mod calls;
mod far;
mod gathering;
mod local;
mod submission;

pub use answering::Answering;
pub use calls::{Answers, Calls};
pub use gathering::Gathering;
pub use submission::Submissions;
