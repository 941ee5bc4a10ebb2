//! An entry of the feed: who asked what, which records changed and how they are now, which events
//! were emitted.

use std::ops::Range;

use design::model::{EventId, OperationId, OperationKind, SubjectId, Type};
use engine::{AnswerKind, Command, NULL, Word};
use telemetry::Trace;

use crate::bytes::{Reader, put_bytes, put_number, put_signed, put_sized};
use crate::codec::Codec;
use crate::damaged::Wrong;
use crate::forgetting::log_of;
use crate::pool::Pool;
use crate::space::DesignNumber;
use crate::value;

const FORM: u8 = 1;
/// The same, and which request caused it.
const TRACED: u8 = 2;

/// No transition: from here on another text of the design has the say.
const MARK: u8 = 3;

/// The rest of an entry, if it is a transition of this design.
pub fn of_design(entry: &[u8], number: DesignNumber) -> Option<&[u8]> {
    transition(entry.strip_prefix(&number.prefix())?)
}

fn transition(rest: &[u8]) -> Option<&[u8]> {
    (rest.first() != Some(&MARK)).then_some(rest)
}

/// An entry that says: up to here this text of a design had the say, under a number that stays.
pub fn mark(number: DesignNumber, before: &[u8]) -> Vec<u8> {
    let mut entry = number.prefix().to_vec();
    entry.push(MARK);
    entry.extend_from_slice(before);
    entry
}

/// The design that had the say up to here, if this is a mark.
pub fn marked(entry: &[u8]) -> Option<(DesignNumber, &[u8])> {
    let (number, rest) = entry.split_first_chunk::<2>()?;
    Some((DesignNumber::of_prefix(*number), rest.strip_prefix(&[MARK])?))
}

/// The number of the design that an entry is of.
pub fn number_of(entry: &[u8]) -> Option<DesignNumber> {
    entry.first_chunk::<2>().map(|number| DesignNumber::of_prefix(*number))
}

/// The rest of an entry, of whichever design it is a transition.
pub fn of_any(entry: &[u8]) -> Option<&[u8]> {
    transition(entry.split_first_chunk::<2>()?.1)
}

/// Writing.
impl Codec<'_> {
    /// Begins an entry: who asked what, and how many changes follow.
    pub fn begin_entry(
        &self,
        out: &mut Vec<u8>,
        command: &Command<'_>,
        now: Word,
        pool: &Pool,
        changes: usize,
        trace: Option<&Trace>,
    ) {
        out.extend_from_slice(&self.number.prefix());
        match trace {
            None => out.push(FORM),
            Some(trace) => {
                out.push(TRACED);
                put_sized(out, |out| trace.put(out));
            }
        }
        put_number(out, u64::from(command.operation.0));
        put_signed(out, now);
        put_bytes(out, if command.me == NULL { &[] } else { pool.content(command.me) });
        put_sized(out, |out| self.put_asked(out, command, pool));
        put_number(out, changes as u64);
    }

    /// A record after the transition. Gives where its truth stands, which is what is stored, too.
    pub fn put_change(
        &self,
        out: &mut Vec<u8>,
        subject: SubjectId,
        key_parts: &[u8],
        words: Option<&[Word]>,
        pool: &Pool,
    ) -> Range<usize> {
        put_number(out, u64::from(subject.0));
        put_bytes(out, key_parts);
        let Some(words) = words else {
            out.push(0);
            return 0..0;
        };
        out.push(1);
        let mut bytes = 0;
        put_sized(out, |out| {
            let start = out.len();
            self.put_truth(out, subject, words, pool);
            bytes = out.len() - start;
        });
        out.len() - bytes..out.len()
    }

    pub fn put_event(&self, out: &mut Vec<u8>, event: EventId, words: &[Word], pool: &Pool) {
        put_number(out, u64::from(event.0));
        put_sized(out, |out| {
            let mut at = 0;
            for (_, ty) in &self.design.events[event.index()].fields {
                let width = engine::width_of(ty) as usize;
                value::put(out, self.design, ty, &words[at..at + width], pool);
                at += width;
            }
        });
    }

    /// What was asked: parameters, memory, and of an effect the answer. With it a history can be
    /// walked again.
    fn put_asked(&self, out: &mut Vec<u8>, command: &Command<'_>, pool: &Pool) {
        if log_of(command.operation).is_some() {
            return;
        }
        let operation = &self.design.operations[command.operation.index()];
        self.put_params(out, command.operation, command.params, pool);
        for (used, word) in operation.memory.iter().zip(command.memory) {
            let ty = &self.design.actors[used.actor.index()].memory[used.field.index()].ty;
            value::put(out, self.design, ty, std::slice::from_ref(word), pool);
        }
        let Some((kind, word)) = command.answer else { return };
        out.push(match kind {
            AnswerKind::Ok => 0,
            AnswerKind::Refused => 1,
            AnswerKind::Unknown => 2,
        });
        if let Some(ty) = self.answer_type(command.operation, kind) {
            let ty = Type::Optional(Box::new(ty));
            value::put(out, self.design, &ty, std::slice::from_ref(&word), pool);
        }
    }

    fn answer_type(&self, operation: OperationId, kind: AnswerKind) -> Option<Type> {
        let operation = &self.design.operations[operation.index()];
        let OperationKind::Effect(effect) = &operation.kind else { return None };
        let handler = match kind {
            AnswerKind::Ok => &effect.on_ok,
            AnswerKind::Refused => &effect.on_refused,
            AnswerKind::Unknown => &effect.on_unknown,
        };
        let ty = &operation.locals[handler.param?.index()].ty;
        Some(ty.required().clone())
    }
}

