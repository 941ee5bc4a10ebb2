//! A set of sectors, as bits: a segment that is prepared has hundreds of them at once.

use std::ops::Range;

const BITS: usize = u64::BITS as usize;

#[derive(Clone, Debug, Default)]
pub struct Sectors {
    /// The words that may hold a bit: what lies outside of them is empty.
    within: Range<usize>,
    words: Vec<u64>,
}

impl Sectors {
    pub fn add(&mut self, sectors: Range<usize>) {
        if sectors.is_empty() {
            return;
        }
        let words = sectors.start / BITS..(sectors.end - 1) / BITS + 1;
        if self.words.len() < words.end {
            self.words.resize(words.end, 0);
        }
        for word in words.clone() {
            let from = sectors.start.saturating_sub(word * BITS);
            let to = (sectors.end - word * BITS).min(BITS);
            self.words[word] |= (u64::MAX >> (BITS - (to - from))) << from;
        }
        self.within = match self.within.is_empty() {
            true => words,
            false => self.within.start.min(words.start)..self.within.end.max(words.end),
        };
    }

    pub fn clear(&mut self) {
        let within = std::mem::take(&mut self.within);
        self.words[within].fill(0);
    }

    /// The lowest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.words[self.within.clone()].iter().zip(self.within.clone());
        words.flat_map(|(word, at)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(at * BITS + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use store::Seeded;

    use super::*;

    #[test]
    fn it_is_what_a_set_is() {
        let mut seeded = Seeded::new(3);
        let (mut sectors, mut set) = (Sectors::default(), BTreeSet::new());
        for _ in 0..5_000 {
            if seeded.percent(10) {
                sectors.clear();
                set.clear();
            }
            let from = seeded.below(400) as usize;
            let added = from..from + seeded.below(200) as usize;
            set.extend(added.clone());
            sectors.add(added);
            assert!(sectors.iter().eq(set.iter().copied()), "{sectors:?} is not {set:?}");
        }
    }
}
