//! Content that truth refers to by its digest.

mod blobs;
mod collect;

pub use collect::Collected;
