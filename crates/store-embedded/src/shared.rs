//! What the store's tasks and those who call it share.

use std::future::{poll_fn, ready};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Poll, Waker};
use std::time::Duration;

use store::{
    Decision, Error, Moment, Pending, Progress, Result, Signal, Surroundings, Ticket, Transaction,
    Turn,
};

use crate::core::{Core, Phase};
use crate::disk::Disk;
use crate::feed::FeedIndex;
use crate::locks::lock;
use crate::manifest::Manifest;
use crate::options::Options;
use crate::scrubbed::Scrubbed;
use crate::seal::SealFile;
use crate::segment::Segment;
use crate::turn::EmbeddedTurn;
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

/// What there is to wait for before a commit is added.
enum Awaited {
    /// It is added, or told why it cannot be.
    Nothing(Result<()>),
    /// The signal of room, when it has rung more often; but not for longer.
    Ring { times: u64, left: Duration },
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
        let position = core.transact(&self.options, room, &[], run)?;
        self.wake_committer(core);
        Ok(Ticket::new(position, &self.progress))
    }

    /// Runs the transactions of a group under one lock.
    pub fn turn(&self, run: &mut dyn FnMut(&mut dyn Turn)) -> Result<Ticket> {
        let mut core = self.core();
        core.is_open()?;
        run(&mut EmbeddedTurn { core: &mut core, options: &self.options, places: Vec::new() });
        let position = core.position;
        self.wake_committer(core);
        Ok(Ticket::new(position, &self.progress))
    }

    /// It is woken when it waits for as many commits as there are now.
    fn wake_committer(&self, mut core: MutexGuard<'_, Core>) {
        if core.committer_waits && core.commits() >= core.commits_wanted {
            core.committer_waits = false;
            self.tasks.wake_committer();
        }
    }

    /// The state, and whether a commit may be added. Holds up whoever calls this while it waits for
    /// room.
    fn with_room(&self) -> (MutexGuard<'_, Core>, Result<()>) {
        let mut since = None;
        loop {
            let core = self.core();
            let (times, left) = match self.awaited(&core, &mut since) {
                Awaited::Nothing(room) => return (core, room),
                Awaited::Ring { times, left } => (times, left),
            };
            drop(core);
            self.surroundings().wait(pin!(self.room.after(times)), Some(left));
        }
    }

    /// Ready when there is room for a commit, or tells why there will be none soon. None: there is
    /// nothing to wait for.
    pub fn room(&self) -> Option<Pending<'_, ()>> {
        let mut since = None;
        let awaited = self.awaited(&self.core(), &mut since);
        let (mut times, mut left) = match awaited {
            Awaited::Nothing(Ok(())) => return None,
            Awaited::Nothing(none) => return Some(Box::pin(ready(none))),
            Awaited::Ring { times, left } => (times, left),
        };
        Some(Box::pin(async move {
            loop {
                let mut over = self.surroundings().sleep(left);
                let mut rung = pin!(self.room.after(times));
                poll_fn(|context| match rung.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(()),
                    Poll::Pending => over.as_mut().poll(context),
                })
                .await;
                let awaited = self.awaited(&self.core(), &mut since);
                match awaited {
                    Awaited::Nothing(room) => return room,
                    Awaited::Ring { times: again, left: rest } => (times, left) = (again, rest),
                }
            }
        }))
    }

    /// What there is to wait for before a commit is added.
    fn awaited(&self, core: &Core, since: &mut Option<Moment>) -> Awaited {
        let room = core.room_for_commit(&self.options);
        if core.phase != Phase::Open {
            return Awaited::Nothing(Ok(()));
        }
        if room != Err(Error::Busy) {
            return Awaited::Nothing(room);
        }
        let now = self.surroundings().now();
        let waited = now.since(*since.get_or_insert(now));
        match self.options.busy_after.checked_sub(waited) {
            None => Awaited::Nothing(room),
            // Asked for while nobody can make room.
            Some(left) => Awaited::Ring { times: self.room.times(), left },
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
