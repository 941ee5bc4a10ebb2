//! Stores that are wrong on purpose: the suite and the linearizability check must find them out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use store::linearizability::{self, Recording, Registers};
use store::{
    Blobs, Commit, Cursor, Description, Error, FeedPage, Key, Limits, Memory, Page, Partition,
    Pending, Read, Record, Scan, Store, Token, Write, block_on, conformance,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Now and then a read is answered with what was there before the last write.
    StaleRead,
    /// Now and then a commit does not look at its checks.
    LostUpdate,
    /// The writes of a commit become visible one after the other.
    Torn,
    /// Now and then an entry is missing in the feed.
    Forgetful,
    /// A commit has its place in the feed before it can be seen there: whoever reads on from the last place misses it.
    MaxPosition,
    /// The feed is in the order in which commits began.
    ByBeginning,
    /// What a read shows is older than the cursor that it gives.
    LateCursor,
    /// What became of a commit is not known, and is said not to have happened.
    ForgetsTokens,
    /// A commit that was said not to have happened may still happen.
    NoTombstones,
}

struct Wrong {
    right: Memory,
    fault: Fault,
    calls: AtomicU64,
    /// What each record was before its last write.
    before: Mutex<HashMap<Key, Option<Record>>>,
    /// Commits that cannot be seen in the feed yet.
    hidden: Mutex<BTreeSet<u64>>,
    /// When commits began, by where they are.
    begun: Mutex<BTreeMap<u64, u64>>,
}

impl Wrong {
    fn new(fault: Fault) -> Self {
        Wrong {
            right: Memory::new(),
            fault,
            calls: AtomicU64::new(0),
            before: Mutex::default(),
            hidden: Mutex::default(),
            begun: Mutex::default(),
        }
    }

    fn now(&self, fault: Fault) -> bool {
        self.fault == fault && self.calls.fetch_add(1, Ordering::Relaxed) % 9 == 8
    }

    fn remember(&self, commit: &Commit) -> Result<(), Error> {
        let keys: Vec<Key> = commit.writes.iter().map(|write| write.key().clone()).collect();
        let records = block_on(self.right.read(&keys, None))?.records;
        self.before.lock().unwrap().extend(keys.into_iter().zip(records));
        Ok(())
    }

    fn commit_wrongly(&self, mut commit: Commit) -> Result<Cursor, Error> {
        self.remember(&commit)?;
        if self.now(Fault::LostUpdate) {
            commit.checks.clear();
        }
        if self.now(Fault::Forgetful) {
            commit.feed.clear();
        }
        if self.fault == Fault::Torn && commit.writes.len() > 1 {
            commit.validate(&self.right.limits())?;
            let rest: Vec<Write> = commit.writes.drain(1..).collect();
            let rest = Commit { writes: rest, version: commit.version, ..Commit::new() };
            block_on(self.right.commit(commit))?;
            linger(1);
            return block_on(self.right.commit(rest));
        }
        match self.fault {
            Fault::MaxPosition => {
                let cursor = {
                    let mut hidden = self.hidden.lock().unwrap();
                    let cursor = block_on(self.right.commit(commit))?;
                    hidden.insert(cursor.position());
                    cursor
                };
                linger(1);
                self.hidden.lock().unwrap().remove(&cursor.position());
                Ok(cursor)
            }
            Fault::ByBeginning => {
                let number = self.calls.fetch_add(1, Ordering::Relaxed);
                // who begins later is often done before
                linger((3 - number % 4) as u32);
                let mut begun = self.begun.lock().unwrap();
                let cursor = block_on(self.right.commit(commit))?;
                begun.insert(cursor.position(), number);
                Ok(cursor)
            }
            Fault::NoTombstones => {
                commit.token = None;
                block_on(self.right.commit(commit))
            }
            _ => block_on(self.right.commit(commit)),
        }
    }

    /// The feed of the right store, as this one gives it.
    fn fed(&self, from: Cursor, limit: usize) -> Result<FeedPage, Error> {
        let hidden = self.hidden.lock().unwrap();
        let begun = self.begun.lock().unwrap();
        let mut page = block_on(self.right.feed(from, limit))?;
        page.commits.retain(|commit| !hidden.contains(&commit.cursor.position()));
        let cursors: Vec<Cursor> = page.commits.iter().map(|commit| commit.cursor).collect();
        page.commits.sort_by_key(|commit| begun.get(&commit.cursor.position()).copied());
        for (commit, cursor) in page.commits.iter_mut().zip(cursors) {
            commit.cursor = cursor;
        }
        Ok(page)
    }
}

