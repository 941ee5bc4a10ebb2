//! The records in memory, in the order of their keys.
//!
//! A few dozen neighbours share a leaf, and a tree of leaves finds the right one. The tree of a
//! million records is small enough to stay in the processor's cache, so that a lookup waits for
//! memory only in the leaf; and a record costs eighteen bytes besides its key and value.

mod leaf;

use std::collections::BTreeMap;
use std::ops::Bound;

use store::{KeyRange, Version};

use self::leaf::Leaf;

#[derive(Debug)]
pub struct Map {
    /// Each leaf under a key that is not after its first; the first one under the empty key.
    leaves: BTreeMap<Box<[u8]>, Leaf>,
    records: usize,
    bytes: u64,
}

/// A key, its version and its value.
pub type Found<'a> = (&'a [u8], Version, &'a [u8]);

impl Default for Map {
    fn default() -> Self {
        let leaves = BTreeMap::from([(Box::default(), Leaf::default())]);
        Map { leaves, records: 0, bytes: 0 }
    }
}

impl Map {
    pub fn len(&self) -> usize {
        self.records
    }

    /// The bytes of all keys and values.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        let (_, leaf) = self.leaves.range::<[u8], _>(until(key)).next_back()?;
        leaf.get(key)
    }

    pub fn put(&mut self, key: &[u8], version: u64, value: &[u8]) {
        // The empty key is before every other and always has a leaf.
        let Some((_, leaf)) = self.leaves.range_mut::<[u8], _>(until(key)).next_back() else {
            return;
        };
        self.bytes += value.len() as u64;
        match leaf.put(key, version, value) {
            Some(old) => self.bytes -= old as u64,
            None => {
                self.records += 1;
                self.bytes += key.len() as u64;
            }
        }
        if leaf.is_overfull() {
            let (first, right) = leaf.split();
            self.leaves.insert(first, right);
        }
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
        let Some((first, leaf)) = self.leaves.range_mut::<[u8], _>(until(key)).next_back() else {
            return;
        };
        let Some(value) = leaf.delete(key) else { return };
        self.records -= 1;
        self.bytes -= (key.len() + value) as u64;
        if leaf.is_empty() && !first.is_empty() {
            let first = first.clone();
            self.leaves.remove(&first);
        }
    }

    pub fn range<'a>(&'a self, range: &'a KeyRange) -> Records<'a> {
        let start = &*range.start;
        let end = range.end.as_deref().map(|end| if range.is_empty() { start } else { end });
        self.between(Bound::Included(start), end)
    }

    /// Everything after a key.
    pub fn after<'a>(&'a self, key: Option<&'a [u8]>) -> Records<'a> {
        self.between(key.map_or(Bound::Unbounded, Bound::Excluded), None)
    }

    fn between<'a>(&'a self, start: Bound<&'a [u8]>, end: Option<&'a [u8]>) -> Records<'a> {
        let from = match start {
            Bound::Included(key) | Bound::Excluded(key) => key,
            Bound::Unbounded => &[],
        };
        let first = self.leaves.range::<[u8], _>(until(from)).next_back();
        let first: &[u8] = first.map_or(&[], |(first, _)| first);
        let last = end.map_or(Bound::Unbounded, Bound::Excluded);
        let leaves = self.leaves.range::<[u8], _>((Bound::Included(first), last));
        Box::new(leaves.flat_map(move |(_, leaf)| leaf.between(start, end)))
    }
}

/// Records in order, from either end.
pub type Records<'a> = Box<dyn DoubleEndedIterator<Item = Found<'a>> + 'a>;

fn until(key: &[u8]) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (Bound::Unbounded, Bound::Included(key))
}

#[cfg(test)]
mod tests;
