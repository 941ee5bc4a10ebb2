//! What the small world has no room for: it is judged once, and kept in no state.

use std::sync::{PoisonError, RwLock};

use design::model::{OperationId, SubjectId};
use engine::Word;

/// A record that a step wrote and that the small world has no room for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Extra {
    pub(crate) subject: SubjectId,
    pub(crate) key: Word,
    /// none: it was deleted
    pub(crate) words: Option<Vec<Word>>,
}

/// A message or a call to the world outside that the small world has no room for: whose, and what it
/// carries.
pub(crate) type ExtraSend = (OperationId, Vec<Word>);

/// Keys that are not of the world, as they come up: each has a number behind those that are.
#[derive(Default)]
pub(crate) struct OutsideKeys(RwLock<Vec<(SubjectId, Vec<Word>)>>);

impl OutsideKeys {
    pub(super) fn number(&self, subject: SubjectId, parts: &[Word]) -> usize {
        let is = |held: &(SubjectId, Vec<Word>)| held.0 == subject && held.1 == parts;
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).iter().position(is);
        known.unwrap_or_else(|| {
            let mut list = self.0.write().unwrap_or_else(PoisonError::into_inner);
            list.iter().position(is).unwrap_or_else(|| {
                list.push((subject, parts.to_vec()));
                list.len() - 1
            })
        })
    }

    pub(crate) fn part(&self, number: usize, part: u32) -> Option<Word> {
        let list = self.0.read().unwrap_or_else(PoisonError::into_inner);
        list.get(number)?.1.get(part as usize).copied()
    }
}