/// As the right store behind it, but for its fault. It is not local: what it loses can be asked for.
impl Store for Wrong {
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
        Box::pin(async move {
            let mut read = self.right.read(keys, at_least).await?;
            if self.now(Fault::StaleRead) {
                let before = self.before.lock().unwrap();
                for (key, record) in keys.iter().zip(&mut read.records) {
                    if let Some(stale) = before.get(key) {
                        record.clone_from(stale);
                    }
                }
            }
            if self.fault == Fault::LateCursor {
                linger(1);
                read.at = self.right.head(read.at.partition()).await?;
            }
            Ok(read)
        })
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        self.right.scan(scan)
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        Box::pin(async move { self.commit_wrongly(commit) })
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        Box::pin(async move { self.fed(from, limit) })
    }

    fn outcome(&self, token: Token) -> Pending<'_, Option<Cursor>> {
        match self.fault {
            Fault::ForgetsTokens | Fault::NoTombstones => Box::pin(std::future::ready(Ok(None))),
            _ => self.right.outcome(token),
        }
    }

    fn changed(&self, after: Cursor) -> Pending<'_, Cursor> {
        self.right.changed(after)
    }

    fn head(&self, partition: Partition) -> Pending<'_, Cursor> {
        self.right.head(partition)
    }

    fn trim(&self, below: Cursor) -> Pending<'_, Cursor> {
        self.right.trim(below)
    }

    fn blobs(&self) -> &dyn Blobs {
        self.right.blobs()
    }

    fn limits(&self) -> Limits {
        self.right.limits()
    }

    fn describe(&self) -> Description {
        self.right.describe()
    }

    fn close(&self) -> Pending<'_, ()> {
        self.right.close()
    }
}

/// Others go on meanwhile, also where there is one processor for all.
fn linger(times: u32) {
    thread::sleep(Duration::from_micros(200) * times);
}

#[test]
fn the_suite_rejects_every_wrong_store() {
    let faults = [
        Fault::StaleRead,
        Fault::LostUpdate,
        Fault::Torn,
        Fault::Forgetful,
        Fault::MaxPosition,
        Fault::ByBeginning,
        Fault::LateCursor,
        Fault::ForgetsTokens,
        Fault::NoTombstones,
    ];
    for fault in faults {
        let judged = conformance::check(&mut || Box::new(Wrong::new(fault)));
        assert!(judged.is_err(), "{fault:?} was not found");
    }
}

/// A feed that misses something only while others commit is found by whoever reads it then.
#[test]
fn a_wrong_feed_is_found_where_it_shows() {
    for fault in [Fault::MaxPosition, Fault::ByBeginning] {
        let failure = conformance::check(&mut || Box::new(Wrong::new(fault))).unwrap_err();
        let expected = [
            "the feed misses nothing while others commit",
            "the feed is the order in which commits happened",
        ];
        assert!(expected.contains(&failure.check), "{fault:?}: {failure}");
    }
}

#[test]
fn a_torn_commit_is_found_where_it_shows() {
    let failure = conformance::check(&mut || Box::new(Wrong::new(Fault::Torn))).unwrap_err();
    let expected = ["a commit is never seen in part", "concurrent histories are linearizable"];
    assert!(expected.contains(&failure.check), "{failure}");
}

#[test]
fn histories_of_wrong_stores_are_not_linearizable() {
    for fault in [Fault::StaleRead, Fault::LostUpdate] {
        for seed in 0..10 {
            let recording = Recording { seed, clients: 4, operations: 2000 };
            let history = linearizability::record(&Wrong::new(fault), recording).unwrap();
            let judged = linearizability::check(&Registers, &history);
            assert!(judged.is_err(), "{fault:?} with seed {seed} was not found");
        }
    }
}

#[test]
fn a_reopened_store_must_not_be_empty() {
    let judged = conformance::check_reopen(&mut || Box::new(Memory::new()));
    assert_eq!(judged.unwrap_err().check, "a store that is opened again holds what it held");
}
