//! Copies: of what is in PostgreSQL while servers go on, and into an empty schema that nobody serves meanwhile.

mod filling;
mod reading;
mod rows;

use std::sync::Arc;

use tokio::runtime::Runtime;

pub use self::filling::{Begun, Filling};
pub use self::reading::Reading;
use crate::address::Address;
use crate::blobs::PostgresBlobs;
use crate::connecting::Connector;
use crate::opening::{OpenError, reached};
use crate::pool::Pool;
use crate::requests::Requests;
use crate::tail::Tail;

/// Connections for blobs.
const BLOB_CONNECTIONS: usize = 2;

/// Where the connections of a copy live.
struct Ground {
    runtime: Option<Runtime>,
    connector: Connector,
    blobs: PostgresBlobs,
    schema: String,
    shown: String,
}

impl Ground {
    fn new(address: &Address) -> Result<Ground, OpenError> {
        let shown = address.to_string();
        let (runtime, connector) = reached(address, "copy-postgres", 1)?;
        let pool = Arc::new(Pool::new(connector.clone(), BLOB_CONNECTIONS));
        let requests = Requests::new(&address.schema);
        let tail = Arc::new(Tail::new(0));
        let blobs = PostgresBlobs::new(runtime.handle().clone(), pool, requests, tail);
        let (runtime, schema) = (Some(runtime), address.schema.clone());
        Ok(Ground { runtime, connector, blobs, schema, shown })
    }

    /// Runs where the connections are, on a thread of its own: whoever calls may be on one that must not block.
    fn run<T: Send>(
        &self,
        work: impl Future<Output = Result<T, OpenError>> + Send,
    ) -> Result<T, OpenError> {
        let Some(runtime) = &self.runtime else {
            return Err(OpenError::refused("the copy has ended".into(), "begin another"));
        };
        let done = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(work)).join());
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
