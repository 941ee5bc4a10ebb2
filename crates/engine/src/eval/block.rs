//! Collections: evaluated onto the stack as a length and the elements in use.

use design::model::SubjectId;

use super::{Env, Eval, Stop};
use crate::fault::Fault;
use crate::program::node::{Node, NodeId};
use crate::{NULL, Word};

/// How many words the elements take, given the words of a collection that begin with its length.
/// A length that is out of bounds counts as far as there are words.
pub(crate) fn used(words: &[Word], stride: u32) -> usize {
    match words.first() {
        Some(length) if *length > 0 => {
            let wanted = usize::try_from(*length).unwrap_or(usize::MAX);
            wanted.saturating_mul(stride as usize).min(words.len() - 1)
        }
        _ => 0,
    }
}

impl<'a, E: Env<'a>> Eval<'_, E> {
    /// Pushes the collection; answers where on the stack its length stands.
    pub fn block(&mut self, id: NodeId, stride: u32) -> Result<usize, Stop> {
        let program = self.program;
        let start = self.stack.len();
        match program.lists.nodes[id as usize] {
            Node::Block(run) => self.stack.extend_from_slice(&program.lists.words[run.range()]),
            Node::Local { offset } => {
                let from = self.base + offset as usize;
                let words = self.frame.get(from..).unwrap_or(&[]);
                push_used(self.stack, words, stride);
            }
            Node::Attr { base, subject, offset } => {
                let key = self.eval(base)?;
                self.block_of(id, subject, key, offset, stride)?;
            }
            Node::Field { local, subject, offset } => {
                let key = self.local(local);
                self.block_of(id, subject, key, offset, stride)?;
            }
            Node::Cache { base, subject, state, offset } => {
                let key = self.eval(base)?;
                let reason = if key == NULL { Fault::Nothing } else { Fault::NoSuchRecord };
                let copy = match key {
                    NULL => None,
                    key => self.env.copy(subject, state, key)?,
                };
                match copy {
                    Some(words) => {
                        push_used(self.stack, words.get(offset as usize..).unwrap_or(&[]), stride);
                    }
                    None => {
                        let word = self.missing(reason, id)?;
                        self.stack.push(word);
                    }
                }
            }
            Node::Set(items) | Node::List(items) => {
                self.stack.push(0);
                for index in items.range() {
                    let node = program.lists.nodes_of[index];
                    let word = self.eval(node)?;
                    if word == NULL {
                        self.missing(Fault::NullValue, node)?;
                    }
                    self.stack.push(word);
                }
                if matches!(program.lists.nodes[id as usize], Node::Set(_)) {
                    self.sort_from(start + 1);
                }
                self.stack[start] = (self.stack.len() - start - 1) as Word;
            }
            Node::Structs(items) => {
                self.stack.push(Word::from(items.len));
                self.push_all(items)?;
            }
            Node::If { condition, then, otherwise } => {
                let branch = if self.test(condition)? { then } else { otherwise };
                return self.block(branch, stride);
            }
            Node::Let { slot, offset, body } => {
                self.bind(slot, offset)?;
                return self.block(body, stride);
            }
            Node::Old(inner) => {
                let before = self.env.look_back(true);
                let value = self.block(inner, stride);
                self.env.look_back(before);
                return value;
            }
            Node::Const(NULL) => self.stack.push(NULL),
            Node::WorldArg { local, offset } => {
                let words = self.world_words(local).unwrap_or(&[]);
                push_used(self.stack, words.get(offset as usize..).unwrap_or(&[]), stride);
            }
            _ => return Err(Stop::refuse(Fault::Unsupported, id)),
        }
        Ok(start)
    }

    fn block_of(
        &mut self,
        id: NodeId,
        subject: SubjectId,
        key: Word,
        offset: u32,
        stride: u32,
    ) -> Result<(), Stop> {
        if key == NULL {
            let word = self.missing(Fault::Nothing, id)?;
            self.stack.push(word);
            return Ok(());
        }
        match self.env.record(subject, key)? {
            Some(words) => {
                push_used(self.stack, words.get(offset as usize..).unwrap_or(&[]), stride);
            }
            None => {
                let word = self.absent(id, subject, key)?;
                self.stack.push(word);
            }
        }
        Ok(())
    }

    fn sort_from(&mut self, start: usize) {
        self.stack[start..].sort_unstable();
        let mut kept = start;
        for index in start..self.stack.len() {
            if kept == start || self.stack[kept - 1] != self.stack[index] {
                self.stack[kept] = self.stack[index];
                kept += 1;
            }
        }
        self.stack.truncate(kept);
    }

    /// A scalar that looks into collections.
    pub(super) fn with_blocks(&mut self, id: NodeId) -> Result<Word, Stop> {
        let height = self.stack.len();
        let value = self.look(id);
        self.stack.truncate(height);
        value
    }

    fn look(&mut self, id: NodeId) -> Result<Word, Stop> {
        match self.program.lists.nodes[id as usize] {
            Node::IsNullBlock(inner) => {
                let start = self.block(inner, 1)?;
                Ok(Word::from(self.stack[start] == NULL))
            }
            Node::EqualBlocks { left, right, not, stride } => {
                let left = self.block(left, stride)?;
                let right = self.block(right, stride)?;
                let equal = self.stack[left..right] == self.stack[right..];
                Ok(Word::from(equal != not))
            }
            Node::In { item, block, stride } => {
                let item = self.eval(item)?;
                let start = self.block(block, stride)?;
                if self.stack[start] == NULL {
                    self.missing(Fault::NullValue, id)?;
                    return Ok(0);
                }
                let mut elements = self.stack[start + 1..].iter().step_by(stride as usize);
                Ok(Word::from(item != NULL && elements.any(|element| *element == item)))
            }
            Node::Size { block, stride } => {
                let start = self.block(block, stride)?;
                if self.stack[start] == NULL {
                    return self.missing(Fault::NullValue, id);
                }
                Ok(((self.stack.len() - start - 1) / stride as usize) as Word)
            }
            Node::ListIndex { block, index } => {
                let start = self.block(block, 1)?;
                let index = usize::try_from(self.eval(index)?).unwrap_or(usize::MAX);
                Ok(self.stack[start + 1..].get(index).copied().unwrap_or(NULL))
            }
            Node::MapIndex { block, index } => {
                let start = self.block(block, 2)?;
                let key = self.eval(index)?;
                let mut pairs = self.stack[start + 1..].chunks_exact(2);
                Ok(pairs.find(|pair| pair[0] == key).map_or(NULL, |pair| pair[1]))
            }
            _ => Err(Stop::refuse(Fault::Unsupported, id)),
        }
    }
}

/// The length and the elements in use.
fn push_used(stack: &mut Vec<Word>, words: &[Word], stride: u32) {
    match words.first() {
        None | Some(&NULL) => stack.push(NULL),
        Some(_) => {
            let used = used(words, stride);
            stack.push((used / stride as usize) as Word);
            stack.extend_from_slice(&words[1..1 + used]);
        }
    }
}
