//! Making a backup, or adding to one, while the store serves.

use std::path::Path;
use std::sync::Arc;

use store::Hash;

use super::copying::{copy, digest};
use super::list::{List, SavedSegment, SavedSnapshot};
use super::make_empty;
use crate::blobs::{self, EmbeddedBlobs};
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::locks::lock;
use crate::manifest::Ended;
use crate::segment::Segment;
use crate::shared::Shared;
use crate::snapshot;

/// A new snapshot is added when the log behind the last one is so many times as long: restoring
/// reads all of that log.
const LOG_SHARE: u64 = 4;

/// Writes a copy into an empty directory, or adds to the backup that is there. Nothing is removed
/// from the store meanwhile.
pub fn write(shared: &Shared, blobs: &EmbeddedBlobs, to: &Path) -> Result<()> {
    let disk = &*shared.disk;
    let (store, salt, since) = {
        let manifest = lock(&shared.manifest);
        (manifest.store, manifest.salt, manifest.since)
    };
    let before = match disk.list(to) {
        Ok(_) => List::read(disk, to)?,
        Err(_) => None,
    };
    let mut list = match before {
        Some(list) if list.store == store => list,
        Some(_) => {
            let why = "is a backup of another store";
            return Err(Error::Place { directory: to.into(), why });
        }
        None => {
            make_empty(disk, to)?;
            let (snapshots, segments, content) = (Vec::new(), Vec::new(), Vec::new());
            List { store, salt, snapshots, since, segments, content }
        }
    };
    let _nothing_is_removed = lock(&shared.housekeeping);
    if wants_snapshot(shared, &list) {
        // First the records, then the log that must be read over them, which by then is long enough.
        let written = snapshot::write(shared, to)?;
        let listed = written.listed();
        let digest = digest(disk, &to.join(snapshot::name(listed.position)), listed.bytes)?;
        list.snapshots.retain(|saved| saved.position != listed.position);
        list.snapshots.push(SavedSnapshot {
            position: listed.position,
            end: written.end,
            bytes: listed.bytes,
            checksum: listed.checksum,
            digest,
        });
    }
    add_segments(shared, &mut list, to)?;
    // Content goes after the log that refers to it; nothing is deleted until all is copied.
    let _nothing_is_deleted = blobs.keep_all();
    add_content(disk, &shared.directory, &mut list, to)?;
    disk.sync_directory(to).map_err(Error::io("sync", to))?;
    list.write(disk, to)?;
    remove_unlisted(disk, &list, to)
}

fn held_now(shared: &Shared) -> Vec<(Arc<Segment>, Ended)> {
    let feed = lock(&shared.feed);
    let all = feed.extents().map(|(segment, held, _)| (Arc::clone(segment), held));
    // One without a frame holds nothing and has no end.
    all.filter(|(segment, held)| held.end > segment.kind.layout.start() as u64).collect()
}

/// The log in the backup ends before what the store still has, or is long by now.
fn wants_snapshot(shared: &Shared, list: &List) -> bool {
    let Some(newest) = list.snapshots.last() else { return true };
    let begins = held_now(shared).first().map_or(u64::MAX, |(_, held)| held.first);
    let log = list.segments.iter().filter(|saved| saved.held.next > newest.position);
    let log_bytes: u64 = log.map(|saved| saved.held.end).sum();
    let long = shared.options.snapshot_after_bytes.max(newest.bytes).saturating_mul(LOG_SHARE);
    begins > list.position() + 1 || log_bytes > long
}

fn add_segments(shared: &Shared, list: &mut List, to: &Path) -> Result<()> {
    for (segment, held) in held_now(shared) {
        let number = segment.number;
        let before = list.segments.iter().find(|saved| saved.number == number);
        if let Some(before) = before.filter(|before| before.held.end >= held.end) {
            if before.held == held {
                continue;
            }
            let why = "the backup has another log than this store".into();
            return Err(Error::Foreign { path: to.join(before.name()), why });
        }
        let mut saved = SavedSegment { number, held, digest: Hash([0; 32]) };
        saved.digest = copy(&*shared.disk, &*segment.file, held.end, &to.join(saved.name()))?;
        list.segments.retain(|other| other.number != number);
        list.segments.push(saved);
    }
    list.segments.sort_unstable_by_key(|saved| saved.number);
    Ok(())
}

fn add_content(disk: &dyn Disk, store: &Path, list: &mut List, to: &Path) -> Result<()> {
    let (from, to) = (store.join("blobs"), to.join("blobs"));
    disk.create_directory(&to).map_err(Error::io("create", &to))?;
    for hash in EmbeddedBlobs::hashes(disk, &from)? {
        if list.content.iter().any(|(listed, _)| *listed == hash) {
            continue;
        }
        let path = blobs::place(&from, hash);
        let file = disk.open(&path).map_err(Error::io("open", &path))?;
        let bytes = file.length().map_err(Error::io("read", &path))?;
        let target = blobs::place(&to, hash);
        let parent = target.parent().unwrap_or(&to);
        disk.create_directory(parent).map_err(Error::io("create", parent))?;
        if copy(disk, &*file, bytes, &target)? != hash {
            let why = "it does not hold what its name says".into();
            return Err(Error::Damaged { path, why });
        }
        disk.sync_directory(parent).map_err(Error::io("sync", parent))?;
        list.content.push((hash, bytes));
    }
    disk.sync_directory(&to).map_err(Error::io("sync", &to))
}

/// Parts of segments that are whole now, and what copies that were cut short have left.
fn remove_unlisted(disk: &dyn Disk, list: &List, to: &Path) -> Result<()> {
    let listed: Vec<String> = list.names().collect();
    for name in disk.list(to).map_err(Error::io("list", to))? {
        let own = SavedSegment::is_name(&name) || snapshot::position(&name).is_some();
        if own && !listed.contains(&name) {
            let path = to.join(name);
            disk.remove(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}
