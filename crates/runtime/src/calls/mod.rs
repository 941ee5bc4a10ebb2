//! A call: its arguments, the step, what is committed, the answer.

mod apart;
mod ask;
mod decide;
mod ephemeral;
mod group;
mod idempotency;
mod legal;
mod memory;
mod perform;
mod record_writer;
mod reply;
mod request;
mod result;
mod run;
mod text;
mod text_answer;

pub use ask::{Expected, Told};
pub use ephemeral::Ephemerals;
pub use group::{Answering, Answers, Calls, Gathering, Submissions};
pub use idempotency::hash16;
pub use memory::MemoryPlace;
pub use perform::{Performed, Room, fetch, perform};
pub use record_writer::{RecordWriter, reindex};
pub use reply::{CallError, Refused, Reply, clause_name};
pub use request::{IfMatch, Request, memory_name};
pub use result::Tree;
pub use text::{TextBegun, TextCall};
