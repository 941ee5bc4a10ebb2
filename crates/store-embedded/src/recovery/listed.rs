//! A store with a list: every file that it names must be there, and be the one that it names.

use std::path::Path;
use std::sync::Arc;

use super::Counted;
use crate::disk::{Disk, read_up_to};
use crate::error::{Error, Result};
use crate::frame;
use crate::manifest::{ListedSnapshot, Manifest};
use crate::map::KeyHasher;
use crate::segment::Segment;
use crate::snapshot::{self, Loaded};

pub fn find(
    disk: &dyn Disk,
    directory: &Path,
    names: &[String],
    manifest: &Manifest,
    hasher: KeyHasher,
) -> Result<Counted> {
    let loaded = match &manifest.snapshot {
        Some(listed) => load(disk, directory, manifest, listed, hasher)?,
        None => Loaded::nothing(hasher),
    };
    let mut segments = Vec::new();
    for listed in &manifest.segments {
        let segment = Segment::open(disk, directory, listed.number)?;
        belongs(&segment, manifest)?;
        if segment.bytes != listed.bytes {
            let why = format!("it has {} bytes, and {} are listed", segment.bytes, listed.bytes);
            let offset = segment.bytes.min(listed.bytes);
            return Err(Error::DamagedLog { segment: segment.path, offset, why });
        }
        segments.push((Arc::new(segment), listed.ended));
    }
    let mut left_over = Vec::new();
    for name in names {
        let counts = match (Segment::number(name), snapshot::position(name)) {
            (Some(number), _) => {
                let listed = manifest.segments.iter().any(|listed| listed.number == number);
                listed || examine_segment(disk, directory, number, manifest)?
            }
            (_, Some(position)) => {
                let listed = manifest.snapshot.is_some_and(|listed| listed.position == position);
                listed || examine_snapshot(disk, directory, position, manifest)?
            }
            _ => continue,
        };
        if !counts {
            left_over.push(name.clone());
        }
    }
    Ok(Counted { loaded, segments, left_over })
}

fn load(
    disk: &dyn Disk,
    directory: &Path,
    manifest: &Manifest,
    listed: &ListedSnapshot,
    hasher: KeyHasher,
) -> Result<Loaded> {
    let path = directory.join(snapshot::name(listed.position));
    let loaded = snapshot::load(disk, &path, hasher)?;
    if loaded.store.is_some_and(|store| store != manifest.store) {
        return Err(Error::Foreign { path, why: "it belongs to another store".into() });
    }
    let found = ListedSnapshot {
        position: loaded.position,
        bytes: loaded.bytes,
        checksum: loaded.checksum,
    };
    if found == *listed {
        return Ok(loaded);
    }
    let why = "it is another snapshot than the one that is listed".into();
    Err(Error::DamagedSnapshot { path, why })
}

fn belongs(segment: &Segment, manifest: &Manifest) -> Result<()> {
    // Those of format 1 carry no id. They are listed with where they end.
    if segment.store.is_none_or(|store| store == manifest.store) {
        return Ok(());
    }
    let why = "it belongs to another store".into();
    Err(Error::Foreign { path: segment.path.clone(), why })
}

/// A segment that is not listed: one that a crash kept from being listed or from being removed does
/// not count. Anything else is a reason not to go on.
fn examine_segment(
    disk: &dyn Disk,
    directory: &Path,
    number: u64,
    manifest: &Manifest,
) -> Result<bool> {
    let segment = Segment::open(disk, directory, number)?;
    belongs(&segment, manifest)?;
    if manifest.segments.first().is_some_and(|first| number < first.number) {
        return Ok(false);
    }
    let next = manifest.segments.last().map_or(1, |last| last.number + 1);
    if number == next && is_blank(&segment)? {
        return Ok(false);
    }
    let why = "it holds commits and is not listed: `manifest` is older than the log".into();
    Err(Error::Foreign { path: segment.path, why })
}

/// No frame can be read in it.
pub fn is_blank(segment: &Segment) -> Result<bool> {
    let bytes = read_up_to(&*segment.file, 0, segment.bytes);
    let bytes = bytes.map_err(Error::io("read", &segment.path))?;
    Ok(frame::find(&bytes, segment.kind.layout.start(), segment.kind, 0).is_none())
}

fn examine_snapshot(
    disk: &dyn Disk,
    directory: &Path,
    position: u64,
    manifest: &Manifest,
) -> Result<bool> {
    let path = directory.join(snapshot::name(position));
    let older = manifest.snapshot.is_some_and(|listed| position < listed.position);
    let store = snapshot::store(disk, &path)?;
    if store == Some(manifest.store) || older && store.is_none() {
        return Ok(false);
    }
    let why = "it is not listed, and belongs to another store".into();
    Err(Error::Foreign { path, why })
}
