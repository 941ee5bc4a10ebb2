//! The store itself: opened, used through the contract, closed.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Waker;

use bytes::Bytes;
use store::{
    Commit, Cursor, Decision, Error as StoreError, Expected, Key, Page, Record, Scan, Step, Store,
    Task, Ticket, Write,
};

use crate::backup;
use crate::blobs::EmbeddedBlobs;
use crate::building;
use crate::committer::Committer;
use crate::core::{Core, Phase};
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::housekeeping;
use crate::locks::lock;
use crate::opening;
use crate::options::{Options, SCAN_RECORDS_MAX};
use crate::position::at;
use crate::scrub::Scrubber;
use crate::shared::Shared;
use crate::snapshot;

/// With so many times the log that a snapshot is worth, one is written before the store serves: it
/// may not live long enough to do so later.
const OVERDUE: u64 = 4;

/// A store in a directory of its own.
#[derive(Debug)]
pub struct Embedded {
    pub(crate) shared: Arc<Shared>,
    pub(crate) blobs: EmbeddedBlobs,
    tasks: Mutex<Vec<Task>>,
    lock: Mutex<Option<Box<dyn Any + Send + Sync>>>,
    cut_bytes: u64,
    notes: Vec<String>,
}

/// What an operator may want to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    pub records: u64,
    /// Of keys and values.
    pub record_bytes: u64,
    /// Written to the log since the store was opened.
    pub log_bytes: u64,
    /// The newest snapshot holds everything up to here.
    pub snapshot_position: u64,
    /// Of a batch that was never acknowledged, cut off when the store was opened.
    pub cut_bytes: u64,
}

impl Embedded {
    /// Opens the store in a directory, and makes one where there is none.
    pub fn open(directory: impl Into<PathBuf>, options: Options) -> Result<Self> {
        Embedded::open_on(Arc::new(RealDisk), directory, options)
    }

