//! One call: fetch, step, plan. Pure but for what the source fetches, so that it is the same for
//! a store in this process and for one across the network.

use std::cell::RefCell;
use std::ops::Range;

use design::model::{AttrId, MemoryUseId, OperationKind, StateId, SubjectId};
use engine::outbox::{Entry as OutboxState, EntryState};
use engine::round::Round;
use engine::{Change, Command, Need, Outcome, Refusal, Scratch, Word};
use layout::key::put_parts;
use layout::{
    Head, OutboxEntry, OutboxKey, Pool, Reader, message_name, put_number, put_round, take_round,
};
use telemetry::Trace;

use super::record_writer::RecordWriter;
use crate::core::{Got, Held, Loaded, Plan, ReadError, Records, Schema, Source};
use crate::outbox::tell_listeners;
use crate::repairs::DueTimes;
use crate::secrets;

/// The engine writes only what it has looked at.
pub(super) const WRITTEN_WAS_READ: &str = "a record that a step writes was read before";

/// Room that is used again from call to call.
#[derive(Default)]
pub struct Room {
    pub scratch: Scratch,
    /// of the due times, which are asked for after the step
    pub(super) due_scratch: Scratch,
    pub(super) words: Vec<Word>,
    held: Held,
    plan: Plan,
    changed: Records,
    /// where the truth of each changed record stands in the entry of the feed
    truths: Vec<Range<usize>>,
    /// which request caused this
    pub trace: Option<Trace>,
}

impl Room {
    /// Takes back what a call was done with, to be used again.
    pub fn reuse(&mut self, done: Done) {
        self.plan = done.plan;
        self.changed = done.changed;
    }
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
    pub seen: Records,
}

