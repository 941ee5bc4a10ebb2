//! Digests as what they are digests of.
//!
//! In the small world a digest is a term: two are equal if and only if they are made of the same
//! values in the same way, so nothing can be found that has another's digest. Terms come about
//! while states are explored. A digest is the place of its term in the table; which place that is
//! depends on who came first, and nothing else does.

use std::hash::BuildHasher;
use std::sync::{Arc, PoisonError, RwLock};

use engine::{HashPart, Word};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::world::sizes::TERMS_MAX;

type Term = (Vec<HashPart>, Vec<Word>);

#[derive(Default)]
struct Held {
    list: Vec<Arc<Term>>,
    /// by the hash of the term: where those that have it stand
    index: FxHashMap<u64, Vec<Word>>,
}

impl Held {
    fn find(&self, hash: u64, parts: &[HashPart], words: &[Word]) -> Option<Word> {
        let same = |place: &Word| {
            let term = &self.list[*place as usize];
            term.1 == words && term.0 == parts
        };
        self.index.get(&hash)?.iter().copied().find(same)
    }
}

pub(crate) struct Terms(RwLock<Held>);

const PAIR: [HashPart; 2] = [HashPart::Digest, HashPart::Digest];

impl Terms {
    /// With the digest 0, which is of nothing that anybody knows.
    pub(crate) fn new() -> Terms {
        let terms = Terms(RwLock::default());
        terms.hash(&[], &[]);
        terms
    }

    pub(crate) fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word {
        let hash = FxBuildHasher.hash_one((parts, words));
        let known = {
            let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
            held.find(hash, parts, words)
        };
        known.unwrap_or_else(|| {
            let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = held.find(hash, parts, words) {
                return known;
            }
            let place = held.list.len();
            if place < TERMS_MAX {
                held.list.push(Arc::new((parts.to_vec(), words.to_vec())));
                held.index.entry(hash).or_default().push(place as Word);
            }
            place as Word
        })
    }

    pub(crate) fn term(&self, digest: Word) -> Option<Arc<Term>> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        held.list.get(usize::try_from(digest).ok()?).cloned()
    }

    /// Is the leaf the root, or below it by digests of two digests each?
    pub(crate) fn included(&self, leaf: Word, root: Word) -> bool {
        if leaf == root {
            return true;
        }
        let below = self.term(root).filter(|term| term.0 == PAIR);
        below.is_some_and(|term| term.1.iter().any(|word| self.included(leaf, *word)))
    }

    /// The digest of the same, with every value in it changed.
    pub(crate) fn changed(&self, digest: Word, change: &dyn Fn(&HashPart, Word) -> Word) -> Word {
        let Some(term) = self.term(digest) else { return digest };
        let (parts, words) = &*term;
        let changed: Vec<Word> = parts
            .iter()
            .zip(words)
            .map(|(part, word)| match part {
                HashPart::Digest => self.changed(*word, change),
                part => change(part, *word),
            })
            .collect();
        if changed == *words { digest } else { self.hash(parts, &changed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_what_it_is_made_of() {
        let terms = Terms::new();
        let one = terms.hash(&[HashPart::Int], &[7]);
        assert_eq!(terms.hash(&[HashPart::Int], &[7]), one);
        assert_ne!(terms.hash(&[HashPart::Int], &[8]), one);
        assert_ne!(terms.hash(&[HashPart::Text], &[7]), one);
        assert_ne!(terms.hash(&[HashPart::Int, HashPart::Int], &[7, 7]), one);
        assert_ne!(one, 0);
    }

    #[test]
    fn included_is_below_by_pairs_alone() {
        let terms = Terms::new();
        let [a, b, c] = [1, 2, 3].map(|n| terms.hash(&[HashPart::Int], &[n]));
        let chain = terms.hash(&PAIR, &[terms.hash(&PAIR, &[a, b]), c]);
        for leaf in [a, b, c, chain] {
            assert!(terms.included(leaf, chain));
        }
        let around = terms.hash(&[HashPart::Digest], &[a]);
        assert!(!terms.included(a, around));
        assert!(!terms.included(chain, a));
        assert!(!terms.included(0, chain));
    }

    #[test]
    fn what_is_inside_changes_all_the_way_down() {
        let terms = Terms::new();
        let [a, b] = [1, 2].map(|n| terms.hash(&[HashPart::Int], &[n]));
        let pair = |left, right| terms.hash(&PAIR, &[left, right]);
        let swapped = terms.changed(pair(a, b), &|_, word| 3 - word);
        assert_eq!(swapped, pair(b, a));
    }
}
