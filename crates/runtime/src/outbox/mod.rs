//! Effects and messages: what waits, what is delivered, and what an answer changes.

mod answer_value;
mod chosen;
mod deliver;
mod naming;

pub use chosen::Undelivered;
pub use deliver::{Delivered, Delivery, Outside, Waiting, Worked};
pub use naming::key_text;
