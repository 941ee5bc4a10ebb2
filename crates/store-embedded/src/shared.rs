//! What the store's tasks and those who call it share.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::Waker;

use store::{Decision, Error, Progress, Result, Signal, Surroundings, Ticket, Transaction};

use crate::core::{Core, Phase};
use crate::disk::Disk;
use crate::feed::FeedIndex;
use crate::locks::lock;
use crate::manifest::Manifest;
use crate::options::Options;
use crate::scrubbed::Scrubbed;
use crate::seal::SealFile;
use crate::segment::Segment;
use crate::upkeep::Housekeeping;

#[derive(Debug)]
pub struct Shared {
    pub disk: Arc<dyn Disk>,
    pub directory: PathBuf,
    pub options: Options,
    pub progress: Arc<Progress>,
    pub core: Mutex<Core>,
    /// There is room in the batch or in the log.
    pub room: Signal,
    pub tasks: Tasks,
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

/// What wakes the tasks of a store, once they are there.
#[derive(Debug, Default)]
pub struct Tasks {
    pub committer: OnceLock<Waker>,
    pub segments: OnceLock<Waker>,
    pub snapshots: OnceLock<Waker>,
    pub scrub: OnceLock<Waker>,
}

impl Tasks {
    /// There is something for the committer.
    pub fn wake_committer(&self) {
        wake(&self.committer);
    }

    /// The log has grown by a segment.
    pub fn wake_housekeeping(&self) {
        wake(&self.segments);
        wake(&self.snapshots);
    }

    /// The store is no longer open.
    pub fn wake_all(&self) {
        self.wake_committer();
        self.wake_housekeeping();
        wake(&self.scrub);
    }
}

fn wake(task: &OnceLock<Waker>) {
    if let Some(waker) = task.get() {
        waker.wake_by_ref();
    }
}

impl Shared {
    pub fn surroundings(&self) -> &dyn Surroundings {
        &*self.options.surroundings
    }

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
            self.tasks.wake_committer();
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
            let now = self.surroundings().now();
            let waited = now.since(*since.get_or_insert(now));
            let Some(left) = self.options.busy_after.checked_sub(waited) else {
                return (core, Err(Error::Busy));
            };
            // Asked for while nobody can make room.
            let times = self.room.times();
            drop(core);
            self.surroundings().wait(pin!(self.room.after(times)), Some(left));
            core = self.core();
        }
    }

    /// A write or a sync failed. Nothing more is taken, and whoever waits is told.
    pub fn poison(&self, why: String) {
        let mut core = self.core();
        if matches!(core.phase, Phase::Open | Phase::Closing) {
            core.phase = Phase::Poisoned(why.clone());
        }
        drop(core);
        self.room.ring();
        self.tasks.wake_all();
        self.progress.fail(Error::Poisoned(why));
    }
}
