//! Blobs: bytes of any length, named by their hash.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;

use crate::contract::Pending;

/// The BLAKE3 hash of a blob, which is its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    pub fn of(bytes: &[u8]) -> Self {
        Hash(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a hash of 64 lowercase hexadecimal digits");
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut hash = [0; 32];
        if text.len() != 64 {
            return Err(wrong());
        }
        for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
            let high = digit(pair[0]).ok_or_else(wrong)?;
            *byte = high << 4 | digit(pair[1]).ok_or_else(wrong)?;
        }
        Ok(Hash(hash))
    }
}

/// Finds the hash of bytes that come in pieces.
#[derive(Clone, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub fn finish(&self) -> Hash {
        Hash(*self.0.finalize().as_bytes())
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.finish())
    }
}

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