    /// Opens a store on a disk of one's own.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        directory: impl Into<PathBuf>,
        options: Options,
    ) -> Result<Self> {
        let directory = directory.into();
        disk.create_directory(&directory).map_err(Error::io("create", &directory))?;
        let lock_path = directory.join("lock");
        let held = disk.lock(&lock_path).map_err(Error::io("lock", &lock_path))?;
        let held = held.ok_or_else(|| Error::Locked(directory.clone()))?;
        building::is_finished(&*disk, &directory)?;
        Embedded::open_locked(disk, directory, options, held)
    }

    /// Opens a directory whose lock one has, also if what it holds is still to be read back.
    pub(crate) fn open_locked(
        disk: Arc<dyn Disk>,
        directory: PathBuf,
        options: Options,
        held: Box<dyn Any + Send + Sync>,
    ) -> Result<Self> {
        let (shared, opening::Found { blobs, cut_bytes, notes }) =
            opening::open(disk, directory, options)?;
        let shared = Arc::new(shared);
        if lock(&shared.housekeeping).is_due(0, &shared.options, OVERDUE) {
            // Should it fail, everything is there all the same, and it is tried again.
            let _ = snapshot::take(&shared);
        }
        let (tasks, lock) = (Mutex::default(), Mutex::new(Some(held)));
        let store = Embedded { shared, blobs, tasks, lock, cut_bytes, notes };
        store.spawn_tasks()?;
        Ok(store)
    }

    /// What happens beside those who call.
    fn spawn_tasks(&self) -> Result<()> {
        let shared = || Arc::clone(&self.shared);
        let tasks = &self.shared.tasks;
        let mut committer = Committer::new(shared());
        self.spawn("store-committer", &tasks.committer, Box::new(move || committer.step()))?;
        let segments = shared();
        let step = move || housekeeping::prepare_segment(&segments);
        self.spawn("store-segments", &tasks.segments, Box::new(step))?;
        let snapshots = shared();
        let step = move || housekeeping::write_snapshot(&snapshots);
        self.spawn("store-snapshots", &tasks.snapshots, Box::new(step))?;
        let mut scrubber = Scrubber::new(shared());
        self.spawn("store-scrub", &tasks.scrub, Box::new(move || scrubber.step()))
    }

    fn spawn(&self, name: &str, waker: &OnceLock<Waker>, step: Step) -> Result<()> {
        let task = self.shared.surroundings().spawn(name, step);
        let task = task.map_err(Error::io("serve", Path::new(name)))?;
        waker.set(task.waker().clone()).expect("each task is spawned once");
        lock(&self.tasks).push(task);
        Ok(())
    }

    /// What was mended when it was opened, for a person to read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Writes a snapshot now, and removes the part of the log that is not needed any more.
    pub fn snapshot(&self) -> Result<()> {
        snapshot::take(&self.shared)
    }

    /// Copies the store into an empty directory while it serves, or adds to the backup that is
    /// there. The copy holds every commit that was answered before the call.
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<()> {
        backup::write(&self.shared, &self.blobs, to.as_ref())
    }

    /// Names this store: one that is restored from a backup has another name.
    pub fn lineage(&self) -> String {
        lock(&self.shared.manifest).store.to_string()
    }

    pub fn statistics(&self) -> Statistics {
        let snapshot_position = self.shared.snapshot_position.load(Ordering::Acquire);
        let core = self.shared.core();
        Statistics {
            records: core.map.len() as u64,
            record_bytes: core.map.bytes(),
            log_bytes: core.log_bytes,
            snapshot_position,
            cut_bytes: self.cut_bytes,
        }
    }

    pub(crate) fn close_now(&self) -> store::Result<()> {
        let mut core = self.shared.core();
        if core.phase == Phase::Open {
            core.phase = Phase::Closing;
        }
        drop(core);
        self.shared.room.ring();
        self.shared.tasks.wake_all();
        // Taken first: whoever waits for a task must not hold what others need meanwhile.
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        tasks.into_iter().for_each(Task::join);
        let mut core = self.shared.core();
        let outcome = match &core.phase {
            Phase::Poisoned(why) => Err(StoreError::Poisoned(why.clone())),
            _ => Ok(()),
        };
        core.phase = Phase::Closed;
        drop(core);
        self.shared.progress.fail(StoreError::Closed);
        lock(&self.lock).take();
        outcome
    }

    /// The records under these keys, and the position that must be durable before they are shown.
    pub(crate) fn read_now(
        &self,
        keys: &[Key],
        at_least: Option<Cursor>,
    ) -> store::Result<(Vec<Option<Record>>, u64)> {
        let core = self.readable(at_least)?;
        let mut seen = 0;
        let records = keys.iter().map(|key| match core.map.get(key) {
            Some((version, value)) => {
                seen = seen.max(version.0);
                Some(Record { version, value: Bytes::copy_from_slice(value) })
            }
            None => {
                // It may have been deleted by the newest commit.
                seen = core.position;
                None
            }
        });
        let records = records.collect();
        Ok((records, seen))
    }

    pub(crate) fn scan_now(&self, scan: &Scan) -> store::Result<(Page, u64)> {
        let core = self.readable(scan.at_least)?;
        let limit = scan.limit.min(SCAN_RECORDS_MAX);
        let mut page = Page::empty(at(core.position));
        let mut records = core.map.range(&scan.range);
        loop {
            let next = if scan.reverse { records.next_back() } else { records.next() };
            let Some((key, version, value)) = next else { break };
            page.more = page.records.len() == limit;
            if page.more {
                break;
            }
            let record = Record { version, value: Bytes::copy_from_slice(value) };
            page.records.push((key.into(), record));
        }
        Ok((page, core.position))
    }

    pub(crate) fn readable(
        &self,
        at_least: Option<Cursor>,
    ) -> store::Result<std::sync::MutexGuard<'_, Core>> {
        let core = self.shared.core();
        if matches!(core.phase, Phase::Closing | Phase::Closed) {
            return Err(StoreError::Closed);
        }
        match at_least {
            Some(cursor) if !cursor.is_within(at(core.position)) => Err(StoreError::Ahead(cursor)),
            _ => Ok(core),
        }
    }

    /// Answers with a ticket, and the key that conflicts. The conflict counts when the ticket does.
    pub(crate) fn commit_now(&self, commit: &Commit) -> store::Result<(Ticket, Option<Key>)> {
        commit.validate(&self.limits())?;
        let mut conflict = None;
        let ticket = self.shared.transact(&mut |transaction| {
            let broken = commit.checks.iter().find(|check| {
                let found = transaction.get(&check.key).map(|(version, _)| version);
                match check.expected {
                    Expected::Absent => found.is_some(),
                    Expected::Version(version) => found != Some(version),
                }
            });
            if let Some(check) = broken {
                conflict = Some(check.key.clone());
                return Decision::Abandon;
            }
            for write in &commit.writes {
                match write {
                    Write::Put(key, value) => transaction.put(key, value),
                    Write::Delete(key) => transaction.delete(key),
                }
            }
            commit.feed.iter().for_each(|entry| transaction.feed(entry));
            Decision::Commit
        })?;
        Ok((ticket, conflict))
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        // Whoever wants to know how it went calls `close`.
        let _ = self.close_now();
    }
}
