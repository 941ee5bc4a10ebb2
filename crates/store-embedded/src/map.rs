//! The records in memory, in the order of their keys.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::ops::Bound;

use store::{KeyRange, Version};

#[derive(Debug, Default)]
pub struct Map {
    records: BTreeMap<Box<[u8]>, Held>,
    bytes: u64,
}

#[derive(Debug)]
struct Held {
    version: u64,
    value: Box<[u8]>,
}

impl Map {
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// The bytes of all keys and values.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        self.records.get(key).map(|held| (Version(held.version), &*held.value))
    }

    pub fn put(&mut self, key: &[u8], version: u64, value: &[u8]) {
        self.bytes += value.len() as u64;
        if let Some(held) = self.records.get_mut(key) {
            self.bytes -= held.value.len() as u64;
            held.version = version;
            if held.value.len() == value.len() {
                held.value.copy_from_slice(value);
            } else {
                held.value = value.into();
            }
            return;
        }
        self.bytes += key.len() as u64;
        self.records.insert(key.into(), Held { version, value: value.into() });
    }

    /// A record after all others, as a snapshot lists them.
    pub fn put_last(&mut self, key: &[u8], version: u64, value: &[u8]) {
        self.put(key, version, value);
    }

    /// Takes what a log or snapshot says, unless what is there is newer.
    pub fn replay_put(&mut self, key: &[u8], version: u64, value: &[u8]) {
        if self.get(key).is_none_or(|(found, _)| found.0 < version) {
            self.put(key, version, value);
        }
    }

    pub fn replay_delete(&mut self, key: &[u8], version: u64) {
        if self.get(key).is_some_and(|(found, _)| found.0 < version) {
            self.delete(key);
        }
    }

    pub fn delete(&mut self, key: &[u8]) {
        if let Some((key, held)) = self.records.remove_entry(key) {
            self.bytes -= (key.len() + held.value.len()) as u64;
        }
    }

    pub fn range(&self, range: &KeyRange) -> Records<'_> {
        let start = &*range.start;
        let end = match &range.end {
            None => Bound::Unbounded,
            Some(_) if range.is_empty() => Bound::Excluded(start),
            Some(end) => Bound::Excluded(&**end),
        };
        Records(self.records.range::<[u8], _>((Bound::Included(start), end)))
    }

    /// Everything after a key.
    pub fn after(&self, key: Option<&[u8]>) -> Records<'_> {
        let start = key.map_or(Bound::Unbounded, Bound::Excluded);
        Records(self.records.range::<[u8], _>((start, Bound::Unbounded)))
    }
}

/// Records in order, from either end.
#[derive(Debug)]
pub struct Records<'a>(Range<'a, Box<[u8]>, Held>);

impl<'a> Iterator for Records<'a> {
    type Item = (&'a [u8], Version, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, held)| (&**key, Version(held.version), &*held.value))
    }
}

impl DoubleEndedIterator for Records<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, held)| (&**key, Version(held.version), &*held.value))
    }
}
