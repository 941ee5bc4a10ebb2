//! The thread that writes batches to the log, one sync for each, while the next one fills.

use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::core::{Batch, Core, Phase, Taken};
use crate::feed::Wrote;
use crate::frame::{self, Stamp};
use crate::seal::Seal;
use crate::shared::{Shared, lock};

/// Those who were just answered may come again within this share of what a sync takes. Waiting for
/// them makes one sync of two.
const GATHER_SHARE: u32 = 10;
const GATHER_MAX: Duration = Duration::from_micros(500);

/// Runs until the store is closed or a write fails.
pub fn run(shared: &Shared) {
    let mut gather = Gather::default();
    let mut last = shared.core().last_frame;
    while let Some(work) = next(shared, &gather) {
        let begun = Instant::now();
        let answered = match &work {
            Work::Batch(taken) => taken.batch.count,
            Work::Seal => 0,
        };
        let done = match work {
            Work::Batch(taken) => write_batch(shared, taken, &mut last),
            Work::Seal => write_seal(shared),
        };
        if let Err(error) = done {
            shared.poison(error.to_string());
            return;
        }
        let patience = (begun.elapsed() / GATHER_SHARE).min(GATHER_MAX);
        gather = Gather { answered, until: Some(Instant::now() + patience) };
    }
}

/// How many were answered last, and how long they are waited for.
#[derive(Default)]
struct Gather {
    answered: u32,
    until: Option<Instant>,
}

impl Gather {
    /// How much longer to wait, when so many commits are there.
    fn left(&self, commits: u32, wanted: u32) -> Option<Duration> {
        let left = self.until?.checked_duration_since(Instant::now())?;
        (commits < wanted && !left.is_zero()).then_some(left)
    }
}

enum Work {
    Batch(Taken),
    /// Everything is durable: it is written down how far.
    Seal,
}

/// The frame that was written last: the next one refers to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastFrame {
    pub checksum: u32,
    pub time_ms: u64,
}

/// Waits for work; nothing more comes when the store is closed.
fn next(shared: &Shared, gather: &Gather) -> Option<Work> {
    let mut core = shared.core();
    // Those who came while the last batch was synced, and those it answered.
    let all = core.commits().saturating_add(gather.answered).max(1);
    loop {
        let open = core.phase == Phase::Open;
        let crowded = core.is_crowded(&shared.options);
        let rest = if core.has_batch() {
            match gather.left(core.commits(), all).filter(|_| open && !crowded) {
                Some(left) => Some(left),
                None => return Some(take(shared, core)),
            }
        } else if !open {
            return std::mem::take(&mut core.unsealed).then_some(Work::Seal);
        } else {
            core.unsealed.then_some(shared.options.seal_after)
        };
        let gathers = core.has_batch();
        core.committer_waits = true;
        core.commits_wanted = if gathers { all } else { 1 };
        let timed_out;
        (core, timed_out) = sleep(shared, core, rest);
        core.committer_waits = false;
        if timed_out && !core.has_batch() && std::mem::take(&mut core.unsealed) {
            return Some(Work::Seal);
        }
    }
}

/// Sleeps until woken, or for so long, and says whether that was it.
fn sleep<'a>(
    shared: &'a Shared,
    core: MutexGuard<'a, Core>,
    rest: Option<Duration>,
) -> (MutexGuard<'a, Core>, bool) {
    match rest {
        None => (shared.work.wait(core).unwrap_or_else(PoisonError::into_inner), false),
        Some(rest) => {
            let woken = shared.work.wait_timeout(core, rest);
            let (core, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
            (core, timeout.timed_out())
        }
    }
}

fn take(shared: &Shared, mut core: MutexGuard<'_, Core>) -> Work {
    let taken = core.take();
    drop(core);
    shared.room.notify_all();
    if taken.begins_segment {
        lock(&shared.feed).begin(Arc::clone(&taken.segment), taken.batch.first);
        shared.chores.notify_all();
    }
    Work::Batch(taken)
}

fn write_batch(shared: &Shared, taken: Taken, last: &mut LastFrame) -> io::Result<()> {
    let Taken { mut batch, segment, offset, .. } = taken;
    // Log time never goes back, whatever the clock does.
    let time_ms = now_ms().max(last.time_ms);
    let Batch { first, count, .. } = batch;
    let stamp = Stamp { first, count, time_ms, previous: last.checksum };
    let checksum = frame::complete(&mut batch.bytes, segment.kind, stamp);
    segment.file.write_at(offset, &batch.bytes)?;
    segment.file.sync()?;
    *last = LastFrame { checksum, time_ms };
    let (next, bytes) = (batch.last() + 1, batch.bytes.len() as u64);
    lock(&shared.feed).wrote(Wrote { first, next, offset, bytes, checksum });
    shared.core().give_back(batch.bytes);
    shared.progress.advance(next - 1);
    Ok(())
}

/// Everything that was written is durable, or this thread would not be here.
fn write_seal(shared: &Shared) -> io::Result<()> {
    let sealed = lock(&shared.feed).extents().last().map(|(segment, held, _)| Seal {
        segment: segment.number,
        end: held.end,
        next: held.next,
        checksum: held.checksum,
    });
    sealed.map_or(Ok(()), |seal| lock(&shared.seals).write(seal))
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
