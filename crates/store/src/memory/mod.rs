//! A store in memory: for tests, and for what may be lost.

mod blobs;
mod transaction;

use std::collections::BTreeMap;
use std::future::ready;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use self::blobs::MemoryBlobs;
use self::transaction::MemoryTransaction;
use crate::blob::Blobs;
use crate::commit::{Commit, Expected, Token, Write};
use crate::contract::{Description, FeedCommit, FeedPage, Page, Read, Scan, Store};
use crate::cursor::{Cursor, Partition};
use crate::error::{Error, Result};
use crate::key::{Key, KeyRange};
use crate::limits::Limits;
use crate::local::{Decision, LocalStore, Ticket, Transaction};
use crate::pending::Pending;
use crate::progress::Progress;
use crate::record::{Record, Version};

/// Holds everything in this process and nothing anywhere else.
#[derive(Debug, Default)]
pub struct Memory {
    state: Mutex<State>,
    progress: Arc<Progress>,
    blobs: MemoryBlobs,
}

#[derive(Debug, Default)]
struct State {
    records: BTreeMap<Key, Record>,
    feed: Vec<FeedCommit>,
    /// The feed begins after this position.
    floor: u64,
    position: u64,
    /// What became of commits that can be asked for; none: they never will be carried out.
    tokens: BTreeMap<Token, Option<u64>>,
    closed: bool,
}

const LIMITS: Limits = Limits {
    key_bytes_max: 4 << 10,
    value_bytes_max: 16 << 20,
    commit_bytes_max: 16 << 20,
    commit_operations_max: usize::MAX,
    scan_records_max: 10_000,
};

impl Memory {
    pub fn new() -> Self {
        Memory::default()
    }

    /// The newest cursor.
    pub fn newest(&self, _: Partition) -> Cursor {
        at(self.progress.durable())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, when it is open and has reached the cursor.
    fn reached(&self, at_least: Option<Cursor>) -> Result<MutexGuard<'_, State>> {
        let state = self.state();
        if state.closed {
            return Err(Error::Closed);
        }
        match at_least {
            Some(cursor) if !cursor.is_within(at(state.position)) => Err(Error::Ahead(cursor)),
            _ => Ok(state),
        }
    }

    fn commit_now(&self, commit: Commit) -> Result<Cursor> {
        commit.validate(&LIMITS)?;
        let mut state = self.reached(None)?;
        match commit.token.and_then(|token| state.tokens.get(&token)) {
            Some(Some(position)) => return Ok(at(*position)),
            Some(None) => return Err(Error::Invalid("this commit was given up".into())),
            None => {}
        }
        for check in &commit.checks {
            let found = state.records.get(&check.key).map(|record| record.version);
            let holds = match check.expected {
                Expected::Absent => found.is_none(),
                Expected::Version(version) => found == Some(version),
            };
            if !holds {
                return Err(Error::Conflict(check.key.clone()));
            }
        }
        if !commit.only_checks() {
            state.apply(commit.writes, commit.feed, commit.version);
            self.progress.advance(state.position);
        }
        if let Some(token) = commit.token {
            let position = state.position;
            state.tokens.insert(token, Some(position));
        }
        Ok(at(state.position))
    }

    fn feed_now(&self, from: Cursor, limit: usize) -> Result<FeedPage> {
        let state = self.reached(Some(from))?;
        if from.position() < state.floor {
            return Err(Error::BelowFloor(at(state.floor)));
        }
        let first = state.feed.partition_point(|commit| commit.cursor <= from);
        let mut left = limit;
        let mut page = FeedPage { commits: Vec::new(), next: at(state.position) };
        for commit in &state.feed[first..] {
            if !page.commits.is_empty() && commit.entries.len() > left {
                page.next = page.commits.last().map_or(from, |last| last.cursor);
                break;
            }
            left = left.saturating_sub(commit.entries.len());
            page.commits.push(commit.clone());
        }
        Ok(page)
    }
}

