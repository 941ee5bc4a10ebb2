//! Opening a store: what must be right before anything is served from it.

use std::fmt;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;

use crate::address::Address;
use crate::commits::{self, Committer};
use crate::connecting::{Connector, NotConnected};
use crate::failures::told;
use crate::pool::Pool;
use crate::reads::Reader;
use crate::requests::Requests;
use crate::schema;
use crate::tail::Tail;
use crate::tls::Tls;

/// The oldest PostgreSQL whose statements these are.
const OLDEST: i32 = 12;

/// A store that cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    pub message: String,
    /// What a person can do about it.
    pub help: &'static str,
    /// The schema is somebody else's or of a newer version: trying again does not help.
    pub is_foreign: bool,
}

impl OpenError {
    pub(crate) fn foreign(message: String, help: &'static str) -> Self {
        OpenError { message, help, is_foreign: true }
    }

    pub(crate) fn refused(message: String, help: &'static str) -> Self {
        OpenError { message, help, is_foreign: false }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpenError {}

/// Everything that an open store has.
pub struct Opened {
    pub runtime: Runtime,
    pub pool: Arc<Pool>,
    pub committer: Arc<Committer>,
    pub reader: Arc<Reader>,
    pub tail: Arc<Tail>,
    pub requests: Requests,
    /// Whether the database itself waits for its disk.
    pub syncs: bool,
}

/// What connections to an address stand on: so many threads of this name, and whoever opens one.
pub fn reached(
    address: &Address,
    name: &'static str,
    threads: usize,
) -> Result<(Runtime, Connector), OpenError> {
    let shown = address.to_string();
    let tls = Tls::new(&address.verify).map_err(|why| {
        OpenError::refused(why, "`?sslrootcert=FILE` names the certificate of a private authority")
    })?;
    let runtime =
        Builder::new_multi_thread().worker_threads(threads).thread_name(name).enable_all().build();
    let runtime = runtime.map_err(|error| {
        let why = format!("cannot start threads for `{shown}`: {error}");
        OpenError::refused(why, "see the limits of the process")
    })?;
    Ok((runtime, Connector::new(address.config.clone(), tls, shown)))
}

pub fn open(address: &Address) -> Result<Opened, OpenError> {
    let (runtime, connector) = reached(address, "store-postgres", 2)?;
    let (shown, tls) = (address.to_string(), connector.tls());
    // on a thread of its own: whoever opens a store may be on one that must not block
    let opened = std::thread::scope(|scope| {
        scope.spawn(|| runtime.block_on(prepared(&connector, address, &shown))).join()
    });
    let (position, syncs) = match opened {
        Ok(prepared) => prepared?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    let requests = Requests::new(&address.schema);
    let tail = Arc::new(Tail::new(position));
    let writers = Pool::new(connector.clone(), commits::LANES);
    let most = address.pool_max.saturating_sub(commits::LANES).max(1);
    let pool = Arc::new(Pool::new(connector, most));
    let committer = Committer::new(writers, requests.commit.clone(), Arc::clone(&tail));
    let committer = Arc::new(committer);
    let reader = Arc::new(Reader::new(Arc::clone(&pool), requests.read.clone()));
    runtime.spawn(Arc::clone(&committer).run());
    runtime.spawn(Arc::clone(&reader).run());
    match address.listener() {
        None => {
            runtime.spawn(Arc::clone(&tail).poll(Arc::clone(&reader)));
        }
        Some(config) => {
            let listener = Connector::new(config, tls, shown);
            let (tail, reader) = (Arc::clone(&tail), Arc::clone(&reader));
            runtime.spawn(tail.listen(listener, requests.channel(), reader));
        }
    }
    Ok(Opened { runtime, pool, committer, reader, tail, requests, syncs })
}

async fn prepared(
    connector: &Connector,
    address: &Address,
    shown: &str,
) -> Result<(u64, bool), OpenError> {
    let mut client = connector.connect().await.map_err(not_connected)?;
    let syncs = suits(&client, shown).await?;
    schema::prepare(&mut client, &address.schema, shown).await?;
    let refused = |error: tokio_postgres::Error| {
        let why = format!("`{shown}`: {}", told(&error));
        OpenError::refused(why, "grant the user all rights on the schema and its tables")
    };
    if let Some(why) = schema::unfinished(&client, &address.schema, shown).await.map_err(refused)? {
        return Err(why);
    }
    let head = format!("SELECT h.position FROM {}.head h", address.schema);
    let position = client.query_typed(&head, &[]).await.map_err(refused)?;
    let position = position.first().and_then(|row| row.try_get::<_, i64>(0).ok());
    let position = position.and_then(|position| u64::try_from(position).ok());
    let position = position.ok_or_else(|| {
        let why = format!("the table `head` of `{shown}` has no row with a position");
        OpenError::foreign(why, "restore the database from a backup")
    })?;
    Ok((position, syncs))
}

pub fn not_connected(not: NotConnected) -> OpenError {
    let help = match not.code.as_deref() {
        Some("28P01") => "give the password in PGPASSWORD or in the address",
        Some("28000") => "see `pg_hba.conf` of the server: who may connect, from where, and how",
        Some("3D000") => "make the database: `createdb NAME`",
        Some("53300") => {
            "raise `max_connections` of PostgreSQL, or lower `pool_max` in the address"
        }
        Some("57P03") => "wait until the database has started",
        _ => "see that PostgreSQL runs there and that the address is right",
    };
    OpenError::refused(format!("cannot connect to {}", not.why), help)
}

/// Refuses servers on which the statements would not keep what they promise. Gives whether it syncs its disk.
pub async fn suits(client: &Client, shown: &str) -> Result<bool, OpenError> {
    let asked = client
        .query_typed(
            "SELECT current_setting('server_version_num')::int / 10000, \
             current_setting('transaction_isolation'), current_setting('fsync')",
            &[],
        )
        .await;
    let rows = asked.map_err(|error| {
        OpenError::refused(format!("`{shown}`: {}", told(&error)), "is it PostgreSQL?")
    })?;
    let row = rows.first();
    let version: i32 = row.and_then(|row| row.try_get(0).ok()).unwrap_or(0);
    let isolation: &str = row.and_then(|row| row.try_get(1).ok()).unwrap_or("");
    let syncs = row.and_then(|row| row.try_get(2).ok()) == Some("on");
    if version < OLDEST {
        return Err(OpenError::refused(
            format!("`{shown}` is PostgreSQL {version}, and {OLDEST} is the oldest that serves"),
            "serve from a newer PostgreSQL",
        ));
    }
    if isolation != "read committed" {
        return Err(OpenError::refused(
            format!("transactions of this user on `{shown}` are `{isolation}` by default"),
            "`ALTER ROLE user SET default_transaction_isolation = 'read committed'`: commits lock what they look at",
        ));
    }
    if !syncs {
        tracing::warn!(
            store = shown,
            "`fsync` of this PostgreSQL is off: what was acknowledged is lost when its machine fails",
        );
    }
    Ok(syncs)
}
