//! From a node, by a word, to the next node: one place of memory for each, since they are looked up for
//! every call in every state.

use engine::Word;

#[derive(Clone, Copy)]
struct Edge {
    on: Word,
    from: u32,
    /// `FREE`: nothing is here
    to: u32,
}

const FREE: u32 = u32::MAX;
const NOTHING: Edge = Edge { on: 0, from: 0, to: FREE };

/// A table with open addressing, at most half full.
#[derive(Default)]
pub(super) struct Edges {
    /// a power of two, or none at all
    table: Vec<Edge>,
    len: usize,
}

impl Edges {
    /// Where to look first. The high bits of a product depend on all bits of its factors.
    #[inline]
    fn place(&self, from: u32, on: Word) -> usize {
        let mixed =
            (on as u64).rotate_left(26) ^ u64::from(from).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed >> 32) as usize & (self.table.len() - 1)
    }

    #[inline]
    pub(super) fn get(&self, from: u32, on: Word) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        let mut at = self.place(from, on);
        loop {
            let edge = &self.table[at];
            if edge.to == FREE {
                return None;
            }
            if edge.from == from && edge.on == on {
                return Some(edge.to);
            }
            at = (at + 1) & (self.table.len() - 1);
        }
    }

    /// Adds one that is not there; answers how many bytes the table has grown by.
    pub(super) fn add(&mut self, from: u32, on: Word, to: u32) -> usize {
        debug_assert!(self.get(from, on).is_none() && to != FREE);
        let before = self.table.len();
        if self.len * 2 >= before {
            let old = std::mem::take(&mut self.table);
            self.table = vec![NOTHING; (before * 2).max(256)];
            old.into_iter().filter(|edge| edge.to != FREE).for_each(|edge| self.put(edge));
        }
        self.put(Edge { on, from, to });
        self.len += 1;
        (self.table.len() - before) * size_of::<Edge>()
    }

    fn put(&mut self, edge: Edge) {
        let mut at = self.place(edge.from, edge.on);
        while self.table[at].to != FREE {
            at = (at + 1) & (self.table.len() - 1);
        }
        self.table[at] = edge;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_was_added_is_found_and_nothing_else() {
        let (mut edges, mut held) = (Edges::default(), BTreeMap::new());
        assert_eq!(edges.get(0, 0), None);
        let mut mixed = 1_u64;
        for to in 0..20_000 {
            mixed = mixed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (from, on) = ((mixed >> 40) as u32 % 500, (mixed >> 50) as Word - 99);
            if held.insert((from, on), to).is_none() {
                edges.add(from, on, to);
            } else {
                held.insert((from, on), edges.get(from, on).expect("it was added"));
            }
        }
        assert!(held.len() > 10_000);
        assert!(held.iter().all(|((from, on), to)| edges.get(*from, *on) == Some(*to)));
        assert_eq!(edges.get(1_000, 7), None);
        assert_eq!(edges.get(7, Word::MIN), None);
    }
}
