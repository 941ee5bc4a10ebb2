//! A store in memory that speaks only the contract which stores across a network can keep, with
//! what a network does: delays, others who are faster, answers that are lost. For tests.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::blob::Blobs;
use crate::commit::{Commit, Token};
use crate::contract::{Description, FeedPage, Page, Read, Scan, Store};
use crate::cursor::{Cursor, Partition};
use crate::error::Error;
use crate::key::Key;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::pending::Pending;
use crate::seeded::Seeded;
use crate::surroundings::{Surroundings, real_surroundings};

/// As few keys in one commit as any engine takes that a store is planned for.
const OPERATIONS_MAX: usize = 100;
/// Of the commits that arrive, so many find that one which was on its way for long has just arrived.
const LATE_PERCENT: u64 = 30;

/// What goes wrong, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Before and after each request, by chance; one in ten takes so long.
    pub delay_us_max: u64,
    /// Commits that somebody else seems to have been faster than: nothing is written.
    pub conflicts_percent: u64,
    /// Commits whose answer is lost: a third of them is written, a third never arrives, and a third arrives later,
    /// when whoever sent it has long given it up.
    pub lost_percent: u64,
}

pub struct Distant {
    surroundings: Arc<dyn Surroundings>,
    memory: Memory,
    faults: Mutex<Faults>,
    seeded: Mutex<Seeded>,
    /// Requests that are still on their way.
    late: Mutex<Vec<Commit>>,
    lost: AtomicU64,
    clock_ahead_ms: AtomicI64,
    commit_operations_max: usize,
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
            late: Mutex::default(),
            lost: AtomicU64::new(0),
            clock_ahead_ms: AtomicI64::new(0),
            commit_operations_max: OPERATIONS_MAX,
        }
    }

    /// The same, but it takes so many keys in one commit.
    pub fn with_operations_max(self, commit_operations_max: usize) -> Self {
        Distant { commit_operations_max, ..self }
    }

    /// From now on the store's own clock is so much ahead of everybody else's.
    pub fn set_clock_ahead(&self, ms: i64) {
        self.clock_ahead_ms.store(ms, Ordering::Release);
    }

    /// Answers to commits that were lost so far.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// The newest cursor, told at once to whoever watches from beside the network.
    pub fn newest(&self, partition: Partition) -> Cursor {
        self.memory.newest(partition)
    }

    /// What was still on its way arrives. Nobody hears what became of it.
    pub async fn arrive(&self) {
        let arrived =
            std::mem::take(&mut *self.late.lock().unwrap_or_else(PoisonError::into_inner));
        for commit in arrived {
            let _ = self.memory.commit(commit).await;
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
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
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
            commit.validate(&self.limits())?;
            if self.percent(LATE_PERCENT) {
                self.arrive().await;
            }
            let lost = !commit.only_checks() && self.percent(self.faults().lost_percent);
            if lost {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
            if lost && self.percent(67) {
                if self.percent(50) {
                    self.late.lock().unwrap_or_else(PoisonError::into_inner).push(commit);
                }
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

    fn outcome(&self, token: Token) -> Pending<'_, Option<Cursor>> {
        Box::pin(async move {
            self.delay().await;
            if self.percent(self.faults().lost_percent) {
                return Err(Error::Unavailable("the question was lost".into()));
            }
            self.memory.outcome(token).await
        })
    }

    fn clock(&self) -> Pending<'_, Option<u64>> {
        Box::pin(async move {
            self.delay().await;
            let ahead = self.clock_ahead_ms.load(Ordering::Acquire);
            Ok(Some(self.surroundings.time_ms().saturating_add_signed(ahead)))
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
        Limits { commit_operations_max: self.commit_operations_max, ..self.memory.limits() }
    }

    fn describe(&self) -> Description {
        Description { name: "distant", ..self.memory.describe() }
    }

    fn close(&self) -> Pending<'_, ()> {
        self.memory.close()
    }
}
