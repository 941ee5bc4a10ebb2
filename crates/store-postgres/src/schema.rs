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
        let Of { schema, shown } = self;
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
                        return Err(OpenError::foreign(
                            format!(
                                "`{shown}` was written by a newer Steadfast: its schema `{schema}` has version {version}, and this program knows up to {VERSION}"
                            ),
                            "serve it with the newer program; a schema is never brought back",
                        ));
                    }
                    Held::Ours(version) => version,
                    Held::Foreign(table) => {
                        return Err(OpenError::foreign(
                            format!(
                                "the schema `{schema}` of `{shown}` is not Steadfast's: it holds `{table}`"
                            ),
                            "add `?schema=NAME` to the address for a schema of its own, which is made if it is not there",
                        ));
                    }
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
