//! Blobs, in pieces of a megabyte.

use std::future::ready;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use store::{
    Blob, BlobReader, BlobWriter, Blobs, Error, Hash, Hasher, Pending, Surroundings, Uploads,
    real_surroundings,
};
use tokio::runtime::Handle;
use tokio_postgres::types::Type;

use crate::failures::told;
use crate::pool::Pool;
use crate::requests::Requests;
use crate::tail::Tail;
use crate::values::Uuid;

/// One row has so much of a blob.
const PIECE_BYTES: usize = 1 << 20;
/// A larger blob belongs elsewhere: it would be copied with every backup of the database.
pub const BLOB_BYTES_MAX: u64 = 256 << 20;

/// The blobs of a store, and what is needed to ask for them from anywhere.
#[derive(Clone)]
pub struct PostgresBlobs {
    inner: Arc<Inner>,
}

struct Inner {
    handle: Handle,
    pool: Arc<Pool>,
    requests: Requests,
    tail: Arc<Tail>,
    uploads: Uploads,
    surroundings: Arc<dyn Surroundings>,
}

impl PostgresBlobs {
    pub fn new(handle: Handle, pool: Arc<Pool>, requests: Requests, tail: Arc<Tail>) -> Self {
        let (uploads, surroundings) = (Uploads::default(), real_surroundings());
        PostgresBlobs {
            inner: Arc::new(Inner { handle, pool, requests, tail, uploads, surroundings }),
        }
    }

    /// Runs where the connections are.
    async fn within<T: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        if self.inner.tail.is_closed() {
            return Err(Error::Closed);
        }
        self.inner.handle.spawn(request).await.unwrap_or(Err(Error::Closed))
    }
}

fn not_read(error: tokio_postgres::Error) -> Error {
    Error::Damaged(told(&error))
}

impl Blobs for PostgresBlobs {
    fn begin(&self) -> Pending<'_, Box<dyn BlobWriter>> {
        let chance = || u128::from(self.inner.surroundings.chance());
        let writer = Writer {
            blobs: self.clone(),
            upload: chance() << 64 | chance(),
            number: 0,
            bytes: 0,
            waiting: BytesMut::new(),
            hasher: Hasher::default(),
        };
        Box::pin(ready(Ok(Box::new(writer) as Box<dyn BlobWriter>)))
    }

    fn get(&self, hash: Hash) -> Pending<'_, Option<Box<dyn BlobReader>>> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let found = self.within(async move {
                let parameters: &[_] = &[(&&hash.0[..] as _, Type::BYTEA)];
                let rows = inner.pool.ask(&inner.requests.blob_get, parameters).await?;
                rows.first().map(|row| row.try_get::<_, i64>(0).map_err(not_read)).transpose()
            });
            Ok(found.await?.map(|bytes| {
                let blob = Blob { hash, bytes: bytes as u64 };
                let hasher = Hasher::default();
                let blobs = self.clone();
                Box::new(Reading { blobs, blob, number: 0, given: 0, hasher })
                    as Box<dyn BlobReader>
            }))
        })
    }

    fn list(&self, after: Option<Hash>, limit: usize) -> Pending<'_, Vec<Blob>> {
        let inner = Arc::clone(&self.inner);
        Box::pin(self.within(async move {
            let after = after.map_or_else(Vec::new, |hash| hash.0.to_vec());
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let parameters: &[_] = &[(&after as _, Type::BYTEA), (&limit as _, Type::INT8)];
            let rows = inner.pool.ask(&inner.requests.blob_list, parameters).await?;
            let listed = rows.iter().map(|row| {
                let hash: &[u8] = row.try_get(0).map_err(not_read)?;
                let hash = hash.try_into().map_err(|_| {
                    Error::Damaged(format!("a blob is named by {} bytes", hash.len()))
                })?;
                let bytes: i64 = row.try_get(1).map_err(not_read)?;
                Ok(Blob { hash: Hash(hash), bytes: bytes as u64 })
            });
            listed.collect()
        }))
    }

    fn uploads(&self) -> &Uploads {
        &self.inner.uploads
    }

    fn delete(&self, hash: Hash) -> Pending<'_, bool> {
        let inner = Arc::clone(&self.inner);
        Box::pin(self.within(async move {
            let parameters: &[_] = &[(&&hash.0[..] as _, Type::BYTEA)];
            let lease = inner.pool.lease().await?;
            let rows = lease.query(&inner.requests.blob_delete, parameters).await;
            let rows = rows.map_err(crate::failures::Failure::unknown)?;
            rows.first().map_or(Ok(false), |row| row.try_get(0).map_err(not_read))
        }))
    }
}

