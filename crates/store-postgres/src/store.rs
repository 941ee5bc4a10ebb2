//! The store, as the contract has it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use store::{
    Blobs, Commit, Cursor, Description, Error, FeedCommit, FeedPage, Key, Limits, Page, Partition,
    Pending, Read, Scan, Store, Token,
};
use tokio::runtime::Runtime;
use tokio::time::sleep;
use tokio_postgres::types::Type;

use crate::address::Address;
use crate::blobs::PostgresBlobs;
use crate::commits::{Committer, at};
use crate::failures::told;
use crate::opening::{self, OpenError, Opened};
use crate::pool::{Parameter, Pool};
use crate::reads::{self, Reader};
use crate::requests::{CLOCK, Requests};
use crate::tail::Tail;
use crate::values::{Uuid, unpack};

pub const LIMITS: Limits = Limits {
    // an entry of an index is at most a third of a page of 8 kB
    key_bytes_max: 2_600,
    value_bytes_max: 16 << 20,
    commit_bytes_max: 16 << 20,
    commit_operations_max: 10_000,
    scan_records_max: 10_000,
};

/// What nobody can ask for any more is taken away so often.
const SWEEP: Duration = Duration::from_secs(60);

/// A store in PostgreSQL.
pub struct Postgres {
    /// Connections live here. Callers may be on any thread, with or without a runtime of their own.
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
    committer: Arc<Committer>,
    reader: Arc<Reader>,
    blobs: PostgresBlobs,
    syncs: bool,
    shown: String,
}

struct Shared {
    pool: Arc<Pool>,
    requests: Requests,
    tail: Arc<Tail>,
}

impl Postgres {
    /// Connects, makes the tables if they are not there, and brings those of an earlier version forward.
    pub fn open(address: &Address) -> Result<Postgres, OpenError> {
        let Opened { runtime, pool, committer, reader, tail, requests, syncs } =
            opening::open(address)?;
        let blobs = PostgresBlobs::new(
            runtime.handle().clone(),
            Arc::clone(&pool),
            requests.clone(),
            Arc::clone(&tail),
        );
        let shared = Arc::new(Shared { pool, requests, tail });
        runtime.spawn(Arc::clone(&shared).sweep());
        let (runtime, shown) = (Some(runtime), address.to_string());
        Ok(Postgres { runtime, shared, committer, reader, blobs, syncs, shown })
    }

    /// Runs where the connections are.
    fn within<'a, T: Send + 'static>(
        &'a self,
        request: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Pending<'a, T> {
        Box::pin(async move {
            if self.shared.tail.is_closed() {
                return Err(Error::Closed);
            }
            let runtime = self.runtime.as_ref().ok_or(Error::Closed)?;
            runtime.spawn(request).await.unwrap_or(Err(Error::Closed))
        })
    }

    async fn found(&self, keys: Vec<Key>, at_least: Option<Cursor>) -> Result<reads::Found, Error> {
        if self.shared.tail.is_closed() {
            return Err(Error::Closed);
        }
        let (records, head) = self.reader.read(keys).await?;
        self.shared.tail.reached(head);
        reached(head, at_least)?;
        Ok((records, head))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shown)
    }
}

fn reached(head: u64, at_least: Option<Cursor>) -> Result<(), Error> {
    match at_least {
        Some(cursor) if !cursor.is_within(at(head)) => Err(Error::Ahead(cursor)),
        _ => Ok(()),
    }
}

fn not_read(error: tokio_postgres::Error) -> Error {
    Error::Damaged(told(&error))
}

impl Store for Postgres {
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
        Box::pin(async move {
            let (records, head) = self.found(keys.to_vec(), at_least).await?;
            Ok(Read { records, at: at(head) })
        })
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        let shared = Arc::clone(&self.shared);
        self.within(async move { shared.scan(scan).await })
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        Box::pin(async move {
            commit.validate(&LIMITS)?;
            self.committer.commit(commit).await
        })
    }

    fn outcome(&self, token: Token) -> Pending<'_, Option<Cursor>> {
        let shared = Arc::clone(&self.shared);
        self.within(async move {
            // asked twice, it says the same
            let parameters: &[Parameter<'_>] = &[(&Uuid::from(token), Type::UUID)];
            let rows = shared.pool.ask(&shared.requests.outcome, parameters).await?;
            let position = rows.first().map(|row| row.try_get::<_, Option<i64>>(0));
            let position = position.transpose().map_err(not_read)?.flatten();
            Ok(position.map(|position| at(position as u64)))
        })
    }

    fn clock(&self) -> Pending<'_, Option<u64>> {
        let shared = Arc::clone(&self.shared);
        self.within(async move {
            let rows = shared.pool.ask(CLOCK, &[]).await?;
            let time = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
            Ok(time.map_err(not_read)?.and_then(|ms| u64::try_from(ms).ok()))
        })
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        let shared = Arc::clone(&self.shared);
        self.within(async move { shared.feed(from, limit).await })
    }

    fn changed(&self, after: Cursor) -> Pending<'_, Cursor> {
        Box::pin(self.shared.tail.changed(after))
    }

    fn head(&self, _: Partition) -> Pending<'_, Cursor> {
        Box::pin(async move { Ok(at(self.found(Vec::new(), None).await?.1)) })
    }

    fn trim(&self, below: Cursor) -> Pending<'_, Cursor> {
        let shared = Arc::clone(&self.shared);
        self.within(async move {
            let position = below.position() as i64;
            let parameters: &[Parameter<'_>] = &[(&position, Type::INT8)];
            let rows = shared.pool.ask(&shared.requests.trim, parameters).await?;
            let floor = rows.first().ok_or(Error::Ahead(below))?;
            Ok(at(floor.try_get::<_, i64>(0).map_err(not_read)? as u64))
        })
    }

    fn blobs(&self) -> &dyn Blobs {
        &self.blobs
    }

    fn limits(&self) -> Limits {
        LIMITS
    }

    fn describe(&self) -> Description {
        let durability = match self.syncs {
            true => {
                "answered when PostgreSQL has synced its log; what a standby has is its setting"
            }
            false => "none: `fsync` of this PostgreSQL is off",
        };
        Description {
            name: "postgres",
            ordering: "all commits of all servers are in one order".into(),
            durability: durability.into(),
            partitions: 1,
        }
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            self.committer.close().await;
            self.shared.tail.close();
            self.shared.pool.close();
            Ok(())
        })
    }
}

