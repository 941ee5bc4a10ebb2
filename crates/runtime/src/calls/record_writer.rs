//! A record after a step: what it is like, when its repairs are due, and where it stands in the index
//! of due times.

use std::ops::Range;

use design::model::OperationId;
use engine::Word;
use layout::key::has_empty_part;
use layout::{Head, RecordKey, put_head};
use telemetry::Trace;

use super::perform::{Room, WRITTEN_WAS_READ};
use crate::core::{Loaded, Plan, ReadError, Seen};
use crate::logs;
use crate::repairs::DueTimes;

/// Writes the records of one step into its plan. What is loaded is the truth after the step, and the
/// plan has the entry of the feed already.
pub struct RecordWriter<'w, 'l> {
    pub due_times: DueTimes<'w>,
    pub loaded: &'w mut Loaded<'l>,
    pub room: &'w mut Room,
    pub plan: &'w mut Plan,
}

impl RecordWriter<'_, '_> {
    /// One record; `truth` is where it stands in the entry of the feed: the same bytes are stored.
    /// False: something is not fetched yet.
    pub fn write(&mut self, record: Seen<'_>, truth: Range<usize>) -> Result<bool, ReadError> {
        let DueTimes { schema, now, .. } = self.due_times;
        let at = self.loaded.find(record.subject, record.key).expect(WRITTEN_WAS_READ);
        let entry = self.loaded.entry(at);
        let (before, is_new) = (entry.head.clone(), entry.version.is_none());
        if is_new {
            let pool = self.loaded.pool.borrow();
            let empty = has_empty_part(&schema.design, record.subject, record.key, &pool);
            assert!(
                !empty,
                "a record is made under a key with an empty part, which every door refuses"
            );
        }
        let mut head = Head { written_at: now, due: Vec::new() };
        if let Some(words) = record.words {
            head.due.extend(logs::dues(schema, record.subject, words, &before, now));
            let place = (record.subject, record.key);
            let Room { due_scratch, words, .. } = &mut *self.room;
            if !self.due_times.repairs(self.loaded, place, due_scratch, words, &mut head.due)? {
                return Ok(false);
            }
        }
        let key = self.loaded.record_key(at);
        reindex(&before, &head, key, self.room.trace.as_ref(), self.plan);
        let stored_key = self.loaded.stored_key(at);
        if record.words.is_none() {
            self.plan.delete(stored_key);
            return Ok(true);
        }
        let feed = std::mem::take(&mut self.plan.feed);
        self.plan.put_with(stored_key, |out| {
            put_head(out, &head);
            out.extend_from_slice(&feed[truth]);
        });
        self.plan.feed = feed;
        Ok(true)
    }
}

/// Takes the old due times out of the index and puts the new ones in, each with the request that
/// caused it.
pub fn reindex(
    before: &Head,
    after: &Head,
    record: RecordKey<'_>,
    trace: Option<&Trace>,
    plan: &mut Plan,
) {
    let key = |repair: OperationId, at: Word| record.due(repair, at).to_bytes();
    for (repair, at) in &before.due {
        if after.due_of(*repair) != Some(*at) {
            plan.delete(&key(*repair, *at));
        }
    }
    for (repair, at) in &after.due {
        if before.due_of(*repair) != Some(*at) {
            plan.put_with(&key(*repair, *at), |out| {
                if let Some(trace) = trace {
                    trace.put(out);
                }
            });
        }
        plan.wake_at(*at);
    }
}
