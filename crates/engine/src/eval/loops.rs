//! Quantifiers and aggregates.

use super::{Env, Eval, Stop};
use crate::fault::Fault;
use crate::program::Column;
use crate::program::node::{Arithmetic, Loop, LoopKind, NodeId, Over, Rows};
use crate::{NULL, Word};

/// What has been found so far.
struct Tally {
    value: Word,
    ended: bool,
}

impl<'a, E: Env<'a>> Eval<'_, E> {
    pub(super) fn run_loop(&mut self, index: u32, at: NodeId) -> Result<Word, Stop> {
        let rule = self.program.loops[index as usize];
        let outer = self.local(rule.local);
        let height = self.stack.len();
        let value = self.iterate(&rule, at);
        self.stack.truncate(height);
        self.set_local(rule.local, outer);
        value
    }

    fn iterate(&mut self, rule: &Loop, at: NodeId) -> Result<Word, Stop> {
        let mut tally =
            Tally { value: Word::from(matches!(rule.kind, LoopKind::All(_))), ended: false };
        match rule.over {
            Over::Elements { block, stride, bound } => {
                let start = self.block(block, stride)?;
                if self.stack[start] == NULL {
                    self.missing(Fault::NullValue, at)?;
                }
                for index in (start + 1..self.stack.len()).step_by(stride as usize) {
                    let element = self.stack[index];
                    if bound > 1 {
                        self.set_element(rule.local, index, bound);
                    }
                    self.visit(rule, element, &mut tally, at)?;
                    if tally.ended {
                        break;
                    }
                }
            }
            Over::All(subject) => {
                let picked = match rule.by {
                    Some((column, value)) if E::INDEXED => {
                        let value = self.eval(value)?;
                        self.env.keys_by(subject, column, value)
                    }
                    _ => None,
                };
                let keys = match picked {
                    Some(keys) => keys,
                    None => self.scan(subject, at)?,
                };
                for key in keys {
                    if self.env.exists(subject, *key)? {
                        self.visit(rule, *key, &mut tally, at)?;
                    }
                    if tally.ended {
                        break;
                    }
                }
            }
            Over::Children { child, parent } => {
                let parent = self.eval(parent)?;
                let keys = match self.env.keys_by(child, Column::Part(0), parent) {
                    Some(keys) => keys,
                    None => self.scan(child, at)?,
                };
                for key in keys {
                    if self.env.key_part(child, *key, 0) == parent
                        && self.env.exists(child, *key)?
                    {
                        self.visit(rule, *key, &mut tally, at)?;
                    }
                    if tally.ended {
                        break;
                    }
                }
            }
            Over::Principals(actor) => {
                for principal in self.env.principals(actor) {
                    self.visit(rule, *principal, &mut tally, at)?;
                    if tally.ended {
                        break;
                    }
                }
            }
            Over::Rows(of, operation) => {
                let old = self.env.look_back(false);
                self.env.look_back(old);
                let mut row = 0;
                while !tally.ended && self.env.rows(of, operation, row).is_some() {
                    // which row of what of which operation, and whether of the world before
                    let handle = ((row as Word) << 26)
                        | ((of as Word) << 24)
                        | (Word::from(operation.0 & 0x7f_ffff) << 1)
                        | Word::from(old);
                    self.visit(rule, handle, &mut tally, at)?;
                    row += 1;
                }
            }
        }
        Ok(tally.value)
    }

    fn scan(&self, subject: design::model::SubjectId, at: NodeId) -> Result<&'a [Word], Stop> {
        self.env.keys(subject).ok_or(Stop::refuse(Fault::Unsupported, at))
    }

    fn visit(
        &mut self,
        rule: &Loop,
        element: Word,
        tally: &mut Tally,
        at: NodeId,
    ) -> Result<(), Stop> {
        self.set_local(rule.local, element);
        if let Some(filter) = rule.filter
            && !self.test(filter)?
        {
            return Ok(());
        }
        match rule.kind {
            LoopKind::All(body) => {
                if !self.test(body)? {
                    *tally = Tally { value: 0, ended: true };
                }
            }
            LoopKind::Any(body) => {
                if self.test(body)? {
                    *tally = Tally { value: 1, ended: true };
                }
            }
            LoopKind::Count => tally.value += 1,
            LoopKind::Sum(value) => {
                let word = self.eval(value)?;
                if word == NULL {
                    self.missing(Fault::NullValue, at)?;
                } else {
                    tally.value = super::compute(Arithmetic::Add, tally.value, word)
                        .map_err(|reason| Stop::refuse(reason, at))?;
                }
            }
        }
        Ok(())
    }

    /// The arguments of the call that the variable stands for.
    pub(super) fn world_words(&mut self, local: u32) -> Option<&'a [Word]> {
        let handle = self.local(local);
        if handle < 0 {
            return None;
        }
        let operation = design::model::OperationId(((handle >> 1) & 0x7f_ffff) as u32);
        let of = Rows::ALL.get((handle >> 24 & 3) as usize).copied()?;
        let before = self.env.look_back(handle & 1 == 1);
        let words = self.env.rows(of, operation, (handle >> 26) as usize);
        self.env.look_back(before);
        words
    }

    pub(super) fn world_arg(&mut self, local: u32, offset: u32, at: NodeId) -> Result<Word, Stop> {
        match self.world_words(local) {
            Some(words) => Ok(words.get(offset as usize).copied().unwrap_or(NULL)),
            None => self.missing(Fault::Nothing, at),
        }
    }
}
