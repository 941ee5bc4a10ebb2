//! A store whose writes become durable when a test says so.

use std::sync::{Arc, Mutex};

use store::{
    Blobs, Commit, Cursor, Decision, Description, FeedPage, Key, Limits, LocalStore, Memory, Page,
    Partition, Pending, Progress, Read, Result, Scan, Store, Ticket, Transaction,
};

pub struct Lag {
    inner: Memory,
    gate: Arc<Gate>,
}

/// Shut: what is written stays undurable.
#[derive(Default)]
pub struct Gate {
    progress: Arc<Progress>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    shut: bool,
    newest: u64,
}

pub fn lag() -> (Arc<dyn Store>, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    (Arc::new(Lag { inner: Memory::new(), gate: Arc::clone(&gate) }), gate)
}

impl Gate {
    pub fn close(&self) {
        self.state.lock().unwrap().shut = true;
    }

    pub fn open(&self) {
        let mut state = self.state.lock().unwrap();
        state.shut = false;
        self.progress.advance(state.newest);
    }
}

impl LocalStore for Lag {
    fn transact(&self, run: &mut dyn FnMut(&mut dyn Transaction) -> Decision) -> Result<Ticket> {
        let mut state = self.gate.state.lock().unwrap();
        let ticket = self.inner.local().expect("it is local").transact(run)?;
        state.newest = state.newest.max(ticket.position());
        if !state.shut {
            self.gate.progress.advance(state.newest);
        }
        Ok(Ticket::new(ticket.position(), &self.gate.progress))
    }

    fn progress(&self) -> &Arc<Progress> {
        &self.gate.progress
    }
}

impl Store for Lag {
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
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
