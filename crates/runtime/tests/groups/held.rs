//! A store in this process for tests of groups: what is written becomes durable when a test says so, turns
//! are counted, and reading a certain key panics.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use store::{
    Blobs, Commit, Cursor, Decision, Description, FeedPage, Key, KeyRange, Keys, Limits,
    LocalStore, Memory, Page, Partition, Pending, Progress, Record, Result, Scan, Store, Ticket,
    Transaction, Turn, Version, Visit,
};

/// Whoever reads a key with this in it panics.
pub const BOOM: &[u8] = b"boom";

#[derive(Default)]
pub struct Held {
    inner: Memory,
    progress: Arc<Progress>,
    state: Mutex<State>,
    turns: AtomicU64,
}

#[derive(Default)]
struct State {
    shut: bool,
    newest: u64,
}

impl Held {
    /// What is written from now on is not durable.
    pub fn shut(&self) {
        self.state.lock().unwrap().shut = true;
    }

    /// Everything that was written is durable.
    pub fn open(&self) {
        let mut state = self.state.lock().unwrap();
        state.shut = false;
        self.progress.advance(state.newest);
    }

    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::SeqCst)
    }

    fn memory(&self) -> &dyn LocalStore {
        self.inner.local().expect("memory is local")
    }

    fn ticket(&self, position: u64) -> Ticket {
        let mut state = self.state.lock().unwrap();
        state.newest = state.newest.max(position);
        if !state.shut {
            self.progress.advance(state.newest);
        }
        Ticket::new(position, &self.progress)
    }
}

struct HeldTurn<'a>(&'a mut dyn Turn);

impl Turn for HeldTurn<'_> {
    fn look_up(&mut self, keys: &Keys) {
        self.0.look_up(keys);
    }

    fn has_room(&self) -> bool {
        self.0.has_room()
    }

    fn transact(
        &mut self,
        expected: Range<usize>,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Result<u64> {
        self.0.transact(expected, &mut |transaction| run(&mut Panicking(transaction)))
    }
}

struct Panicking<'a>(&'a mut dyn Transaction);

impl Transaction for Panicking<'_> {
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        assert!(!key.windows(BOOM.len()).any(|part| part == BOOM), "boom");
        self.0.get(key)
    }

    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        self.0.scan(range, reverse, visit);
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.0.put(key, value);
    }

    fn delete(&mut self, key: &[u8]) {
        self.0.delete(key);
    }

    fn feed(&mut self, entry: &[u8]) {
        self.0.feed(entry);
    }

    fn position(&self) -> u64 {
        self.0.position()
    }
}

impl LocalStore for Held {
    fn transact(&self, run: &mut dyn FnMut(&mut dyn Transaction) -> Decision) -> Result<Ticket> {
        let ticket = self.memory().transact(run)?;
        Ok(self.ticket(ticket.position()))
    }

    fn turn(&self, run: &mut dyn FnMut(&mut dyn Turn)) -> Result<Ticket> {
        self.turns.fetch_add(1, Ordering::SeqCst);
        let ticket = self.memory().turn(&mut |turn| run(&mut HeldTurn(turn)))?;
        Ok(self.ticket(ticket.position()))
    }

    fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }
}

impl Store for Held {
    fn read<'a>(
        &'a self,
        keys: &'a [Key],
        at_least: Option<Cursor>,
    ) -> Pending<'a, Vec<Option<Record>>> {
        self.inner.read(keys, at_least)
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        self.inner.scan(scan)
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        self.inner.commit(commit)
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        self.inner.feed(from, limit)
    }

    fn changed(&self, after: Cursor) -> Pending<'_, Cursor> {
        self.inner.changed(after)
    }

    fn head(&self, partition: Partition) -> Pending<'_, Cursor> {
        self.inner.head(partition)
    }

    fn trim(&self, below: Cursor) -> Pending<'_, Cursor> {
        self.inner.trim(below)
    }

    fn blobs(&self) -> &dyn Blobs {
        self.inner.blobs()
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn describe(&self) -> Description {
        self.inner.describe()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn close(&self) -> Pending<'_, ()> {
        self.inner.close()
    }
}