impl Shared {
    async fn scan(&self, scan: Scan) -> Result<Page, Error> {
        let limit = scan.limit.min(LIMITS.scan_records_max);
        let statement = self.requests.scan(scan.range.end.is_some(), scan.reverse);
        let (start, one_more) = (&*scan.range.start, limit as i64 + 1);
        let end = scan.range.end.as_deref();
        let mut parameters: Vec<Parameter<'_>> =
            vec![(&start, Type::BYTEA), (&one_more, Type::INT8)];
        if scan.range.end.is_some() {
            parameters.push((&end, Type::BYTEA));
        }
        let rows = self.pool.ask(&statement, &parameters).await?;
        let (mut records, head) = reads::records(&rows)?;
        self.tail.reached(head);
        reached(head, scan.at_least)?;
        // both parts of the statement come in one list, whose order nobody promises
        records.sort_by(|(a, _), (b, _)| if scan.reverse { b.cmp(a) } else { a.cmp(b) });
        let more = records.len() > limit;
        records.truncate(limit);
        Ok(Page { records, more, at: at(head) })
    }

    async fn feed(&self, from: Cursor, limit: usize) -> Result<FeedPage, Error> {
        let (after, one_more) =
            (from.position().min(i64::MAX as u64) as i64, limit.max(1) as i64 + 1);
        let parameters: &[Parameter<'_>] = &[(&after, Type::INT8), (&one_more, Type::INT8)];
        let rows = self.pool.ask(&self.requests.feed, parameters).await?;
        let (mut head, mut fed) = (None, Vec::with_capacity(rows.len()));
        for row in &rows {
            let position = row.try_get::<_, i64>(0).map_err(not_read)? as u64;
            match row.try_get::<_, Option<i64>>(1).map_err(not_read)? {
                Some(floor) => head = Some((position, floor as u64)),
                None => fed.push((position, row.try_get::<_, &[u8]>(2).map_err(not_read)?)),
            }
        }
        let (head, floor) =
            head.ok_or_else(|| Error::Damaged("the table `head` has no row".into()))?;
        self.tail.reached(head);
        reached(head, Some(from))?;
        if from.position() < floor {
            return Err(Error::BelowFloor(at(floor)));
        }
        fed.sort_unstable_by_key(|(position, _)| *position);
        let whole = (fed.len() as i64) < one_more;
        let mut left = limit;
        let mut page = FeedPage { commits: Vec::new(), next: at(head) };
        let last = |page: &FeedPage| page.commits.last().map_or(from, |last| last.cursor);
        for (position, packed) in fed {
            let cursor = at(position);
            let entries = unpack(packed)
                .ok_or_else(|| Error::Damaged(format!("the feed at `{cursor}` is no list")))?;
            if !page.commits.is_empty() && entries.len() > left {
                page.next = last(&page);
                return Ok(page);
            }
            left = left.saturating_sub(entries.len());
            page.commits.push(FeedCommit { cursor, entries });
        }
        if !whole {
            page.next = last(&page);
        }
        Ok(page)
    }

    /// Takes away what nobody can ask for any more, for as long as the store is open.
    async fn sweep(self: Arc<Self>) {
        loop {
            sleep(SWEEP).await;
            if self.tail.is_closed() {
                return;
            }
            // what fails now is swept later, and whoever calls meets the same
            while let Ok(rows) = self.pool.ask(&self.requests.sweep, &[]).await {
                let more = rows.first().and_then(|row| row.try_get(0).ok());
                if more != Some(true) || self.tail.is_closed() {
                    break;
                }
            }
            let _ = self.pool.ask(&self.requests.sweep_blobs, &[]).await;
        }
    }
}
