//! The tables and functions of a store, made and brought forward by whoever opens it first.

use tokio_postgres::{Client, Transaction};

use crate::failures::told;
use crate::opening::OpenError;
use crate::requests::SCHEMA as STEPS;

/// The version that this program writes.
pub const VERSION: i32 = STEPS.len() as i32;

/// Servers that start at the same time make the tables one after the other.
const LOCK: i64 = 0x5374_6561_6466_6173;

/// Makes the schema, or brings it forward. All of it happens, or nothing.
pub async fn prepare(client: &mut Client, schema: &str, shown: &str) -> Result<(), OpenError> {
    let of = Of { schema, shown };
    let transaction = client.transaction().await.map_err(|error| of.failed(&error))?;
    of.prepared(&transaction).await?;
    transaction.commit().await.map_err(|error| of.failed(&error))
}

/// Fails unless there is a store of just this version. Changes nothing.
pub async fn is_there(client: &mut Client, schema: &str, shown: &str) -> Result<(), OpenError> {
    let of = Of { schema, shown };
    let transaction = client.transaction().await.map_err(|error| of.failed(&error))?;
    match of.held(&transaction).await.map_err(|error| of.failed(&error))? {
        Held::Ours(VERSION) => Ok(()),
        Held::Ours(version) if version > VERSION => Err(of.newer(version)),
        Held::Ours(version) => Err(OpenError::refused(
            format!("the schema `{schema}` of `{shown}` has version {version}, of {VERSION}"),
            "start a server of this version on it once: it brings the schema forward",
        )),
        Held::Foreign(table) => Err(of.foreign(&table)),
        Held::Nothing | Held::Empty => Err(OpenError::refused(
            format!("there is no store in the schema `{schema}` of `{shown}`"),
            "see that the database is the right one; `?schema=NAME` names another schema",
        )),
    }
}

/// What an unfinished copy in this schema is a copy of, and when it began.
pub async fn unfinished(
    client: &Client,
    schema: &str,
    shown: &str,
) -> Result<Option<OpenError>, tokio_postgres::Error> {
    let asked = format!(
        "SELECT c.source, to_char(c.began AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), \
         c.complete > 0 FROM {schema}.copying c"
    );
    let rows = client.query_typed(&asked, &[]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (source, began, ahead): (&str, &str, bool) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let (which, help) = match ahead {
        true => (
            "that was made ahead and",
            "stop the server of that store, and run `steadfast copy STORE` to the same address",
        ),
        false => {
            ("that", "run `steadfast copy` again with the same two stores; or drop the schema")
        }
    };
    Ok(Some(OpenError::foreign(
        format!("`{shown}` holds a copy of `{source}` {which} is not finished, begun at {began}"),
        help,
    )))
}

struct Of<'a> {
    schema: &'a str,
    shown: &'a str,
}

/// What a schema holds.
enum Held {
    /// It is not there.
    Nothing,
    /// It is there, and empty.
    Empty,
    /// Tables of somebody else, of which this is one.
    Foreign(String),
    Ours(i32),
}

impl Of<'_> {
    async fn prepared(&self, transaction: &Transaction<'_>) -> Result<(), OpenError> {
        let schema = self.schema;
        let from = match self.held(transaction).await.map_err(|error| self.failed(&error))? {
            Held::Ours(VERSION) => return Ok(()),
            // somebody else may be making it just now
            Held::Nothing | Held::Empty | Held::Ours(_) | Held::Foreign(_) => {
                let lock = format!("SELECT pg_advisory_xact_lock({LOCK})");
                transaction.batch_execute(&lock).await.map_err(|error| self.failed(&error))?;
                match self.held(transaction).await.map_err(|error| self.failed(&error))? {
                    Held::Nothing => {
                        let make = format!("CREATE SCHEMA {schema}");
                        let made = transaction.batch_execute(&make).await;
                        made.map_err(|error| self.failed(&error))?;
                        0
                    }
                    Held::Empty => 0,
                    Held::Ours(version) if version > VERSION => {
                        return Err(self.newer(version));
                    }
                    Held::Ours(version) => version,
                    Held::Foreign(table) => return Err(self.foreign(&table)),
                }
            }
        };
        let path = format!("SET LOCAL search_path = {schema}, pg_temp");
        transaction.batch_execute(&path).await.map_err(|error| self.failed(&error))?;
        for step in &STEPS[from as usize..] {
            transaction.batch_execute(step).await.map_err(|error| self.failed(&error))?;
        }
        let version = format!(
            "INSERT INTO steadfast (version) VALUES ({VERSION}) \
             ON CONFLICT (one) DO UPDATE SET version = excluded.version"
        );
        transaction.batch_execute(&version).await.map_err(|error| self.failed(&error))?;
        if from > 0 {
            tracing::info!(schema, from, to = VERSION, "the schema was brought forward");
        }
        Ok(())
    }

    async fn held(&self, transaction: &Transaction<'_>) -> Result<Held, tokio_postgres::Error> {
        let schema = self.schema;
        let there = format!("SELECT FROM pg_namespace WHERE nspname = '{schema}'");
        if transaction.query(&there, &[]).await?.is_empty() {
            return Ok(Held::Nothing);
        }
        let tables = format!(
            "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = '{schema}' AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') ORDER BY c.relname"
        );
        let tables = transaction.query(&tables, &[]).await?;
        let tables: Vec<String> = tables.iter().map(|row| row.get(0)).collect();
        let Some(first) = tables.first() else { return Ok(Held::Empty) };
        let ours = ["commits", "head", "record", "steadfast"];
        if let Some(missing) = ours.iter().find(|name| !tables.iter().any(|table| table == *name)) {
            let named = format!("{first}`, and has no `{missing}");
            return Ok(Held::Foreign(named));
        }
        let version = format!("SELECT s.version FROM {schema}.steadfast s");
        let version = transaction.query(&version, &[]).await?;
        Ok(match version.first().and_then(|row| row.try_get(0).ok()) {
            Some(version) if version > 0 => Held::Ours(version),
            _ => Held::Foreign("steadfast` without a version, and not `1".into()),
        })
    }

    fn newer(&self, version: i32) -> OpenError {
        let Of { schema, shown } = self;
        OpenError::foreign(
            format!(
                "`{shown}` was written by a newer Steadfast: its schema `{schema}` has version {version}, and this program knows up to {VERSION}"
            ),
            "serve it with the newer program; a schema is never brought back",
        )
    }

    fn foreign(&self, table: &str) -> OpenError {
        let Of { schema, shown } = self;
        OpenError::foreign(
            format!("the schema `{schema}` of `{shown}` is not Steadfast's: it holds `{table}`"),
            "add `?schema=NAME` to the address for a schema of its own, which is made if it is not there",
        )
    }

    fn failed(&self, error: &tokio_postgres::Error) -> OpenError {
        let Of { schema, shown } = self;
        let why = format!("cannot prepare the schema `{schema}` of `{shown}`: {}", told(error));
        match error.code().map(|code| code.code()) {
            Some("42501") => OpenError::refused(
                why,
                "let its owner run `CREATE SCHEMA steadfast AUTHORIZATION user`, or grant the user CREATE on the database",
            ),
            _ => OpenError::refused(why, "see what the log of PostgreSQL says"),
        }
    }
}
