//! Which text of a design has the say, where several servers work on one store.
//!
//! It stands in the store as an epoch. Every transaction of a runtime asks for it, so every commit depends on it: no
//! call is decided by a guard that no longer counts, whichever server decides it.

use std::ops::ControlFlow;

use layout::{About, DesignNumber, Epoch, MetaKey, Reader, Space, take_head};
use store::{Decision, Key, KeyRange, Transaction, Version, Visit};

use super::runtime::Runtime;
use crate::calls::CallError;

/// The epoch that a runtime was opened in. Only where others may change the store, too.
pub struct Fence {
    pub epoch: Epoch,
    key: Key,
}

impl Fence {
    pub fn new(design: DesignNumber, epoch: Epoch) -> Fence {
        Fence { epoch, key: Fence::key_of(design) }
    }

    pub fn key_of(design: DesignNumber) -> Key {
        Key::new(MetaKey { design, about: About::Epoch }.to_bytes())
    }

    /// Whether what stands in the store is this epoch.
    fn is_still(&self, stored: Option<&[u8]>) -> bool {
        stored.and_then(|bytes| Epoch::take(bytes).ok()) == Some(self.epoch)
    }
}

impl Runtime {
    /// The epoch that this runtime was opened in; none: the state is in this process, and nobody else has a say.
    pub fn epoch(&self) -> Option<u64> {
        self.fence.as_ref().map(|fence| fence.epoch.number)
    }

    /// Runs a transaction of a runtime that is not alone with its store. `floor`: no decision before this time.
    pub(super) fn pass_fence(
        &self,
        fence: &Fence,
        transaction: &mut dyn Transaction,
        floor: &mut i64,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Result<Decision, CallError> {
        let found = transaction.get(&fence.key).map(|(_, bytes)| bytes);
        // what is not fetched yet is asked for together with whatever else this run will miss
        if !(found.is_none() && transaction.misses()) && !fence.is_still(found) {
            self.gate.retire();
            return Err(CallError::Replaced);
        }
        let before = self.clock.now_ms();
        let mut watching =
            Watching { inner: transaction, not_before: *floor, latest: i64::MIN.into() };
        let decision = run(&mut watching);
        let latest = watching.latest.get();
        if latest > before.max(*floor) {
            *floor = latest;
            return Ok(Decision::Again);
        }
        Ok(decision)
    }

    /// Whether this runtime still has the say, asked of the store if others may have taken it.
    pub(crate) async fn current_anywhere(&self) -> Result<(), CallError> {
        self.still_current()?;
        let Some(fence) = &self.fence else { return Ok(()) };
        self.in_time().await?;
        let read = self.store.read(std::slice::from_ref(&fence.key), None).await?;
        if !fence.is_still(read.records[0].as_ref().map(|record| &*record.value)) {
            self.gate.retire();
        }
        self.still_current()
    }

    /// The time at which something is decided in a transaction: never before what it has read was written, whatever
    /// the clock of the server said that wrote it.
    pub(crate) fn now_in(&self, transaction: &dyn Transaction) -> i64 {
        let now = self.clock.now_ms();
        if self.fence.is_some() { now.max(transaction.not_before()) } else { now }
    }
}

/// A transaction that notes when the records that it reads were written.
struct Watching<'t> {
    inner: &'t mut dyn Transaction,
    not_before: i64,
    latest: std::cell::Cell<i64>,
}

impl Watching<'_> {
    fn see(&self, key: &[u8], value: &[u8]) {
        if Space::of(key) == Some(Space::Record)
            && let Ok(head) = take_head(&mut Reader::new(value))
        {
            self.latest.set(self.latest.get().max(head.written_at));
        }
    }

    fn seeing<'v>(
        &'v self,
        visit: &'v mut Visit<'_>,
    ) -> impl FnMut(&[u8], Version, &[u8]) -> ControlFlow<()> + 'v {
        move |key, version, value| {
            // what it has written itself is of now
            if version.0 != self.inner.number() {
                self.see(key, value);
            }
            visit(key, version, value)
        }
    }
}

impl Transaction for Watching<'_> {
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        let found = self.inner.get(key);
        if let Some((version, value)) = found
            && version.0 != self.inner.number()
        {
            self.see(key, value);
        }
        found
    }

    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        self.inner.scan(range, reverse, &mut self.seeing(visit));
    }

    fn glance(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        self.inner.glance(range, reverse, visit);
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.inner.put(key, value);
    }

    fn delete(&mut self, key: &[u8]) {
        self.inner.delete(key);
    }

    fn feed(&mut self, entry: &[u8]) {
        self.inner.feed(entry);
    }

    fn number(&self) -> u64 {
        self.inner.number()
    }

    fn position(&self) -> Option<u64> {
        self.inner.position()
    }

    fn not_before(&self) -> i64 {
        self.not_before
    }

    fn misses(&self) -> bool {
        self.inner.misses()
    }
}