/// An entry, without looking into its values. The design's number is already taken off.
#[derive(Clone, PartialEq, Debug)]
pub struct FeedEntry<'e> {
    /// which request caused it
    pub trace: Option<Trace>,
    /// or the forgetting of a log
    pub operation: OperationId,
    pub now: Word,
    pub principal: &'e [u8],
    asked: &'e [u8],
    pub changes: Vec<ChangedBytes<'e>>,
    /// with their fields, encoded
    pub events: Vec<(EventId, &'e [u8])>,
}

/// A record after a transition, as it is encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChangedBytes<'e> {
    pub subject: SubjectId,
    /// the parts of its key
    pub key: &'e [u8],
    /// none: it is gone
    pub truth: Option<&'e [u8]>,
}

/// Words that were read back from an entry.
#[derive(Clone, PartialEq, Debug)]
pub struct Asked {
    pub operation: OperationId,
    pub now: Word,
    pub principal: Option<Vec<u8>>,
    pub params: Vec<Word>,
    pub memory: Vec<Word>,
    pub answer: Option<(AnswerKind, Word)>,
}

impl<'e> FeedEntry<'e> {
    pub fn parse(bytes: &'e [u8]) -> Result<FeedEntry<'e>, Wrong> {
        let mut reader = Reader::new(bytes);
        let trace = match reader.byte()? {
            FORM => None,
            TRACED => Some(Trace::take(reader.bytes()?).ok_or(Wrong::Trace)?),
            _ => return Err(Wrong::UnknownForm),
        };
        let operation = OperationId(reader.id()?);
        let now = reader.signed()?;
        let principal = reader.bytes()?;
        let asked = reader.bytes()?;
        let mut changes = Vec::new();
        for _ in 0..reader.number()? {
            changes.push(change(&mut reader)?);
        }
        let mut events = Vec::new();
        for _ in 0..reader.number()? {
            events.push((EventId(reader.id()?), reader.bytes()?));
        }
        reader.end()?;
        Ok(FeedEntry { trace, operation, now, principal, asked, changes, events })
    }
}

fn change<'e>(reader: &mut Reader<'e>) -> Result<ChangedBytes<'e>, Wrong> {
    let subject = SubjectId(reader.id()?);
    let key = reader.bytes()?;
    let truth = match reader.byte()? {
        0 => None,
        1 => Some(reader.bytes()?),
        _ => return Err(Wrong::UnknownChoice),
    };
    Ok(ChangedBytes { subject, key, truth })
}

/// Reading.
impl Codec<'_> {
    /// What was asked in the transition that an entry tells of.
    pub fn take_asked(&self, entry: &FeedEntry<'_>, pool: &mut Pool) -> Result<Asked, Wrong> {
        let (id, now) = (entry.operation, entry.now);
        if log_of(id).is_some() {
            let (params, memory) = (Vec::new(), Vec::new());
            return Ok(Asked { operation: id, now, principal: None, params, memory, answer: None });
        }
        let operation = self.operation(id)?;
        let mut asked = Reader::new(entry.asked);
        let params = self.take_params(&mut asked, id, pool)?;
        let mut memory = Vec::new();
        for used in &operation.memory {
            let ty = &self.design.actors[used.actor.index()].memory[used.field.index()].ty;
            value::take(&mut asked, self.design, ty, pool, &mut memory)?;
        }
        let answer =
            if asked.is_empty() { None } else { Some(self.take_answer(&mut asked, id, pool)?) };
        let called = matches!(operation.kind, OperationKind::Step { .. });
        let principal = (called || !entry.principal.is_empty()).then(|| entry.principal.to_vec());
        Ok(Asked { operation: id, now, principal, params, memory, answer })
    }

    fn take_answer(
        &self,
        asked: &mut Reader<'_>,
        operation: OperationId,
        pool: &mut Pool,
    ) -> Result<(AnswerKind, Word), Wrong> {
        let kind = match asked.byte()? {
            0 => AnswerKind::Ok,
            1 => AnswerKind::Refused,
            2 => AnswerKind::Unknown,
            _ => return Err(Wrong::UnknownChoice),
        };
        let mut words = vec![NULL];
        if let Some(ty) = self.answer_type(operation, kind) {
            words.clear();
            let ty = Type::Optional(Box::new(ty));
            value::take(asked, self.design, &ty, pool, &mut words)?;
        }
        Ok((kind, words[0]))
    }

    /// Appends the words of an event's fields.
    pub fn take_event(
        &self,
        (event, fields): (EventId, &[u8]),
        pool: &mut Pool,
    ) -> Result<(Type, Vec<Word>), Wrong> {
        let event = self.design.events.get(event.index()).ok_or(Wrong::UnknownEvent)?;
        let ty = Type::Record(event.fields.clone());
        let mut words = Vec::new();
        value::take(&mut Reader::new(fields), self.design, &ty, pool, &mut words)?;
        Ok((ty, words))
    }
}
