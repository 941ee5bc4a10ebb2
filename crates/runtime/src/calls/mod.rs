//! A call: its arguments, the step, what is committed, the answer.

mod apart;
mod chosen;
mod ephemeral;
mod idempotency;
mod legal;
mod memory;
mod perform;
mod record_writer;
mod remembered;
mod reply;
mod request;
mod result;
mod run;
mod taken;
mod taking;
mod text;
mod text_answer;

pub use ephemeral::Ephemerals;
pub use idempotency::hash16;
pub use memory::MemoryPlace;
pub use perform::{Performed, Room, fetch, perform};
pub use record_writer::{RecordWriter, reindex};
pub use remembered::Remembered;
pub use reply::{CallError, Refused, Reply, clause_name};
pub use request::{IfMatch, Request, memory_name};
pub use result::Tree;
pub use text::{TextBegun, TextCall};
