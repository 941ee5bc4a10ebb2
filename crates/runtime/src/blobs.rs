//! Content addressed by its hash. The bytes lie beside the records; a mark among the records says
//! that they are there, so that a guard can ask, and in the same transaction.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use design::model::{SubjectId, Type};
use rustc_hash::FxHashSet;
use store::{Decision, Hash, KeyRange, Transaction};

use crate::bytes::{Damaged, Reader, put_signed};
use crate::keys::{self, DesignNumber, Space};
use crate::pool::Pool;
use crate::record;
use crate::registry;
use crate::reply::CallError;
use crate::runtime::Runtime;

/// Where the mark of a digest lies.
pub fn mark(number: DesignNumber, digest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(3 + digest.len());
    keys::begin(&mut key, number, Space::Blob);
    key.extend_from_slice(digest);
    key
}

/// What is being uploaded in this process, and how often at once: digests whose bytes may be there
/// before their mark is. One list for all designs, since they share the bytes of a store.
static UPLOADS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

fn uploads() -> MutexGuard<'static, BTreeMap<String, usize>> {
    UPLOADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// On the list until it is dropped.
struct Upload(String);

impl Upload {
    fn begin(digest: &str) -> Upload {
        *uploads().entry(digest.to_string()).or_default() += 1;
        Upload(digest.to_string())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut uploads = uploads();
        match uploads.get_mut(&self.0) {
            Some(more) if *more > 1 => *more -= 1,
            _ => {
                uploads.remove(&self.0);
            }
        }
    }
}

impl Runtime {
    /// Stores content and gives its digest, which is what truth refers to. What is not referred
    /// to is collected after a while.
    pub async fn put_blob(&self, content: &[u8]) -> Result<String, CallError> {
        let hash = Hash::of(content);
        // until it is marked: a collector that found it unused before does not take its bytes away
        let _upload = Upload::begin(&hash.to_string());
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
        let Some(mut reader) = self.store.blobs().get(hash).await? else { return Ok(None) };
        let mut content = Vec::new();
        while let Some(piece) = reader.next().await? {
            content.extend_from_slice(&piece);
        }
        Ok(Some(content))
    }

    /// Deletes content that no record refers to and that was stored more than `grace_ms` ago.
    /// Whoever uploads first and refers to it afterwards has that long.
    ///
    /// That takes a look at every record in one transaction, which only a store in this process can
    /// give: any other refuses.
    pub async fn collect_blobs(&self, grace_ms: i64) -> Result<usize, CallError> {
        if self.is_shared() {
            let why = "content is collected only where the state is in this process";
            return Err(store::Error::Invalid(why.into()).into());
        }
        let before = self.clock.now_ms().saturating_sub(grace_ms);
        let mut unused: Vec<String> = Vec::new();
        let mut trouble = None;
        let ticket = self.transact(&mut |transaction| {
            match self.unused(transaction, before) {
                Ok(found) => unused = found,
                Err(error) => trouble = Some(error),
            }
            for digest in &unused {
                transaction.delete(&mark(self.schema.number, digest.as_bytes()));
            }
            if unused.is_empty() { Decision::Abandon } else { Decision::Commit }
        })?;
        if let Some(error) = trouble {
            return Err(error.into());
        }
        // the bytes go only when nothing can refer to them any more
        ticket.durable().await?;
        let mut collected = 0;
        for digest in &unused {
            collected += usize::from(self.delete_unmarked(digest)?);
        }
        Ok(collected)
    }

    /// Deletes content, unless somebody is uploading it or has marked it again. Uploads of it that
    /// begin meanwhile wait until it is gone, and then write it anew.
    fn delete_unmarked(&self, digest: &str) -> Result<bool, CallError> {
        let Ok(hash) = digest.parse::<Hash>() else { return Ok(false) };
        let uploads = uploads();
        if uploads.contains_key(digest) {
            return Ok(false);
        }
        // the bytes are shared by all designs of the store, and each has its own marks
        let mut marked = Ok(false);
        self.transact(&mut |transaction| {
            marked = registry::numbers(transaction).map(|mut numbers| {
                numbers.any(|number| transaction.get(&mark(number, digest.as_bytes())).is_some())
            });
            Decision::Abandon
        })?;
        if marked? {
            return Ok(false);
        }
        Ok(store::block_on(self.store.blobs().delete(hash))?)
    }

    fn unused(&self, transaction: &dyn Transaction, before: i64) -> Result<Vec<String>, Damaged> {
        let mut start = Vec::new();
        keys::begin(&mut start, self.schema.number, Space::Blob);
        let mut old: Vec<String> = Vec::new();
        let mut trouble = false;
        transaction.scan(&KeyRange::prefix(start), false, &mut |key, _, value| {
            match (Reader::new(value).signed(), str::from_utf8(&key[3..])) {
                (Ok(at), Ok(digest)) => {
                    if at <= before {
                        old.push(digest.to_string());
                    }
                }
                _ => trouble = true,
            }
            ControlFlow::Continue(())
        });
        if trouble {
            return Err(Damaged);
        }
        if !old.is_empty() {
            let used = self.referred_to(transaction)?;
            old.retain(|digest| !used.contains(digest.as_bytes()));
        }
        Ok(old)
    }

    /// Every digest in every record.
    fn referred_to(&self, transaction: &dyn Transaction) -> Result<FxHashSet<Vec<u8>>, Damaged> {
        let schema = &*self.schema;
        let mut used = FxHashSet::default();
        let mut pool = Pool::new(schema.program.texts());
        for at in 0..schema.subjects.len() {
            let subject = SubjectId::of(at);
            let attributes = &schema.subjects[at].attributes;
            if !attributes.iter().any(|(_, ty)| holds_digest(ty)) {
                continue;
            }
            let mut start = Vec::new();
            keys::begin(&mut start, schema.number, Space::Record);
            start.extend_from_slice(&(subject.0 as u16).to_be_bytes());
            let mut trouble = None;
            transaction.scan(&KeyRange::prefix(start), false, &mut |_, _, value| {
                pool.reset();
                let mut words = Vec::new();
                if let Err(error) = record::take(value, schema, subject, &mut pool, &mut words) {
                    trouble = Some(error);
                    return ControlFlow::Break(());
                }
                for (field, _) in attributes.iter().filter(|(_, ty)| holds_digest(ty)) {
                    // a length that is taken for a handle keeps a text that is no digest
                    for word in &words[field.range()] {
                        used.insert(pool.content(*word).to_vec());
                    }
                }
                ControlFlow::Continue(())
            });
            if let Some(error) = trouble {
                return Err(error);
            }
        }
        Ok(used)
    }
}

fn holds_digest(ty: &Type) -> bool {
    match ty {
        Type::Digest(_) => true,
        Type::Optional(of) | Type::Set { of, .. } | Type::List { of, .. } => holds_digest(of),
        Type::Map { key, value, .. } => holds_digest(key) || holds_digest(value),
        _ => false,
    }
}