struct Writer {
    blobs: PostgresBlobs,
    upload: u128,
    /// Pieces that are stored.
    number: i32,
    bytes: u64,
    /// Less than a piece.
    waiting: BytesMut,
    hasher: Hasher,
}

impl Writer {
    async fn store(&mut self, piece: Bytes) -> Result<(), Error> {
        let (inner, upload, number) = (Arc::clone(&self.blobs.inner), self.upload, self.number);
        self.number += 1;
        let request = async move {
            let bytes = &piece[..];
            let parameters: &[_] = &[
                (&Uuid(upload) as _, Type::UUID),
                (&number as _, Type::INT4),
                (&bytes as _, Type::BYTEA),
            ];
            inner.pool.ask(&inner.requests.blob_piece, parameters).await.map(drop)
        };
        self.blobs.within(request).await
    }

    async fn finished(mut self: Box<Self>, expected: Option<Hash>) -> Result<Blob, Error> {
        let hash = self.hasher.finish();
        if let Some(expected) = expected.filter(|expected| *expected != hash) {
            let message = format!("the blob is `{hash}` and not `{expected}`");
            return Err(Error::Damaged(message));
        }
        let last = self.waiting.split().freeze();
        if !last.is_empty() {
            self.store(last).await?;
        }
        let (inner, upload, bytes) = (Arc::clone(&self.blobs.inner), self.upload, self.bytes);
        let request = async move {
            let parameters: &[_] = &[
                (&Uuid(upload) as _, Type::UUID),
                (&&hash.0[..] as _, Type::BYTEA),
                (&(bytes as i64) as _, Type::INT8),
            ];
            let lease = inner.pool.lease().await?;
            let rows = lease.query(&inner.requests.blob_finish, parameters).await;
            rows.map(drop).map_err(crate::failures::Failure::unknown)
        };
        self.blobs.within(request).await?;
        // nothing is left to be taken away
        self.number = 0;
        Ok(Blob { hash, bytes })
    }
}

impl BlobWriter for Writer {
    fn write(&mut self, piece: Bytes) -> Pending<'_, ()> {
        Box::pin(async move {
            let bytes = self.bytes + piece.len() as u64;
            if bytes > BLOB_BYTES_MAX {
                return Err(Error::TooLarge { what: "blob", bytes, bytes_max: BLOB_BYTES_MAX });
            }
            self.bytes = bytes;
            self.hasher.update(&piece);
            self.waiting.extend_from_slice(&piece);
            while self.waiting.len() >= PIECE_BYTES {
                let piece = self.waiting.split_to(PIECE_BYTES).freeze();
                self.store(piece).await?;
            }
            Ok(())
        })
    }

    fn finish(self: Box<Self>, expected: Option<Hash>) -> Pending<'static, Blob> {
        Box::pin(self.finished(expected))
    }
}

/// What was not finished is taken away. If that fails, it is swept a day later.
impl Drop for Writer {
    fn drop(&mut self) {
        if self.number == 0 || self.blobs.inner.tail.is_closed() {
            return;
        }
        let (inner, upload) = (Arc::clone(&self.blobs.inner), self.upload);
        let handle = inner.handle.clone();
        handle.spawn(async move {
            let parameters: &[_] = &[(&Uuid(upload) as _, Type::UUID)];
            let _ = inner.pool.ask(&inner.requests.blob_forget, parameters).await;
        });
    }
}

struct Reading {
    blobs: PostgresBlobs,
    blob: Blob,
    number: i32,
    given: u64,
    hasher: Hasher,
}

impl BlobReader for Reading {
    fn blob(&self) -> Blob {
        self.blob
    }

    fn next(&mut self) -> Pending<'_, Option<Bytes>> {
        Box::pin(async move {
            if self.given == self.blob.bytes {
                return Ok(None);
            }
            let (inner, hash, number) =
                (Arc::clone(&self.blobs.inner), self.blob.hash, self.number);
            let piece = self.blobs.within(async move {
                let parameters: &[_] =
                    &[(&&hash.0[..] as _, Type::BYTEA), (&number as _, Type::INT4)];
                let rows = inner.pool.ask(&inner.requests.blob_next, parameters).await?;
                let piece = rows.first().map(|row| row.try_get::<_, &[u8]>(0).map_err(not_read));
                piece.transpose().map(|piece| piece.map(Bytes::copy_from_slice))
            });
            let piece = piece.await?;
            let gone = || Error::Damaged(format!("the blob `{hash}` has no piece {number}"));
            let piece = piece.ok_or_else(gone)?;
            self.number += 1;
            self.given += piece.len() as u64;
            self.hasher.update(&piece);
            if self.given >= self.blob.bytes && self.hasher.finish() != hash {
                return Err(Error::Damaged(format!("the blob `{hash}` is not what was stored")));
            }
            Ok(Some(piece))
        })
    }
}
