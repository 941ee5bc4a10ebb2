//! One call: fetch, step, plan. Pure but for what the source fetches, so that it is the same for
//! a store in this process and for one across the network.

use std::cell::RefCell;

use design::model::{AttrId, MemoryUseId, OperationId, OperationKind, StateId, SubjectId};
use engine::outbox::Entry as OutboxState;
use engine::{Change, Command, Due, NULL, Need, Outcome, Refusal, Scratch, Word};

use crate::bytes::Damaged;
use crate::codec;
use crate::feed::FeedEntry;
use crate::keys::{self, Space};
use crate::loaded::Loaded;
use crate::outbox_entry::OutboxEntry;
use crate::plan::{Got, Plan, Source};
use crate::pool::Pool;
use crate::record::{self, Head};
use crate::schema::Schema;

/// Room that is used again from call to call.
#[derive(Default)]
pub struct Room {
    pub scratch: Scratch,
    /// of the due times, which are asked for after the step
    due_scratch: Scratch,
    words: Vec<Word>,
}

/// What became of a call.
pub enum Performed {
    /// fetch what the source said `Later` to, and perform again
    Later,
    Refused(Refused),
    Done(Done),
}

pub struct Refused {
    pub refusal: Refusal,
    /// the records it looked at
    pub seen: Vec<Seen>,
}

pub struct Done {
    pub plan: Plan,
    /// records after the step
    pub changed: Vec<Seen>,
    pub memory: Vec<(MemoryUseId, Word)>,
    pub soft: Vec<Soft>,
    pub now: Word,
}

/// A value of an ephemeral state.
pub struct Soft {
    pub subject: SubjectId,
    pub key: Word,
    pub state: StateId,
    pub attr: AttrId,
    pub words: Vec<Word>,
}

/// A record by its handle, valid with the call's pool.
#[derive(Clone, Debug)]
pub struct Seen {
    pub subject: SubjectId,
    pub key: Word,
    /// none: absent
    pub words: Option<Vec<Word>>,
}

/// Performs `command` against `source`. `pool` holds the handles of its arguments; `number` is
/// another one for every commit.
pub fn perform(
    schema: &Schema,
    command: &Command<'_>,
    pool: &RefCell<Pool>,
    source: &dyn Source,
    number: u64,
    room: &mut Room,
) -> Result<Performed, Damaged> {
    let mut loaded = Loaded::new(pool);
    loop {
        match engine::step(&schema.program, &loaded, command, &mut room.scratch) {
            Outcome::Need => {
                if !fetch(schema, &mut loaded, room.scratch.needs(), source, &mut room.words)? {
                    return Ok(Performed::Later);
                }
            }
            Outcome::Refused(refusal) => {
                let seen = room
                    .scratch
                    .reads()
                    .map(|read| Seen {
                        subject: read.subject,
                        key: read.key,
                        words: read.record.map(<[Word]>::to_vec),
                    })
                    .collect();
                return Ok(Performed::Refused(Refused { refusal, seen }));
            }
            Outcome::Done => break,
        }
    }
    commit_plan(schema, command, &mut loaded, source, number, room)
}

/// Loads what the engine asked for. False: something is not there yet.
pub fn fetch(
    schema: &Schema,
    loaded: &mut Loaded<'_>,
    needs: &[Need],
    source: &dyn Source,
    words: &mut Vec<Word>,
) -> Result<bool, Damaged> {
    let mut complete = true;
    for need in needs {
        match *need {
            Need::Record { subject, key } => {
                complete &= fetch_record(schema, loaded, subject, key, source, words)?;
            }
            Need::Stored { blob, digest } => {
                let content = loaded.pool.borrow().content(digest).to_vec();
                match source.stored(&content) {
                    Some(stored) => loaded.set_stored(blob, digest, stored),
                    None => complete = false,
                }
            }
            // caches are always answered
            Need::Cache { .. } => return Err(Damaged),
        }
    }
    Ok(complete)
}

fn fetch_record(
    schema: &Schema,
    loaded: &mut Loaded<'_>,
    subject: SubjectId,
    key: Word,
    source: &dyn Source,
    words: &mut Vec<Word>,
) -> Result<bool, Damaged> {
    if loaded.find(subject, key).is_some() {
        return Ok(true);
    }
    let mut stored_key = Vec::with_capacity(32);
    let pool = loaded.pool;
    keys::record(&mut stored_key, &schema.design, schema.number, subject, key, &pool.borrow());
    match source.get(&stored_key) {
        Got::Later => Ok(false),
        Got::Absent => {
            loaded.add(subject, key, stored_key, None, Head::default(), None);
            Ok(true)
        }
        Got::Present(version, bytes) => {
            words.clear();
            let head = record::take(bytes, schema, subject, &mut pool.borrow_mut(), words)?;
            loaded.add(subject, key, stored_key, Some(version), head, Some(words));
            Ok(true)
        }
    }
}

