//! A store as of one moment, read while servers go on: everything is in one transaction, which sees nothing that is
//! committed later.

use store::copying::{CopyFrom, Outline};
use store::{Blobs, Error, FeedCommit, Key, Pending, Record};
use tokio_postgres::Client;

use super::Ground;
use super::rows::{Walk, failed};
use crate::address::Address;
use crate::failures::told;
use crate::opening::{OpenError, not_connected};
use crate::schema;

pub struct Reading {
    client: Client,
    outline: Outline,
    walk: Walk,
    ground: Ground,
}

impl Reading {
    /// Connects, and looks at what there is. Nothing is changed, not even a schema of an earlier version.
    pub fn open(address: &Address) -> Result<Reading, OpenError> {
        let ground = Ground::new(address)?;
        let (client, outline) = ground.run(opened(&ground))?;
        let walk = Walk::new(&ground.schema, outline.floor, 0);
        Ok(Reading { client, outline, walk, ground })
    }

    /// How many commits came after what was read. Ends the reading.
    pub async fn moved_on(&self) -> store::Result<u64> {
        self.client.batch_execute("COMMIT").await.map_err(failed)?;
        let head = format!("SELECT h.position FROM {}.head h", self.ground.schema);
        let rows = self.client.query_typed(&head, &[]).await.map_err(failed)?;
        let position = rows.first().and_then(|row| row.try_get::<_, i64>(0).ok()).unwrap_or(0);
        Ok((position as u64).saturating_sub(self.outline.position))
    }
}

async fn opened(ground: &Ground) -> Result<(Client, Outline), OpenError> {
    let Ground { schema, shown, .. } = ground;
    let mut client = ground.connector.connect().await.map_err(not_connected)?;
    schema::is_there(&mut client, schema, shown).await?;
    let refused = |error: tokio_postgres::Error| {
        let why = format!("`{shown}`: {}", told(&error));
        OpenError::refused(why, "grant the user all rights on the schema and its tables")
    };
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; \
                 SET LOCAL idle_in_transaction_session_timeout = 0";
    client.batch_execute(begin).await.map_err(refused)?;
    if let Some(why) = schema::unfinished(&client, schema, shown).await.map_err(refused)? {
        return Err(why);
    }
    let mut outline = Outline::default();
    let numbers = format!(
        "SELECT h.position, h.floor, \
         (SELECT count(*) FROM {schema}.record), \
         (SELECT coalesce(sum(length(r.key) + length(r.value)), 0)::bigint FROM {schema}.record r), \
         (SELECT coalesce(max(length(r.key)), 0)::bigint FROM {schema}.record r), \
         (SELECT coalesce(max(length(r.value)), 0)::bigint FROM {schema}.record r), \
         (SELECT coalesce(sum(length(c.entries)), 0)::bigint FROM {schema}.commits c), \
         (SELECT count(*) FROM {schema}.blob), \
         (SELECT coalesce(sum(b.bytes), 0)::bigint FROM {schema}.blob b), \
         (SELECT coalesce(max(b.bytes), 0)::bigint FROM {schema}.blob b) \
         FROM {schema}.head h"
    );
    let rows = client.query_typed(&numbers, &[]).await.map_err(refused)?;
    let row = rows.first().ok_or_else(|| {
        let why = format!("the table `head` of `{shown}` has no row with a position");
        OpenError::foreign(why, "restore the database from a backup")
    })?;
    let places = [
        &mut outline.position,
        &mut outline.floor,
        &mut outline.records,
        &mut outline.record_bytes,
        &mut outline.key_bytes_max,
        &mut outline.value_bytes_max,
        &mut outline.feed_bytes,
        &mut outline.blobs,
        &mut outline.blob_bytes,
        &mut outline.blob_bytes_max,
    ];
    for (at, place) in places.into_iter().enumerate() {
        *place = row.try_get::<_, i64>(at).map_err(refused)? as u64;
    }
    Ok((client, outline))
}

impl CopyFrom for Reading {
    fn outline(&self) -> &Outline {
        &self.outline
    }

    fn records(&mut self) -> Pending<'_, Vec<(Key, Record)>> {
        Box::pin(self.walk.records(&self.client))
    }

    fn feed(&mut self) -> Pending<'_, Vec<FeedCommit>> {
        Box::pin(self.walk.feed(&self.client))
    }

    fn content(&self) -> &dyn Blobs {
        &self.ground.blobs
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Error {
        Error::Unavailable(error.message)
    }
}
