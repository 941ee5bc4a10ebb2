//! What the feed says of one transition.

use std::cell::RefCell;
use std::ops::Range;

use design::model::{EventId, OperationId, OperationKind, StateId, SubjectId, Type};
use engine::{AnswerKind, Command, NULL, Word};
use serde_json::{Map, Value, json};
use telemetry::Trace;

use crate::bytes::{Damaged, Reader, put_bytes, put_number, put_signed, put_sized};
use crate::keys::DesignNumber;
use crate::perform::put_params;
use crate::pool::Pool;
use crate::schema::Schema;
use crate::sight::{Eye, Looked, Mask};
use crate::{codec, forget, json as values, keys, record, time};

const FORM: u8 = 1;
/// The same, and which request caused it.
const TRACED: u8 = 2;

/// Begins an entry: who asked what, and how many changes follow.
pub fn begin(
    out: &mut Vec<u8>,
    schema: &Schema,
    command: &Command<'_>,
    now: Word,
    pool: &Pool,
    changes: usize,
    trace: Option<&Trace>,
) {
    out.extend_from_slice(&schema.number.0.to_be_bytes());
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
    put_sized(out, |out| put_asked(out, schema, command, pool));
    put_number(out, changes as u64);
}

/// Which request caused the transition; the rest of the entry follows.
fn take_form(reader: &mut Reader<'_>) -> Result<Option<Trace>, Damaged> {
    match reader.byte()? {
        FORM => Ok(None),
        TRACED => Trace::take(reader.bytes()?).map(Some).ok_or(Damaged),
        _ => Err(Damaged),
    }
}

/// A record after the transition. Gives where its truth stands, which is what is stored, too.
pub fn change(
    out: &mut Vec<u8>,
    schema: &Schema,
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
        record::put_truth(out, schema, subject, words, pool);
        bytes = out.len() - start;
    });
    out.len() - bytes..out.len()
}

pub fn event(out: &mut Vec<u8>, schema: &Schema, event: EventId, words: &[Word], pool: &Pool) {
    put_number(out, u64::from(event.0));
    put_sized(out, |out| {
        let mut at = 0;
        for (_, ty) in &schema.design.events[event.index()].fields {
            let width = engine::width_of(ty) as usize;
            codec::put(out, &schema.design, ty, &words[at..at + width], pool);
            at += width;
        }
    });
}

/// What was asked: parameters, memory, and of an effect the answer. With it a history can be
/// walked again.
fn put_asked(out: &mut Vec<u8>, schema: &Schema, command: &Command<'_>, pool: &Pool) {
    if forget::log_of(command.operation).is_some() {
        return;
    }
    let operation = &schema.design.operations[command.operation.index()];
    put_params(out, schema, command.operation, command.params, pool);
    for (used, word) in operation.memory.iter().zip(command.memory) {
        let ty = &schema.design.actors[used.actor.index()].memory[used.field.index()].ty;
        codec::put(out, &schema.design, ty, std::slice::from_ref(word), pool);
    }
    let Some((kind, word)) = command.answer else { return };
    out.push(match kind {
        AnswerKind::Ok => 0,
        AnswerKind::Refused => 1,
        AnswerKind::Unknown => 2,
    });
    if let Some(ty) = answer_type(schema, command.operation, kind) {
        let ty = Type::Optional(Box::new(ty));
        codec::put(out, &schema.design, &ty, std::slice::from_ref(&word), pool);
    }
}

/// Words that were read back from an entry.
pub struct Asked {
    pub operation: OperationId,
    pub now: Word,
    pub principal: Option<Vec<u8>>,
    pub params: Vec<Word>,
    pub memory: Vec<Word>,
    pub answer: Option<(AnswerKind, Word)>,
}

pub fn take_asked(schema: &Schema, bytes: &[u8], pool: &mut Pool) -> Result<Asked, Damaged> {
    let mut reader = Reader::new(bytes);
    take_form(&mut reader)?;
    let id = OperationId(u32::try_from(reader.number()?).map_err(|_| Damaged)?);
    let now = reader.signed()?;
    if forget::log_of(id).is_some() {
        let (params, memory) = (Vec::new(), Vec::new());
        return Ok(Asked { operation: id, now, principal: None, params, memory, answer: None });
    }
    let operation = schema.design.operations.get(id.index()).ok_or(Damaged)?;
    let principal = reader.bytes()?;
    let mut asked = Reader::new(reader.bytes()?);
    let mut params = Vec::new();
    for param in &operation.params {
        codec::take(&mut asked, &schema.design, &param.ty, pool, &mut params)?;
    }
    let mut memory = Vec::new();
    for used in &operation.memory {
        let ty = &schema.design.actors[used.actor.index()].memory[used.field.index()].ty;
        codec::take(&mut asked, &schema.design, ty, pool, &mut memory)?;
    }
    let answer = match asked.byte() {
        Err(Damaged) => None,
        Ok(kind) => {
            let kind = match kind {
                0 => AnswerKind::Ok,
                1 => AnswerKind::Refused,
                2 => AnswerKind::Unknown,
                _ => return Err(Damaged),
            };
            let mut words = vec![NULL];
            if let Some(ty) = answer_type(schema, id, kind) {
                words.clear();
                let ty = Type::Optional(Box::new(ty));
                codec::take(&mut asked, &schema.design, &ty, pool, &mut words)?;
            }
            Some((kind, words[0]))
        }
    };
    let called = matches!(operation.kind, OperationKind::Step { .. });
    let principal = (called || !principal.is_empty()).then(|| principal.to_vec());
    Ok(Asked { operation: id, now, principal, params, memory, answer })
}