pub struct Done {
    pub plan: Plan,
    /// records after the step
    pub changed: Records,
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

/// Performs `command` against `source`. `pool` holds the handles of its arguments; `number` is
/// another one for every commit.
pub fn perform(
    schema: &Schema,
    command: &Command<'_>,
    pool: &RefCell<Pool>,
    source: &dyn Source,
    number: u64,
    room: &mut Room,
) -> Result<Performed, ReadError> {
    let mut loaded = Loaded::within(pool, std::mem::take(&mut room.held));
    let performed = perform_in(schema, command, &mut loaded, source, number, room);
    room.held = loaded.into_held();
    performed
}

fn perform_in(
    schema: &Schema,
    command: &Command<'_>,
    loaded: &mut Loaded<'_>,
    source: &dyn Source,
    number: u64,
    room: &mut Room,
) -> Result<Performed, ReadError> {
    loop {
        match engine::step(&schema.program, loaded, command, &mut room.scratch) {
            Outcome::Need => {
                if !fetch(schema, loaded, room.scratch.needs(), source, &mut room.words)? {
                    return Ok(Performed::Later);
                }
            }
            Outcome::Refused(refusal) => {
                let mut seen = Records::default();
                for read in room.scratch.reads() {
                    seen.push(read.subject, read.key, read.record);
                }
                return Ok(Performed::Refused(Refused { refusal, seen }));
            }
            Outcome::Done => break,
        }
    }
    let (mut plan, mut changed) =
        (std::mem::take(&mut room.plan), std::mem::take(&mut room.changed));
    plan.clear();
    changed.clear();
    for write in room.scratch.writes() {
        let words = match write.change {
            Change::Put(words) => Some(words),
            Change::Delete => None,
        };
        changed.push(write.subject, write.key, words);
    }
    let now = room.scratch.now();
    let mut done = Done { plan, changed, memory: Vec::new(), soft: Vec::new(), now };
    match commit_plan(schema, command, loaded, source, number, room, &mut done)? {
        true => Ok(Performed::Done(done)),
        false => {
            room.reuse(done);
            Ok(Performed::Later)
        }
    }
}

/// Loads what the engine asked for. False: something is not there yet.
pub fn fetch(
    schema: &Schema,
    loaded: &mut Loaded<'_>,
    needs: &[Need],
    source: &dyn Source,
    words: &mut Vec<Word>,
) -> Result<bool, ReadError> {
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
            Need::Cache { .. } => unreachable!("caches are always answered"),
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
) -> Result<bool, ReadError> {
    if loaded.find(subject, key).is_some() {
        return Ok(true);
    }
    let mut key_bytes = std::mem::take(&mut loaded.key);
    key_bytes.clear();
    let pool = loaded.pool;
    schema.codec().put_record_key(&mut key_bytes, subject, key, &pool.borrow());
    let fetched = match source.get(&key_bytes) {
        Got::Later => Ok(false),
        Got::Absent => {
            loaded.add(subject, key, &key_bytes, None, Head::default(), None);
            Ok(true)
        }
        Got::Present(version, bytes) => {
            words.clear();
            let head = schema.codec().take_record(&key_bytes, bytes, subject, pool, words)?;
            secrets::recognise(schema, subject, &pool.borrow(), words)?;
            loaded.add(subject, key, &key_bytes, Some(version), head, Some(words));
            Ok(true)
        }
    };
    loaded.key = key_bytes;
    fetched
}

/// Everything that the commit writes: records, log entries, due times, outbox, feed. False:
/// something is not fetched yet.
fn commit_plan(
    schema: &Schema,
    command: &Command<'_>,
    loaded: &mut Loaded<'_>,
    source: &dyn Source,
    number: u64,
    room: &mut Room,
    done: &mut Done,
) -> Result<bool, ReadError> {
    let Done { plan, changed, memory, soft, now } = done;
    let now = *now;
    put_feed(schema, command, loaded, room, now, changed, &mut plan.feed);
    appends(schema, loaded, room, now, plan);
    forgotten_entries(schema, loaded, room, plan);
    if !sends(schema, loaded, room, source, (now, number), plan)? {
        return Ok(false);
    }
    if !tell_listeners(schema, loaded, room, source, (now, number), plan)? {
        return Ok(false);
    }
    memory.extend(room.scratch.memory());
    soft.extend(room.scratch.ephemeral_writes().map(|write| Soft {
        subject: write.subject,
        key: write.key,
        state: write.state,
        attr: write.attr,
        words: write.words.to_vec(),
    }));
    // due times are asked of the truth as it is after the step
    for record in changed.iter() {
        let at = loaded.find(record.subject, record.key).expect(WRITTEN_WAS_READ);
        loaded.replace(at, record.words);
    }
    let due_times = DueTimes { schema, source, now, ran: Some(command.operation) };
    let mut writer = RecordWriter { due_times, loaded, room, plan };
    for at in 0..changed.len() {
        let truth = writer.room.truths[at].clone();
        if !writer.write(changed.get(at), truth)? {
            return Ok(false);
        }
    }
    // an event is told, even where it is all that happened
    if plan.writes_nothing() && room.scratch.emits().next().is_none() {
        plan.feed.clear();
    }
    Ok(true)
}

/// The entry of the feed.
fn put_feed(
    schema: &Schema,
    command: &Command<'_>,
    loaded: &Loaded<'_>,
    room: &mut Room,
    now: Word,
    changed: &Records,
    out: &mut Vec<u8>,
) {
    let (codec, pool) = (schema.codec(), loaded.pool.borrow());
    codec.begin_entry(out, command, now, &pool, changed.len(), room.trace.as_ref());
    room.truths.clear();
    for record in changed.iter() {
        let at = loaded.find(record.subject, record.key).expect(WRITTEN_WAS_READ);
        let key_parts = loaded.record_key(at).parts;
        let truth = codec.put_change(out, record.subject, key_parts, record.words, &pool);
        room.truths.push(truth);
    }
    put_number(out, room.scratch.emits().count() as u64);
    for emit in room.scratch.emits() {
        codec.put_event(out, emit.event, emit.words, &pool);
    }
}

fn appends(schema: &Schema, loaded: &Loaded<'_>, room: &Room, now: Word, plan: &mut Plan) {
    let (codec, pool) = (schema.codec(), loaded.pool.borrow());
    for append in room.scratch.appends() {
        let mut parts = Vec::new();
        put_parts(&mut parts, &schema.design, append.subject, append.key, &pool);
        let record = codec.key_of(append.subject, &parts);
        let key = record.log_entry(append.log, append.offset as u64).to_bytes();
        plan.put_with(&key, |out| {
            codec.put_log_entry(out, (append.subject, append.log), now, append.words, &pool);
        });
    }
}

/// Entries that a log no longer keeps, because its start has moved past them or its record is gone.
fn forgotten_entries(schema: &Schema, loaded: &Loaded<'_>, room: &Room, plan: &mut Plan) {
    for write in room.scratch.writes() {
        let Some(before) = write.before else { continue };
        for (log, start) in &schema.records[write.subject.index()].logs {
            let Some(at) = loaded.find(write.subject, write.key) else { continue };
            let kept_from = match write.change {
                Change::Put(after) => after[*start],
                Change::Delete => before[*start + 1],
            };
            for offset in before[*start]..kept_from {
                let entry = loaded.record_key(at).log_entry(*log, offset as u64);
                plan.delete(&entry.to_bytes());
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
) -> Result<bool, ReadError> {
    let (codec, pool) = (schema.codec(), loaded.pool.borrow());
    let mut complete = true;
    for (at, send) in room.scratch.sends().enumerate() {
        let operation = &schema.design.operations[send.operation.index()];
        // What is named after the transaction was never sent before: nobody need look, and a store that is far away
        // need not be asked.
        let (name, fresh) = match &operation.kind {
            OperationKind::Effect(_) => (codec.effect_name(send.operation, send.key, &pool), false),
            _ if operation.hears.is_some() => {
                (codec.event_name(send.operation, send.args, (number, at), &pool), true)
            }
            // all that it carries, which may be longer than a key
            _ if operation.each.is_some() => {
                let mut name = Vec::new();
                codec.put_carried(&mut name, send.operation, send.args, &pool);
                (blake3::hash(&name).as_bytes().to_vec(), false)
            }
            // a message has no key of its own: each is another one
            _ => (message_name(number, at), true),
        };
        let mut args = Vec::new();
        codec.put_carried(&mut args, send.operation, send.args, &pool);
        let place = OutboxKey { design: schema.number, operation: send.operation, name: &name };
        let key = place.to_bytes();
        let take = |bytes| OutboxEntry::take(bytes).map_err(|wrong| ReadError::value(&key, wrong));
        let stored = match plan.pending(&key) {
            Some(pending) => pending.map(take).transpose()?,
            None if fresh => None,
            None => match source.get(&key) {
                Got::Later => {
                    complete = false;
                    continue;
                }
                Got::Absent => None,
                Got::Present(_, bytes) => Some(take(bytes)?),
            },
        };
        let before = stored.as_ref().map_or_else(OutboxState::default, |stored| stored.entry);
        let after = before.send(now);
        if operation.each.is_some() {
            let round = match (&stored, before.state) {
                (Some(stored), EntryState::Open) => {
                    let mut reader = Reader::new(&stored.args[args.len()..]);
                    take_round(&mut reader).map_err(|wrong| ReadError::value(&key, wrong))?.again()
                }
                _ => Round::default(),
            };
            put_round(&mut args, &round);
        } else if after == before {
            continue;
        }
        let trace = room.trace.clone();
        let entry = OutboxEntry { entry: after, args, trouble: String::new(), trace };
        plan.put(&key, &entry.to_bytes());
        plan.put(&place.due(after.next_at).to_bytes(), &[]);
        plan.wake_at(after.next_at);
    }
    Ok(complete)
}
