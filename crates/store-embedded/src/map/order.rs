//! The order of the keys: leaves of neighbouring slots, found by the key from which on they hold.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::ops::Bound;

use super::slots::Slots;

/// A leaf is divided when it would hold more.
const LEAF_MAX: usize = 128;
/// Two neighbours become one when one holds less than this, and both together no more than that.
const LEAF_MIN: usize = 16;
const MERGED_MAX: usize = 96;

type Leaf = Vec<u32>;

/// There is always a leaf for the empty key, which every key is at least as great as.
#[derive(Debug)]
pub struct Order {
    leaves: BTreeMap<Box<[u8]>, Leaf>,
}

impl Default for Order {
    fn default() -> Self {
        Order { leaves: BTreeMap::from([(Box::default(), Leaf::new())]) }
    }
}

impl Order {
    pub fn add(&mut self, slots: &Slots, number: u32) {
        let key = slots.key(number);
        let leaf = self.leaf(key);
        let at = leaf.partition_point(|other| slots.key(*other) < key);
        if leaf.len() < LEAF_MAX {
            leaf.insert(at, number);
            return;
        }
        // Keys that come in order leave full leaves behind; others come anywhere.
        let middle = if at == leaf.len() { at } else { leaf.len() / 2 };
        let mut upper = Leaf::with_capacity(LEAF_MAX);
        upper.extend_from_slice(&leaf[middle..]);
        leaf.truncate(middle);
        if at < middle {
            leaf.insert(at, number);
        } else {
            upper.insert(at - middle, number);
        }
        self.leaves.insert(slots.key(upper[0]).into(), upper);
    }

    /// After every key that is there.
    pub fn add_last(&mut self, slots: &Slots, number: u32) {
        if let Some(mut last) = self.leaves.last_entry()
            && last.get().len() < MERGED_MAX
        {
            last.get_mut().push(number);
        } else {
            self.leaves.insert(slots.key(number).into(), vec![number]);
        }
    }

    pub fn last(&self) -> Option<u32> {
        self.leaves.values().next_back().and_then(|leaf| leaf.last()).copied()
    }

    pub fn remove(&mut self, slots: &Slots, number: u32) {
        let key = slots.key(number);
        let (separator, leaf) = self.entry(key);
        let at = leaf.partition_point(|other| slots.key(*other) < key);
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
            self.leaf(&separator).extend(moved);
        }
        if few == 0 && !separator.is_empty() && self.leaf(&separator).is_empty() {
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

    /// The slots of the keys from one bound to the other, in order.
    pub fn range(&self, slots: &Slots, start: Bound<&[u8]>, end: Bound<&[u8]>) -> Numbers<'_> {
        let before_start = |number: &u32| match start {
            Bound::Unbounded => false,
            Bound::Included(start) => slots.key(*number) < start,
            Bound::Excluded(start) => slots.key(*number) <= start,
        };
        let before_end = |number: &u32| match end {
            Bound::Unbounded => true,
            Bound::Included(end) => slots.key(*number) <= end,
            Bound::Excluded(end) => slots.key(*number) < end,
        };
        let separator = match start {
            Bound::Unbounded => &[][..],
            Bound::Included(start) | Bound::Excluded(start) => {
                let upto = (Bound::Unbounded, Bound::Included(start));
                let found = self.leaves.range::<[u8], _>(upto).next_back();
                found.map_or(&[][..], |(separator, _)| separator)
            }
        };
        if end_is_before(separator, end) {
            return Numbers::default();
        }
        let mut leaves = self.leaves.range::<[u8], _>((Bound::Included(separator), end));
        let mut front = leaves.next().map_or(&[][..], |(_, leaf)| leaf);
        let mut back = leaves.next_back().map_or(&[][..], |(_, leaf)| leaf);
        let within = |leaf: &[u32]| leaf.partition_point(before_end);
        if back.is_empty() {
            front = &front[..within(front)];
        } else {
            back = &back[..within(back)];
        }
        front = &front[front.partition_point(before_start)..];
        Numbers { front, leaves: Some(leaves), back }
    }
}

/// The standard map panics at such a range.
fn end_is_before(start: &[u8], end: Bound<&[u8]>) -> bool {
    match end {
        Bound::Unbounded => false,
        Bound::Included(end) => end < start,
        Bound::Excluded(end) => end <= start,
    }
}

/// Slots in the order of their keys, from either end.
#[derive(Debug, Default)]
pub struct Numbers<'a> {
    front: &'a [u32],
    leaves: Option<btree_map::Range<'a, Box<[u8]>, Leaf>>,
    back: &'a [u32],
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some((first, rest)) = self.front.split_first() {
                self.front = rest;
                return Some(*first);
            }
            match self.leaves.as_mut().and_then(btree_map::Range::next) {
                Some((_, leaf)) => self.front = leaf,
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
                return Some(*last);
            }
            match self.leaves.as_mut().and_then(btree_map::Range::next_back) {
                Some((_, leaf)) => self.back = leaf,
                None if self.front.is_empty() => return None,
                None => self.back = std::mem::take(&mut self.front),
            }
        }
    }
}
