//! A store that is being filled. Its schema has no head meanwhile, so that nobody commits to it and nobody serves it.

use store::copying::{CopyFrom, CopyTo, Outline};
use store::{Blobs, Error, FeedCommit, Key, Limits, Pending, Record, real_surroundings};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::Ground;
use super::rows::{BYTES, Existing, ROWS, Rows, Walk, failed};
use crate::address::Address;
use crate::blobs::BLOB_BYTES_MAX;
use crate::failures::told;
use crate::opening::{OpenError, not_connected, suits};
use crate::pool::Parameter;
use crate::schema;
use crate::store::LIMITS;
use crate::values::{Uuid, pack};

/// What a copy found where it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Nothing.
    New,
    /// A part of the same store, which is kept.
    GoesOn,
    /// An unfinished copy of another store, or of a later state. It was taken away.
    Anew,
}

pub struct Filling {
    client: Client,
    /// Reads what is there, while the other one writes.
    existing: Option<(Client, Existing)>,
    ground: Ground,
    run: Uuid,
    begun: Begun,
    base: u64,
    /// The feed up to here is there.
    fed: u64,
    outline: Outline,
    gone: Vec<Key>,
    records: Vec<(Key, Record)>,
    commits: Vec<(i64, Vec<u8>)>,
    /// Of what waits to be written.
    bytes: usize,
}

impl Filling {
    pub fn limits() -> Limits {
        LIMITS
    }

    pub fn blob_bytes_max() -> u64 {
        BLOB_BYTES_MAX
    }

