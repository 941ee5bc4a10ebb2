//! A store in this process that is wrong on purpose.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use store::{
    Blobs, Commit, Cursor, Decision, Description, FeedPage, Key, KeyRange, Limits, LocalStore,
    Memory, Page, Partition, Pending, Progress, Read, Record, Scan, Store, Ticket, Transaction,
    Version, Visit,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    None,
    /// Now and then a read is answered with what was there before the last write.
    StaleRead,
    /// Now and then a transaction sees records as they were before their last write.
    StaleGuard,
    /// Now and then a transaction is answered as done, and what it wrote is gone.
    LostUpdate,
}

type Before = HashMap<Vec<u8>, (Version, Vec<u8>)>;

pub struct Wrong {
    right: Memory,
    fault: Fault,
    calls: AtomicU64,
    /// What each record was before its last write, if it was.
    before: Mutex<Before>,
}

impl Wrong {
    pub fn new(fault: Fault) -> Wrong {
        Wrong { right: Memory::new(), fault, calls: AtomicU64::new(0), before: Mutex::default() }
    }

    fn now(&self, fault: Fault) -> bool {
        self.fault == fault && self.calls.fetch_add(1, Ordering::Relaxed) % 9 == 8
    }
}

/// A key and what it held.
type Held = (Vec<u8>, (Version, Vec<u8>));

struct Seen<'a> {
    right: &'a mut dyn Transaction,
    before: &'a Before,
    stale: bool,
    /// what this transaction has overwritten
    overwritten: Vec<Held>,
}

impl Transaction for Seen<'_> {
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        match self.before.get(key) {
            Some((version, value)) if self.stale => Some((*version, value)),
            _ => self.right.get(key),
        }
    }

    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        self.right.scan(range, reverse, visit);
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        if let Some((version, value)) = self.right.get(key) {
            self.overwritten.push((key.to_vec(), (version, value.to_vec())));
        }
        self.right.put(key, value);
    }

    fn delete(&mut self, key: &[u8]) {
        self.right.delete(key);
    }

    fn feed(&mut self, entry: &[u8]) {
        self.right.feed(entry);
    }

    fn number(&self) -> u64 {
        self.right.number()
    }

    fn position(&self) -> Option<u64> {
        self.right.position()
    }
}

impl LocalStore for Wrong {
    fn transact(
        &self,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> store::Result<Ticket> {
        let local = self.right.local().expect("memory is local");
        local.transact(&mut |transaction| {
            let mut before = self.before.lock().unwrap();
            let stale = self.now(Fault::StaleGuard);
            let mut seen =
                Seen { right: transaction, before: &before, stale, overwritten: Vec::new() };
            let decision = run(&mut seen);
            let overwritten = seen.overwritten;
            if decision == Decision::Commit {
                if self.now(Fault::LostUpdate) {
                    return Decision::Abandon;
                }
                before.extend(overwritten);
            }
            decision
        })
    }

    fn progress(&self) -> &Arc<Progress> {
        self.right.local().expect("memory is local").progress()
    }
}

impl Store for Wrong {
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
        Box::pin(async move {
            let mut read = self.right.read(keys, at_least).await?;
            if self.now(Fault::StaleRead) {
                let before = self.before.lock().unwrap();
                for (key, record) in keys.iter().zip(&mut read.records) {
                    if let Some((version, value)) = before.get(&**key) {
                        let value = value.clone().into();
                        *record = Some(Record { version: *version, value });
                    }
                }
            }
            Ok(read)
        })
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        self.right.scan(scan)
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        self.right.commit(commit)
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        self.right.feed(from, limit)
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

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn close(&self) -> Pending<'_, ()> {
        self.right.close()
    }
}
