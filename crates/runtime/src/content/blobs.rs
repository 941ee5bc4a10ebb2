//! Content addressed by its hash. The bytes lie beside the records; a mark among the records says
//! that they are there, so that a guard can ask, and in the same transaction.

use layout::{ContentKey, DesignNumber, put_signed};
use store::{Decision, Hash, Key, Transaction};

use crate::calls::CallError;
use crate::core::Runtime;

/// Where the mark of a digest lies.
pub fn mark(number: DesignNumber, digest: &[u8]) -> Vec<u8> {
    ContentKey { design: number, digest }.to_bytes()
}

impl Runtime {
    /// Stores content and gives its digest, which is what truth refers to. What is not referred
    /// to is collected after a while.
    pub async fn put_blob(&self, content: &[u8]) -> Result<String, CallError> {
        let hash = Hash::of(content);
        // until it is marked: a collector that found it unused before does not take its bytes away
        let _upload = self.store.blobs().uploads().begin(hash);
        let mut writer = self.store.blobs().begin().await?;
        for piece in content.chunks(1 << 18) {
            writer.write(bytes::Bytes::copy_from_slice(piece)).await?;
        }
        let blob = writer.finish(Some(hash)).await?;
        let digest = blob.hash.to_string();
        let mut value = Vec::new();
        put_signed(&mut value, self.clock.now_ms());
        let mark = mark(self.schema.number, digest.as_bytes());
        let mut run = |transaction: &mut dyn Transaction| {
            transaction.put(&mark, &value);
            Decision::Commit
        };
        self.transact_async(&mut run).await?.durable().await?;
        Ok(digest)
    }

    /// The content of a digest, checked on the way; none: it is not stored.
    pub async fn get_blob(&self, digest: &str) -> Result<Option<Vec<u8>>, CallError> {
        let Ok(hash) = digest.parse::<Hash>() else { return Ok(None) };
        let mut found = self.store.blobs().get(hash).await?;
        if found.is_none() {
            let mark = Key::new(mark(self.schema.number, digest.as_bytes()));
            if self.store.read(&[mark], None).await?[0].is_none() {
                return Ok(None);
            }
            // it may have been stored meanwhile; else it was acknowledged, and is lost
            found = self.store.blobs().get(hash).await?;
        }
        let Some(mut reader) = found else {
            let why = format!("the content `{digest}` is missing");
            return Err(store::Error::Damaged(why).into());
        };
        let mut content = Vec::new();
        while let Some(piece) = reader.next().await? {
            content.extend_from_slice(&piece);
        }
        Ok(Some(content))
    }
}