    /// Begins a copy in a schema that is not there or holds nothing, or goes on with one that was not finished. `from` is
    /// how the other store is shown.
    pub fn begin(address: &Address, from: &str, outline: &Outline) -> Result<Filling, OpenError> {
        let ground = Ground::new(address)?;
        let surroundings = real_surroundings();
        let chance = || u128::from(surroundings.chance());
        let run = Uuid(chance() << 64 | chance());
        let (client, begun, base) = ground.run(started(&ground, run, from, outline))?;
        let (existing, fed) = match begun {
            Begun::New | Begun::Anew => (None, 0),
            Begun::GoesOn => {
                let (existing, fed) = ground.run(held(&ground))?;
                (Some(existing), fed)
            }
        };
        let outline = outline.clone();
        let (gone, records, commits, bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
        Ok(Filling {
            client,
            existing,
            ground,
            run,
            begun,
            base,
            fed,
            outline,
            gone,
            records,
            commits,
            bytes,
        })
    }

    pub fn begun(&self) -> Begun {
        self.begun
    }

    async fn take(&mut self, records: Vec<(Key, Record)>) -> Result<u64, Error> {
        let mut written = 0;
        for (key, record) in records {
            if self.is_there(&key, record.version.0 as i64).await? {
                continue;
            }
            self.bytes += key.len() + record.value.len();
            self.records.push((key, record));
            written += 1;
            self.flush_if_full().await?;
        }
        Ok(written)
    }

    /// Whether it has this record already. What it has before that key, and was not asked for, is to be deleted.
    async fn is_there(&mut self, key: &Key, version: i64) -> Result<bool, Error> {
        let Some((_, existing)) = &mut self.existing else { return Ok(false) };
        while existing.peek().is_some_and(|(there, _)| there < key) {
            self.gone.extend(existing.go_on().await?);
        }
        match existing.peek() {
            Some((there, its)) if there == key => {
                let same = *its == version;
                existing.go_on().await?;
                Ok(same)
            }
            _ => Ok(false),
        }
    }

    async fn flush_if_full(&mut self) -> Result<(), Error> {
        let many = self.records.len() + self.gone.len() >= ROWS;
        if many || self.bytes >= BYTES { self.flush().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), Error> {
        if self.records.is_empty() && self.gone.is_empty() {
            return Ok(());
        }
        let gone: Vec<&[u8]> = self.gone.iter().map(|key| &**key).collect();
        let keys: Vec<&[u8]> = self.records.iter().map(|(key, _)| &**key).collect();
        let versions: Vec<i64> = self.records.iter().map(|(_, it)| it.version.0 as i64).collect();
        let values: Vec<&[u8]> = self.records.iter().map(|(_, it)| &*it.value).collect();
        let parameters: &[Parameter<'_>] = &[
            (&self.run, Type::UUID),
            (&gone, Type::BYTEA_ARRAY),
            (&keys, Type::BYTEA_ARRAY),
            (&versions, Type::INT8_ARRAY),
            (&values, Type::BYTEA_ARRAY),
        ];
        let call = format!("SELECT {}.copy_records_3($1, $2, $3, $4, $5)", self.ground.schema);
        self.client.query_typed(&call, parameters).await.map_err(failed)?;
        self.gone.clear();
        self.records.clear();
        self.bytes = 0;
        Ok(())
    }

    /// What it has behind the last record is to be deleted.
    async fn end_records(&mut self) -> Result<(), Error> {
        if let Some((client, mut existing)) = self.existing.take() {
            while let Some(key) = existing.go_on().await? {
                self.gone.push(key);
                self.flush_if_full().await?;
            }
            drop(client);
        }
        self.flush().await
    }

    async fn take_feed(&mut self, commits: Vec<FeedCommit>) -> Result<u64, Error> {
        self.end_records().await?;
        let mut written = 0;
        for commit in commits {
            let position = commit.cursor.position();
            let Some(packed) = pack(&commit.entries).filter(|_| position > self.fed) else {
                continue;
            };
            self.bytes += packed.len();
            self.commits.push((position as i64, packed));
            written += 1;
            if self.commits.len() >= ROWS || self.bytes >= BYTES {
                self.flush_feed().await?;
            }
        }
        Ok(written)
    }

    async fn flush_feed(&mut self) -> Result<(), Error> {
        if self.commits.is_empty() {
            return Ok(());
        }
        let positions: Vec<i64> = self.commits.iter().map(|(position, _)| *position).collect();
        let feeds: Vec<&[u8]> = self.commits.iter().map(|(_, packed)| &packed[..]).collect();
        let parameters: &[Parameter<'_>] =
            &[(&self.run, Type::UUID), (&positions, Type::INT8_ARRAY), (&feeds, Type::BYTEA_ARRAY)];
        let call = format!("SELECT {}.copy_feed_3($1, $2, $3)", self.ground.schema);
        self.client.query_typed(&call, parameters).await.map_err(failed)?;
        self.commits.clear();
        self.bytes = 0;
        Ok(())
    }

    /// What was copied is left as it is, and a later copy of the same store goes on with it.
    pub async fn rest(self) -> store::Result<()> {
        let call = format!("SELECT {}.rest_copy_3($1)", self.ground.schema);
        self.client.query_typed(&call, &[(&self.run, Type::UUID)]).await.map(drop).map_err(failed)
    }

    /// Makes it a store. Call this when everything was copied and read back.
    pub async fn finish(self) -> store::Result<()> {
        let s = &self.ground.schema;
        // without it the first plans are those for empty tables
        self.client
            .batch_execute(&format!("ANALYZE {s}.record, {s}.commits"))
            .await
            .map_err(failed)?;
        let floor = self.outline.floor as i64;
        let parameters: &[Parameter<'_>] = &[(&self.run, Type::UUID), (&floor, Type::INT8)];
        let call = format!("SELECT {s}.finish_copy_3($1, $2)");
        let finished = self.client.query_typed(&call, parameters).await.map(drop);
        finished.map_err(|error| crate::failures::Failure::from(error).unknown())
    }
}

async fn started(
    ground: &Ground,
    run: Uuid,
    from: &str,
    outline: &Outline,
) -> Result<(Client, Begun, u64), OpenError> {
    let Ground { schema, shown, .. } = ground;
    let mut client = ground.connector.connect().await.map_err(not_connected)?;
    suits(&client, shown).await?;
    schema::prepare(&mut client, schema, shown).await?;
    let refused = |error: tokio_postgres::Error| {
        let why = format!("`{shown}`: {}", told(&error));
        OpenError::refused(why, "let the user that owns the tables of the schema copy into it")
    };
    let position = outline.position as i64;
    let call = format!("SELECT said, held, complete FROM {schema}.begin_copy_3($1, $2, $3, $4)");
    let parameters: &[Parameter<'_>] = &[
        (&run, Type::UUID),
        (&from, Type::TEXT),
        (&outline.lineage, Type::TEXT),
        (&position, Type::INT8),
    ];
    let rows = client.query_typed(&call, parameters).await.map_err(refused)?;
    let (mut said, mut held, mut complete) = ("", 0, 0);
    if let Some(row) = rows.first() {
        said = row.try_get(0).map_err(refused)?;
        held = row.try_get::<_, Option<i64>>(1).map_err(refused)?.unwrap_or(0);
        complete = row.try_get::<_, Option<i64>>(2).map_err(refused)?.unwrap_or(0);
    }
    let begun = match said {
        "new" => Begun::New,
        "on" => Begun::GoesOn,
        "anew" => Begun::Anew,
        _ => {
            return Err(OpenError::refused(
                format!(
                    "the schema `{schema}` of `{shown}` is not empty: it holds a store up to revision 0-{held}"
                ),
                "add `?schema=NAME` to the address for a schema of its own, which is made if it is not there",
            ));
        }
    };
    Ok((client, begun, complete as u64))
}

/// What is there from an earlier copy.
async fn held(ground: &Ground) -> Result<((Client, Existing), u64), OpenError> {
    let refused = |error: Error| {
        let why = format!("`{}`: {error}", ground.shown);
        OpenError::refused(why, "see that the database is reachable, and begin again")
    };
    let client = ground.connector.connect().await.map_err(not_connected)?;
    let last = format!("SELECT coalesce(max(c.position), 0) FROM {}.commits c", ground.schema);
    let mut rows = Rows::of(&client, &last, &[]).await.map_err(refused)?;
    let row = rows.next().await.map_err(refused)?;
    let fed = row.and_then(|row| row.try_get::<_, i64>(0).ok()).unwrap_or(0);
    drop(rows);
    let existing = Existing::new(&client, &ground.schema).await.map_err(refused)?;
    Ok(((client, existing), fed as u64))
}

impl CopyTo for Filling {
    fn base(&self) -> u64 {
        self.base
    }

    fn records(&mut self, records: Vec<(Key, Record)>) -> Pending<'_, u64> {
        Box::pin(self.take(records))
    }

    fn feed(&mut self, commits: Vec<FeedCommit>) -> Pending<'_, u64> {
        Box::pin(self.take_feed(commits))
    }

    fn content(&self) -> &dyn Blobs {
        &self.ground.blobs
    }

    fn read_back(&mut self) -> Pending<'_, Box<dyn CopyFrom + '_>> {
        Box::pin(async move {
            self.end_records().await?;
            self.flush_feed().await?;
            let walk = Walk::new(&self.ground.schema, self.outline.floor, self.base);
            Ok(Box::new(Back { filling: self, walk }) as Box<dyn CopyFrom>)
        })
    }
}

/// What was written, read again.
struct Back<'a> {
    filling: &'a Filling,
    walk: Walk,
}

impl CopyFrom for Back<'_> {
    fn outline(&self) -> &Outline {
        &self.filling.outline
    }

    fn records(&mut self) -> Pending<'_, Vec<(Key, Record)>> {
        Box::pin(self.walk.records(&self.filling.client))
    }

    fn feed(&mut self) -> Pending<'_, Vec<FeedCommit>> {
        Box::pin(self.walk.feed(&self.filling.client))
    }

    fn content(&self) -> &dyn Blobs {
        &self.filling.ground.blobs
    }
}
