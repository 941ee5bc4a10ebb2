//! The words in which checks are written.

use std::fmt::Debug;

use super::{Broken, Outcome};
use crate::contract::Store;
use crate::cursor::{Cursor, Partition};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::record::Record;
use crate::surroundings::block_on;
use crate::{Commit, FeedPage, Page, Scan, Version};

pub fn equal<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(Broken(format!("{what}: {found:?} instead of {expected:?}")))
}

pub fn holds(what: &str, condition: bool) -> Outcome {
    if condition { Ok(()) } else { Err(Broken(format!("it does not hold that {what}"))) }
}

pub fn commit(store: &dyn Store, commit: Commit) -> Result<Cursor> {
    block_on(store.commit(commit))
}

pub fn read(store: &dyn Store, key: &str) -> Result<Option<Record>> {
    Ok(block_on(store.read(&[Key::from(key)], None))?.records.remove(0))
}

pub fn value(store: &dyn Store, key: &str) -> Result<Option<String>> {
    Ok(read(store, key)?.map(|record| String::from_utf8_lossy(&record.value).into_owned()))
}

pub fn version(store: &dyn Store, key: &str) -> std::result::Result<Version, Broken> {
    let record = read(store, key)?.ok_or_else(|| Broken(format!("`{key}` is absent")))?;
    Ok(record.version)
}

pub fn scan(store: &dyn Store, scan: Scan) -> Result<Page> {
    block_on(store.scan(scan))
}

pub fn feed(store: &dyn Store, from: Cursor, limit: usize) -> Result<FeedPage> {
    block_on(store.feed(from, limit))
}

/// The whole feed after a cursor, read in pages of a few entries.
pub fn follow(
    store: &dyn Store,
    mut from: Cursor,
    limit: usize,
) -> std::result::Result<Vec<(Cursor, String)>, Broken> {
    let mut entries = Vec::new();
    let head = block_on(store.head(from.partition()))?;
    while from < head {
        let page = feed(store, from, limit)?;
        holds("each page leads on", page.next > from)?;
        for commit in page.commits {
            holds("commits come in order", commit.cursor > from)?;
            from = commit.cursor;
            let text = |entry: &bytes::Bytes| String::from_utf8_lossy(entry).into_owned();
            entries.extend(commit.entries.iter().map(|entry| (commit.cursor, text(entry))));
        }
        holds("the next page is not before the last commit", page.next >= from)?;
        from = page.next;
    }
    Ok(entries)
}

pub fn partitions(store: &dyn Store) -> impl Iterator<Item = Partition> {
    (0..store.describe().partitions).map(Partition)
}

/// The texts of the feed of all partitions together.
pub fn all_fed(store: &dyn Store, limit: usize) -> std::result::Result<Vec<String>, Broken> {
    let mut texts = Vec::new();
    for partition in partitions(store) {
        let entries = follow(store, Cursor::start(partition), limit)?;
        texts.extend(entries.into_iter().map(|(_, text)| text));
    }
    Ok(texts)
}

pub fn conflict(key: &str) -> Result<Cursor> {
    Err(Error::Conflict(key.into()))
}
