//! Truth and feed, as they are durable.

use std::cell::RefCell;

use layout::Pool;
use layout::feed::of_design;
use serde_json::Value;
use store::{Cursor, Key, Partition};

use crate::calls::CallError;
use crate::core::Runtime;
use crate::feed::{self, Transition};
use crate::sight::{Looked, Mask, Viewer};
use crate::values;

/// A record as it is stored.
#[derive(Clone, PartialEq, Debug)]
pub struct Truth {
    /// changes with every write of the record
    pub version: u64,
    pub truth: Value,
}

impl Runtime {
    /// The truth of one record; the key is given part by part. None: there is none.
    pub async fn get(&self, subject: &str, key: &[Value]) -> Result<Option<Truth>, CallError> {
        self.get_as(subject, key, None).await
    }

    /// A key that is given part by part, as the feed and every other answer tell it.
    pub fn key(&self, subject: &str, key: &[Value]) -> Result<Vec<Value>, CallError> {
        let schema = &*self.schema;
        let Some(id) = schema.subject(subject) else {
            let message = format!("`{}` has no subject `{subject}`", schema.design.name);
            return Err(CallError::Unknown(message));
        };
        let mut pool = Pool::new(schema.program.texts());
        let mut parts = key.iter();
        let handle = values::read_key(&schema.design, id, &mut parts, &mut pool)
            .map_err(|bad| CallError::Bad(bad.under("key")))?;
        if parts.next().is_some() {
            let message = "the key has more parts than its subject";
            return Err(CallError::Bad(values::BadValue::new("/key", message)));
        }
        let mut told = Vec::new();
        values::write_key(&schema.design, id, handle, &pool, &mut told);
        Ok(told)
    }

    /// As much of it as the viewer sees. None: there is none, or none to see.
    pub async fn get_as(
        &self,
        subject: &str,
        key: &[Value],
        viewer: Option<&Viewer>,
    ) -> Result<Option<Truth>, CallError> {
        let schema = &*self.schema;
        let Some(id) = schema.subject(subject) else {
            let message = format!("`{}` has no subject `{subject}`", schema.design.name);
            return Err(CallError::Unknown(message));
        };
        let pool = RefCell::new(Pool::new(schema.program.texts()));
        let (handle, stored_key) = {
            let mut pool = pool.borrow_mut();
            let mut parts = key.iter();
            let handle = values::read_key(&schema.design, id, &mut parts, &mut pool)
                .map_err(|bad| CallError::Bad(bad.under("key")))?;
            if parts.next().is_some() {
                let message = "the key has more parts than its subject";
                return Err(CallError::Bad(values::BadValue::new("/key", message)));
            }
            (handle, Key::new(schema.codec().record_key(id, handle, &pool)))
        };
        let found = self.store.read(std::slice::from_ref(&stored_key), None).await?.records;
        self.current_anywhere().await?;
        let implicit = schema.design.subjects[id.index()].implicit;
        let mut words = Vec::new();
        let version = match found.into_iter().next().flatten() {
            None if implicit => {
                words.extend_from_slice(schema.program.defaults(id));
                0
            }
            None => return Ok(None),
            Some(stored) => {
                let codec = schema.codec();
                codec.take_record(&stored_key, &stored.value, id, &pool, &mut words)?;
                stored.version.0
            }
        };
        let looked = Looked { subject: id, key: handle, words: Some(&words) };
        let mask = match self.eye(viewer) {
            None => Mask::Everything,
            Some(eye) => eye.mask(looked, &pool, None)?,
        };
        if mask == Mask::Nothing {
            return Ok(None);
        }
        let truth = feed::seen_json(schema, id, &words, &pool.borrow(), &mask);
        Ok(Some(Truth { version, truth }))
    }

    /// Transitions after `from` in the order in which they happened, each with its revision, and
    /// where to go on.
    pub async fn feed(
        &self,
        from: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<(String, Transition)>, String), CallError> {
        self.feed_as(from, limit, None).await
    }

    /// As much of them as the viewer sees.
    pub async fn feed_as(
        &self,
        from: Option<&str>,
        limit: usize,
        viewer: Option<&Viewer>,
    ) -> Result<(Vec<(String, Transition)>, String), CallError> {
        let from = match from {
            None => Cursor::start(Partition::default()),
            Some(text) => text.parse().map_err(|message: String| {
                CallError::Bad(values::BadValue::new("/from", message))
            })?,
        };
        self.current_anywhere().await?;
        let page = self.store.feed(from, limit).await?;
        let eye = self.eye(viewer);
        let mut list = Vec::new();
        for commit in &page.commits {
            for entry in &commit.entries {
                if let Some(bytes) = of_design(entry, self.schema.number)
                    && let Some(seen) = feed::read(&self.schema, bytes, eye.as_ref())?
                {
                    list.push((commit.cursor.to_string(), seen));
                }
                // earlier ones in the words of their time; who sees only some of the truth is told
                // none of them, since what they may see is said by the design of today
                for schema in self.older.iter().filter(|_| eye.is_none()) {
                    let Some(bytes) = of_design(entry, schema.number) else { continue };
                    if let Some(seen) = feed::read(schema, bytes, None)? {
                        list.push((commit.cursor.to_string(), seen));
                    }
                }
            }
        }
        Ok((list, page.next.to_string()))
    }

    /// The entries of this design as they are stored, for walking a history again.
    pub async fn history(&self) -> Result<Vec<Vec<u8>>, CallError> {
        let mut from = Cursor::start(Partition::default());
        let mut entries = Vec::new();
        loop {
            let page = self.store.feed(from, 1_000).await?;
            for commit in &page.commits {
                for entry in &commit.entries {
                    if of_design(entry, self.schema.number).is_some() {
                        entries.push(entry.to_vec());
                    }
                }
            }
            // a page without commits is not the end
            if page.next == from {
                return Ok(entries);
            }
            from = page.next;
        }
    }
}
