//! The embedded store as the contract wants it.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use store::{
    Blobs, Commit, Cursor, Decision, Description, Error as StoreError, FeedPage, Key, Limits,
    LocalStore, Page, Partition, Pending, Progress, Read, Scan, Store, Ticket, Transaction,
};

use crate::embedded::Embedded;
use crate::housekeeping;
use crate::locks::lock;
use crate::options::{KEY_BYTES_MAX, SCAN_RECORDS_MAX};
use crate::position::at;

impl Store for Embedded {
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
        Box::pin(async move {
            let (records, seen) = self.read_now(keys, at_least)?;
            self.shared.progress.wait_for(seen).await?;
            // Nothing that was read has changed between `seen` and when it was read.
            let asked = at_least.map_or(0, Cursor::position);
            Ok(Read { records, at: at(seen.max(asked)) })
        })
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        Box::pin(async move {
            let (page, seen) = self.scan_now(&scan)?;
            self.shared.progress.wait_for(seen).await?;
            Ok(page)
        })
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        Box::pin(async move {
            let (ticket, conflict) = self.commit_now(&commit)?;
            ticket.durable().await?;
            conflict.map_or_else(|| Ok(ticket.cursor()), |key| Err(StoreError::Conflict(key)))
        })
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        let checked = self.readable(Some(from)).map(drop);
        Box::pin(ready(checked.and_then(|()| self.shared.read_feed(from.position(), limit))))
    }

    fn changed(&self, after: Cursor) -> Pending<'_, Cursor> {
        let news = self.shared.progress.wait_for(after.position() + 1);
        Box::pin(async move {
            news.await?;
            Ok(at(self.shared.progress.durable()))
        })
    }

    fn head(&self, _: Partition) -> Pending<'_, Cursor> {
        Box::pin(ready(Ok(at(self.shared.progress.durable()))))
    }

    fn trim(&self, below: Cursor) -> Pending<'_, Cursor> {
        Box::pin(async move {
            drop(self.readable(Some(below))?);
            self.shared.trimmed.fetch_max(below.position(), Ordering::AcqRel);
            // While a snapshot is written this has to wait, and is done at its end.
            if let Ok(mut housekeeping) = self.shared.housekeeping.try_lock() {
                housekeeping::remove_segments(&self.shared, &mut housekeeping)?;
            }
            let floor = lock(&self.shared.feed).floor();
            Ok(at(floor))
        })
    }

    fn blobs(&self) -> &dyn Blobs {
        &self.blobs
    }

    fn limits(&self) -> Limits {
        Limits {
            key_bytes_max: KEY_BYTES_MAX.min(self.shared.options.commit_bytes_max),
            value_bytes_max: self.shared.options.commit_bytes_max,
            commit_bytes_max: self.shared.options.commit_bytes_max,
            // What is in memory is as large as it is: only the bytes are limited.
            commit_operations_max: usize::MAX,
            scan_records_max: SCAN_RECORDS_MAX,
        }
    }

    fn describe(&self) -> Description {
        Description {
            name: "embedded",
            ordering: "all commits are in one order, that of the log".into(),
            durability: "every commit is written to the log and synced before it is answered; \
                         reads wait until what they saw is synced"
                .into(),
            partitions: 1,
        }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move { self.close_now() })
    }
}

impl LocalStore for Embedded {
    fn transact(
        &self,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> store::Result<Ticket> {
        self.shared.transact(run)
    }

    fn progress(&self) -> &Arc<Progress> {
        &self.shared.progress
    }
}
