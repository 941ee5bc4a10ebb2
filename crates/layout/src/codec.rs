//! What one design stores, written and read with the design at hand.

use std::cell::RefCell;

use design::model::{Design, Operation, OperationId, OperationKind, StateId, SubjectId};
use engine::{Program, Word};

use crate::bytes::Reader;
use crate::damaged::{Damaged, Wrong};
use crate::key::RecordKey;
use crate::log_entry::append_time;
use crate::outbox::event_name;
use crate::pool::Pool;
use crate::record::{Head, RecordForm, take_head};
use crate::space::{DesignNumber, Space};
use crate::value;

/// A design, its number in the store, and how its records are laid out.
#[derive(Clone, Copy, Debug)]
pub struct Codec<'d> {
    pub number: DesignNumber,
    pub design: &'d Design,
    pub program: &'d Program,
    /// by subject
    pub records: &'d [RecordForm],
}

impl<'d> Codec<'d> {
    /// Appends the key of the record that `key` is the handle of.
    pub fn put_record_key(&self, out: &mut Vec<u8>, subject: SubjectId, key: Word, pool: &Pool) {
        out.extend_from_slice(&Space::Record.prefix(self.number));
        out.extend_from_slice(&(subject.0 as u16).to_be_bytes());
        crate::key::put_parts(out, self.design, subject, key, pool);
    }

    pub fn record_key(&self, subject: SubjectId, key: Word, pool: &Pool) -> Vec<u8> {
        let mut out = Vec::new();
        self.put_record_key(&mut out, subject, key, pool);
        out
    }

    /// The handle of the record that a key names.
    pub fn handle(&self, key: RecordKey<'_>, pool: &mut Pool) -> Result<Word, Damaged> {
        let wrong = |wrong| Damaged::key(&key.to_bytes(), wrong);
        if key.subject.index() >= self.design.subjects.len() {
            return Err(wrong(Wrong::UnknownSubject));
        }
        let mut reader = Reader::new(key.parts);
        let handle = crate::key::take_parts(&mut reader, self.design, key.subject, pool);
        let handle = handle.and_then(|handle| reader.end().map(|()| handle));
        handle.map_err(wrong)
    }

    /// A key of this design.
    pub fn key_of<'k>(&self, subject: SubjectId, parts: &'k [u8]) -> RecordKey<'k> {
        RecordKey { design: self.number, subject, parts }
    }

    pub fn put_truth(&self, out: &mut Vec<u8>, subject: SubjectId, words: &[Word], pool: &Pool) {
        self.records[subject.index()].put_truth(out, self.design, words, pool);
    }

    /// Appends the words of a truth that stands alone.
    pub fn take_truth(
        &self,
        truth: &[u8],
        subject: SubjectId,
        pool: &mut Pool,
        words: &mut Vec<Word>,
    ) -> Result<(), Wrong> {
        let form = self.records.get(subject.index()).ok_or(Wrong::UnknownSubject)?;
        form.take_truth(&mut Reader::new(truth), self.design, pool, words)
    }

    /// Appends the words of the record that is stored under `key`.
    pub fn take_record(
        &self,
        key: &[u8],
        value: &[u8],
        subject: SubjectId,
        pool: &RefCell<Pool>,
        words: &mut Vec<Word>,
    ) -> Result<Head, Damaged> {
        let mut reader = Reader::new(value);
        let mut take = || {
            let head = take_head(&mut reader)?;
            let form = &self.records[subject.index()];
            form.take_truth(&mut reader, self.design, &mut pool.borrow_mut(), words)?;
            reader.end()?;
            Ok(head)
        };
        take().map_err(|wrong| Damaged::value(key, wrong))
    }

    pub fn operation(&self, id: OperationId) -> Result<&'d Operation, Wrong> {
        self.design.operations.get(id.index()).ok_or(Wrong::UnknownOperation)
    }

    /// The arguments of an operation, as they wait in the outbox.
    pub fn put_params(
        &self,
        out: &mut Vec<u8>,
        operation: OperationId,
        words: &[Word],
        pool: &Pool,
    ) {
        let fields = &self.program.params(operation).fields;
        for (param, field) in self.design.operations[operation.index()].params.iter().zip(fields) {
            value::put(out, self.design, &param.ty, &words[field.range()], pool);
        }
    }

    /// Gives the words of all arguments.
    pub fn take_params(
        &self,
        args: &mut Reader<'_>,
        operation: OperationId,
        pool: &mut Pool,
    ) -> Result<Vec<Word>, Wrong> {
        let mut params = Vec::new();
        for param in &self.operation(operation)?.params {
            value::take(args, self.design, &param.ty, pool, &mut params)?;
        }
        Ok(params)
    }

    /// The arguments that go along with `send each`: all but the record, which has its turn later.
    pub fn put_carried(
        &self,
        out: &mut Vec<u8>,
        operation: OperationId,
        words: &[Word],
        pool: &Pool,
    ) {
        let held = &self.design.operations[operation.index()];
        let fields = &self.program.params(operation).fields[usize::from(held.each.is_some())..];
        for (param, field) in held.carried().iter().zip(fields) {
            value::put(out, self.design, &param.ty, &words[field.range()], pool);
        }
    }

    /// What names a call of an effect for good: its key, encoded.
    pub fn effect_name(&self, effect: OperationId, key: &[Word], pool: &Pool) -> Vec<u8> {
        let mut name = Vec::new();
        if let OperationKind::Effect(effect) = &self.design.operations[effect.index()].kind {
            for (expr, word) in effect.key.iter().zip(key) {
                value::put(&mut name, self.design, &expr.ty, std::slice::from_ref(word), pool);
            }
        }
        name
    }

    /// What names an event on its way to its handler, whose first parameter is the key.
    pub fn event_name(
        &self,
        handler: OperationId,
        args: &[Word],
        (commit, at): (u64, usize),
        pool: &Pool,
    ) -> Vec<u8> {
        let mut key = Vec::new();
        if let Some(first) = self.design.operations[handler.index()].params.first() {
            let words = &args[..engine::width_of(&first.ty) as usize];
            value::put(&mut key, self.design, &first.ty, words, pool);
        }
        event_name(&key, commit, at)
    }

    /// The value of a log entry: when it was appended, then its fields.
    pub fn put_log_entry(
        &self,
        out: &mut Vec<u8>,
        (subject, log): (SubjectId, StateId),
        at: Word,
        words: &[Word],
        pool: &Pool,
    ) {
        append_time(out, at);
        let attributes = &self.design.subjects[subject.index()].attributes;
        for (attr, field) in &self.program.state(subject, log).fields {
            value::put(out, self.design, &attributes[attr.index()].ty, &words[field.range()], pool);
        }
    }
}
