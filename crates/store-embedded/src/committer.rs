//! The task that writes batches to the log, one sync for each, while the next one fills.

use std::io;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use store::{Moment, Next};

use crate::core::{Batch, Core, Phase, Taken};
use crate::feed::Wrote;
use crate::frame::{self, LastFrame, Stamp};
use crate::locks::lock;
use crate::seal::Seal;
use crate::shared::Shared;

/// Those who were just answered may come again within this share of what a sync takes. Waiting for
/// them makes one sync of two.
const GATHER_SHARE: u32 = 10;
const GATHER_MAX: Duration = Duration::from_micros(500);

#[derive(Debug)]
pub struct Committer {
    shared: Arc<Shared>,
    gather: Gather,
    last: LastFrame,
    /// Since when there is nothing to write.
    idle_since: Option<Moment>,
    /// A batch that is durable, and nobody knows yet.
    synced: Option<Synced>,
}

#[derive(Debug)]
struct Synced {
    batch: Batch,
    wrote: Wrote,
    begun: Moment,
}

/// How many were answered last, how many are hoped for next, and how long they are waited for.
#[derive(Debug, Default)]
struct Gather {
    answered: u32,
    /// Known when the batch was looked at after those were answered.
    wanted: Option<u32>,
    until: Option<Moment>,
}

impl Gather {
    /// How much longer to wait, when so many commits are there.
    fn left(&self, now: Moment, commits: u32, wanted: u32) -> Option<Duration> {
        let left = self.until?.since(now);
        (commits < wanted && !left.is_zero()).then_some(left)
    }
}

enum Work {
    Batch(Taken),
    /// Everything is durable: it is written down how far.
    Seal,
}

impl Committer {
    pub fn new(shared: Arc<Shared>) -> Self {
        let last = shared.core().last_frame;
        Committer { shared, gather: Gather::default(), last, idle_since: None, synced: None }
    }

    /// Writes a batch or a seal, if it is time for one; the step after that answers the batch. Ends when the store is
    /// closed or a write fails.
    ///
    /// These are two steps because the next batch fills meanwhile: whoever simulates this lets others go on in between.
    pub fn step(&mut self) -> Next {
        if let Some(synced) = self.synced.take() {
            self.answer(synced);
            return Next::Now;
        }
        let work = match self.next() {
            Ok(work) => work,
            Err(next) => return next,
        };
        let begun = self.shared.surroundings().now();
        let done = match work {
            Work::Batch(taken) => {
                let written = write_batch(&self.shared, taken, &mut self.last);
                written.map(|(batch, wrote)| self.synced = Some(Synced { batch, wrote, begun }))
            }
            Work::Seal => {
                let written = write_seal(&self.shared);
                self.rest(0, begun);
                written
            }
        };
        if let Err(error) = done {
            self.shared.poison(error.to_string());
            return Next::Ended;
        }
        Next::Now
    }

    /// Whoever waits for this batch may go on.
    fn answer(&mut self, synced: Synced) {
        let Synced { batch, wrote, begun } = synced;
        let (shared, answered) = (&*self.shared, batch.count);
        let last = wrote.next - 1;
        lock(&shared.feed).wrote(wrote);
        shared.core().give_back(batch.bytes);
        shared.progress.advance(last);
        self.rest(answered, begun);
    }

    /// So many were answered by what began then: they are waited for in proportion to what it took.
    fn rest(&mut self, answered: u32, begun: Moment) {
        let now = self.shared.surroundings().now();
        let patience = (now.since(begun) / GATHER_SHARE).min(GATHER_MAX);
        self.gather = Gather { answered, wanted: None, until: Some(now + patience) };
    }

    /// What is to be done now, or when to look again. Nothing more comes when the store is closed.
    fn next(&mut self) -> Result<Work, Next> {
        let shared = &*self.shared;
        let now = shared.surroundings().now();
        let mut core = shared.core();
        core.committer_waits = false;
        // Those who came while the last batch was synced, and those it answered.
        let all = || core.commits().saturating_add(self.gather.answered).max(1);
        let all = *self.gather.wanted.get_or_insert_with(all);
        let open = core.phase == Phase::Open;
        if core.has_batch() {
            self.idle_since = None;
            let crowded = core.is_crowded(&shared.options);
            let left = self.gather.left(now, core.commits(), all);
            let Some(left) = left.filter(|_| open && !crowded) else {
                return Ok(take(shared, core));
            };
            core.committer_waits = true;
            core.commits_wanted = all;
            return Err(Next::After(left));
        }
        if !open {
            return if std::mem::take(&mut core.unsealed) {
                Ok(Work::Seal)
            } else {
                Err(Next::Ended)
            };
        }
        let mut next = Next::Woken;
        if core.unsealed {
            let rested = now.since(*self.idle_since.get_or_insert(now));
            match shared.options.seal_after.checked_sub(rested) {
                None | Some(Duration::ZERO) => {
                    core.unsealed = false;
                    self.idle_since = None;
                    return Ok(Work::Seal);
                }
                Some(left) => next = Next::After(left),
            }
        }
        core.committer_waits = true;
        core.commits_wanted = 1;
        Err(next)
    }
}

fn take(shared: &Shared, mut core: MutexGuard<'_, Core>) -> Work {
    let taken = core.take();
    drop(core);
    shared.room.ring();
    if taken.begins_segment {
        lock(&shared.feed).begin(Arc::clone(&taken.segment), taken.batch.first);
        shared.tasks.wake_housekeeping();
    }
    Work::Batch(taken)
}

/// When this returns, the batch is durable.
fn write_batch(shared: &Shared, taken: Taken, last: &mut LastFrame) -> io::Result<(Batch, Wrote)> {
    let Taken { mut batch, segment, offset, .. } = taken;
    // Log time never goes back, whatever the clock does.
    let time_ms = shared.surroundings().time_ms().max(last.time_ms);
    let Batch { first, count, .. } = batch;
    let stamp = Stamp { first, count, time_ms, previous: last.checksum };
    let checksum = frame::complete(&mut batch.bytes, segment.kind, stamp);
    segment.file.write_at(offset, &batch.bytes)?;
    segment.file.sync()?;
    *last = LastFrame { checksum, time_ms };
    let (next, bytes) = (batch.last() + 1, batch.bytes.len() as u64);
    Ok((batch, Wrote { first, next, offset, bytes, checksum }))
}

/// Everything that was written is durable, or this task would have ended.
fn write_seal(shared: &Shared) -> io::Result<()> {
    let sealed = lock(&shared.feed).extents().last().map(|(segment, held, _)| Seal {
        segment: segment.number,
        end: held.end,
        next: held.next,
        checksum: held.checksum,
    });
    sealed.map_or(Ok(()), |seal| lock(&shared.seals).write(seal))
}
