//! A complete copy of one store into another: every record with its version, the feed with its positions, and all blobs.
//!
//! Everything else that a service needs, such as due times, outbox, idempotency keys and where followers are, is records.
//! Since versions and positions are the same, whoever holds a revision of the one store can go on with the other.
//!
//! What was written is read back and held against what was read, before anybody may serve it.

mod at_rest;
mod digest;

use std::collections::BTreeSet;

pub use self::at_rest::AtRest;
use self::digest::Digest;
use crate::blob::{Blob, Blobs};
use crate::contract::FeedCommit;
use crate::error::{Error, Result};
use crate::hash::Hash;
use crate::key::Key;
use crate::limits::Limits;
use crate::pending::Pending;
use crate::record::Record;

/// So many blobs are listed at a time.
const BLOBS: usize = 1_000;

/// What there is to copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Of the last commit.
    pub position: u64,
    /// The feed begins after this.
    pub floor: u64,
    pub records: u64,
    /// Of keys and values.
    pub record_bytes: u64,
    pub key_bytes_max: u64,
    pub value_bytes_max: u64,
    /// Of the feed; zero where that is not known before.
    pub feed_bytes: u64,
    pub blobs: u64,
    pub blob_bytes: u64,
    pub blob_bytes_max: u64,
    /// Names the store, where that is known: two copies of one store that have a record in the same version have the same
    /// record.
    pub lineage: Option<String>,
}

impl Outline {
    /// Fails if the other store does not take something that this one has.
    pub fn fits(&self, limits: &Limits, blob_bytes_max: u64) -> Result<()> {
        let parts = [
            ("key", self.key_bytes_max, limits.key_bytes_max),
            ("value", self.value_bytes_max, limits.value_bytes_max),
            ("blob", self.blob_bytes_max, blob_bytes_max),
        ];
        match parts.into_iter().find(|(_, bytes, bytes_max)| bytes > bytes_max) {
            Some((what, bytes, bytes_max)) => Err(Error::TooLarge { what, bytes, bytes_max }),
            None => Ok(()),
        }
    }

    /// Counts a blob.
    pub fn add_blob(&mut self, blob: Blob) {
        self.blobs += 1;
        self.blob_bytes += blob.bytes;
        self.blob_bytes_max = self.blob_bytes_max.max(blob.bytes);
    }
}

/// A store as of one moment, read from end to end: first the records, then the feed.
pub trait CopyFrom: Send {
    fn outline(&self) -> &Outline;

    /// The next records in the order of their keys. Empty: there are no more.
    fn records(&mut self) -> Pending<'_, Vec<(Key, Record)>>;

    /// The next part of the feed after its floor. Empty: there is no more.
    fn feed(&mut self) -> Pending<'_, Vec<FeedCommit>>;

    fn content(&self) -> &dyn Blobs;
}

/// A store that is being filled, and that nobody can serve meanwhile. It is made servable by whoever made it, when all is
/// there.
pub trait CopyTo: Send {
    /// Everything up to here is there already, and was read back.
    fn base(&self) -> u64;

    /// Takes the next records. Gives how many had to be written.
    fn records(&mut self, records: Vec<(Key, Record)>) -> Pending<'_, u64>;

    /// Takes the next part of the feed. Called when all records have been.
    fn feed(&mut self, commits: Vec<FeedCommit>) -> Pending<'_, u64>;

    fn content(&self) -> &dyn Blobs;

    /// All of it has come: what was written is read.
    fn read_back(&mut self) -> Pending<'_, Box<dyn CopyFrom + '_>>;
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Records,
    Feed,
    Content,
    ReadingBack,
}

/// How far a copy has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub doing: Doing,
    pub done: u64,
    /// Nothing where that is not known before.
    pub of: Option<u64>,
}

/// What was copied, and how much of it had to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub records: u64,
    pub records_written: u64,
    /// Commits that fed something.
    pub feed: u64,
    pub feed_written: u64,
    pub blobs: u64,
    pub blobs_written: u64,
}

/// Copies everything, and reads it back.
pub async fn copy(
    from: &mut dyn CopyFrom,
    to: &mut dyn CopyTo,
    tell: &mut (dyn FnMut(Progress) + Send),
) -> Result<Copied> {
    let base = to.base();
    let mut copied = Copied::default();
    let mut digest = Digest::new(base);
    let of = Some(from.outline().records);
    loop {
        let records = from.records().await?;
        if records.is_empty() {
            break;
        }
        digest.records(&records)?;
        copied.records += records.len() as u64;
        copied.records_written += to.records(records).await?;
        tell(Progress { doing: Doing::Records, done: copied.records, of });
    }
    loop {
        let commits = from.feed().await?;
        if commits.is_empty() {
            break;
        }
        digest.feed(&commits)?;
        copied.feed += commits.len() as u64;
        copied.feed_written += to.feed(commits).await?;
        tell(Progress { doing: Doing::Feed, done: copied.feed, of: None });
    }
    copy_content(from, to, &mut copied, tell).await?;
    let mut back = to.read_back().await?;
    let found = read(&mut *back, base, tell).await?;
    match digest.differs(&found) {
        None => Ok(copied),
        Some(what) => Err(Error::Damaged(format!("what was read back is another copy: {what}"))),
    }
}

async fn read(
    from: &mut dyn CopyFrom,
    base: u64,
    tell: &mut (dyn FnMut(Progress) + Send),
) -> Result<Digest> {
    let mut digest = Digest::new(base);
    loop {
        let records = from.records().await?;
        if records.is_empty() {
            break;
        }
        digest.records(&records)?;
        tell(Progress { doing: Doing::ReadingBack, done: digest.count(), of: None });
    }
    loop {
        let commits = from.feed().await?;
        if commits.is_empty() {
            return Ok(digest);
        }
        digest.feed(&commits)?;
        tell(Progress { doing: Doing::ReadingBack, done: digest.count(), of: None });
    }
}

/// Every blob that is not there yet, hashed where it is read and where it is written. What an earlier copy has brought, and
/// is gone since, is taken away.
async fn copy_content(
    from: &dyn CopyFrom,
    to: &dyn CopyTo,
    copied: &mut Copied,
    tell: &mut (dyn FnMut(Progress) + Send),
) -> Result<()> {
    let mut there = hashes(to.content()).await?;
    let mut after = None;
    loop {
        let blobs = from.content().list(after, BLOBS).await?;
        let Some(last) = blobs.last() else { break };
        after = Some(last.hash);
        for Blob { hash, .. } in blobs {
            copied.blobs += 1;
            tell(Progress {
                doing: Doing::Content,
                done: copied.blobs,
                of: Some(from.outline().blobs),
            });
            if there.remove(&hash) {
                continue;
            }
            // it was listed a moment ago; what is gone by now nothing referred to
            let Some(mut reader) = from.content().get(hash).await? else { continue };
            let mut writer = to.content().begin().await?;
            while let Some(piece) = reader.next().await? {
                writer.write(piece).await?;
            }
            writer.finish(Some(hash)).await?;
            copied.blobs_written += 1;
        }
    }
    for gone in there {
        to.content().delete(gone).await?;
    }
    Ok(())
}

async fn hashes(blobs: &dyn Blobs) -> Result<BTreeSet<Hash>> {
    let mut found = BTreeSet::new();
    let mut after = None;
    loop {
        let page = blobs.list(after, BLOBS).await?;
        let Some(last) = page.last() else { return Ok(found) };
        after = Some(last.hash);
        found.extend(page.iter().map(|blob| blob.hash));
    }
}
