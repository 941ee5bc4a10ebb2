//! Content that truth refers to by its digest.

mod blobs;
mod collect;

pub use blobs::Incoming;
pub use collect::Collected;
