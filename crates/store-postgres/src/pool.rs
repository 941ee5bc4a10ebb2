//! Connections that are used by one request at a time and then by another.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use store::Error;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

use crate::connecting::Connector;
use crate::failures::Failure;

/// So long a request waits for a connection that others use.
const WAIT: Duration = Duration::from_secs(10);
/// A request that takes longer is given up, and its connection with it.
const REQUEST: Duration = Duration::from_secs(30);
/// A read is tried so many times: the connection that it was given may have ended long ago.
const TRIES: usize = 3;

/// At most so many connections. They are opened when they are needed, and kept.
pub struct Pool {
    connector: Connector,
    most: usize,
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
}

/// A connection for one request. Unless it is given back it is closed.
pub struct Lease<'a> {
    pool: &'a Pool,
    client: Client,
    _permit: SemaphorePermit<'a>,
}

pub type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

impl Pool {
    pub fn new(connector: Connector, most: usize) -> Self {
        Pool { connector, most, permits: Semaphore::new(most), idle: Mutex::default() }
    }

    pub async fn lease(&self) -> Result<Lease<'_>, Error> {
        let permit = match timeout(WAIT, self.permits.acquire()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_closed)) => return Err(Error::Closed),
            Err(_late) => {
                return Err(Error::Unavailable(format!(
                    "all {} connections were in use for {} s; `pool_max` in the address allows more",
                    self.most,
                    WAIT.as_secs()
                )));
            }
        };
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(client) if client.is_closed() => {}
                Some(client) => return Ok(Lease { pool: self, client, _permit: permit }),
                None => break,
            }
        }
        match self.connector.connect().await {
            Ok(client) => Ok(Lease { pool: self, client, _permit: permit }),
            Err(not) => Err(Error::Unavailable(not.why)),
        }
    }

    /// Takes no more requests, and closes what is idle.
    pub fn close(&self) {
        self.permits.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// A request that changes nothing, or may be sent twice: it is sent again if there is no answer.
    pub async fn ask(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<tokio_postgres::Row>, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let lease = self.lease().await?;
            match lease.query(statement, parameters).await {
                Ok(rows) => return Ok(rows),
                Err(Failure::Lost(_)) if tries < TRIES => {}
                Err(failure) => return Err(failure.harmless()),
            }
        }
    }
}

impl Lease<'_> {
    /// One request. The connection is free for the next one if this was answered.
    pub async fn query(
        self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<tokio_postgres::Row>, Failure> {
        let answer = match timeout(REQUEST, self.client.query_typed(statement, parameters)).await {
            Ok(answer) => answer.map_err(Failure::from),
            Err(_late) => {
                let why = format!("there was no answer within {} s", REQUEST.as_secs());
                Err(Failure::Lost(why))
            }
        };
        if !matches!(answer, Err(Failure::Lost(_))) && !self.client.is_closed() {
            let Lease { pool, client, _permit } = self;
            pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
        answer
    }
}
