//! Effects and messages: what waits, what is delivered, and what an answer changes.

mod answer_value;
mod chosen;
mod deliver;
mod hearing;
mod listening;
mod naming;
mod paging;
mod settle;
mod waiting;

pub use chosen::Undelivered;
pub use deliver::{Delivered, Delivery, Outside, Worked};
pub use listening::{Heard, Listeners, tell_listeners};
pub use naming::key_text;
pub use waiting::Waiting;
