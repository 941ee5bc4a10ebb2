//! A store that nobody writes to, read through its contract.

use std::sync::Arc;

use super::{BLOBS, CopyFrom, Outline};
use crate::blob::Blobs;
use crate::contract::{FeedCommit, Scan, Store};
use crate::cursor::{Cursor, Partition};
use crate::error::{Error, Result};
use crate::key::{Key, KeyRange};
use crate::pending::Pending;
use crate::record::Record;

/// So many records, and entries of the feed, are held at a time.
const PAGE: usize = 256;

/// Whoever makes one holds the store alone: its pages are not of one moment if somebody commits in between.
pub struct AtRest {
    store: Arc<dyn Store>,
    outline: Outline,
    range: Option<KeyRange>,
    fed: Cursor,
}

impl AtRest {
    pub async fn new(store: Arc<dyn Store>, lineage: Option<String>) -> Result<AtRest> {
        let start = Cursor::start(Partition::default());
        let head = store.head(Partition::default()).await?;
        let fed = match store.feed(start, 1).await {
            Err(Error::BelowFloor(floor)) => floor,
            page => page.map(|_| start)?,
        };
        let (position, floor) = (head.position(), fed.position());
        let outline = Outline { position, floor, lineage, ..Outline::default() };
        let mut at_rest = AtRest { store, outline, range: Some(all()), fed };
        at_rest.measure().await?;
        Ok(at_rest)
    }

    /// Reads everything once, to know how much it is.
    async fn measure(&mut self) -> Result<()> {
        loop {
            let records = self.next_records().await?;
            if records.is_empty() {
                break;
            }
            for (key, record) in &records {
                let (key, value) = (key.len() as u64, record.value.len() as u64);
                let outline = &mut self.outline;
                outline.records += 1;
                outline.record_bytes += key + value;
                outline.key_bytes_max = outline.key_bytes_max.max(key);
                outline.value_bytes_max = outline.value_bytes_max.max(value);
            }
        }
        self.range = Some(all());
        let mut after = None;
        loop {
            let blobs = self.store.blobs().list(after, BLOBS).await?;
            let Some(last) = blobs.last() else { return Ok(()) };
            after = Some(last.hash);
            blobs.into_iter().for_each(|blob| self.outline.add_blob(blob));
        }
    }

    async fn next_records(&mut self) -> Result<Vec<(Key, Record)>> {
        let Some(range) = self.range.take() else { return Ok(Vec::new()) };
        let page = self.store.scan(Scan::new(range, PAGE)).await?;
        if page.more {
            let start = page.records.last().map(|(last, _)| last.next());
            self.range = start.map(|start| KeyRange { start, end: None });
        }
        Ok(page.records)
    }

    async fn next_feed(&mut self) -> Result<Vec<FeedCommit>> {
        loop {
            let page = self.store.feed(self.fed, PAGE).await?;
            // a page without commits is not the end
            let ended = page.next == self.fed;
            self.fed = page.next;
            if ended || !page.commits.is_empty() {
                return Ok(page.commits);
            }
        }
    }
}

fn all() -> KeyRange {
    KeyRange { start: Key::default(), end: None }
}

impl CopyFrom for AtRest {
    fn outline(&self) -> &Outline {
        &self.outline
    }

    fn records(&mut self) -> Pending<'_, Vec<(Key, Record)>> {
        Box::pin(self.next_records())
    }

    fn feed(&mut self) -> Pending<'_, Vec<FeedCommit>> {
        Box::pin(self.next_feed())
    }

    fn content(&self) -> &dyn Blobs {
        self.store.blobs()
    }
}
