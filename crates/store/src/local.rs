//! The shorter way into a store that holds its state in this process.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::task::Waker;

use crate::cursor::{Cursor, Partition};
use crate::error::Result;
use crate::key::KeyRange;
use crate::pending::Pending;
use crate::progress::{Callback, Durable, Progress};
use crate::record::Version;

/// Whether what a transaction did shall happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Commit,
    Abandon,
}

/// Sees one record of a scan, and says whether to go on.
pub type Visit<'a> = dyn FnMut(&[u8], Version, &[u8]) -> ControlFlow<()> + 'a;

/// One transaction, alone with the newest state, which may not be durable yet.
pub trait Transaction {
    /// Sees what this transaction has put and deleted.
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])>;

    /// Visits the records of a range in order until told to stop. Sees what this transaction has
    /// put and deleted.
    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>);

    fn put(&mut self, key: &[u8], value: &[u8]);

    fn delete(&mut self, key: &[u8]);

    fn feed(&mut self, entry: &[u8]);

    /// Where this transaction will be in the feed if it commits, and the version of what it writes.
    fn position(&self) -> u64;

    /// Something that was asked for is not here yet, and was answered as if it were absent. Whatever
    /// the transaction does, it will be run again. Never so where the state is in this process.
    fn misses(&self) -> bool {
        false
    }
}

/// The turn of a group: its transactions run one after the other, and nobody else's in between. Each
/// is a commit of its own, or nothing.
pub trait Turn {
    /// Looks up what the transactions will most likely read, all at once: waiting for memory is
    /// overlapped. Only once in a turn, and before its first transaction.
    fn look_up(&mut self, keys: &Keys);

    /// A commit may be added now. What is not to be refused for want of room waits for
    /// [`LocalStore::room`], outside of the turn.
    fn has_room(&self) -> bool;

    /// Runs one transaction on everything that came before it. Those of the keys that were looked up
    /// and are most likely its own are `expected`. Gives the position of what it saw or wrote.
    fn transact(
        &mut self,
        expected: Range<usize>,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Result<u64>;
}

/// Keys, one after the other in one piece of memory.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// Forgets everything but its room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub fn push(&mut self, key: &[u8]) {
        self.push_with(|out| out.extend_from_slice(key));
    }

    /// Adds a key that is written where it stays.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    pub fn append(&mut self, others: &Keys) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&others.bytes);
        self.ends.extend(others.ends.iter().map(|end| start + end));
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.get(at))
    }
}

/// A store whose state is in this process: one partition, one writer.
///
/// Transactions run one at a time, each on everything that came before, and go on running while
/// earlier ones are being made durable. An answer may leave only when its ticket is durable. That
/// holds for a refusal too: it may rest on something that a crash would take back.
pub trait LocalStore: Send + Sync {
    /// Runs `run` as the only transaction, when there is room for it: that may hold up whoever calls
    /// this. The ticket is durable when everything is that the transaction has seen or written.
    fn transact(&self, run: &mut dyn FnMut(&mut dyn Transaction) -> Decision) -> Result<Ticket>;

    /// Runs the transactions of a group. The ticket is durable when everything is that one of them has
    /// seen or written. Nobody is held up but for as long as others have their turns.
    fn turn(&self, run: &mut dyn FnMut(&mut dyn Turn)) -> Result<Ticket>;

    /// Ready when there is room for a commit, or tells why there will be none soon. None: there is
    /// nothing to wait for; a commit is taken, or is told why it is not.
    fn room(&self) -> Option<Pending<'_, ()>> {
        None
    }

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

    /// Of a transaction that was run before, in the same turn.
    pub fn earlier(&self, position: u64) -> Ticket {
        assert!(position <= self.position, "a turn ends with its newest position");
        Ticket { position, ..self.clone() }
    }

    /// Whether it is durable, or never will be; nothing while that is open.
    pub fn outcome(&self) -> Option<Result<()>> {
        self.progress.outcome(self.position)
    }

    /// Wakes all of these when it is durable or never will be.
    pub fn wake(&self, wakers: Vec<Waker>) {
        self.progress.wake_all(self.position, wakers);
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
