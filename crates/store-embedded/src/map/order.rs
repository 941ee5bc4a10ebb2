//! The order of the keys: leaves of neighbouring slots, found by the key from which on they hold.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::ops::Bound;

use super::leaf::{Entry, Leaf};
use super::slots::Slots;

/// A leaf is divided when it would hold more.
const LEAF_MAX: usize = 128;
/// Two neighbours become one when one holds less than this, and both together no more than that.
const LEAF_MIN: usize = 16;
const MERGED_MAX: usize = 96;

/// There is always a leaf for the empty key, which every key is at least as great as.
#[derive(Debug)]
pub struct Order {
    leaves: BTreeMap<Box<[u8]>, Leaf>,
}

impl Default for Order {
    fn default() -> Self {
        Order { leaves: BTreeMap::from([(Box::default(), Leaf::default())]) }
    }
}

impl Order {
    pub fn add(&mut self, slots: &Slots, number: u32) {
        let key = slots.key(number);
        let leaf = self.leaf(key);
        let at = leaf.position(slots, key);
        if leaf.len() < LEAF_MAX {
            leaf.insert(slots, at, number);
            return;
        }
        // Keys that come in order leave full leaves behind; others come anywhere.
        let middle = if at == leaf.len() { at } else { leaf.len() / 2 };
        let mut upper = leaf.split_off(slots, middle);
        if at < middle {
            leaf.insert(slots, at, number);
        } else {
            upper.insert(slots, at - middle, number);
        }
        let separator = upper.first().map_or(key, |first| slots.key(first)).into();
        self.leaves.insert(separator, upper);
    }

    /// After every key that is there.
    pub fn add_last(&mut self, slots: &Slots, number: u32) {
        if let Some(mut last) = self.leaves.last_entry()
            && last.get().len() < MERGED_MAX
        {
            let at = last.get().len();
            last.get_mut().insert(slots, at, number);
        } else {
            let mut leaf = Leaf::default();
            leaf.insert(slots, 0, number);
            self.leaves.insert(slots.key(number).into(), leaf);
        }
    }

    pub fn last(&self) -> Option<u32> {
        self.leaves.values().next_back().and_then(Leaf::last)
    }

    pub fn remove(&mut self, slots: &Slots, number: u32) {
        let key = slots.key(number);
        let (separator, leaf) = self.entry(key);
        let at = leaf.position(slots, key);
        leaf.remove(at);
        if leaf.len() >= LEAF_MIN {
            return;
        }
        let (few, separator) = (leaf.len(), separator.to_vec());
        let after = (Bound::Excluded(&*separator), Bound::Unbounded);
        let next = self.leaves.range::<[u8], _>(after).next();
        let next = next.filter(|(_, next)| next.len() + few <= MERGED_MAX);
        if let Some(next) = next.map(|(next, _)| next.clone())
            && let Some(moved) = self.leaves.remove(&next)
        {
            self.leaf(&separator).append(slots, moved);
        }
        if few == 0 && !separator.is_empty() && self.leaf(&separator).len() == 0 {
            self.leaves.remove(&*separator);
        }
    }

    #[cfg(test)]
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }

    fn leaf(&mut self, key: &[u8]) -> &mut Leaf {
        self.entry(key).1
    }

    fn entry(&mut self, key: &[u8]) -> (&[u8], &mut Leaf) {
        let upto = (Bound::Unbounded, Bound::Included(key));
        let found = self.leaves.range_mut::<[u8], _>(upto).next_back();
        let (separator, leaf) = found.expect("there is a leaf for the empty key");
        (separator, leaf)
    }

    /// The slots of the keys from one bound to an end that is excluded, in order.
    pub fn range(&self, slots: &Slots, start: Bound<&[u8]>, end: Option<&[u8]>) -> Numbers<'_> {
        let separator = match start {
            Bound::Unbounded => &[][..],
            Bound::Included(start) | Bound::Excluded(start) => {
                let upto = (Bound::Unbounded, Bound::Included(start));
                let found = self.leaves.range::<[u8], _>(upto).next_back();
                found.map_or(&[][..], |(separator, _)| separator)
            }
        };
        // The standard map panics at such a range.
        if end.is_some_and(|end| end <= separator) {
            return Numbers::default();
        }
        let until = end.map_or(Bound::Unbounded, Bound::Excluded);
        let mut leaves = self.leaves.range::<[u8], _>((Bound::Included(separator), until));
        let front = leaves.next().map(|(_, leaf)| leaf);
        let back = leaves.next_back().map(|(_, leaf)| leaf);
        let from = |leaf: &Leaf| match start {
            Bound::Unbounded => 0,
            Bound::Included(start) => leaf.position(slots, start),
            Bound::Excluded(start) => leaf.position_after(slots, start),
        };
        let to = |leaf: &Leaf| end.map_or(leaf.len(), |end| leaf.position(slots, end));
        let front_end =
            if back.is_some() { front.map_or(0, Leaf::len) } else { front.map_or(0, to) };
        let front_start = front.map_or(0, from).min(front_end);
        Numbers {
            front: front.map_or(&[][..], |leaf| &leaf.entries()[front_start..front_end]),
            leaves: Some(leaves),
            back: back.map_or(&[][..], |leaf| &leaf.entries()[..to(leaf)]),
        }
    }
}

/// Slots in the order of their keys, from either end.
#[derive(Debug, Default)]
pub struct Numbers<'a> {
    front: &'a [Entry],
    leaves: Option<btree_map::Range<'a, Box<[u8]>, Leaf>>,
    back: &'a [Entry],
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some((first, rest)) = self.front.split_first() {
                self.front = rest;
                return Some(first.number);
            }
            match self.leaves.as_mut().and_then(btree_map::Range::next) {
                Some((_, leaf)) => self.front = leaf.entries(),
                None if self.back.is_empty() => return None,
                None => self.front = std::mem::take(&mut self.back),
            }
        }
    }
}

impl DoubleEndedIterator for Numbers<'_> {
    fn next_back(&mut self) -> Option<u32> {
        loop {
            if let Some((last, rest)) = self.back.split_last() {
                self.back = rest;
                return Some(last.number);
            }
            match self.leaves.as_mut().and_then(btree_map::Range::next_back) {
                Some((_, leaf)) => self.back = leaf.entries(),
                None if self.front.is_empty() => return None,
                None => self.back = std::mem::take(&mut self.front),
            }
        }
    }
}