/// Everything that the commit writes: records, log entries, due times, outbox, feed.
fn commit_plan(
    schema: &Schema,
    command: &Command<'_>,
    loaded: &mut Loaded<'_>,
    source: &dyn Source,
    number: u64,
    room: &mut Room,
) -> Result<Performed, Damaged> {
    let mut plan = Plan::default();
    let mut feed = FeedEntry::default();
    let now = room.scratch.now();
    let mut changed = Vec::new();
    for write in room.scratch.writes() {
        let words = match write.change {
            Change::Put(words) => Some(words.to_vec()),
            Change::Delete => None,
        };
        changed.push(Seen { subject: write.subject, key: write.key, words });
    }
    {
        let pool = loaded.pool.borrow();
        for record in &changed {
            feed.change(schema, record.subject, record.key, record.words.as_deref(), &pool);
        }
        for emit in room.scratch.emits() {
            feed.event(schema, emit.event, emit.words, &pool);
        }
    }
    appends(schema, loaded, room, &mut plan);
    forgotten_entries(schema, loaded, room, &mut plan);
    if !sends(schema, loaded, room, source, (now, number), &mut plan)? {
        return Ok(Performed::Later);
    }
    let memory: Vec<(MemoryUseId, Word)> = room.scratch.memory().collect();
    let soft = room
        .scratch
        .ephemeral_writes()
        .map(|write| Soft {
            subject: write.subject,
            key: write.key,
            state: write.state,
            attr: write.attr,
            words: write.words.to_vec(),
        })
        .collect();
    // due times are asked of the truth as it is after the step
    for record in &changed {
        let Some(at) = loaded.find(record.subject, record.key) else { return Err(Damaged) };
        loaded.replace(at, record.words.as_deref());
    }
    for record in &changed {
        if !put_record(schema, command.operation, loaded, record, source, now, room, &mut plan)? {
            return Ok(Performed::Later);
        }
    }
    if !changed.is_empty() || !plan.writes.is_empty() {
        let pool = loaded.pool.borrow();
        feed.finish(schema, command, now, &pool, &mut plan.feed);
    }
    Ok(Performed::Done(Done { plan, changed, memory, soft, now }))
}

fn appends(schema: &Schema, loaded: &Loaded<'_>, room: &Room, plan: &mut Plan) {
    let pool = loaded.pool.borrow();
    for append in room.scratch.appends() {
        let subject = &schema.design.subjects[append.subject.index()];
        let mut record_key = Vec::new();
        keys::record(
            &mut record_key,
            &schema.design,
            schema.number,
            append.subject,
            append.key,
            &pool,
        );
        let mut key = Vec::new();
        keys::log_entry(&mut key, &record_key, append.log, append.offset);
        let mut value = Vec::new();
        for (attr, field) in &schema.program.state(append.subject, append.log).fields {
            let ty = &subject.attributes[attr.index()].ty;
            codec::put(&mut value, &schema.design, ty, &append.words[field.range()], &pool);
        }
        plan.put(key, value);
    }
}

/// Entries that a log no longer keeps, because its start has moved past them or its record is gone.
fn forgotten_entries(schema: &Schema, loaded: &Loaded<'_>, room: &Room, plan: &mut Plan) {
    for write in room.scratch.writes() {
        let Some(before) = write.before else { continue };
        for (log, start) in &schema.subjects[write.subject.index()].logs {
            let Some(at) = loaded.find(write.subject, write.key) else { continue };
            let kept_from = match write.change {
                Change::Put(after) => after[*start],
                Change::Delete => before[*start + 1],
            };
            for offset in before[*start]..kept_from {
                let mut key = Vec::new();
                keys::log_entry(&mut key, &loaded.entries[at].stored_key, *log, offset);
                plan.delete(key);
            }
        }
    }
}

