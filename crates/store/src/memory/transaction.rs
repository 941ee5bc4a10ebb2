//! A transaction on the store in memory.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{State, bounds};
use crate::commit::Write;
use crate::key::{Key, KeyRange};
use crate::local::{Transaction, Visit};
use crate::merge::merge_scan;
use crate::record::Version;

/// What it writes is kept beside the state until it commits.
pub struct MemoryTransaction<'a> {
    state: &'a State,
    written: BTreeMap<Key, Option<Bytes>>,
    feed: Vec<Bytes>,
}

impl<'a> MemoryTransaction<'a> {
    pub fn new(state: &'a State) -> Self {
        MemoryTransaction { state, written: BTreeMap::new(), feed: Vec::new() }
    }

    pub fn into_parts(self) -> (Vec<Write>, Vec<Bytes>) {
        let write = |(key, value)| match value {
            Some(value) => Write::Put(key, value),
            None => Write::Delete(key),
        };
        (self.written.into_iter().map(write).collect(), self.feed)
    }
}

impl Transaction for MemoryTransaction<'_> {
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        if let Some(written) = self.written.get(key) {
            return written.as_ref().map(|value| (Version(self.number()), &**value));
        }
        self.state.records.get(key).map(|record| (record.version, &*record.value))
    }

    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        let own = Version(self.number());
        let bounds = bounds(range);
        let records = self.state.records.range::<[u8], _>(bounds);
        let records = records.map(|(key, record)| (&**key, record.version, &*record.value));
        let written = self.written.range::<[u8], _>(bounds);
        let written = written.map(|(key, value)| (&**key, value.as_deref()));
        match reverse {
            false => merge_scan(records, written, own, reverse, visit),
            true => merge_scan(records.rev(), written.rev(), own, reverse, visit),
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.written.insert(key.into(), Some(Bytes::copy_from_slice(value)));
    }

    fn delete(&mut self, key: &[u8]) {
        self.written.insert(key.into(), None);
    }

    fn feed(&mut self, entry: &[u8]) {
        self.feed.push(Bytes::copy_from_slice(entry));
    }

    fn number(&self) -> u64 {
        self.state.position + 1
    }

    fn position(&self) -> Option<u64> {
        Some(self.number())
    }
}
