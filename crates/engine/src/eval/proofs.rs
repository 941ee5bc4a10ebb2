//! Digests, signatures and proofs. What they are, whoever holds the values knows.

use super::{Env, Eval, Stop};
use crate::fault::Fault;
use crate::program::node::{NodeId, Run};
use crate::{NULL, Word};

impl<'a, E: Env<'a>> Eval<'_, E> {
    pub(super) fn hash(&mut self, of: u32, parts: Run, id: NodeId) -> Result<Word, Stop> {
        let height = self.stack.len();
        for index in parts.range() {
            let word = self.eval(self.program.lists.nodes_of[index]);
            match word {
                Ok(NULL) => {
                    self.stack.truncate(height);
                    return self.missing(Fault::NullValue, id);
                }
                Ok(word) => self.stack.push(word),
                Err(stop) => {
                    self.stack.truncate(height);
                    return Err(stop);
                }
            }
        }
        let parts = &self.program.lists.hashes[of as usize];
        let digest = self.env.hash(parts, &self.stack[height..]);
        self.stack.truncate(height);
        Ok(digest)
    }

    /// The three parts of a question; none: one is missing, and the answer is no.
    pub(super) fn evidence(&mut self, parts: Run) -> Result<Option<[Word; 3]>, Stop> {
        let mut words = [NULL; 3];
        for (word, index) in words.iter_mut().zip(parts.range()) {
            *word = self.eval(self.program.lists.nodes_of[index])?;
        }
        Ok((!words.contains(&NULL)).then_some(words))
    }

    /// Is this answer a signature of what was to be signed?
    pub fn is_signed(&mut self, digest: NodeId, key: NodeId, answer: Word) -> Result<bool, Stop> {
        let (digest, key) = (self.eval(digest)?, self.eval(key)?);
        let there = ![digest, key, answer].contains(&NULL);
        Ok(there && self.env.verified(answer, key, digest))
    }
}