fn answer_type(schema: &Schema, operation: OperationId, kind: AnswerKind) -> Option<Type> {
    let operation = &schema.design.operations[operation.index()];
    let OperationKind::Effect(effect) = &operation.kind else { return None };
    let handler = match kind {
        AnswerKind::Ok => &effect.on_ok,
        AnswerKind::Refused => &effect.on_refused,
        AnswerKind::Unknown => &effect.on_unknown,
    };
    let ty = &operation.locals[handler.param?.index()].ty;
    Some(ty.required().clone())
}

/// The rest of an entry, if it is of this design.
pub fn of_design(entry: &[u8], number: DesignNumber) -> Option<&[u8]> {
    entry.strip_prefix(&number.0.to_be_bytes())
}

/// One transition as it stands in the feed.
#[derive(Clone, PartialEq, Debug)]
pub struct Transition {
    pub actor: String,
    pub operation: String,
    pub principal: String,
    /// milliseconds
    pub at: i64,
    pub changes: Vec<Changed>,
    pub events: Vec<(String, Value)>,
    /// which request caused it, for whoever made it or sees everything
    pub trace: Option<Trace>,
}

/// A record after a transition; no truth: it is gone.
#[derive(Clone, PartialEq, Debug)]
pub struct Changed {
    pub subject: String,
    pub key: Vec<Value>,
    pub truth: Option<Value>,
}

/// A record after a transition, as it is encoded.
pub struct ChangedBytes<'a> {
    pub subject: SubjectId,
    /// the parts of its key
    pub key: &'a [u8],
    /// none: it is gone
    pub truth: Option<&'a [u8]>,
}

/// The changes of an entry, without looking into them.
pub fn changes(bytes: &[u8]) -> Result<Vec<ChangedBytes<'_>>, Damaged> {
    let mut reader = Reader::new(bytes);
    take_form(&mut reader)?;
    reader.number()?;
    reader.signed()?;
    reader.bytes()?;
    reader.bytes()?;
    let mut changes = Vec::new();
    for _ in 0..reader.number()? {
        changes.push(change_bytes(&mut reader)?);
    }
    Ok(changes)
}

fn change_bytes<'a>(reader: &mut Reader<'a>) -> Result<ChangedBytes<'a>, Damaged> {
    let subject = SubjectId(u32::try_from(reader.number()?).map_err(|_| Damaged)?);
    let key = reader.bytes()?;
    let truth = match reader.byte()? {
        0 => None,
        1 => Some(reader.bytes()?),
        _ => return Err(Damaged),
    };
    Ok(ChangedBytes { subject, key, truth })
}

