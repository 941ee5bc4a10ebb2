//! Content addressed by its hash. The bytes lie beside the records; a mark among the records says
//! that they are there, so that a guard can ask, and in the same transaction.

use bytes::Bytes;
use layout::{ContentKey, DesignNumber, put_signed};
use store::{BlobReader, BlobWriter, Decision, Hash, Hasher, Key, Transaction};

use crate::calls::CallError;
use crate::core::Runtime;

/// Where the mark of a digest lies.
pub fn mark(number: DesignNumber, digest: &[u8]) -> Vec<u8> {
    ContentKey { design: number, digest }.to_bytes()
}

/// Content on its way in. Dropped before it is finished, it leaves nothing.
pub struct Incoming<'a> {
    runtime: &'a Runtime,
    writer: Box<dyn BlobWriter>,
    hasher: Hasher,
}

impl Incoming<'_> {
    pub async fn write(&mut self, piece: Bytes) -> Result<(), CallError> {
        self.hasher.update(&piece);
        Ok(self.writer.write(piece).await?)
    }

    /// Stores it and gives its digest, which is what truth refers to. What is not referred to is
    /// collected after a while.
    pub async fn finish(self) -> Result<String, CallError> {
        let runtime = self.runtime;
        let hash = self.hasher.finish();
        // until it is marked: a collector that found it unused before does not take its bytes away
        let _upload = runtime.store.blobs().uploads().begin(hash);
        let blob = self.writer.finish(Some(hash)).await?;
        let digest = blob.hash.to_string();
        let mut value = Vec::new();
        put_signed(&mut value, runtime.clock.now_ms());
        let mark = mark(runtime.schema.number, digest.as_bytes());
        let mut run = |transaction: &mut dyn Transaction| {
            transaction.put(&mark, &value);
            Decision::Commit
        };
        runtime.transact_async(&mut run).await?.durable().await?;
        Ok(digest)
    }
}

/// Content on its way out. Its last piece is given only when the hash of all is right.
pub struct Leaving(Box<dyn BlobReader>);

impl Leaving {
    pub fn bytes(&self) -> u64 {
        self.0.blob().bytes
    }

    /// The next piece, or nothing at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, CallError> {
        Ok(self.0.next().await?)
    }
}

impl Runtime {
    /// Content that comes piece by piece.
    pub async fn begin_blob(&self) -> Result<Incoming<'_>, CallError> {
        let writer = self.store.blobs().begin().await?;
        Ok(Incoming { runtime: self, writer, hasher: Hasher::default() })
    }

    /// Content that is there as a whole.
    pub async fn put_blob(&self, content: &[u8]) -> Result<String, CallError> {
        let mut incoming = self.begin_blob().await?;
        for piece in content.chunks(1 << 18) {
            incoming.write(Bytes::copy_from_slice(piece)).await?;
        }
        incoming.finish().await
    }

    /// The content of a digest, checked on the way; none: it is not stored.
    pub async fn open_blob(&self, digest: &str) -> Result<Option<Leaving>, CallError> {
        let Ok(hash) = digest.parse::<Hash>() else { return Ok(None) };
        let mut found = self.store.blobs().get(hash).await?;
        if found.is_none() {
            let mark = Key::new(mark(self.schema.number, digest.as_bytes()));
            if self.store.read(&[mark], None).await?.records[0].is_none() {
                return Ok(None);
            }
            // it may have been stored meanwhile; else it was acknowledged, and is lost
            found = self.store.blobs().get(hash).await?;
        }
        if found.is_none() {
            let why = format!("the content `{digest}` is missing");
            return Err(store::Error::Damaged(why).into());
        }
        Ok(found.map(Leaving))
    }

    /// The same, as a whole.
    pub async fn get_blob(&self, digest: &str) -> Result<Option<Vec<u8>>, CallError> {
        let Some(mut reader) = self.open_blob(digest).await? else { return Ok(None) };
        let mut content = Vec::new();
        while let Some(piece) = reader.next().await? {
            content.extend_from_slice(&piece);
        }
        Ok(Some(content))
    }
}
