//! Values on their way into records, arguments and results.

use super::{Env, Eval, Stop};
use crate::fault::Fault;
use crate::program::node::{Form, Node, NodeId, Run, Slot};
use crate::scratch::QueryOut;
use crate::{NULL, Word};

impl<'a, E: Env<'a>> Eval<'_, E> {
    /// Pushes exactly `slot.width` words.
    pub fn push(&mut self, slot: &Slot) -> Result<(), Stop> {
        let start = self.stack.len();
        match slot.form {
            Form::Scalar => {
                let word = self.eval(slot.node)?;
                self.stack.push(word);
            }
            Form::Block { stride } => {
                self.block(slot.node, stride)?;
                if self.stack.len() - start > slot.width as usize {
                    return Err(Stop::refuse(Fault::CollectionFull, slot.node));
                }
                self.stack.resize(start + slot.width as usize, 0);
            }
            Form::Record => self.push_record(slot)?,
        }
        if !slot.optional && self.stack.get(start) == Some(&NULL) && slot.form != Form::Record {
            self.missing(Fault::NullValue, slot.node)?;
        }
        Ok(())
    }

    pub fn push_all(&mut self, slots: Run) -> Result<(), Stop> {
        let program = self.program;
        for slot in &program.lists.slots[slots.range()] {
            self.push(slot)?;
        }
        Ok(())
    }

    fn push_record(&mut self, slot: &Slot) -> Result<(), Stop> {
        let start = self.stack.len();
        match self.program.lists.nodes[slot.node as usize] {
            Node::Record(fields) => self.push_all(fields)?,
            Node::If { condition, then, otherwise } => {
                let node = if self.test(condition)? { then } else { otherwise };
                self.push_record(&Slot { node, ..*slot })?;
            }
            Node::Let { slot: value, offset, body } => {
                self.bind(value, offset)?;
                self.push_record(&Slot { node: body, ..*slot })?;
            }
            // one of the records of a list
            Node::Local { offset } => {
                for word in 0..slot.width {
                    self.stack.push(self.local(offset + word));
                }
            }
            Node::Const(NULL) => {}
            _ => return Err(Stop::refuse(Fault::Unsupported, slot.node)),
        }
        self.stack.resize(start + slot.width as usize, NULL);
        Ok(())
    }

    /// Evaluates a slot into a local.
    pub fn bind(&mut self, slot: u32, offset: u32) -> Result<(), Stop> {
        let slot = self.program.lists.slots[slot as usize];
        self.bind_slot(&slot, offset)
    }

    pub fn bind_slot(&mut self, slot: &Slot, offset: u32) -> Result<(), Stop> {
        if slot.form == Form::Scalar {
            let word = self.eval(slot.node)?;
            self.set_local(offset, word);
            return Ok(());
        }
        let start = self.stack.len();
        self.push(slot)?;
        for index in start..self.stack.len() {
            let word = self.stack[index];
            self.set_local(offset + (index - start) as u32, word);
        }
        self.stack.truncate(start);
        Ok(())
    }

    /// Something that the caller answers; its number stands in the result.
    pub(super) fn query(&mut self, id: NodeId) -> Result<Word, Stop> {
        let height = self.stack.len();
        let query = match self.program.lists.nodes[id as usize] {
            Node::View { view, args } => {
                self.push_all(args)?;
                let start = self.query_words.len() as u32;
                self.query_words.extend_from_slice(&self.stack[height..]);
                QueryOut::View { view, start, end: self.query_words.len() as u32 }
            }
            Node::LogSlice { subject, log, parts } => {
                self.push_all(parts)?;
                let key = self.stack[height];
                if key == NULL {
                    self.missing(Fault::Nothing, id)?;
                }
                let (from, limit) = (self.stack[height + 1], self.stack[height + 2]);
                QueryOut::Log { subject, key, log, from, limit }
            }
            _ => return Err(Stop::refuse(Fault::Unsupported, id)),
        };
        self.stack.truncate(height);
        self.queries.push(query);
        Ok(self.queries.len() as Word - 1)
    }
}
