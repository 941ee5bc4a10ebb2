//! The feed from its end: what happened last, to anything or to one record.

use design::model::SubjectId;
use layout::feed::of_design;
use layout::key::put_parts;
use layout::{FeedEntry, Pool};
use serde_json::Value;
use store::{Cursor, Partition};

use super::transition::{self as feed, Transition};
use crate::calls::CallError;
use crate::core::{ReadError, Runtime, Schema};
use crate::sight::Viewer;
use crate::values::{self, BadValue};

/// Transitions, the newest first, each with its revision.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Past {
    pub transitions: Vec<(String, Transition)>,
    /// what is before this revision was not looked at; none: there is nothing, or it is forgotten
    pub older: Option<String>,
}

/// A version of the design, and the record as it is stored by it; none: any record.
struct Version<'r> {
    schema: &'r Schema,
    record: Option<Record<'r>>,
}

/// A record, as one version knows it.
struct Record<'r> {
    subject: &'r str,
    number: u32,
    key: Vec<u8>,
}

impl<'r> Record<'r> {
    fn of(schema: &'r Schema, id: SubjectId, key: &[Value]) -> Result<Record<'r>, BadValue> {
        let mut pool = Pool::new(schema.program.texts());
        let handle = values::read_key(&schema.design, id, &mut key.iter(), &mut pool)?;
        let mut bytes = Vec::new();
        put_parts(&mut bytes, &schema.design, id, handle, &pool);
        let subject = &schema.design.subjects[id.index()].name;
        Ok(Record { subject, number: id.0, key: bytes })
    }
}

/// So many positions are looked at in one piece, and so many pieces for one answer: who looks for
/// something rare is given what was found so far, and asks again.
const PIECE: u64 = 2_048;
const PIECES: usize = 32;
const PAGE: usize = 1_000;

impl Runtime {
    /// At most `limit` transitions before `before`, or the last ones; of one record, those that
    /// changed it.
    pub async fn past(
        &self,
        of: Option<(&str, &[Value])>,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Past, CallError> {
        self.past_as(of, before, limit, None).await
    }

    /// As much of it as the viewer sees.
    pub async fn past_as(
        &self,
        of: Option<(&str, &[Value])>,
        before: Option<&str>,
        limit: usize,
        viewer: Option<&Viewer>,
    ) -> Result<Past, CallError> {
        let versions = self.versions(of, viewer)?;
        let partition = Partition::default();
        let mut end = match before {
            None => self.store.head(partition).await?.position(),
            Some(text) => {
                let cursor: Cursor = text.parse().map_err(|message: String| {
                    CallError::Bad(values::BadValue::new("/before", message))
                })?;
                cursor.position().saturating_sub(1)
            }
        };
        let mut past = Past::default();
        for _ in 0..PIECES {
            let start = end.saturating_sub(PIECE);
            let (found, forgotten) = self.piece(&versions, start, end).await?;
            let eye = self.eye(viewer);
            for (revision, version, bytes) in found.into_iter().rev() {
                let last = past.transitions.last().map(|(last, _)| last);
                // what was committed together stays together
                if past.transitions.len() >= limit && last != Some(&revision) {
                    past.older = last.cloned();
                    return Ok(past);
                }
                let Version { schema, record } = &versions[version];
                let Some(seen) = feed::read(schema, &bytes, eye.as_ref())? else { continue };
                // of a record: only if its own change may be seen
                let shown = |(_, key): (&str, &[Value])| {
                    record.as_ref().is_some_and(|record| shows(&seen, record.subject, key))
                };
                if of.is_none_or(shown) {
                    past.transitions.push((revision, seen));
                }
            }
            if start == 0 || forgotten {
                return Ok(past);
            }
            end = start;
        }
        past.older = Some(Cursor::at(partition, end + 1).to_string());
        Ok(past)
    }

    /// This version of the design, and earlier ones, the newest first. Who sees only some of the truth is told nothing
    /// of earlier ones, since what they may see is said by the design of today.
    fn versions(
        &self,
        of: Option<(&str, &[Value])>,
        viewer: Option<&Viewer>,
    ) -> Result<Vec<Version<'_>>, CallError> {
        let schema = &*self.schema;
        let all_seen = self.eye(viewer).is_none();
        let older = self.older.iter().rev().filter(|_| all_seen).map(|older| &**older);
        let Some((name, key)) = of else {
            let all = std::iter::once(schema).chain(older);
            return Ok(all.map(|schema| Version { schema, record: None }).collect());
        };
        let Some(id) = schema.subject(name) else {
            let message = format!("`{}` has no subject `{name}`", schema.design.name);
            return Err(CallError::Unknown(message));
        };
        let record = Record::of(schema, id, key).map_err(|bad| CallError::Bad(bad.under("key")))?;
        let mut all = vec![Version { schema, record: Some(record) }];
        for (at, older) in older.enumerate() {
            // a key that was of another type then names no record of that time
            if let Some(id) = self.former.subject_then(id, at)
                && let Ok(record) = Record::of(older, id, key)
            {
                all.push(Version { schema: older, record: Some(record) });
            }
        }
        Ok(all)
    }

    /// What earlier versions called a subject.
    pub fn called_before(&self, subject: &str) -> &[String] {
        self.schema.subject(subject).map_or(&[], |id| self.former.subject(id))
    }

    /// Entries after `start` and up to `end`, in order, each with its version; whether the feed has forgotten some.
    async fn piece(
        &self,
        versions: &[Version<'_>],
        start: u64,
        end: u64,
    ) -> Result<(Vec<(String, usize, Vec<u8>)>, bool), CallError> {
        let partition = Partition::default();
        let (mut from, end) = (Cursor::at(partition, start), Cursor::at(partition, end));
        let mut found = Vec::new();
        let mut forgotten = false;
        while from < end {
            let page = match self.store.feed(from, PAGE).await {
                Err(store::Error::BelowFloor(floor)) if !forgotten && floor > from => {
                    forgotten = true;
                    from = floor;
                    continue;
                }
                page => page?,
            };
            for commit in page.commits.iter().filter(|commit| commit.cursor.is_within(end)) {
                for entry in &commit.entries {
                    let its = versions.iter().enumerate().find_map(|(at, version)| {
                        Some((at, version, of_design(entry, version.schema.number)?))
                    });
                    let Some((at, version, bytes)) = its else { continue };
                    let matches = match &version.record {
                        None => true,
                        Some(Record { number, key, .. }) => FeedEntry::parse(bytes)
                            .map_err(|wrong| ReadError::feed(bytes, wrong))?
                            .changes
                            .iter()
                            .any(|change| change.subject.0 == *number && change.key == &key[..]),
                    };
                    if matches {
                        found.push((commit.cursor.to_string(), at, bytes.to_vec()));
                    }
                }
            }
            // a page without commits is not the end
            if page.next == from {
                break;
            }
            from = page.next;
        }
        Ok((found, forgotten))
    }
}

/// Whether a transition tells of this record. A key that was typed may be a text where the feed has
/// a number.
fn shows(seen: &Transition, subject: &str, key: &[Value]) -> bool {
    let plain = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_string);
    seen.changes.iter().any(|change| {
        change.subject == subject && change.key.iter().map(plain).eq(key.iter().map(plain))
    })
}
