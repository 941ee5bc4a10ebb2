//! The feed from its end: what happened last, to anything or to one record.

use layout::feed::of_design;
use layout::key::put_parts;
use layout::{FeedEntry, Pool};
use serde_json::Value;
use store::{Cursor, Partition};

use super::transition::{self as feed, Transition};
use crate::calls::CallError;
use crate::core::{ReadError, Runtime};
use crate::sight::Viewer;
use crate::values;

/// Transitions, the newest first, each with its revision.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Past {
    pub transitions: Vec<(String, Transition)>,
    /// what is before this revision was not looked at; none: there is nothing, or it is forgotten
    pub older: Option<String>,
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
        let schema = &*self.schema;
        let wanted = match of {
            None => None,
            Some((subject, key)) => Some(self.wanted(subject, key)?),
        };
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
            let (found, forgotten) = self.piece(wanted.as_ref(), start, end).await?;
            let eye = self.eye(viewer);
            for (revision, bytes) in found.into_iter().rev() {
                let last = past.transitions.last().map(|(last, _)| last);
                // what was committed together stays together
                if past.transitions.len() >= limit && last != Some(&revision) {
                    past.older = last.cloned();
                    return Ok(past);
                }
                let Some(seen) = feed::read(schema, &bytes, eye.as_ref())? else { continue };
                // of a record: only if its own change may be seen
                if of.is_none_or(|(subject, key)| shows(&seen, subject, key)) {
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

    /// The subject's number and the key's bytes.
    fn wanted(&self, subject: &str, key: &[Value]) -> Result<(u32, Vec<u8>), CallError> {
        let schema = &*self.schema;
        let Some(id) = schema.subject(subject) else {
            let message = format!("`{}` has no subject `{subject}`", schema.design.name);
            return Err(CallError::Unknown(message));
        };
        let mut pool = Pool::new(schema.program.texts());
        let handle = values::read_key(&schema.design, id, &mut key.iter(), &mut pool)
            .map_err(|bad| CallError::Bad(bad.under("key")))?;
        let mut bytes = Vec::new();
        put_parts(&mut bytes, &schema.design, id, handle, &pool);
        Ok((id.0, bytes))
    }

    /// Entries after `start` and up to `end`, in order; whether the feed has forgotten some.
    async fn piece(
        &self,
        wanted: Option<&(u32, Vec<u8>)>,
        start: u64,
        end: u64,
    ) -> Result<(Vec<(String, Vec<u8>)>, bool), CallError> {
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
                    let Some(bytes) = of_design(entry, self.schema.number) else { continue };
                    let matches = match wanted {
                        None => true,
                        Some((subject, key)) => FeedEntry::parse(bytes)
                            .map_err(|wrong| ReadError::feed(bytes, wrong))?
                            .changes
                            .iter()
                            .any(|change| change.subject.0 == *subject && change.key == &key[..]),
                    };
                    if matches {
                        found.push((commit.cursor.to_string(), bytes.to_vec()));
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
