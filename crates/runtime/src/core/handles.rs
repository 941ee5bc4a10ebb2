//! What the handles of a pool stand for, as the engine asks for it.

use std::cell::RefCell;

use design::model::SubjectId;
use engine::{HashPart, NULL, Word};
use layout::Pool;

use crate::values::{proofs, schedules};

/// Behind a cell because the engine makes handles while it reads.
#[derive(Clone, Copy)]
pub struct Handles<'p>(pub &'p RefCell<Pool>);

impl Handles<'_> {
    pub fn key_part(self, key: Word, part: u32) -> Word {
        self.0.borrow().parts(key).get(part as usize).copied().unwrap_or(NULL)
    }

    pub fn key_of(self, subject: SubjectId, parts: &[Word]) -> Word {
        self.0.borrow_mut().key(subject, parts)
    }

    pub fn hash(self, parts: &[HashPart], words: &[Word]) -> Word {
        let digest = {
            let pool = self.0.borrow();
            proofs::hash(parts, words, &|handle| pool.content(handle))
        };
        self.0.borrow_mut().text(digest.to_hex().as_bytes())
    }

    pub fn verified(self, signature: Word, key: Word, digest: Word) -> bool {
        let pool = self.0.borrow();
        proofs::verified(pool.content(signature), pool.content(key), pool.content(digest))
    }

    pub fn included(self, leaf: Word, root: Word, proof: Word) -> bool {
        let pool = self.0.borrow();
        proofs::included(pool.content(leaf), pool.content(root), pool.content(proof))
    }

    pub fn next_of(self, schedule: Word, after: Word) -> Option<Word> {
        schedules::next(self.0.borrow().content(schedule), after)
    }
}