/// None: nothing of it is seen.
pub fn read(
    schema: &Schema,
    bytes: &[u8],
    eye: Option<&Eye<'_>>,
) -> Result<Option<Transition>, Damaged> {
    let design = &schema.design;
    let pool = RefCell::new(Pool::new(schema.program.texts()));
    let mut reader = Reader::new(bytes);
    let trace = take_form(&mut reader)?;
    let id = OperationId(u32::try_from(reader.number()?).map_err(|_| Damaged)?);
    let forgets = forget::log_of(id);
    let operation = match forgets {
        Some(_) => None,
        None => Some(design.operations.get(id.index()).ok_or(Damaged)?),
    };
    let at = reader.signed()?;
    let principal = String::from_utf8_lossy(reader.bytes()?).into_owned();
    let called = operation.is_some_and(|it| matches!(it.kind, OperationKind::Step { .. }));
    let own = eye.is_none_or(|eye| called && eye.is(&principal));
    reader.bytes()?;
    let mut changes = Vec::new();
    let mut masks = Vec::new();
    for _ in 0..reader.number()? {
        let (subject, change, mask) = read_change(schema, id, &mut reader, &pool, eye)?;
        if mask != Mask::Nothing {
            changes.push(change);
        }
        masks.push((subject, mask));
    }
    let mut events = Vec::new();
    for _ in 0..reader.number()? {
        let id = EventId(u32::try_from(reader.number()?).map_err(|_| Damaged)?);
        let event = design.events.get(id.index()).ok_or(Damaged)?;
        let mut fields_reader = Reader::new(reader.bytes()?);
        if eye.is_some_and(|eye| !eye.sees_event(id, own, &masks)) {
            continue;
        }
        let fields = Type::Record(event.fields.clone());
        let mut words = Vec::new();
        let mut pool = pool.borrow_mut();
        codec::take(&mut fields_reader, design, &fields, &mut pool, &mut words)?;
        events.push((event.name.clone(), values::write(design, &fields, &words, &pool)));
    }
    if !own && changes.is_empty() && events.is_empty() {
        return Ok(None);
    }
    let (actor, operation) = match (operation, forgets, masks.first()) {
        (Some(operation), _, _) => {
            (design.actors[operation.actor.index()].name.clone(), operation.name.clone())
        }
        (None, Some(log), Some((subject, _))) => {
            (forget::ACTOR.into(), forget::name(design, *subject, log)?)
        }
        _ => return Err(Damaged),
    };
    Ok(Some(Transition {
        actor,
        operation,
        // who acted is no truth that anybody reads: it is told to whoever it was
        principal: if own { principal } else { String::new() },
        at,
        changes,
        events,
        trace: trace.filter(|_| own),
    }))
}

fn read_change(
    schema: &Schema,
    operation: OperationId,
    reader: &mut Reader<'_>,
    pool: &RefCell<Pool>,
    eye: Option<&Eye<'_>>,
) -> Result<(SubjectId, Changed, Mask), Damaged> {
    let design = &schema.design;
    let change = change_bytes(reader)?;
    let id = change.subject;
    let subject = design.subjects.get(id.index()).ok_or(Damaged)?;
    let mut parts = Reader::new(change.key);
    let handle = keys::read_key_parts(&mut parts, design, id, &mut pool.borrow_mut())?;
    let mut key = Vec::new();
    values::write_key(design, id, handle, &pool.borrow(), &mut key);
    let words = match change.truth {
        None => None,
        Some(bytes) => {
            let mut words = Vec::new();
            let mut pool = pool.borrow_mut();
            record::take_truth(&mut Reader::new(bytes), schema, id, &mut pool, &mut words)?;
            Some(words)
        }
    };
    let looked = Looked { subject: id, key: handle, words: words.as_deref() };
    let mask = match eye {
        None => Mask::Everything,
        Some(eye) => eye.mask_of_change(operation, looked, pool)?,
    };
    let truth = words.map(|words| seen_json(schema, id, &words, &pool.borrow(), &mask));
    Ok((id, Changed { subject: subject.name.clone(), key, truth }, mask))
}

/// The truth of a record, a state at a time, as far as it is seen.
pub fn seen_json(
    schema: &Schema,
    subject: SubjectId,
    words: &[Word],
    pool: &Pool,
    mask: &Mask,
) -> Value {
    let declared = &schema.design.subjects[subject.index()];
    let layout = schema.program.layout(subject);
    let mut object = Map::new();
    for (at, state) in declared.states.iter().enumerate() {
        if !mask.shows(StateId::of(at)) {
            continue;
        }
        let mut fields = Map::new();
        for attr in &state.attributes {
            let attribute = &declared.attributes[attr.index()];
            if let Some(field) = layout.attribute(*attr) {
                let value =
                    values::write(&schema.design, &attribute.ty, &words[field.range()], pool);
                fields.insert(attribute.name.clone(), value);
            }
        }
        if !fields.is_empty() {
            object.insert(state.name.clone(), Value::Object(fields));
        }
    }
    for (log, start) in &schema.subjects[subject.index()].logs {
        if !mask.shows(*log) {
            continue;
        }
        let name = declared.states[log.index()].name.clone();
        object.insert(name, json!({ "start": words[*start], "end": words[*start + 1] }));
    }
    Value::Object(object)
}

impl Transition {
    pub fn to_json(&self) -> Value {
        let changes: Vec<Value> = self
            .changes
            .iter()
            .map(|change| {
                json!({ "subject": change.subject, "key": change.key, "truth": change.truth })
            })
            .collect();
        let events: Vec<Value> = self
            .events
            .iter()
            .map(|(name, fields)| json!({ "event": name, "fields": fields }))
            .collect();
        let mut told = json!({
            "actor": self.actor,
            "operation": self.operation,
            "principal": self.principal,
            "at": time::write_time(self.at),
            "changes": changes,
            "events": events,
        });
        if let Some(trace) = &self.trace {
            told["traceparent"] = trace.parent().into();
        }
        told
    }
}
