//! The records that have one value in a column.
//!
//! Most columns have few records for each value; of a column such as "is it open", one value has nearly all of them.
//! Looking for one among them would make a walk take the square of its length.

use engine::Word;
use rustc_hash::FxHashMap;

/// More than so many are not searched one by one.
const SEARCHED: usize = 32;

#[derive(Default)]
pub struct Bucket {
    keys: Vec<Word>,
    /// where each key stands; none: there have never been many
    places: Option<Box<FxHashMap<Word, usize>>>,
}

impl Bucket {
    pub fn keys(&self) -> &[Word] {
        &self.keys
    }

    pub fn contains(&self, key: Word) -> bool {
        self.place(key).is_some()
    }

    /// A key that is not in it.
    pub fn push(&mut self, key: Word) {
        if self.keys.len() == SEARCHED && self.places.is_none() {
            self.places = Some(Box::new(self.keys.iter().copied().zip(0..).collect()));
        }
        if let Some(places) = &mut self.places {
            places.insert(key, self.keys.len());
        }
        self.keys.push(key);
    }

    pub fn remove(&mut self, key: Word) {
        let Some(at) = self.place(key) else { return };
        self.keys.swap_remove(at);
        if let Some(places) = &mut self.places {
            places.remove(&key);
            if let Some(moved) = self.keys.get(at) {
                places.insert(*moved, at);
            }
        }
    }

    fn place(&self, key: Word) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(&key).copied(),
            None => self.keys.iter().position(|held| *held == key),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use store::Seeded;

    use super::*;

    #[test]
    fn it_is_what_a_set_is_with_few_keys_and_with_many() {
        let mut seeded = Seeded::new(1);
        let (mut bucket, mut set) = (Bucket::default(), BTreeSet::new());
        for round in 0..4_000_u64 {
            // it grows beyond what is searched, and shrinks again
            let share = if round / 500 % 2 == 0 { 70 } else { 30 };
            let key = seeded.below(200) as Word;
            if seeded.percent(share) && set.insert(key) {
                bucket.push(key);
            } else {
                set.remove(&key);
                bucket.remove(key);
            }
            assert_eq!(bucket.contains(key), set.contains(&key));
            assert_eq!(bucket.keys().len(), set.len());
            assert!(bucket.keys().iter().all(|key| set.contains(key)));
        }
    }
}
