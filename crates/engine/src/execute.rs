//! Statements, executed in order over the overlay.

use design::model::{AttrId, StateId, SubjectId};

use crate::children;
use crate::env::StepEnv;
use crate::eval::{Eval, Stop};
use crate::fault::Fault;
use crate::overlay::{Status, counters_of};
use crate::program::node::{NodeId, Placed, Run, StmtNode, StmtOp};
use crate::scratch::{Output, Part};
use crate::{NULL, Truth, Word};

pub(crate) struct Execute<'e, 'x, T> {
    pub eval: Eval<'e, StepEnv<'x, T>>,
    pub out: &'e mut Output,
}

/// Tells a reason where it happened.
pub(crate) fn at(node: NodeId) -> impl Fn(Fault) -> Stop {
    move |reason| Stop::refuse(reason, node)
}

impl<T: Truth> Execute<'_, '_, T> {
    pub fn body(&mut self, body: Run) -> Result<(), Stop> {
        let program = self.eval.program;
        for stmt in &program.lists.stmts[body.range()] {
            self.stmt(stmt)?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &StmtNode) -> Result<(), Stop> {
        match &stmt.kind {
            StmtOp::Assign { place, change, value } => self.assign(place, *change, value, stmt.at),
            StmtOp::Memory { memory, change, value } => {
                self.remember(*memory, *change, value, stmt.at)
            }
            StmtOp::Let { offset, value } => self.eval.bind_slot(value, *offset),
            StmtOp::New { subject, keys, fields } => {
                self.make_new(*subject, *keys, *fields, stmt.at)
            }
            StmtOp::Delete { subject, target } => {
                let key = self.key(*target, stmt.at)?;
                let index = self.eval.env.load(*subject, key)?;
                self.eval.env.overlay.delete(index).map_err(at(stmt.at))
            }
            StmtOp::Append { subject, base, log, keep, entry } => {
                let key = self.key(*base, stmt.at)?;
                self.append(*subject, key, *log, *keep, *entry, stmt.at)
            }
            StmtOp::Emit { event, fields } => {
                let part = self.rows(*fields)?;
                self.out.emits.push((*event, part));
                Ok(())
            }
            StmtOp::Send { operation, args } => self.send(*operation, *args),
            StmtOp::For { offset, block, stride, bound, body } => {
                let height = self.eval.stack.len();
                let start = self.eval.block(*block, *stride)?;
                if self.eval.stack[start] == NULL {
                    return Err(Stop::refuse(Fault::NullValue, *block));
                }
                let end = self.eval.stack.len();
                for index in (start + 1..end).step_by(*stride as usize) {
                    self.eval.set_element(*offset, index, *bound);
                    self.body(*body)?;
                }
                self.eval.stack.truncate(height);
                Ok(())
            }
            StmtOp::If { condition, then, otherwise } => {
                let body = if self.eval.test(*condition)? { *then } else { *otherwise };
                self.body(body)
            }
        }
    }

    /// What a reference refers to.
    pub(crate) fn key(&mut self, base: NodeId, place: NodeId) -> Result<Word, Stop> {
        match self.eval.eval(base)? {
            NULL => Err(Stop::refuse(Fault::Nothing, place)),
            key => Ok(key),
        }
    }

    /// Evaluates slots and keeps their words.
    pub(crate) fn rows(&mut self, slots: Run) -> Result<Part, Stop> {
        let height = self.eval.stack.len();
        self.eval.push_all(slots)?;
        let part = self.out.keep(&self.eval.stack[height..]);
        self.eval.stack.truncate(height);
        Ok(part)
    }

    /// Makes a record for a `new` parameter.
    pub fn make(&mut self, subject: SubjectId, key: Word) -> Result<usize, Stop> {
        let program = self.eval.program;
        let index = self.eval.env.load(subject, key)?;
        let counters = counters_of(program, subject);
        self.eval.env.overlay.make(index, &program.subject(subject).defaults, counters);
        Ok(index)
    }

    fn make_new(
        &mut self,
        subject: SubjectId,
        keys: Run,
        fields: Run,
        place: NodeId,
    ) -> Result<(), Stop> {
        let program = self.eval.program;
        let height = self.eval.stack.len();
        self.eval.push_all(keys)?;
        children::check_new(&mut self.eval, subject, height, place)?;
        let key = self.eval.env.truth.key_of(subject, &self.eval.stack[height..]);
        self.eval.stack.truncate(height);
        let fields: &[Placed] = &program.lists.placed[fields.range()];
        for field in fields {
            self.eval.push(&field.slot)?;
        }
        let mut index = self.eval.env.load(subject, key)?;
        let blank = self.eval.env.overlay.entries[index].blank;
        let status = self.eval.env.overlay.status(index);
        if matches!(status, Status::Same | Status::Changed) && !blank {
            return Err(Stop::refuse(Fault::AlreadyExists, place));
        }
        if !blank {
            index = self.make(subject, key)?;
        }
        let mut from = height;
        let words = self.eval.env.overlay.touch(index).map_err(at(place))?;
        for field in fields {
            let (offset, width) = (field.offset as usize, field.slot.width as usize);
            words[offset..offset + width].copy_from_slice(&self.eval.stack[from..from + width]);
            from += width;
        }
        self.eval.stack.truncate(height);
        Ok(())
    }

    fn append(
        &mut self,
        subject: SubjectId,
        key: Word,
        log: StateId,
        keep: Option<u64>,
        entry: Run,
        place: NodeId,
    ) -> Result<(), Stop> {
        let layout = &self.eval.program.subject(subject).layout;
        let Some(start) = layout.log_start(log) else {
            return Err(Stop::refuse(Fault::Unsupported, place));
        };
        let part = self.rows(entry)?;
        let index = self.eval.env.load(subject, key)?;
        let words = self.eval.env.overlay.touch(index).map_err(at(place))?;
        let (first, end) = (words[start as usize], words[start as usize + 1]);
        let next = end.checked_add(1).ok_or(Stop::refuse(Fault::Overflow, place))?;
        words[start as usize + 1] = next;
        if let Some(keep) = keep.and_then(|keep| Word::try_from(keep).ok()) {
            words[start as usize] = first.max(next.saturating_sub(keep));
        }
        self.out.appends.push((subject, key, log, end, part));
        Ok(())
    }

    fn send(&mut self, operation: design::model::OperationId, args: Run) -> Result<(), Stop> {
        let program = self.eval.program;
        let target = &program.operations[operation.index()];
        let height = self.eval.stack.len();
        self.eval.push_all(args)?;
        let args = self.out.keep(&self.eval.stack[height..]);
        let key = match target.kind {
            crate::program::operation::Kind::Effect if target.key.len == 0 => args,
            crate::program::operation::Kind::Effect => {
                // the key is said in the effect's own words
                let outer = self.eval.base;
                self.eval.base = self.eval.frame.len();
                self.eval.frame.extend_from_slice(&self.eval.stack[height..]);
                self.eval.frame.resize(self.eval.base + target.frame_width as usize, 0);
                self.eval.stack.truncate(height);
                let key = self.rows(target.key);
                self.eval.frame.truncate(self.eval.base);
                self.eval.base = outer;
                key?
            }
            _ => Part::default(),
        };
        self.eval.stack.truncate(height);
        self.out.sends.push((operation, key, args));
        Ok(())
    }

    pub(crate) fn keep_ephemeral(
        &mut self,
        subject: SubjectId,
        state: StateId,
        key: Word,
        attr: AttrId,
        height: usize,
    ) {
        let part = self.out.keep(&self.eval.stack[height..]);
        self.eval.stack.truncate(height);
        self.out.ephemerals.push((subject, state, key, attr, part));
    }
}
