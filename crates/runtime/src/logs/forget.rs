//! Logs that keep their entries for a time. With each record stands when the first entry of its log
//! is to be forgotten, and in the index of due times, too: an append adds nothing to it unless the
//! log was empty, and nothing is scanned.
//!
//! Forgetting is a transition of its own, because the offset at which a log begins is truth: guards
//! may look at it, and whoever follows the feed is told.

use std::cell::RefCell;

use design::model::{Design, OperationId, Retention, StateId, StateKind, SubjectId};
use engine::retention::{self, Kept};
use engine::{Command, Layout, NULL, Need, Word};
use layout::{Head, Pool, Reader, RecordKey, Wrong, forgetting, put_number, take_append_time};

use crate::calls::{RecordWriter, Room, fetch, reindex};
use crate::core::{Got, Loaded, Plan, ReadError, Records, Schema, Source};
use crate::repairs::DueTimes;

/// Entries that one transition forgets at most; the rest follows in the next.
const ENTRIES_MAX: Word = 100;

/// The actor under which the feed tells of it.
pub const ACTOR: &str = "clock";

/// A log that keeps its entries for a time.
#[derive(Debug)]
pub struct Aged {
    pub log: StateId,
    /// the word of its start; the end follows it
    pub start: usize,
    /// milliseconds
    pub age: Word,
}

impl Aged {
    pub fn all(design: &Design, subject: SubjectId, layout: &Layout) -> Vec<Aged> {
        let states = design.subjects[subject.index()].states.iter().enumerate();
        let aged = states.filter_map(|(at, state)| match state.kind {
            StateKind::Log { retain: Retention::Age(age) } => {
                let log = StateId::of(at);
                Some(Aged { log, start: layout.log_start(log)? as usize, age })
            }
            _ => None,
        });
        aged.collect()
    }
}

/// The name under which it is told; no operation of a design has a space in it.
pub fn name(design: &Design, subject: SubjectId, log: StateId) -> Result<String, Wrong> {
    let subject = design.subjects.get(subject.index()).ok_or(Wrong::UnknownSubject)?;
    let log = subject.states.get(log.index()).ok_or(Wrong::UnknownState)?;
    Ok(format!("forget {}", log.name))
}

/// When the logs of a record that is written `now` forget their first entries: as it was known, or
/// counted from now where the first entry is one of this step.
pub fn dues(
    schema: &Schema,
    subject: SubjectId,
    words: &[Word],
    before: &Head,
    now: Word,
) -> impl Iterator<Item = (OperationId, Word)> {
    let filled = schema.subjects[subject.index()]
        .aged
        .iter()
        .filter(|aged| words[aged.start] < words[aged.start + 1]);
    filled.map(move |aged| {
        let operation = forgetting(aged.log);
        let known = before.due_of(operation);
        (operation, known.unwrap_or_else(|| retention::due(now, aged.age)))
    })
}

/// The same for a record of which nothing is known yet: the entries are asked.
pub fn dues_anew(
    schema: &Schema,
    subject: SubjectId,
    words: &[Word],
    stored_key: RecordKey<'_>,
    source: &dyn Source,
) -> Result<Vec<(OperationId, Word)>, ReadError> {
    let mut due = Vec::new();
    for aged in &schema.subjects[subject.index()].aged {
        if words[aged.start] < words[aged.start + 1] {
            let first = appended_at(stored_key, aged.log, words[aged.start], source)?;
            // what is not there is found out when it is due
            let at = first.map_or(0, |at| retention::due(at, aged.age));
            due.push((forgetting(aged.log), at));
        }
    }
    Ok(due)
}

fn appended_at(
    stored_key: RecordKey<'_>,
    log: StateId,
    offset: Word,
    source: &dyn Source,
) -> Result<Option<Word>, ReadError> {
    let key = stored_key.log_entry(log, offset as u64).to_bytes();
    match source.get(&key) {
        Got::Present(_, bytes) => take_append_time(&mut Reader::new(bytes))
            .map(Some)
            .map_err(|wrong| ReadError::value(&key, wrong)),
        Got::Absent => Ok(None),
        Got::Later => Err(ReadError::NotFetched),
    }
}

