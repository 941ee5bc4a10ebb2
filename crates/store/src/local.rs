//! The shorter way into a store that holds its state in this process.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::cursor::{Cursor, Partition};
use crate::error::Result;
use crate::key::KeyRange;
use crate::progress::{Callback, Durable, Progress};
use crate::record::Version;

/// Whether what a transaction did shall happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Commit,
    Abandon,
    /// Nothing of it counts, and it wants to be run again, on what has been fetched so far. Where the state is in this
    /// process it is the same as `Abandon`.
    Again,
}

/// Sees one record of a scan, and says whether to go on.
pub type Visit<'a> = dyn FnMut(&[u8], Version, &[u8]) -> ControlFlow<()> + 'a;

/// One transaction, alone with the newest state, which may not be durable yet.
pub trait Transaction {
    /// Sees what this transaction has put and deleted.
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])>;

    /// Visits the records of a range in order until told to stop. Sees what this transaction has
    /// put and deleted.
    ///
    /// Where the state is not in this process, every record that was visited counts as read: the commit fails if one
    /// of them has changed or is gone. A record that somebody else adds to the range meanwhile is *not* noticed. What
    /// depends on a range having no more than it showed needs a record of its own that everybody writes who adds to
    /// the range: the end of a log stands in the log's record, so appends of two transactions always meet there.
    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>);

    /// As `scan`, but what is seen does not count as read, and may be out of date where the state is not in this
    /// process: to choose where to look. What is decided on is then asked for with `get`.
    fn glance(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        self.scan(range, reverse, visit);
    }

    fn put(&mut self, key: &[u8], value: &[u8]);

    fn delete(&mut self, key: &[u8]);

    fn feed(&mut self, entry: &[u8]);

    /// A number that no other transaction has, and the version under which it sees what it writes itself. It says
    /// nothing about order where the state is not in this process: see [`Transaction::position`].
    fn number(&self) -> u64;

    /// Where this transaction will be in the feed if it commits. None: nobody knows before it has, because others
    /// commit at the same time.
    fn position(&self) -> Option<u64> {
        None
    }

    /// No decision in this transaction may be at an earlier time than this, in milliseconds since 1970. Stores know
    /// nothing of it: whoever wraps a transaction may.
    fn not_before(&self) -> i64 {
        i64::MIN
    }

    /// Something that was asked for is not here yet, and was answered as if it were absent. Whatever
    /// the transaction does, it will be run again. Never so where the state is in this process.
    fn misses(&self) -> bool {
        false
    }
}

/// A store whose state is in this process: one partition, one writer.
///
/// Transactions run one at a time, each on everything that came before, and go on running while
/// earlier ones are being made durable. An answer may leave only when its ticket is durable. That
/// holds for a refusal too: it may rest on something that a crash would take back.
pub trait LocalStore: Send + Sync {
    /// Runs `run` as the only transaction. The ticket is durable when everything is that the
    /// transaction has seen or written.
    fn transact(&self, run: &mut dyn FnMut(&mut dyn Transaction) -> Decision) -> Result<Ticket>;

    /// How far everything is durable, to wait for many positions at little cost.
    fn progress(&self) -> &Arc<Progress>;

    /// Calls back when a position is durable or never will be. The callback runs on the thread that
    /// made it durable, together with all others of its batch, and must not block.
    fn on_durable(&self, position: u64, callback: Callback) {
        self.progress().on_durable(position, callback);
    }
}

/// A position that will become durable, or the store fails.
#[derive(Clone, Debug)]
pub struct Ticket {
    partition: Partition,
    position: u64,
    progress: Arc<Progress>,
}

impl Ticket {
    /// For stores.
    pub fn new(position: u64, progress: &Arc<Progress>) -> Self {
        let partition = Partition::default();
        Ticket { partition, position, progress: Arc::clone(progress) }
    }

    /// One that is durable already.
    pub fn settled(cursor: Cursor) -> Self {
        let (partition, position) = (cursor.partition(), cursor.position());
        Ticket { partition, position, progress: Arc::new(Progress::new(position)) }
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn cursor(&self) -> Cursor {
        Cursor::at(self.partition, self.position)
    }

    pub fn is_durable(&self) -> bool {
        self.position <= self.progress.durable()
    }

    /// Sleeps until it is durable.
    pub fn wait(&self) -> Result<()> {
        self.progress.block_until(self.position)
    }

    pub fn durable(&self) -> Durable {
        self.progress.wait_for(self.position)
    }
}
