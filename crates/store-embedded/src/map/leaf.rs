//! Neighbouring records in one piece of memory.

use std::ops::Bound;

use store::Version;

use super::Found;

const RECORDS_MAX: usize = 48;
/// A leaf of few but long records is split at this length.
const BYTES_MAX: usize = 16 << 10;
/// Version, length of the key, length of the value.
const HEAD_BYTES: usize = 8 + 2 + 4;

/// Records stand in `data` in the order in which they came, and in `slots` in the order of their
/// keys. What was replaced stays in `data` until it is more than half of it.
#[derive(Debug, Default)]
pub struct Leaf {
    slots: Vec<u32>,
    data: Vec<u8>,
    dead: usize,
}

impl Leaf {
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub fn is_overfull(&self) -> bool {
        let long = self.data.len() - self.dead > BYTES_MAX && self.slots.len() > 1;
        self.slots.len() > RECORDS_MAX || long
    }

    pub fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        let slot = self.find(key).ok()?;
        let (_, version, value) = self.record(self.slots[slot]);
        Some((version, value))
    }

    /// Answers with the length of the value that was there.
    pub fn put(&mut self, key: &[u8], version: u64, value: &[u8]) -> Option<usize> {
        match self.find(key) {
            Ok(slot) => {
                let at = self.slots[slot] as usize;
                let old = self.value_bytes(at);
                if old == value.len() {
                    self.data[at..at + 8].copy_from_slice(&version.to_le_bytes());
                    let start = at + HEAD_BYTES + key.len();
                    self.data[start..start + old].copy_from_slice(value);
                } else {
                    self.dead += HEAD_BYTES + key.len() + old;
                    self.slots[slot] = self.append(key, version, value);
                    self.tidy();
                }
                Some(old)
            }
            Err(slot) => {
                let at = self.append(key, version, value);
                if self.slots.len() == self.slots.capacity() {
                    self.slots.reserve_exact(8);
                }
                self.slots.insert(slot, at);
                None
            }
        }
    }

    /// Answers with the length of the value that was there.
    pub fn delete(&mut self, key: &[u8]) -> Option<usize> {
        let slot = self.find(key).ok()?;
        let at = self.slots.remove(slot) as usize;
        let value = self.value_bytes(at);
        self.dead += HEAD_BYTES + key.len() + value;
        self.tidy();
        Some(value)
    }

    /// Keeps the first records and answers with the others, and the first key of those. When the
    /// last record came last, it goes alone: keys that grow leave full leaves behind.
    pub fn split(&mut self) -> (Box<[u8]>, Leaf) {
        let count = self.slots.len();
        let (key, _, value) = self.record(self.slots[count - 1]);
        let last_bytes = HEAD_BYTES + key.len() + value.len();
        let grows = self.slots[count - 1] as usize + last_bytes == self.data.len();
        let at = if grows { count - 1 } else { count / 2 };
        let right = self.copy_of(&self.slots[at..]);
        let first = right.record(right.slots[0]).0.into();
        let left = self.copy_of(&self.slots[..at]);
        *self = left;
        (first, right)
    }

    pub fn between<'a>(
        &'a self,
        start: Bound<&[u8]>,
        end: Option<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = Found<'a>> {
        let place = |key: &[u8]| self.find(key).unwrap_or_else(|slot| slot);
        let from = match start {
            Bound::Unbounded => 0,
            Bound::Included(key) => place(key),
            Bound::Excluded(key) => self.find(key).map_or_else(|slot| slot, |slot| slot + 1),
        };
        let to = end.map_or(self.slots.len(), place).max(from);
        self.slots[from..to].iter().map(|at| self.record(*at))
    }

    /// Where this key is, or where it would be.
    fn find(&self, key: &[u8]) -> Result<usize, usize> {
        self.slots.binary_search_by(|at| self.key(*at as usize).cmp(key))
    }

    fn key(&self, at: usize) -> &[u8] {
        let start = at + HEAD_BYTES;
        let bytes = u16::from_le_bytes([self.data[at + 8], self.data[at + 9]]);
        &self.data[start..start + usize::from(bytes)]
    }

    fn value_bytes(&self, at: usize) -> usize {
        let [a, b, c, d] = [10, 11, 12, 13].map(|n| self.data[at + n]);
        u32::from_le_bytes([a, b, c, d]) as usize
    }

    fn record(&self, at: u32) -> Found<'_> {
        let at = at as usize;
        let mut version = [0; 8];
        version.copy_from_slice(&self.data[at..at + 8]);
        let key = self.key(at);
        let start = at + HEAD_BYTES + key.len();
        let value = &self.data[start..start + self.value_bytes(at)];
        (key, Version(u64::from_le_bytes(version)), value)
    }

    fn append(&mut self, key: &[u8], version: u64, value: &[u8]) -> u32 {
        let at = self.data.len();
        let bytes = HEAD_BYTES + key.len() + value.len();
        if self.data.capacity() - at < bytes {
            // Less than doubling: there are very many leaves.
            self.data.reserve_exact(bytes.max(at / 4));
        }
        self.data.extend_from_slice(&version.to_le_bytes());
        self.data.extend_from_slice(&(key.len() as u16).to_le_bytes());
        self.data.extend_from_slice(&(value.len() as u32).to_le_bytes());
        self.data.extend_from_slice(key);
        self.data.extend_from_slice(value);
        at as u32
    }

    fn tidy(&mut self) {
        if self.dead > self.data.len() / 2 {
            *self = self.copy_of(&self.slots);
        }
    }

    /// A leaf of these records alone, without what was replaced.
    fn copy_of(&self, slots: &[u32]) -> Leaf {
        let bytes = |at: &u32| {
            let at = *at as usize;
            HEAD_BYTES + self.key(at).len() + self.value_bytes(at)
        };
        let length = slots.iter().map(bytes).sum();
        let mut copy = Leaf {
            slots: Vec::with_capacity(slots.len()),
            data: Vec::with_capacity(length),
            dead: 0,
        };
        for at in slots {
            copy.slots.push(copy.data.len() as u32);
            copy.data.extend_from_slice(&self.data[*at as usize..*at as usize + bytes(at)]);
        }
        copy
    }
}
