//! Blobs: named by what they hold.

use bytes::Bytes;

use super::expect::{equal, holds};
use super::{Broken, Check, Outcome};
use crate::blob::Blob;
use crate::contract::Store;
use crate::error::{Error, Result};
use crate::hash::Hash;
use crate::surroundings::block_on;

pub const CHECKS: &[Check] = &[
    Check { name: "a blob is read as it was written", run: written },
    Check { name: "a blob with another hash than expected is not stored", run: expected },
    Check { name: "a blob is not there before it is finished", run: unfinished },
    Check { name: "blobs are listed in the order of their hashes", run: listed },
    Check { name: "a deleted blob is gone", run: deleted },
];

fn put(store: &dyn Store, pieces: &[&[u8]], expected: Option<Hash>) -> Result<Blob> {
    block_on(async {
        let mut writer = store.blobs().begin().await?;
        for piece in pieces {
            writer.write(Bytes::copy_from_slice(piece)).await?;
        }
        writer.finish(expected).await
    })
}

fn get(store: &dyn Store, hash: Hash) -> Result<Option<Vec<u8>>> {
    block_on(async {
        let Some(mut reader) = store.blobs().get(hash).await? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        while let Some(piece) = reader.next().await? {
            bytes.extend_from_slice(&piece);
        }
        assert_eq!(reader.blob(), Blob { hash, bytes: bytes.len() as u64 });
        Ok(Some(bytes))
    })
}

fn written(store: &dyn Store) -> Outcome {
    let large: Vec<u8> = (0..1_000_003_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    let cases: [&[&[u8]]; 4] = [&[], &[b"one piece"], &[b"two ", b"", b"pieces"], &[&large]];
    for pieces in cases {
        let whole = pieces.concat();
        let hash = Hash::of(&whole);
        for expected in [None, Some(hash)] {
            let blob = put(store, pieces, expected)?;
            equal("what was stored", blob, Blob { hash, bytes: whole.len() as u64 })?;
            let found = get(store, hash)?;
            holds("what is read is what was written", found.as_ref() == Some(&whole))?;
        }
    }
    equal("a blob that was never written", get(store, Hash::of(b"never"))?, None)
}

fn expected(store: &dyn Store) -> Outcome {
    let outcome = put(store, &[b"something"], Some(Hash::of(b"else")));
    holds("it is refused as damaged", matches!(outcome, Err(Error::Damaged(_))))?;
    equal("blobs", block_on(store.blobs().list(None, 10))?.len(), 0)
}

fn unfinished(store: &dyn Store) -> Outcome {
    let mut writer = block_on(store.blobs().begin())?;
    block_on(writer.write("half".into()))?;
    equal("before the end", get(store, Hash::of(b"half"))?, None)?;
    drop(writer);
    equal("after it was dropped", block_on(store.blobs().list(None, 10))?.len(), 0)
}

fn listed(store: &dyn Store) -> Outcome {
    let mut blobs = Vec::new();
    for n in 0..20_u8 {
        blobs.push(put(store, &[&[n]], None)?);
    }
    blobs.sort_by_key(|blob| blob.hash);
    let list = |after, limit| -> std::result::Result<Vec<Blob>, Broken> {
        Ok(block_on(store.blobs().list(after, limit))?)
    };
    equal("all", &list(None, 100)?[..], &blobs[..])?;
    equal("the first", &list(None, 3)?[..], &blobs[..3])?;
    equal("the rest", &list(Some(blobs[2].hash), 100)?[..], &blobs[3..])
}

fn deleted(store: &dyn Store) -> Outcome {
    let blob = put(store, &[b"going"], None)?;
    let delete = || block_on(store.blobs().delete(blob.hash));
    equal("the first time", delete()?, true)?;
    equal("what is left", get(store, blob.hash)?, None)?;
    equal("the second time", delete()?, false)
}
