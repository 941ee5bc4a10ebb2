//! The contract that every store honours.

use bytes::Bytes;

use crate::blob::Blobs;
use crate::commit::{Commit, Token};
use crate::cursor::{Cursor, Partition};
use crate::error::Error;
use crate::key::{Key, KeyRange};
use crate::limits::Limits;
use crate::local::LocalStore;
use crate::pending::Pending;
use crate::record::Record;

/// Which records to list.
#[derive(Clone, Debug)]
pub struct Scan {
    pub range: KeyRange,
    pub limit: usize,
    /// From the last key of the range to the first.
    pub reverse: bool,
    pub at_least: Option<Cursor>,
}

impl Scan {
    pub fn new(range: KeyRange, limit: usize) -> Self {
        Scan { range, limit, reverse: false, at_least: None }
    }

    pub fn reversed(self) -> Self {
        Scan { reverse: true, ..self }
    }

    pub fn at_least(self, cursor: Cursor) -> Self {
        Scan { at_least: Some(cursor), ..self }
    }
}

/// What a read found, all as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// In the order of the keys that were asked for.
    pub records: Vec<Option<Record>>,
    /// The moment, or one before it: every change that the records do not show comes after it in the feed. Who follows
    /// the feed from here loses nothing, and may be told again of something that the records show.
    pub at: Cursor,
}

/// The records of one scan, all as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub records: Vec<(Key, Record)>,
    /// The range holds more than the limit let through.
    pub more: bool,
    /// As in [`Read::at`].
    pub at: Cursor,
}

impl Page {
    /// Nothing, as of this moment.
    pub fn empty(at: Cursor) -> Self {
        Page { records: Vec::new(), more: false, at }
    }
}

/// What one commit put into the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedCommit {
    pub cursor: Cursor,
    pub entries: Vec<Bytes>,
}

/// A part of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedPage {
    pub commits: Vec<FeedCommit>,
    /// Where to go on. It may be past the last of `commits`, when later ones fed nothing.
    pub next: Cursor,
}

/// What an operator should know, in sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub name: &'static str,
    pub ordering: String,
    pub durability: String,
    pub partitions: u32,
}

/// A store of opaque keys and bytes.
///
/// Commits are strictly serializable and durable before they are answered. Reads and scans show the
/// latest commit that is durable: never one that a crash could still take back.
pub trait Store: Send + Sync {
    /// The records under these keys, all as of one moment that is not before `at_least`.
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read>;

    fn scan(&self, scan: Scan) -> Pending<'_, Page>;

    /// Carries out all of the commit if all of its checks hold. Sent twice with the same token, it is carried out once,
    /// and the second answer is the first one.
    fn commit(&self, commit: Commit) -> Pending<'_, Cursor>;

    /// What became of the commit with this token, for whoever lost the answer. None: it was not carried out, and it
    /// never will be, even if its request is still on its way somewhere. A store remembers a token for an hour at
    /// least.
    ///
    /// A store in this process loses no answers, and need not answer this.
    fn outcome(&self, token: Token) -> Pending<'_, Option<Cursor>> {
        let why =
            format!("{} keeps no tokens, and has none to tell of {token}", self.describe().name);
        Box::pin(std::future::ready(Err(Error::Invalid(why))))
    }

    /// What the store's clock says, in milliseconds since 1970, so that servers can tell how far their own are off.
    /// None: it has none but that of this process.
    fn clock(&self) -> Pending<'_, Option<u64>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// What was fed by the commits after `from`, in commit order. Commits are given whole: `limit`
    /// counts entries, and the first commit is given even when it has more.
    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage>;

    /// Waits until something after this cursor is durable, and answers with the newest.
    fn changed(&self, after: Cursor) -> Pending<'_, Cursor>;

    /// The newest durable cursor of a partition.
    fn head(&self, partition: Partition) -> Pending<'_, Cursor>;

    /// Lets the feed forget what is not after `below`. Answers with the floor, which may be lower
    /// than asked for, since a store may forget in larger pieces or later.
    fn trim(&self, below: Cursor) -> Pending<'_, Cursor>;

    fn blobs(&self) -> &dyn Blobs;

    fn limits(&self) -> Limits;

    fn describe(&self) -> Description;

    /// The shorter way, where the state is held in this process.
    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    /// Takes no more, waits until everything is durable, and lets go of what it held.
    fn close(&self) -> Pending<'_, ()>;
}