impl State {
    fn apply(&mut self, writes: Vec<Write>, feed: Vec<Bytes>, version: Option<Version>) {
        self.position += 1;
        let version = version.unwrap_or(Version(self.position));
        for write in writes {
            match write {
                Write::Put(key, value) => {
                    let record = Record { version, value };
                    self.records.insert(key, record);
                }
                Write::Delete(key) => {
                    self.records.remove(&key);
                }
            }
        }
        if !feed.is_empty() {
            self.feed.push(FeedCommit { cursor: at(self.position), entries: feed });
        }
    }

    fn page(&self, scan: &Scan) -> Page {
        let limit = scan.limit.min(LIMITS.scan_records_max);
        let mut page = Page::empty(at(self.position));
        let mut visit = |(key, record): (&Key, &Record)| {
            page.more = page.records.len() == limit;
            if !page.more {
                page.records.push((key.clone(), record.clone()));
            }
            !page.more
        };
        let range = self.records.range::<[u8], _>(bounds(&scan.range));
        let _whole = match scan.reverse {
            false => range.into_iter().all(&mut visit),
            true => range.rev().all(&mut visit),
        };
        page
    }
}

fn at(position: u64) -> Cursor {
    Cursor::at(Partition::default(), position)
}

/// Bounds of the map's own kind. An empty range becomes one that the map accepts.
fn bounds(range: &KeyRange) -> (Bound<&[u8]>, Bound<&[u8]>) {
    let start = &*range.start;
    let end = match &range.end {
        None => Bound::Unbounded,
        Some(_) if range.is_empty() => Bound::Excluded(start),
        Some(end) => Bound::Excluded(&**end),
    };
    (Bound::Included(start), end)
}

impl Store for Memory {
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
        let found = self.reached(at_least).map(|state| Read {
            records: keys.iter().map(|key| state.records.get(key).cloned()).collect(),
            at: at(state.position),
        });
        Box::pin(ready(found))
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        Box::pin(ready(self.reached(scan.at_least).map(|state| state.page(&scan))))
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        Box::pin(ready(self.commit_now(commit)))
    }

    fn outcome(&self, token: Token) -> Pending<'_, Option<Cursor>> {
        let outcome = self.reached(None).map(|mut state| *state.tokens.entry(token).or_default());
        Box::pin(ready(outcome.map(|position| position.map(at))))
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        Box::pin(ready(self.feed_now(from, limit)))
    }

    fn changed(&self, after: Cursor) -> Pending<'_, Cursor> {
        let news = self.progress.wait_for(after.position() + 1);
        Box::pin(async move {
            news.await?;
            Ok(at(self.progress.durable()))
        })
    }

    fn head(&self, partition: Partition) -> Pending<'_, Cursor> {
        Box::pin(ready(Ok(self.newest(partition))))
    }

    fn trim(&self, below: Cursor) -> Pending<'_, Cursor> {
        Box::pin(ready(self.reached(Some(below)).map(|mut state| {
            state.floor = state.floor.max(below.position());
            let floor = at(state.floor);
            state.feed.retain(|commit| commit.cursor > floor);
            floor
        })))
    }

    fn blobs(&self) -> &dyn Blobs {
        &self.blobs
    }

    fn limits(&self) -> Limits {
        LIMITS
    }

    fn describe(&self) -> Description {
        Description {
            name: "memory",
            ordering: "all commits are in one order".into(),
            durability: "none: everything is lost when the process ends".into(),
            partitions: 1,
        }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn close(&self) -> Pending<'_, ()> {
        self.state().closed = true;
        self.progress.fail(Error::Closed);
        Box::pin(ready(Ok(())))
    }
}

impl LocalStore for Memory {
    fn transact(&self, run: &mut dyn FnMut(&mut dyn Transaction) -> Decision) -> Result<Ticket> {
        let mut state = self.reached(None)?;
        let mut transaction = MemoryTransaction::new(&state);
        let decision = run(&mut transaction);
        let (writes, feed) = transaction.into_parts();
        if decision == Decision::Commit && !(writes.is_empty() && feed.is_empty()) {
            let commit = Commit { writes, feed, ..Commit::default() };
            commit.validate(&LIMITS)?;
            state.apply(commit.writes, commit.feed, commit.version);
            self.progress.advance(state.position);
        }
        Ok(Ticket::new(state.position, &self.progress))
    }

    fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }
}
