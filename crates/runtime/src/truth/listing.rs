//! Records in the order of their keys, and repairs in the order in which they are due.

use std::cell::RefCell;
use std::ops::ControlFlow;

use layout::{Damaged, Pool, RecordKey, RepairDueKey, Space, Wrong, log_of};
use serde_json::{Value, json};
use store::{Cursor, Decision, Key, KeyRange, Partition, Scan};

use super::reading::Truth;
use crate::calls::CallError;
use crate::core::{ReadError, Runtime};
use crate::feed;
use crate::logs;
use crate::sight::{Eye, Looked, Mask, Viewer};
use crate::values::{self, BadValue};

/// A repair that will run, or runs now.
#[derive(Clone, PartialEq, Debug)]
pub struct DueRepair {
    pub repair: String,
    pub subject: String,
    pub key: Vec<Value>,
    /// milliseconds
    pub at: i64,
}

/// A part of the records of one subject.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordPage {
    /// each with its key
    pub records: Vec<(Vec<Value>, Truth)>,
    /// there are more after the last of them
    pub more: bool,
}

impl Runtime {
    /// At most `limit` records of a subject after the one with this key.
    pub async fn records(
        &self,
        subject: &str,
        after: Option<&[Value]>,
        limit: usize,
    ) -> Result<RecordPage, CallError> {
        self.records_as(subject, after, limit, None).await
    }

    /// As much of them as the viewer sees. Records that it does not see take no place in a page and
    /// are not counted among those that follow, so a page does not tell that they are there.
    pub async fn records_as(
        &self,
        subject: &str,
        after: Option<&[Value]>,
        limit: usize,
        viewer: Option<&Viewer>,
    ) -> Result<RecordPage, CallError> {
        let schema = &*self.schema;
        let Some(id) = schema.subject(subject) else {
            let message = format!("`{}` has no subject `{subject}`", schema.design.name);
            return Err(CallError::Unknown(message));
        };
        let mut range = KeyRange::prefix(RecordKey::prefix(schema.number, id));
        if let Some(after) = after {
            let mut pool = Pool::new(schema.program.texts());
            let mut parts = after.iter();
            let handle = values::read_key(&schema.design, id, &mut parts, &mut pool)
                .map_err(|bad| CallError::Bad(BadValue { pointer: "/after".into(), ..bad }))?;
            range.start = Key::new(schema.codec().record_key(id, handle, &pool)).next();
        }
        let eye = self.eye(viewer);
        let mut seen = RecordPage::default();
        loop {
            // one more than is asked for says whether there are more
            let page = self.store.scan(Scan::new(range.clone(), limit.saturating_add(1))).await?;
            for (key, stored) in &page.records {
                let truth = self.seen(key, &stored.value, eye.as_ref())?;
                let Some(truth) = truth else { continue };
                if seen.records.len() == limit {
                    seen.more = true;
                    return Ok(seen);
                }
                let key = self.key_of(RecordKey::parse(key)?)?;
                seen.records.push((key, Truth { version: stored.version.0, truth }));
            }
            match page.records.last() {
                Some((last, _)) if page.more => range.start = last.clone().next(),
                _ => break,
            }
        }
        self.current_anywhere().await?;
        Ok(seen)
    }

    /// A stored record as a person reads it: its design, subject, key and truth. None: this is no
    /// record of this design's truth, or cannot be read.
    pub fn described(&self, key: &[u8], value: &[u8]) -> Option<Value> {
        let schema = &*self.schema;
        let record = RecordKey::parse(key).ok().filter(|key| key.design == schema.number)?;
        let subject = schema.design.subjects.get(record.subject.index())?;
        let truth = self.seen(key, value, None).ok()??;
        let key = self.key_of(record).ok()?;
        let design = &schema.design.name;
        Some(json!({ "design": design, "subject": subject.name, "key": key, "truth": truth }))
    }

