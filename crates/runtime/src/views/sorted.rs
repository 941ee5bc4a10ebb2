//! A sorted set that knows positions: blocks of limited length, so that an insertion moves little
//! and a position is found by adding up block lengths.

/// A block is cut in two when it is longer.
const BLOCK_MAX: usize = 512;

#[derive(Debug, Default, Clone)]
pub struct Sorted {
    blocks: Vec<Vec<Box<[u8]>>>,
    len: usize,
}

impl Sorted {
    pub fn len(&self) -> usize {
        self.len
    }

    /// False: it was there already.
    pub fn insert(&mut self, item: &[u8]) -> bool {
        if self.blocks.is_empty() {
            self.blocks.push(Vec::new());
        }
        let block = self.block_of(item);
        let place = match self.blocks[block].binary_search_by(|known| (**known).cmp(item)) {
            Ok(_) => return false,
            Err(place) => place,
        };
        self.blocks[block].insert(place, item.into());
        self.len += 1;
        if self.blocks[block].len() > BLOCK_MAX {
            let upper = self.blocks[block].split_off(BLOCK_MAX / 2);
            self.blocks.insert(block + 1, upper);
        }
        true
    }

    /// False: it was not there.
    pub fn remove(&mut self, item: &[u8]) -> bool {
        if self.blocks.is_empty() {
            return false;
        }
        let block = self.block_of(item);
        match self.blocks[block].binary_search_by(|known| (**known).cmp(item)) {
            Err(_) => false,
            Ok(place) => {
                self.blocks[block].remove(place);
                self.len -= 1;
                if self.blocks[block].is_empty() {
                    self.blocks.remove(block);
                }
                true
            }
        }
    }

    /// How many come before it, whether it is there or not.
    pub fn position(&self, item: &[u8]) -> usize {
        if self.blocks.is_empty() {
            return 0;
        }
        let block = self.block_of(item);
        let before: usize = self.blocks[..block].iter().map(Vec::len).sum();
        before + self.blocks[block].partition_point(|known| **known < *item)
    }

    /// From the `start`th on.
    pub fn from(&self, start: usize) -> impl Iterator<Item = &[u8]> {
        let mut skip = start;
        let mut first = 0;
        while first < self.blocks.len() && skip >= self.blocks[first].len() {
            skip -= self.blocks[first].len();
            first += 1;
        }
        self.blocks[first..].iter().flatten().skip(skip).map(|item| &**item)
    }

    /// The last block whose first element is not greater; the first block if there is none.
    fn block_of(&self, item: &[u8]) -> usize {
        self.blocks
            .partition_point(|block| block.first().is_some_and(|first| **first <= *item))
            .saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn it_agrees_with_a_plain_sorted_set() {
        let mut sorted = Sorted::default();
        let mut plain: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        for round in 0..20_000 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let item = ((seed >> 20) % 3_000).to_be_bytes();
            if seed.is_multiple_of(3) {
                assert_eq!(sorted.remove(&item), plain.remove(&item[..]));
            } else {
                assert_eq!(sorted.insert(&item), plain.insert(item.to_vec()));
            }
            assert_eq!(sorted.len(), plain.len());
            if round % 500 == 0 {
                let position = plain.range(..item.to_vec()).count();
                assert_eq!(sorted.position(&item), position);
                let rest: Vec<&[u8]> = sorted.from(position).collect();
                let expected: Vec<&[u8]> =
                    plain.range(item.to_vec()..).map(Vec::as_slice).collect();
                assert_eq!(rest, expected);
            }
        }
        assert!(sorted.blocks.len() > 1, "the test reaches several blocks");
        for item in plain {
            assert!(sorted.remove(&item));
        }
        assert_eq!(sorted.len(), 0);
    }
}
