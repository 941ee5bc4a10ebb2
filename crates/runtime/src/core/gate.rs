//! Whether this runtime still has the say over its design, and what changes while it is replaced.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::{Decision, KeyRange, Ticket, Transaction, Version};

type Visit<'a> = dyn FnMut(&[u8], Version, &[u8]) -> std::ops::ControlFlow<()> + 'a;

use super::runtime::Runtime;
use crate::calls::CallError;

/// Changed only within transactions, which run one at a time.
#[derive(Default)]
pub struct Gate {
    /// another runtime serves this design now
    retired: AtomicBool,
    /// its records are being copied
    copying: AtomicBool,
    /// keys that were written since
    touched: Mutex<BTreeSet<Vec<u8>>>,
}

impl Gate {
    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    pub fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    /// What was to retire it was not taken.
    pub fn resume(&self) {
        self.retired.store(false, Ordering::Release);
    }

    /// False: somebody does that already.
    pub fn begin_copying(&self) -> bool {
        !self.copying.swap(true, Ordering::AcqRel)
    }

    pub fn end_copying(&self) {
        self.copying.store(false, Ordering::Release);
        self.touched().clear();
    }

    /// Another design writes these keys, within a transaction.
    pub fn note(&self, keys: impl IntoIterator<Item = Vec<u8>>) {
        if self.copying.load(Ordering::Acquire) {
            self.touched().extend(keys);
        }
    }

    pub fn touched(&self) -> MutexGuard<'_, BTreeSet<Vec<u8>>> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runtime {
    /// Another runtime serves this design now: what this one says may be out of date.
    pub fn is_replaced(&self) -> bool {
        self.gate.is_retired()
    }

    /// To be asked after something was read: it may have been read while it was taken away.
    pub(crate) fn still_current(&self) -> Result<(), CallError> {
        if self.gate.is_retired() { Err(CallError::Replaced) } else { Ok(()) }
    }

    /// Every transaction of a runtime goes through here, on a thread that may wait.
    pub(crate) fn transact(
        &self,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Result<Ticket, CallError> {
        let (mut current, mut floor) = (Ok(()), i64::MIN);
        if self.fence.is_some() {
            self.block_on(self.in_time())?;
        }
        let mut gated = |transaction: &mut dyn Transaction| {
            self.pass(transaction, &mut current, &mut floor, run)
        };
        let ticket = match self.store.local() {
            Some(local) => local.transact(&mut gated)?,
            None => self.block_on(self.on_ground(&mut gated))?,
        };
        self.stand_aside_if(current).map(|()| ticket)
    }

    /// The same without a thread that waits.
    pub(crate) async fn transact_async(
        &self,
        run: &mut (dyn FnMut(&mut dyn Transaction) -> Decision + Send),
    ) -> Result<Ticket, CallError> {
        let (mut current, mut floor) = (Ok(()), i64::MIN);
        if self.fence.is_some() {
            self.in_time().await?;
        }
        let mut gated = |transaction: &mut dyn Transaction| {
            self.pass(transaction, &mut current, &mut floor, run)
        };
        let ticket = self.on_ground(&mut gated).await?;
        self.stand_aside_if(current).map(|()| ticket)
    }

    /// Another text has the say, as the store said in the end: nothing more is decided by this one.
    fn stand_aside_if(&self, current: Result<(), CallError>) -> Result<(), CallError> {
        if current == Err(CallError::Replaced) {
            self.gate.retire();
        }
        current
    }

    fn pass(
        &self,
        transaction: &mut dyn Transaction,
        current: &mut Result<(), CallError>,
        floor: &mut i64,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Decision {
        *current = self.still_current();
        if current.is_err() {
            return Decision::Abandon;
        }
        if let Some(fence) = &self.fence {
            let passed = self.pass_fence(fence, transaction, floor, run);
            return passed.unwrap_or_else(|error| {
                *current = Err(error);
                Decision::Abandon
            });
        }
        if !self.gate.copying.load(Ordering::Acquire) {
            return run(transaction);
        }
        let mut noting = Noting { inner: transaction, keys: Vec::new() };
        let decision = run(&mut noting);
        if decision == Decision::Commit {
            let keys = noting.keys;
            self.gate.touched().extend(keys);
        }
        decision
    }
}

/// A transaction that notes what is written.
struct Noting<'t> {
    inner: &'t mut dyn Transaction,
    keys: Vec<Vec<u8>>,
}

impl Transaction for Noting<'_> {
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        self.inner.get(key)
    }

    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        self.inner.scan(range, reverse, visit);
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.keys.push(key.to_vec());
        self.inner.put(key, value);
    }

    fn delete(&mut self, key: &[u8]) {
        self.keys.push(key.to_vec());
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

    fn misses(&self) -> bool {
        self.inner.misses()
    }
}
