//! Talking to a server.

mod answered;
mod memory;
mod options;
mod words;

pub use answered::{Answered, refusal};
pub use memory::Remembered;
pub use options::{Client, ServerOptions};
pub use words::{design_name, named_values, record, segment, told, truth, word};
