//! The blobs of the store in memory.

use std::collections::BTreeMap;
use std::future::ready;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::blob::{Blob, BlobReader, BlobWriter, Blobs};
use crate::error::Error;
use crate::hash::{Hash, Hasher};
use crate::pending::Pending;
use crate::uploads::Uploads;

type Held = Arc<Mutex<BTreeMap<Hash, Arc<[Bytes]>>>>;

#[derive(Debug, Default)]
pub struct MemoryBlobs {
    held: Held,
    uploads: Uploads,
}

fn lock(held: &Held) -> MutexGuard<'_, BTreeMap<Hash, Arc<[Bytes]>>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn length(pieces: &[Bytes]) -> u64 {
    pieces.iter().map(|piece| piece.len() as u64).sum()
}

impl Blobs for MemoryBlobs {
    fn begin(&self) -> Pending<'_, Box<dyn BlobWriter>> {
        let writer = MemoryWriter {
            held: Arc::clone(&self.held),
            pieces: Vec::new(),
            hasher: Hasher::default(),
        };
        Box::pin(ready(Ok(Box::new(writer) as Box<dyn BlobWriter>)))
    }

    fn get(&self, hash: Hash) -> Pending<'_, Option<Box<dyn BlobReader>>> {
        let reader = lock(&self.held).get(&hash).map(|pieces| {
            let blob = Blob { hash, bytes: length(pieces) };
            Box::new(MemoryReader { blob, pieces: Arc::clone(pieces), given: 0 }) as Box<_>
        });
        Box::pin(ready(Ok(reader)))
    }

    fn list(&self, after: Option<Hash>, limit: usize) -> Pending<'_, Vec<Blob>> {
        let held = lock(&self.held);
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let listed = held
            .range((after, Bound::Unbounded))
            .take(limit)
            .map(|(hash, pieces)| Blob { hash: *hash, bytes: length(pieces) })
            .collect();
        Box::pin(ready(Ok(listed)))
    }

    fn uploads(&self) -> &Uploads {
        &self.uploads
    }

    fn delete(&self, hash: Hash) -> Pending<'_, bool> {
        Box::pin(ready(Ok(lock(&self.held).remove(&hash).is_some())))
    }
}

struct MemoryWriter {
    held: Held,
    pieces: Vec<Bytes>,
    hasher: Hasher,
}

impl BlobWriter for MemoryWriter {
    fn write(&mut self, piece: Bytes) -> Pending<'_, ()> {
        self.hasher.update(&piece);
        self.pieces.push(piece);
        Box::pin(ready(Ok(())))
    }

    fn finish(self: Box<Self>, expected: Option<Hash>) -> Pending<'static, Blob> {
        let hash = self.hasher.finish();
        if let Some(expected) = expected.filter(|expected| *expected != hash) {
            let message = format!("the blob is `{hash}` and not `{expected}`");
            return Box::pin(ready(Err(Error::Damaged(message))));
        }
        let blob = Blob { hash, bytes: length(&self.pieces) };
        lock(&self.held).insert(hash, self.pieces.into());
        Box::pin(ready(Ok(blob)))
    }
}

struct MemoryReader {
    blob: Blob,
    pieces: Arc<[Bytes]>,
    given: usize,
}

impl BlobReader for MemoryReader {
    fn blob(&self) -> Blob {
        self.blob
    }

    fn next(&mut self) -> Pending<'_, Option<Bytes>> {
        let piece = self.pieces.get(self.given).cloned();
        self.given += 1;
        Box::pin(ready(Ok(piece)))
    }
}
