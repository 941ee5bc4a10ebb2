//! The thread that writes batches to the log, one sync for each, while the next one fills.

use std::io;
use std::sync::{Arc, PoisonError};

use crate::core::{Phase, Taken};
use crate::frame::{self, FRAME_BYTES};
use crate::segment::Segment;
use crate::shared::{Shared, lock};

/// Runs until the store is closed or a write fails.
pub fn run(shared: &Shared) {
    while let Some(work) = next(shared) {
        let done = match work {
            Work::Batch(taken) => write_batch(shared, taken),
            Work::Seal(segment, offset) => write_seal(shared, &segment, offset),
        };
        if let Err(error) = done {
            shared.poison(error.to_string());
            return;
        }
    }
}

enum Work {
    Batch(Taken),
    Seal(Arc<Segment>, u64),
}

/// Waits for work; nothing more comes when the store is closed.
fn next(shared: &Shared) -> Option<Work> {
    let mut core = shared.core();
    loop {
        if core.has_batch() {
            let taken = core.take();
            drop(core);
            shared.room.notify_all();
            if taken.begins_segment {
                lock(&shared.feed).begin(Arc::clone(&taken.segment), taken.batch.first);
                shared.chores.notify_all();
            }
            return Some(Work::Batch(taken));
        }
        let closing = core.phase != Phase::Open;
        if closing
            && core.unsealed
            && let Some((segment, offset)) = core.take_seal()
        {
            return Some(Work::Seal(segment, offset));
        }
        if closing {
            return None;
        }
        core.committer_waits = true;
        let rest = core.unsealed.then_some(shared.options.seal_after);
        let Some(rest) = rest else {
            core = shared.work.wait(core).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let (woken, timeout) =
            shared.work.wait_timeout(core, rest).unwrap_or_else(PoisonError::into_inner);
        core = woken;
        if timeout.timed_out()
            && !core.has_batch()
            && core.unsealed
            && let Some((segment, offset)) = core.take_seal()
        {
            core.committer_waits = false;
            return Some(Work::Seal(segment, offset));
        }
    }
}

fn write_batch(shared: &Shared, taken: Taken) -> io::Result<()> {
    let Taken { mut batch, segment, offset, .. } = taken;
    frame::complete(&mut batch.bytes, segment.number, batch.first, batch.count);
    segment.file.write_at(offset, &batch.bytes)?;
    segment.file.sync()?;
    lock(&shared.feed).wrote(batch.first, offset, batch.bytes.len() as u64);
    let last = batch.last();
    shared.core().give_back(batch.bytes);
    shared.progress.advance(last);
    Ok(())
}

fn write_seal(shared: &Shared, segment: &Segment, offset: u64) -> io::Result<()> {
    let mut seal = [0; FRAME_BYTES];
    // Everything before it is durable, or it would not be written.
    let next = shared.progress.durable() + 1;
    frame::complete(&mut seal, segment.number, next, 0);
    segment.file.write_at(offset, &seal)?;
    segment.file.sync()?;
    lock(&shared.feed).wrote(next, offset, FRAME_BYTES as u64);
    Ok(())
}
