//! What happens beside the commits: segments made ready, snapshots written, files removed.

use std::sync::atomic::Ordering;
use std::sync::{Arc, TryLockError};
use std::time::Duration;

use store::Next;

use crate::core::Phase;
use crate::error::{Error, Result};
use crate::locks::lock;
use crate::segment::{Belongs, Segment, UNFINISHED};
use crate::shared::Shared;
use crate::snapshot;
use crate::upkeep::Housekeeping;

/// After the disk was full, or somebody else was at work, it is looked again this often.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// So many old segments are kept to be used again.
const OLD_MAX: usize = 2;

/// Makes a segment ready, if there is none ahead of the log. Ends when the store is closed.
pub fn prepare_segment(shared: &Shared) -> Next {
    let core = shared.core();
    if core.phase != Phase::Open {
        return Next::Ended;
    }
    if core.next.is_some() {
        return Next::Woken;
    }
    let number = core.segment.number + 1;
    drop(core);
    let prepared = prepare(shared, number);
    let mut core = shared.core();
    let next = match prepared {
        Ok(segment) => {
            core.next = Some(Arc::new(segment));
            core.full = None;
            Next::Now
        }
        // Whatever the reason, there is no room to promise; it is tried again.
        Err(error) => {
            core.full = Some(error.to_string());
            Next::After(LOOK_AGAIN)
        }
    };
    drop(core);
    shared.room.ring();
    next
}

/// A segment that the log may go on in: it is there, and it is listed.
fn prepare(shared: &Shared, number: u64) -> Result<Segment> {
    let old = lock(&shared.old).pop();
    let bytes = shared.options.segment_bytes();
    let belongs = {
        let manifest = lock(&shared.manifest);
        Belongs { store: manifest.store, salt: manifest.salt, number }
    };
    let segment = Segment::prepare(&*shared.disk, &shared.directory, belongs, bytes, old)?;
    shared.list(Some(&segment), None)?;
    Ok(segment)
}

/// Writes a snapshot, if the log has grown enough. Ends when the store is closed.
pub fn write_snapshot(shared: &Shared) -> Next {
    let core = shared.core();
    if core.phase != Phase::Open {
        return Next::Ended;
    }
    let log_bytes = core.log_bytes;
    drop(core);
    let due = match shared.housekeeping.try_lock() {
        Ok(housekeeping) => housekeeping.is_due(log_bytes, &shared.options, 1),
        Err(TryLockError::Poisoned(held)) => held.get_ref().is_due(log_bytes, &shared.options, 1),
        // Somebody writes a snapshot or a backup. It is not waited for: the one who does may be waiting for others.
        Err(TryLockError::WouldBlock) => return Next::After(LOOK_AGAIN),
    };
    if !due {
        return Next::Woken;
    }
    let taken = snapshot::take(shared);
    // A snapshot that fails leaves the old one and the log, from which nothing is removed. It is
    // tried again when the log has grown by another segment.
    let next = if taken.is_ok() { Next::Now } else { Next::Woken };
    *lock(&shared.snapshot_trouble) = taken.err().map(|error| error.to_string());
    next
}

/// Removes the segments that neither recovery nor the feed needs. Only one may do so at a time.
pub fn remove_segments(shared: &Shared, _: &mut Housekeeping) -> Result<()> {
    let retired = retire(shared);
    if retired.is_empty() {
        return Ok(());
    }
    // A file is removed only when the list does not name it any more.
    shared.list(None, None)?;
    for segment in retired {
        let path = segment.path.clone();
        let reusable = Arc::try_unwrap(segment).ok().filter(|_| lock(&shared.old).len() < OLD_MAX);
        match reusable {
            Some(mut segment) => {
                let mut aside = path.clone().into_os_string();
                aside.push(UNFINISHED);
                shared.disk.rename(&path, aside.as_ref()).map_err(Error::io("rename", &path))?;
                segment.path = aside.into();
                lock(&shared.old).push(segment);
            }
            // Whoever still reads it keeps it open until done.
            None => shared.disk.remove(&path).map_err(Error::io("remove", &path))?,
        }
    }
    let directory = &shared.directory;
    shared.disk.sync_directory(directory).map_err(Error::io("sync", directory))
}

/// Lets the feed forget the segments that are not needed.
fn retire(shared: &Shared) -> Vec<Arc<Segment>> {
    let snapshot = shared.snapshot_position.load(Ordering::Acquire);
    let trimmed = shared.trimmed.load(Ordering::Acquire);
    let mut retired = Vec::new();
    let mut feed = lock(&shared.feed);
    while let Some(last) = feed.oldest_last() {
        let wanted = feed.bytes_until(snapshot) <= shared.options.feed_retention_bytes;
        if last > snapshot || wanted && last > trimmed {
            break;
        }
        retired.extend(feed.retire());
    }
    retired
}
