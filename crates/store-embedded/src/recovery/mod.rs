//! Finding the state again: the snapshot that counts, and the log read over it.

mod listed;
mod replay;
mod unlisted;

use std::path::Path;
use std::sync::Arc;

use self::replay::Replay;
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::feed::FeedIndex;
use crate::manifest::{self, Ended, Manifest};
use crate::map::{KeyHasher, Map};
use crate::seal;
use crate::segment::Segment;
use crate::snapshot::Loaded;

/// What was found in a directory.
#[derive(Debug)]
pub struct Recovered {
    pub map: Map,
    /// Of the last commit.
    pub position: u64,
    pub snapshot_position: u64,
    pub snapshot_bytes: u64,
    /// Of the log behind the snapshot.
    pub log_bytes: u64,
    pub feed: FeedIndex,
    /// Where the log goes on, when there is one.
    pub tail: Option<(Arc<Segment>, u64)>,
    /// Where its last frame begins, that frame's checksum and its time.
    pub last_frame: Option<u64>,
    pub last_checksum: u32,
    pub last_time_ms: u64,
    /// A segment that was made ready and never used.
    pub ready: Option<Arc<Segment>>,
    /// Bytes of a batch that was never acknowledged, cut off.
    pub cut_bytes: u64,
    /// Files that a crash has left, and that do not count.
    pub left_over: Vec<String>,
    /// Nothing where the store has no list yet; then what it will say of the snapshot.
    pub manifest: Option<Manifest>,
    pub listed_snapshot: Option<manifest::ListedSnapshot>,
    pub seal: Option<seal::Found>,
}

/// What counts in a directory, before the log is read.
struct Counted {
    loaded: Loaded,
    segments: Vec<(Arc<Segment>, Option<Ended>)>,
    left_over: Vec<String>,
}

/// Reads a log over a snapshot, both of which are known to be whole files.
pub fn recover_from(
    directory: &Path,
    loaded: Loaded,
    segments: Vec<(Arc<Segment>, Option<Ended>)>,
) -> Result<Recovered> {
    Replay::new(Counted { loaded, segments, left_over: Vec::new() }, None).run(directory)
}

/// Reads everything and changes nothing.
pub fn recover(disk: &dyn Disk, directory: &Path, hasher: KeyHasher) -> Result<Recovered> {
    let names = disk.list(directory).map_err(Error::io("list", directory))?;
    let seal = seal::read(disk, directory)?;
    let Some(manifest) = Manifest::read(disk, directory)? else {
        return unlisted::recover(disk, directory, &names, seal, hasher);
    };
    let Some(seal) = seal else {
        let (path, why) = (seal::path(directory), "it says how far the log must reach".into());
        return Err(Error::Missing { path, why });
    };
    if seal.store != manifest.store {
        let (path, why) = (seal::path(directory), "it and `manifest` are of two stores".into());
        return Err(Error::Foreign { path, why });
    }
    let counted = listed::find(disk, directory, &names, &manifest, hasher)?;
    let replay = Replay::new(counted, Some(seal));
    let found = replay.run(directory)?;
    let listed_snapshot = manifest.snapshot;
    Ok(Recovered { manifest: Some(manifest), listed_snapshot, ..found })
}
