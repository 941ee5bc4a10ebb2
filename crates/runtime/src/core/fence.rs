//! Which text of a design has the say, where several servers work on one store.
//!
//! It stands in the store as an epoch. Every transaction of a runtime asks for it, so every commit depends on it: no
//! call is decided by a guard that no longer counts, whichever server decides it.

use std::ops::ControlFlow;

use layout::{About, DesignNumber, Epoch, MetaKey, Reader, Space, take_head};
use store::{Key, KeyRange, Transaction, Version, Visit};

/// The epoch that a runtime was opened in. Only where others may change the store, too.
pub struct Fence {
    pub epoch: Epoch,
    pub(super) key: Key,
}

impl Fence {
    pub fn new(design: DesignNumber, epoch: Epoch) -> Fence {
        Fence { epoch, key: Fence::key_of(design) }
    }

    pub fn key_of(design: DesignNumber) -> Key {
        Key::new(MetaKey { design, about: About::Epoch }.to_bytes())
    }

    /// Whether what stands in the store is this epoch.
    pub(super) fn is_still(&self, stored: Option<&[u8]>) -> bool {
        stored.and_then(|bytes| Epoch::take(bytes).ok()) == Some(self.epoch)
    }
}

/// A transaction that notes when the records that it reads were written.
pub(super) struct Watching<'t> {
    pub(super) inner: &'t mut dyn Transaction,
    pub(super) not_before: i64,
    pub(super) latest: std::cell::Cell<i64>,
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
