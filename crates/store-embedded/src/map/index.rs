//! Finding a record by its key, in one look.
//!
//! Buckets are lists through the slots. There is about one bucket for each record, and with each
//! record that comes one bucket is divided in two: the index never stops to grow all at once.

use std::hash::{DefaultHasher, Hasher};

use store::{RealSurroundings, Surroundings};

use super::slots::{NONE, Slots};

#[derive(Debug)]
pub struct Index {
    heads: Vec<u32>,
    /// So many low bits of a hash choose a bucket, or one more.
    mask: u32,
    hasher: KeyHasher,
}

/// Begun with a secret: keys come from clients, who must not be able to choose ones that meet.
#[derive(Clone, Debug)]
pub struct KeyHasher(DefaultHasher);

impl KeyHasher {
    pub fn by_chance(surroundings: &dyn Surroundings) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(surroundings.chance());
        hasher.write_u64(surroundings.chance());
        KeyHasher(hasher)
    }

    /// For whoever reads a store or a backup that nobody serves.
    pub fn for_reading() -> Self {
        KeyHasher::by_chance(&RealSurroundings::default())
    }
}

impl Index {
    pub fn new(hasher: KeyHasher) -> Self {
        Index { heads: vec![NONE], mask: 0, hasher }
    }

    pub fn hash(&self, key: &[u8]) -> u32 {
        let mut hasher = self.hasher.0.clone();
        hasher.write(key);
        hasher.finish() as u32
    }

    pub fn find(&self, slots: &Slots, hash: u32, key: &[u8]) -> Option<u32> {
        let mut number = self.heads[self.bucket(hash)];
        while number != NONE {
            if slots.hash(number) == hash && slots.key(number) == key {
                return Some(number);
            }
            number = slots.next(number);
        }
        None
    }

    /// The first slot of the bucket of a hash.
    pub fn head(&self, hash: u32) -> u32 {
        self.heads[self.bucket(hash)]
    }

    /// The first slot from this one on whose key has this hash. It may be another key's.
    pub fn likely(slots: &Slots, mut number: u32, hash: u32) -> u32 {
        while number != NONE && slots.hash(number) != hash {
            number = slots.next(number);
        }
        number
    }

    pub fn add(&mut self, slots: &mut Slots, number: u32) {
        let bucket = self.bucket(slots.hash(number));
        slots.set_next(number, self.heads[bucket]);
        self.heads[bucket] = number;
        if slots.len() > self.heads.len() {
            self.divide(slots);
        }
    }

    /// Lets go of a slot that is about to be removed.
    pub fn remove(&mut self, slots: &mut Slots, number: u32) {
        let bucket = self.bucket(slots.hash(number));
        let next = slots.next(number);
        if self.heads[bucket] == number {
            self.heads[bucket] = next;
            return;
        }
        let mut before = self.heads[bucket];
        while slots.next(before) != number {
            before = slots.next(before);
        }
        slots.set_next(before, next);
    }

    fn bucket(&self, hash: u32) -> usize {
        let wide = (hash & (self.mask << 1 | 1)) as usize;
        if wide < self.heads.len() { wide } else { (hash & self.mask) as usize }
    }

    fn divide(&mut self, slots: &mut Slots) {
        let added = self.heads.len();
        let divided = added & self.mask as usize;
        let mut number = std::mem::replace(&mut self.heads[divided], NONE);
        self.heads.push(NONE);
        while number != NONE {
            let next = slots.next(number);
            let bucket = self.bucket(slots.hash(number));
            slots.set_next(number, self.heads[bucket]);
            self.heads[bucket] = number;
            number = next;
        }
        if self.heads.len() > (self.mask << 1 | 1) as usize {
            self.mask = self.mask << 1 | 1;
        }
    }
}
