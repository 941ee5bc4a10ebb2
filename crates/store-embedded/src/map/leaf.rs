//! Neighbours in the order of keys.

use super::slots::Slots;

/// The slots of some neighbouring keys. Looking at a key costs two trips to memory, so a few bytes of
/// each stand beside its slot: those after what all keys of the leaf begin with.
#[derive(Debug, Default)]
pub struct Leaf {
    prefix: Box<[u8]>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Sorts as the keys do, but for those that it does not tell apart.
    hint: u32,
    pub number: u32,
}

impl Leaf {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn first(&self) -> Option<u32> {
        self.entries.first().map(|entry| entry.number)
    }

    pub fn last(&self) -> Option<u32> {
        self.entries.last().map(|entry| entry.number)
    }

    /// How many keys are before this one.
    pub fn position(&self, slots: &Slots, key: &[u8]) -> usize {
        let Some(rest) = key.strip_prefix(&*self.prefix) else {
            return if *key < *self.prefix { 0 } else { self.entries.len() };
        };
        let hint = hint(rest);
        let same = self.entries.partition_point(|entry| entry.hint < hint);
        let alike = self.entries[same..].partition_point(|entry| entry.hint == hint);
        let alike = &self.entries[same..same + alike];
        same + alike.partition_point(|entry| slots.key(entry.number) < key)
    }

    /// How many keys are not after this one.
    pub fn position_after(&self, slots: &Slots, key: &[u8]) -> usize {
        let at = self.position(slots, key);
        let found = self.entries.get(at).is_some_and(|entry| slots.key(entry.number) == key);
        at + usize::from(found)
    }

    pub fn insert(&mut self, slots: &Slots, at: usize, number: u32) {
        let rest = slots.key(number).strip_prefix(&*self.prefix);
        let rest = rest.filter(|_| !self.entries.is_empty());
        self.entries.insert(at, Entry { hint: rest.map_or(0, hint), number });
        if rest.is_none() {
            self.align(slots);
        }
    }

    pub fn remove(&mut self, at: usize) {
        self.entries.remove(at);
    }

    /// Takes away everything from a place on.
    pub fn split_off(&mut self, slots: &Slots, at: usize) -> Leaf {
        let mut upper = Leaf { prefix: Box::default(), entries: self.entries.split_off(at) };
        self.align(slots);
        upper.align(slots);
        upper
    }

    /// Adds what comes after it.
    pub fn append(&mut self, slots: &Slots, mut after: Leaf) {
        self.entries.append(&mut after.entries);
        self.align(slots);
    }

    /// Finds anew what the keys begin with.
    fn align(&mut self, slots: &Slots) {
        let (Some(first), Some(last)) = (self.first(), self.last()) else { return };
        // In between, keys begin with what these two have in common.
        let (first, last) = (slots.key(first), slots.key(last));
        let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        if *self.prefix != first[..common] {
            self.prefix = first[..common].into();
        }
        for entry in &mut self.entries {
            entry.hint = hint(&slots.key(entry.number)[common..]);
        }
    }
}

fn hint(rest: &[u8]) -> u32 {
    let mut bytes = [0; 4];
    let length = rest.len().min(4);
    bytes[..length].copy_from_slice(&rest[..length]);
    u32::from_be_bytes(bytes)
}