/// Effects go to the outbox: open under their key, or left as they are if they are open already.
/// False: an entry is not fetched yet.
fn sends(
    schema: &Schema,
    loaded: &Loaded<'_>,
    room: &Room,
    source: &dyn Source,
    (now, number): (Word, u64),
    plan: &mut Plan,
) -> Result<bool, Damaged> {
    let pool = loaded.pool.borrow();
    let mut complete = true;
    for (at, send) in room.scratch.sends().enumerate() {
        let operation = &schema.design.operations[send.operation.index()];
        let mut tail = Vec::new();
        match &operation.kind {
            OperationKind::Effect(effect) => {
                for (expr, word) in effect.key.iter().zip(send.key) {
                    codec::put(
                        &mut tail,
                        &schema.design,
                        &expr.ty,
                        std::slice::from_ref(word),
                        &pool,
                    );
                }
            }
            // a message has no key of its own: each is another one
            _ => {
                tail.extend_from_slice(&number.to_be_bytes());
                crate::bytes::put_number(&mut tail, at as u64);
            }
        }
        let mut args = Vec::new();
        put_params(&mut args, schema, send.operation, send.args, &pool);
        let key = outbox_key(schema, send.operation, &tail);
        let stored = match plan.pending(&key) {
            Some(pending) => pending.map(OutboxEntry::take).transpose()?,
            None => match source.get(&key) {
                Got::Later => {
                    complete = false;
                    continue;
                }
                Got::Absent => None,
                Got::Present(_, bytes) => Some(OutboxEntry::take(bytes)?),
            },
        };
        let before = stored.as_ref().map_or_else(OutboxState::default, |stored| stored.entry);
        let after = before.send(now);
        if after == before {
            continue;
        }
        let entry = OutboxEntry { entry: after, args, trouble: String::new() };
        plan.put(key, entry.put());
        let mut due = Vec::new();
        keys::due(&mut due, schema.number, Space::OutboxDue, after.next_at, send.operation, &tail);
        plan.put(due, Vec::new());
        plan.wake_at(after.next_at);
    }
    Ok(complete)
}

pub fn outbox_key(schema: &Schema, operation: OperationId, tail: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    keys::begin(&mut key, schema.number, Space::Outbox);
    key.extend_from_slice(&(operation.0 as u16).to_be_bytes());
    key.extend_from_slice(tail);
    key
}

/// The arguments of an operation, as they wait in the outbox.
pub fn put_params(
    out: &mut Vec<u8>,
    schema: &Schema,
    operation: OperationId,
    words: &[Word],
    pool: &Pool,
) {
    let layout = schema.program.params(operation);
    for (at, param) in schema.design.operations[operation.index()].params.iter().enumerate() {
        codec::put(out, &schema.design, &param.ty, &words[layout.fields[at].range()], pool);
    }
}

/// A record, its due times and their places in the index.
fn put_record(
    schema: &Schema,
    operation: OperationId,
    loaded: &mut Loaded<'_>,
    record: &Seen,
    source: &dyn Source,
    now: Word,
    room: &mut Room,
    plan: &mut Plan,
) -> Result<bool, Damaged> {
    let Some(at) = loaded.find(record.subject, record.key) else { return Err(Damaged) };
    let before = loaded.entries[at].head.clone();
    let mut head = Head { written_at: now, due: Vec::new() };
    if record.words.is_some() {
        for repair in &schema.subjects[record.subject.index()].repairs {
            let due = loop {
                let scratch = &mut room.due_scratch;
                let due =
                    engine::due(&schema.program, loaded, *repair, record.key, NULL, now, scratch);
                if due != Due::Need {
                    break due;
                }
                if !fetch(schema, loaded, room.due_scratch.needs(), source, &mut room.words)? {
                    return Ok(false);
                }
            };
            let OperationKind::Repair { after, every, .. } =
                schema.design.operations[repair.index()].kind
            else {
                continue;
            };
            // it has just run: not again before `every` is over
            let last = if operation == *repair { now } else { NULL };
            match due.tuned(after, every, last, now) {
                Due::Now => head.due.push((*repair, now)),
                Due::At(time) => head.due.push((*repair, time)),
                Due::Never | Due::Need => {}
            }
        }
    }
    let tail = loaded.entries[at].stored_key[3..].to_vec();
    reindex(schema, &before, &head, &tail, plan);
    let stored_key = loaded.entries[at].stored_key.clone();
    match &record.words {
        None => plan.delete(stored_key),
        Some(words) => {
            let mut value = Vec::with_capacity(160);
            record::put(&mut value, schema, record.subject, &head, words, &loaded.pool.borrow());
            plan.put(stored_key, value);
        }
    }
    Ok(true)
}

/// Takes the old due times out of the index and puts the new ones in.
pub fn reindex(schema: &Schema, before: &Head, after: &Head, tail: &[u8], plan: &mut Plan) {
    let key = |repair: OperationId, at: Word| {
        let mut key = Vec::new();
        keys::due(&mut key, schema.number, Space::RepairDue, at, repair, tail);
        key
    };
    for (repair, at) in &before.due {
        if after.due_of(*repair) != Some(*at) {
            plan.delete(key(*repair, *at));
        }
    }
    for (repair, at) in &after.due {
        if before.due_of(*repair) != Some(*at) {
            plan.put(key(*repair, *at), Vec::new());
        }
        plan.wake_at(*at);
    }
}