/// What came of it.
pub enum Forgotten {
    /// nothing is old enough; the log is to be looked at again then
    Nothing(Option<Word>),
    Done(Plan),
}

/// Forgets the entries of one log that are too old.
pub fn forget(
    schema: &Schema,
    (subject, record): (SubjectId, Word),
    log: StateId,
    now: Word,
    pool: &RefCell<Pool>,
    source: &dyn Source,
    room: &mut Room,
) -> Result<Forgotten, ReadError> {
    let known = &schema.subjects[subject.index()];
    let record_key = schema.codec().record_key(subject, record, &pool.borrow());
    let wrong = |wrong| ReadError::value(&record_key, wrong);
    let aged = known.aged.iter().find(|aged| aged.log == log);
    let aged = aged.ok_or_else(|| wrong(Wrong::UnknownState))?;
    let mut loaded = Loaded::new(pool);
    let need = [Need::Record { subject, key: record }];
    if !fetch(schema, &mut loaded, &need, source, &mut Vec::new())? {
        return Err(ReadError::NotFetched);
    }
    let at = loaded.find(subject, record).expect("it was just fetched");
    let mut words = loaded.words(at).ok_or_else(|| wrong(Wrong::Missing))?.to_vec();
    let stored_key = RecordKey::parse(&record_key)?;
    let span = (words[aged.start], words[aged.start + 1]);
    let most = ENTRIES_MAX.min(Word::try_from(schema.forgets_max).unwrap_or(Word::MAX));
    let kept = kept(aged, span, (now, most), stored_key, source)?;
    if kept.start == span.0 {
        return Ok(Forgotten::Nothing(kept.due));
    }
    words[aged.start] = kept.start;
    let mut changed = Records::default();
    changed.push(subject, record, Some(&words));
    loaded.replace(at, Some(&words));
    let mut plan = Plan::default();
    for offset in span.0..kept.start {
        plan.delete(&stored_key.log_entry(log, offset as u64).to_bytes());
    }
    let operation = forgetting(log);
    let before = loaded.entry(at).head.clone();
    let mut after = before.clone();
    after.due.retain(|(known, _)| *known != operation);
    after.due.extend(kept.due.map(|at| (operation, at)));
    reindex(&before, &after, stored_key, None, &mut plan);
    loaded.set_head(at, after);
    let command =
        Command { operation, params: &[record], memory: &[], me: NULL, now, answer: None };
    let truth = {
        let pool = pool.borrow();
        let codec = schema.codec();
        codec.begin_entry(&mut plan.feed, &command, now, &pool, 1, None);
        codec.put_change(&mut plan.feed, subject, stored_key.parts, Some(&words), &pool)
    };
    put_number(&mut plan.feed, 0);
    room.trace = None;
    let due_times = DueTimes { schema, source, now, ran: Some(operation) };
    let mut writer = RecordWriter { due_times, loaded: &mut loaded, room, plan: &mut plan };
    if !writer.write(changed.get(0), truth)? {
        return Err(ReadError::NotFetched);
    }
    Ok(Forgotten::Done(plan))
}

fn kept(
    aged: &Aged,
    span: (Word, Word),
    (now, most): (Word, Word),
    stored_key: RecordKey<'_>,
    source: &dyn Source,
) -> Result<Kept, ReadError> {
    let mut at = |offset: Word| appended_at(stored_key, aged.log, offset, source);
    let kept = retention::keep(span, aged.age, now, most, &mut at);
    if kept.is_err() {
        // they are fetched together, not one after the other
        for offset in span.0..span.1.min(span.0.saturating_add(most + 1)) {
            let _ = at(offset);
        }
    }
    kept
}
