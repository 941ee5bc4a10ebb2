//! What the feed says of one transition.

use std::cell::RefCell;

use design::model::{OperationId, OperationKind, StateId, SubjectId};
use engine::Word;
use layout::feed::ChangedBytes;
use layout::{FeedEntry, Pool, Wrong, log_of};
use serde_json::{Map, Value, json};
use telemetry::Trace;

use crate::core::{ReadError, Schema};
use crate::logs;
use crate::sight::{Eye, Looked, Mask};
use crate::values::{self, time};

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

/// None: nothing of it is seen.
pub fn read(
    schema: &Schema,
    bytes: &[u8],
    eye: Option<&Eye<'_>>,
) -> Result<Option<Transition>, ReadError> {
    let (codec, design) = (schema.codec(), &schema.design);
    let wrong = |wrong| ReadError::feed(bytes, wrong);
    let pool = RefCell::new(Pool::new(schema.program.texts()));
    let entry = FeedEntry::parse(bytes).map_err(wrong)?;
    let forgets = log_of(entry.operation);
    let operation = match forgets {
        Some(_) => None,
        None => Some(codec.operation(entry.operation).map_err(wrong)?),
    };
    let principal = String::from_utf8_lossy(entry.principal).into_owned();
    let called = operation.is_some_and(|it| matches!(it.kind, OperationKind::Step { .. }));
    let own = eye.is_none_or(|eye| called && eye.is(&principal));
    let mut changes = Vec::new();
    let mut masks = Vec::new();
    for change in &entry.changes {
        let (told, mask) = read_change(schema, entry.operation, change, &pool, eye)?;
        if mask != Mask::Nothing {
            changes.push(told);
        }
        masks.push((change.subject, mask));
    }
    let mut events = Vec::new();
    for (id, fields) in &entry.events {
        let event = design.events.get(id.index()).ok_or(wrong(Wrong::UnknownEvent))?;
        if eye.is_some_and(|eye| !eye.sees_event(*id, own, &masks)) {
            continue;
        }
        let mut pool = pool.borrow_mut();
        let (ty, words) = codec.take_event((*id, fields), &mut pool).map_err(wrong)?;
        events.push((event.name.clone(), values::write(design, &ty, &words, &pool)));
    }
    if !own && changes.is_empty() && events.is_empty() {
        return Ok(None);
    }
    let (actor, operation) = match (operation, forgets, masks.first()) {
        (Some(operation), _, _) => {
            (design.actors[operation.actor.index()].name.clone(), operation.name.clone())
        }
        (None, Some(log), Some((subject, _))) => {
            (logs::ACTOR.into(), logs::name(design, *subject, log).map_err(wrong)?)
        }
        // entries are forgotten of a log, and the log is of a record
        _ => return Err(wrong(Wrong::UnknownSubject)),
    };
    Ok(Some(Transition {
        actor,
        operation,
        // who acted is no truth that anybody reads: it is told to whoever it was
        principal: if own { principal } else { String::new() },
        at: entry.now,
        changes,
        events,
        trace: entry.trace.filter(|_| own),
    }))
}

fn read_change(
    schema: &Schema,
    operation: OperationId,
    change: &ChangedBytes<'_>,
    pool: &RefCell<Pool>,
    eye: Option<&Eye<'_>>,
) -> Result<(Changed, Mask), ReadError> {
    let (codec, id) = (schema.codec(), change.subject);
    let stored_key = codec.key_of(id, change.key);
    let handle = codec.handle(stored_key, &mut pool.borrow_mut())?;
    let mut key = Vec::new();
    values::write_key(&schema.design, id, handle, &pool.borrow(), &mut key);
    let words = match change.truth {
        None => None,
        Some(truth) => {
            let mut words = Vec::new();
            codec
                .take_truth(truth, id, &mut pool.borrow_mut(), &mut words)
                .map_err(|wrong| ReadError::value(&stored_key.to_bytes(), wrong))?;
            Some(words)
        }
    };
    let looked = Looked { subject: id, key: handle, words: words.as_deref() };
    let mask = match eye {
        None => Mask::Everything,
        Some(eye) => eye.mask_of_change(operation, looked, pool)?,
    };
    let truth = words.map(|words| seen_json(schema, id, &words, &pool.borrow(), &mask));
    let subject = schema.design.subjects[id.index()].name.clone();
    Ok((Changed { subject, key, truth }, mask))
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
        let mut held = false;
        for attr in &state.attributes {
            let attribute = &declared.attributes[attr.index()];
            let Some(field) = layout.attribute(*attr) else { continue };
            held = true;
            // nobody is told what is stored of a secret, nor whether anything is
            if !attribute.ty.is_secret() {
                let value =
                    values::write(&schema.design, &attribute.ty, &words[field.range()], pool);
                fields.insert(attribute.name.clone(), value);
            }
        }
        if held {
            object.insert(state.name.clone(), Value::Object(fields));
        }
    }
    for (log, start) in &schema.records[subject.index()].logs {
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