    /// What is seen of a stored record; none: nothing.
    pub(super) fn seen(
        &self,
        stored_key: &[u8],
        value: &[u8],
        eye: Option<&Eye<'_>>,
    ) -> Result<Option<Value>, ReadError> {
        let schema = &*self.schema;
        let pool = RefCell::new(Pool::new(schema.program.texts()));
        let record = RecordKey::parse(stored_key)?;
        let subject = record.subject;
        let key = schema.codec().handle(record, &mut pool.borrow_mut())?;
        let mut words = Vec::new();
        schema.codec().take_record(stored_key, value, subject, &pool, &mut words)?;
        let mask = match eye {
            None => Mask::Everything,
            Some(eye) => eye.mask(Looked { subject, key, words: Some(&words) }, &pool, None)?,
        };
        if mask == Mask::Nothing {
            return Ok(None);
        }
        Ok(Some(feed::seen_json(schema, subject, &words, &pool.borrow(), &mask)))
    }

    pub(crate) fn key_of(&self, record: RecordKey<'_>) -> Result<Vec<Value>, ReadError> {
        let schema = &*self.schema;
        let mut pool = Pool::new(schema.program.texts());
        let handle = schema.codec().handle(record, &mut pool)?;
        let mut key = Vec::new();
        values::write_key(&schema.design, record.subject, handle, &pool, &mut key);
        Ok(key)
    }

    /// The repairs that are due first, at most `limit` of them. Entries that cannot be read are left out:
    /// they are set aside, with the reason, when their turn comes.
    pub fn due(&self, limit: usize) -> Result<Vec<DueRepair>, CallError> {
        let start = Space::RepairDue.prefix(self.schema.number).to_vec();
        let mut found = Vec::new();
        self.transact(&mut |transaction| {
            found.clear();
            transaction.scan(&KeyRange::prefix(start.clone()), false, &mut |key, _, _| {
                if found.len() >= limit {
                    return ControlFlow::Break(());
                }
                found.push(key.to_vec());
                ControlFlow::Continue(())
            });
            Decision::Abandon
        })?;
        Ok(found.iter().filter_map(|key| self.due_repair(key).ok()).collect())
    }

    fn due_repair(&self, key: &[u8]) -> Result<DueRepair, ReadError> {
        let design = &self.schema.design;
        let RepairDueKey { at, repair, record } = RepairDueKey::parse(key)?;
        let named = match log_of(repair) {
            Some(log) => logs::name(design, record.subject, log),
            None => self.schema.codec().operation(repair).map(|repair| repair.name.clone()),
        };
        let declared = design.subjects.get(record.subject.index()).ok_or(Wrong::UnknownSubject);
        let wrong = |wrong| Damaged::key(key, wrong);
        Ok(DueRepair {
            repair: named.map_err(wrong)?,
            subject: declared.map_err(wrong)?.name.clone(),
            key: self.key_of(record)?,
            at,
        })
    }

    /// The newest durable revision.
    pub async fn head(&self) -> Result<String, CallError> {
        Ok(self.store.head(Partition::default()).await?.to_string())
    }

    /// Waits until this revision is durable.
    pub async fn reached(&self, revision: &str) -> Result<(), CallError> {
        let wanted: Cursor = revision.parse().map_err(|message: String| {
            CallError::Bad(BadValue { pointer: "/at_least".into(), message })
        })?;
        if wanted > self.store.head(wanted.partition()).await? {
            let before = Cursor::at(wanted.partition(), wanted.position().saturating_sub(1));
            self.store.changed(before).await?;
        }
        Ok(())
    }

    /// Waits until something after this revision is durable.
    pub async fn changed(&self, after: &str) -> Result<(), CallError> {
        let after: Cursor = after.parse().map_err(|message: String| {
            CallError::Bad(BadValue { pointer: "/from".into(), message })
        })?;
        self.store.changed(after).await?;
        Ok(())
    }
}
