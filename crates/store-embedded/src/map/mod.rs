//! The records in memory: by key in one look, and in the order of their keys.
//!
//! A commit reads and writes records that are there already, for the most part. That takes the index
//! alone; the order is touched only when a record comes or goes.

mod index;
mod leaf;
mod order;
mod slots;

use std::ops::Bound;

use store::{KeyRange, Version};

use self::index::Index;
pub use self::index::KeyHasher;
use self::order::{Numbers, Order};
use self::slots::Slots;

#[derive(Debug)]
pub struct Map {
    slots: Slots,
    index: Index,
    order: Order,
    bytes: u64,
}

/// Where a record was found; good for as long as the map is not changed, and harmless after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

impl Map {
    pub fn new(hasher: KeyHasher) -> Self {
        let (slots, order) = (Slots::default(), Order::default());
        Map { slots, index: Index::new(hasher), order, bytes: 0 }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The bytes of all keys and values.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        self.find(key).map(|place| self.at(place))
    }

    pub fn find(&self, key: &[u8]) -> Option<Place> {
        self.index.find(&self.slots, self.index.hash(key), key).map(Place)
    }

    pub fn at(&self, place: Place) -> (Version, &[u8]) {
        let (_, version, value) = self.slots.record(place.0);
        (version, value)
    }

    pub fn holds(&self, place: Place, key: &[u8]) -> bool {
        self.slots.holds(place.0, key)
    }

    pub fn put(&mut self, key: &[u8], version: u64, value: &[u8]) {
        self.put_if(key, version, value, |_| true);
    }

    /// Writes over a record that is there.
    pub fn put_at(&mut self, place: Place, version: u64, value: &[u8]) {
        let before = self.slots.replace(place.0, version, value);
        self.bytes += value.len() as u64;
        self.bytes -= before as u64;
    }

    /// Adds a record of a snapshot, which come in order.
    pub fn put_last(&mut self, key: &[u8], version: u64, value: &[u8]) {
        if self.order.last().is_some_and(|last| self.slots.key(last) >= key) {
            return self.put(key, version, value);
        }
        let number = self.add(self.index.hash(key), key, version, value);
        self.order.add_last(&self.slots, number);
    }

    /// Takes what the log says, unless what is there is newer. What has the same version was written by the same commit:
    /// of two writes of one key the later one counts.
    pub fn replay_put(&mut self, key: &[u8], version: u64, value: &[u8]) {
        self.put_if(key, version, value, |found| found <= version);
    }

    pub fn replay_delete(&mut self, key: &[u8], version: u64) {
        if self.get(key).is_some_and(|(found, _)| found.0 <= version) {
            self.delete(key);
        }
    }

    /// Writes unless there is a record whose version does not allow it.
    fn put_if(&mut self, key: &[u8], version: u64, value: &[u8], allows: impl Fn(u64) -> bool) {
        let hash = self.index.hash(key);
        match self.index.find(&self.slots, hash, key).map(Place) {
            Some(place) if allows(self.at(place).0.0) => self.put_at(place, version, value),
            Some(_) => {}
            None => {
                let number = self.add(hash, key, version, value);
                self.order.add(&self.slots, number);
            }
        }
    }

    fn add(&mut self, hash: u32, key: &[u8], version: u64, value: &[u8]) -> u32 {
        self.bytes += (key.len() + value.len()) as u64;
        let number = self.slots.add(hash, key, version, value);
        self.index.add(&mut self.slots, number);
        number
    }

    pub fn delete(&mut self, key: &[u8]) {
        if let Some(Place(number)) = self.find(key) {
            self.order.remove(&self.slots, number);
            self.index.remove(&mut self.slots, number);
            self.bytes -= self.slots.remove(number) as u64;
        }
    }

    pub fn range(&self, range: &KeyRange) -> Records<'_> {
        let end = range.end.as_deref();
        let start = Bound::Included(&*range.start);
        Records { slots: &self.slots, numbers: self.order.range(&self.slots, start, end) }
    }

    /// Everything after a key.
    pub fn after(&self, key: Option<&[u8]>) -> Records<'_> {
        let start = key.map_or(Bound::Unbounded, Bound::Excluded);
        let numbers = self.order.range(&self.slots, start, None);
        Records { slots: &self.slots, numbers }
    }
}

/// Records in order, from either end.
#[derive(Debug)]
pub struct Records<'a> {
    slots: &'a Slots,
    numbers: Numbers<'a>,
}

impl<'a> Iterator for Records<'a> {
    type Item = (&'a [u8], Version, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.numbers.next().map(|number| self.slots.record(number))
    }
}

impl DoubleEndedIterator for Records<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.numbers.next_back().map(|number| self.slots.record(number))
    }
}

#[cfg(test)]
mod tests;
