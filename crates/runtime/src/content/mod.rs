//! Content that truth refers to by its digest.

mod blobs;
mod collect;

pub use blobs::{Incoming, Leaving};
pub use collect::Collected;
