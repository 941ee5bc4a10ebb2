//! A store in memory that speaks only the contract which stores across a network can keep, with
//! what a network does: delays, others who are faster, answers that are lost. For tests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::blob::Blobs;
use crate::commit::Commit;
use crate::contract::{Description, FeedPage, Page, Scan, Store};
use crate::cursor::{Cursor, Partition};
use crate::error::Error;
use crate::key::Key;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::pending::Pending;
use crate::record::Record;
use crate::seeded::Seeded;
use crate::surroundings::{Surroundings, real_surroundings};

/// What goes wrong, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Before and after each request, by chance; one in ten takes so long.
    pub delay_us_max: u64,
    /// Commits that somebody else seems to have been faster than: nothing is written.
    pub conflicts_percent: u64,
    /// Commits whose answer is lost: half of them are written.
    pub lost_percent: u64,
}

pub struct Distant {
    surroundings: Arc<dyn Surroundings>,
    memory: Memory,
    faults: Mutex<Faults>,
    seeded: Mutex<Seeded>,
}

impl Distant {
    pub fn new(seed: u64, faults: Faults) -> Self {
        Distant::within(real_surroundings(), seed, faults)
    }

    /// The same, in surroundings of one's own.
    pub fn within(surroundings: Arc<dyn Surroundings>, seed: u64, faults: Faults) -> Self {
        Distant {
            surroundings,
            memory: Memory::new(),
            faults: Mutex::new(faults),
            seeded: Mutex::new(Seeded::new(seed)),
        }
    }

    /// From now on.
    pub fn set_faults(&self, faults: Faults) {
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner) = faults;
    }

    fn faults(&self) -> Faults {
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn percent(&self, share: u64) -> bool {
        self.seeded.lock().unwrap_or_else(PoisonError::into_inner).percent(share)
    }

    async fn delay(&self) {
        let us = {
            let mut seeded = self.seeded.lock().unwrap_or_else(PoisonError::into_inner);
            let long = seeded.percent(10);
            if long { seeded.below(self.faults().delay_us_max + 1) } else { 0 }
        };
        if us > 0 {
            self.surroundings.sleep(Duration::from_micros(us)).await;
        }
    }

    fn delayed<'a, T: Send + 'a>(&'a self, pending: Pending<'a, T>) -> Pending<'a, T> {
        Box::pin(async move {
            self.delay().await;
            let answer = pending.await;
            self.delay().await;
            answer
        })
    }
}

impl Store for Distant {
    fn read<'a>(
        &'a self,
        keys: &'a [Key],
        at_least: Option<Cursor>,
    ) -> Pending<'a, Vec<Option<Record>>> {
        Box::pin(async move {
            self.delay().await;
            let answer = self.memory.read(keys, at_least).await;
            self.delay().await;
            answer
        })
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        Box::pin(async move {
            self.delay().await;
            let answer = self.memory.scan(scan).await;
            self.delay().await;
            answer
        })
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        Box::pin(async move {
            self.delay().await;
            if let Some(check) = commit.checks.first()
                && self.percent(self.faults().conflicts_percent)
            {
                return Err(Error::Conflict(check.key.clone()));
            }
            let lost = !commit.only_checks() && self.percent(self.faults().lost_percent);
            if lost && self.percent(50) {
                return Err(Error::Unknown("the request was lost".into()));
            }
            let answer = self.memory.commit(commit).await;
            self.delay().await;
            match answer {
                Ok(_) if lost => Err(Error::Unknown("the answer was lost".into())),
                answer => answer,
            }
        })
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        self.delayed(self.memory.feed(from, limit))
    }

    fn changed(&self, after: Cursor) -> Pending<'_, Cursor> {
        self.memory.changed(after)
    }

    fn head(&self, partition: Partition) -> Pending<'_, Cursor> {
        self.delayed(self.memory.head(partition))
    }

    fn trim(&self, below: Cursor) -> Pending<'_, Cursor> {
        self.memory.trim(below)
    }

    fn blobs(&self) -> &dyn Blobs {
        self.memory.blobs()
    }

    fn limits(&self) -> Limits {
        self.memory.limits()
    }

    fn describe(&self) -> Description {
        Description { name: "distant", ..self.memory.describe() }
    }

    fn close(&self) -> Pending<'_, ()> {
        self.memory.close()
    }
}
