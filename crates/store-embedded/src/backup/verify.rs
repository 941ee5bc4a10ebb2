//! Reading all of a directory, a store or a backup, and checking everything.

use std::path::Path;
use std::sync::Arc;

use super::Verified;
use super::copying::expect;
use super::list::{List, NAME, SavedSegment};
use super::restore::Plan;
use crate::blobs::{self, EmbeddedBlobs};
use crate::building;
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::manifest;
use crate::map::KeyHasher;
use crate::recovery::{Recovered, recover, recover_from};
use crate::segment::Segment;
use crate::snapshot::{self, Loaded};

/// Reads all of a backup, or of a store that is not open, and checks everything that has a
/// checksum or a digest.
pub fn verify(directory: impl AsRef<Path>) -> Result<Verified> {
    verify_on(&RealDisk, directory.as_ref())
}

/// The same, on a disk of one's own.
pub fn verify_on(disk: &dyn Disk, directory: &Path) -> Result<Verified> {
    match List::read(disk, directory)? {
        Some(list) => verify_backup(disk, directory, &list),
        None => verify_store(disk, directory),
    }
}

/// The records of a backup, or of a store that is not open.
pub fn export_from(disk: &dyn Disk, directory: &Path) -> Result<Recovered> {
    match List::read(disk, directory)? {
        Some(list) => read(disk, directory, &list),
        None => {
            is_store(disk, directory)?;
            recover(disk, directory, KeyHasher::for_reading())
        }
    }
}

pub fn verify_backup(disk: &dyn Disk, directory: &Path, list: &List) -> Result<Verified> {
    for saved in &list.snapshots {
        let path = directory.join(snapshot::name(saved.position));
        expect(disk, &path, saved.bytes, saved.digest)?;
    }
    for saved in &list.segments {
        expect(disk, &directory.join(saved.name()), saved.held.end, saved.digest)?;
    }
    let content = directory.join("blobs");
    for (hash, bytes) in &list.content {
        expect(disk, &blobs::place(&content, *hash), *bytes, *hash)?;
    }
    let found = read(disk, directory, list)?;
    let blobs = list.content.len() as u64;
    let earliest = Plan::earliest(list);
    let records = found.map.len() as u64;
    Ok(Verified { position: found.position, records, blobs, earliest })
}

/// Reads the log of a backup over its newest snapshot.
fn read(disk: &dyn Disk, directory: &Path, list: &List) -> Result<Recovered> {
    let plan = Plan::of(list, directory, list.position())?;
    let loaded = match plan.snapshot {
        Some(saved) => {
            let path = directory.join(snapshot::name(saved.position));
            snapshot::load(disk, &path, KeyHasher::for_reading())?
        }
        None => Loaded::nothing(KeyHasher::for_reading()),
    };
    let open = |saved: &&SavedSegment| {
        let segment = Segment::open_at(disk, directory.join(saved.name()), saved.number)?;
        Ok((Arc::new(segment), Some(saved.held)))
    };
    let segments = plan.segments.iter().map(open).collect::<Result<Vec<_>>>()?;
    recover_from(directory, loaded, segments)
}

fn verify_store(disk: &dyn Disk, directory: &Path) -> Result<Verified> {
    is_store(disk, directory)?;
    let found = recover(disk, directory, KeyHasher::for_reading())?;
    let folder = directory.join("blobs");
    let mut blobs = 0;
    if disk.list(&folder).is_ok() {
        for hash in EmbeddedBlobs::hashes(disk, &folder)? {
            let path = blobs::place(&folder, hash);
            let file = disk.open(&path).map_err(Error::io("open", &path))?;
            let bytes = file.length().map_err(Error::io("read", &path))?;
            expect(disk, &path, bytes, hash)?;
            blobs += 1;
        }
    }
    let (position, records) = (found.position, found.map.len() as u64);
    Ok(Verified { position, records, blobs, earliest: position })
}

/// Fails unless a directory holds a store.
pub fn holds_store(directory: &Path) -> Result<()> {
    is_store(&RealDisk, directory)
}

/// A directory without the list of a backup is a store, or a backup that was cut short.
pub fn is_store(disk: &dyn Disk, directory: &Path) -> Result<()> {
    let names = disk.list(directory).map_err(Error::io("list", directory))?;
    let has = |name: &str| names.iter().any(|found| found == name);
    building::is_finished(disk, directory)?;
    let part = |name: &String| SavedSegment::is_name(name) || name.starts_with("snapshot-");
    let is_log = |name: &String| Segment::number(name).is_some();
    if !has(manifest::NAME) && names.iter().any(part) && !names.iter().any(is_log) {
        let why = "the backup was not finished".into();
        return Err(Error::Missing { path: directory.join(NAME), why });
    }
    if has(manifest::NAME) || names.iter().any(is_log) {
        return Ok(());
    }
    Err(Error::Place { directory: directory.into(), why: "holds no store and no backup" })
}
