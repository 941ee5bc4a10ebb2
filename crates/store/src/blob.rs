//! Blobs: bytes of any length, named by their hash.

use bytes::Bytes;

use crate::hash::Hash;
use crate::pending::Pending;
use crate::uploads::Uploads;

/// One stored blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blob {
    pub hash: Hash,
    pub bytes: u64,
}

/// The blobs of a store.
pub trait Blobs: Send + Sync {
    /// Begins a blob. It is not there until it is finished.
    fn begin(&self) -> Pending<'_, Box<dyn BlobWriter>>;

    fn get(&self, hash: Hash) -> Pending<'_, Option<Box<dyn BlobReader>>>;

    /// In the order of their hashes, after the given one.
    fn list(&self, after: Option<Hash>, limit: usize) -> Pending<'_, Vec<Blob>>;

    /// What is being stored just now by those who share these blobs in this process.
    fn uploads(&self) -> &Uploads;

    /// Whether it was there.
    fn delete(&self, hash: Hash) -> Pending<'_, bool>;
}

/// A blob on its way in. Dropped before it is finished, it leaves nothing.
pub trait BlobWriter: Send {
    fn write(&mut self, piece: Bytes) -> Pending<'_, ()>;

    /// Makes the blob durable and then visible. When a hash is expected and the bytes have another,
    /// nothing is stored and the answer is [`Error::Damaged`](crate::Error::Damaged).
    fn finish(self: Box<Self>, expected: Option<Hash>) -> Pending<'static, Blob>;
}

/// A blob on its way out.
pub trait BlobReader: Send {
    fn blob(&self) -> Blob;

    /// The next piece, or nothing at the end. The last piece is given only when the hash of all is
    /// right, so that who has read to the end has read the blob; otherwise the answer is
    /// [`Error::Damaged`](crate::Error::Damaged).
    fn next(&mut self) -> Pending<'_, Option<Bytes>>;
}
