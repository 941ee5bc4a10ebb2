//! Rows as they come, so that no more than a page of them is held.

use std::pin::Pin;

use bytes::Bytes;
use futures_util::TryStreamExt;
use store::{Error, FeedCommit, Key, Record, Version};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row, RowStream};

use crate::commits::at;
use crate::failures::{Failure, told};
use crate::requests::WRITTEN_AT;
use crate::values::unpack;

/// A page ends with so many rows, or so many bytes.
pub const ROWS: usize = 4_096;
pub const BYTES: usize = 4 << 20;

/// The rows of one statement.
pub struct Rows {
    /// None: all have come. A stream that has ended must not be asked again.
    stream: Option<Pin<Box<RowStream>>>,
}

impl Rows {
    pub async fn of(client: &Client, statement: &str, numbers: &[i64]) -> Result<Rows, Error> {
        let parameters = numbers.iter().map(|number| (number, Type::INT8));
        let stream = client.query_typed_raw(statement, parameters).await.map_err(failed)?;
        Ok(Rows { stream: Some(Box::pin(stream)) })
    }

    pub async fn next(&mut self) -> Result<Option<Row>, Error> {
        let Some(stream) = &mut self.stream else { return Ok(None) };
        let row = stream.try_next().await.map_err(failed)?;
        if row.is_none() {
            self.stream = None;
        }
        Ok(row)
    }
}

pub fn failed(error: tokio_postgres::Error) -> Error {
    Failure::from(error).harmless()
}

fn not_read(error: tokio_postgres::Error) -> Error {
    Error::Damaged(told(&error))
}

/// All records in the order of their keys, and then the feed. Their versions are positions, as other stores have them.
pub struct Walk {
    schema: String,
    floor: u64,
    /// Values of records that are not after this are not fetched.
    base: u64,
    records: Option<Rows>,
    feed: Option<Rows>,
}

impl Walk {
    pub fn new(schema: &str, floor: u64, base: u64) -> Walk {
        Walk { schema: schema.into(), floor, base, records: None, feed: None }
    }

    pub async fn records(&mut self, client: &Client) -> Result<Vec<(Key, Record)>, Error> {
        if self.records.is_none() {
            let s = &self.schema;
            let statement = format!(
                "SELECT r.key, {WRITTEN_AT}, \
                 CASE WHEN {WRITTEN_AT} > $1 THEN r.value ELSE ''::bytea END \
                 FROM {s}.record r ORDER BY r.key"
            );
            self.records = Some(Rows::of(client, &statement, &[self.base as i64]).await?);
        }
        let (mut page, mut bytes) = (Vec::new(), 0);
        let Some(rows) = &mut self.records else { return Ok(page) };
        while page.len() < ROWS && bytes < BYTES {
            let Some(row) = rows.next().await? else { break };
            let key: &[u8] = row.try_get(0).map_err(not_read)?;
            let version = Version(row.try_get::<_, i64>(1).map_err(not_read)? as u64);
            let value: &[u8] = row.try_get(2).map_err(not_read)?;
            bytes += key.len() + value.len();
            page.push((key.into(), Record { version, value: Bytes::copy_from_slice(value) }));
        }
        Ok(page)
    }

    pub async fn feed(&mut self, client: &Client) -> Result<Vec<FeedCommit>, Error> {
        if self.feed.is_none() {
            let s = &self.schema;
            let statement = format!(
                "SELECT c.position, c.entries FROM {s}.commits c \
                 WHERE c.position > $1 AND c.entries IS NOT NULL ORDER BY c.position"
            );
            let after = self.floor.max(self.base) as i64;
            self.feed = Some(Rows::of(client, &statement, &[after]).await?);
        }
        let (mut page, mut bytes) = (Vec::new(), 0);
        let Some(rows) = &mut self.feed else { return Ok(page) };
        while page.len() < ROWS && bytes < BYTES {
            let Some(row) = rows.next().await? else { break };
            let cursor = at(row.try_get::<_, i64>(0).map_err(not_read)? as u64);
            let packed: &[u8] = row.try_get(1).map_err(not_read)?;
            bytes += packed.len();
            let entries = unpack(packed)
                .ok_or_else(|| Error::Damaged(format!("the feed at `{cursor}` is no list")))?;
            page.push(FeedCommit { cursor, entries });
        }
        Ok(page)
    }
}

/// The records that are there already: their keys, and which commit wrote them.
pub struct Existing {
    rows: Rows,
    next: Option<(Key, i64)>,
}

impl Existing {
    pub async fn new(client: &Client, schema: &str) -> Result<Existing, Error> {
        let statement = format!("SELECT r.key, {WRITTEN_AT} FROM {schema}.record r ORDER BY r.key");
        let mut existing = Existing { rows: Rows::of(client, &statement, &[]).await?, next: None };
        existing.go_on().await?;
        Ok(existing)
    }

    pub fn peek(&self) -> Option<&(Key, i64)> {
        self.next.as_ref()
    }

    /// The next one.
    pub async fn go_on(&mut self) -> Result<Option<Key>, Error> {
        let next = match self.rows.next().await? {
            None => None,
            Some(row) => {
                let key: &[u8] = row.try_get(0).map_err(not_read)?;
                Some((key.into(), row.try_get(1).map_err(not_read)?))
            }
        };
        Ok(std::mem::replace(&mut self.next, next).map(|(key, _)| key))
    }
}
