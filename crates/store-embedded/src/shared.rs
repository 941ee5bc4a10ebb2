//! What the store's threads share.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use store::{Cursor, Decision, Error, Partition, Progress, Result, Ticket, Transaction};

use crate::core::{Core, Phase};
use crate::disk::Disk;
use crate::feed::FeedIndex;
use crate::housekeeping::Housekeeping;
use crate::manifest::Manifest;
use crate::options::Options;
use crate::scrub::Scrubbed;
use crate::seal::SealFile;
use crate::segment::Segment;

#[derive(Debug)]
pub struct Shared {
    pub disk: Arc<dyn Disk>,
    pub directory: PathBuf,
    pub options: Options,
    pub progress: Arc<Progress>,
    pub core: Mutex<Core>,
    /// There is something for the committer.
    pub work: Condvar,
    /// There is room in the batch or in the log.
    pub room: Condvar,
    /// There is something for the threads that prepare segments and write snapshots.
    pub chores: Condvar,
    pub feed: Mutex<FeedIndex>,
    /// Held by whoever writes a snapshot, removes files or copies them, for as long as that takes.
    /// Nothing that a commit waits for may wait for it.
    pub housekeeping: Mutex<Housekeeping>,
    /// The list as it is on disk. Held while it is written anew.
    pub manifest: Mutex<Manifest>,
    /// Only the committer writes to it.
    pub seals: Mutex<SealFile>,
    /// The newest snapshot holds every commit up to here.
    pub snapshot_position: AtomicU64,
    /// The feed need not go back further.
    pub trimmed: AtomicU64,
    /// Why the last snapshot could not be written.
    pub snapshot_trouble: Mutex<Option<String>>,
    pub scrubbed: Mutex<Option<Scrubbed>>,
    /// Old segments, to be used again.
    pub old: Mutex<Vec<Segment>>,
}

/// A panic in a transaction leaves the state as it was before, so the lock stays good.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn at(position: u64) -> Cursor {
    Cursor::at(Partition::default(), position)
}

impl Shared {
    pub fn core(&self) -> MutexGuard<'_, Core> {
        lock(&self.core)
    }

    pub fn transact(
        &self,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Result<Ticket> {
        let (mut core, room) = self.with_room();
        core.is_open()?;
        let position = core.transact(&self.options, room, run)?;
        if core.committer_waits && core.commits() >= core.commits_wanted {
            core.committer_waits = false;
            self.work.notify_one();
        }
        drop(core);
        Ok(Ticket::new(position, &self.progress))
    }

    /// The state, and whether a commit may be added. Waits a while for room.
    fn with_room(&self) -> (MutexGuard<'_, Core>, Result<()>) {
        let mut core = self.core();
        let mut since = None;
        loop {
            let has_room = core.has_room(&self.options);
            if core.phase != Phase::Open || has_room && !core.is_crowded(&self.options) {
                return (core, Ok(()));
            }
            if let Some(why) = core.full.clone().filter(|_| !has_room) {
                return (core, Err(Error::Full(why)));
            }
            let waited = since.get_or_insert_with(Instant::now).elapsed();
            let Some(left) = self.options.busy_after.checked_sub(waited) else {
                return (core, Err(Error::Busy));
            };
            let woken = self.room.wait_timeout(core, left);
            core = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A write or a sync failed. Nothing more is taken, and whoever waits is told.
    pub fn poison(&self, why: String) {
        let mut core = self.core();
        if matches!(core.phase, Phase::Open | Phase::Closing) {
            core.phase = Phase::Poisoned(why.clone());
        }
        drop(core);
        self.room.notify_all();
        self.chores.notify_all();
        self.progress.fail(Error::Poisoned(why));
    }
}
