//! Copies of a store: made while it serves, verified, and restored.

use std::path::Path;
use std::sync::Arc;

use store::Hash;

use crate::blobs::{self, EmbeddedBlobs};
use crate::disk::{Disk, DiskFile, RealDisk, read_up_to};
use crate::error::{Error, Result};
use crate::manifest::{self, Ended, Listed, Manifest};
use crate::recovery::recover;
use crate::seal::{self, Seal, SealFile};
use crate::segment::Segment;
use crate::shared::{Shared, lock};
use crate::snapshot;

const PIECE_BYTES: u64 = 1 << 20;

/// What a directory was found to hold, all of it read and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Of the last commit.
    pub position: u64,
    pub records: u64,
    pub blobs: u64,
}

/// Writes a copy while the store serves. Nothing is removed meanwhile.
pub fn write(shared: &Shared, to: &Path) -> Result<()> {
    let disk = &*shared.disk;
    make_empty(disk, to)?;
    let _nothing_is_removed = lock(&shared.housekeeping);
    // First the records, then the log that must be read over them, which by then is long enough.
    let written = snapshot::write(shared, to)?;
    let held = |(segment, held, _): (&Arc<Segment>, Ended, bool)| (Arc::clone(segment), held);
    let segments: Vec<_> = lock(&shared.feed).extents().map(held).collect();
    let (store, salt) = {
        let manifest = lock(&shared.manifest);
        (manifest.store, manifest.salt)
    };
    let mut manifest = Manifest { snapshot: Some(written.listed()), ..Manifest::new(store, salt) };
    let mut seal = Seal { segment: 0, end: 0, next: 1, checksum: 0 };
    for (segment, held) in segments {
        let Ended { end, next, checksum, .. } = held;
        // One without a frame holds nothing and has no end.
        if end > segment.kind.layout.start() as u64 {
            copy_file(disk, &*segment.file, end, &to.join(Segment::name(segment.number)))?;
            let (number, ended) = (segment.number, Some(held));
            manifest.segments.push(Listed { number, bytes: end, ended });
            seal = Seal { segment: number, end, next, checksum };
        }
    }
    copy_blobs(disk, &shared.directory, to)?;
    SealFile::create(disk, to, store, seal)?;
    manifest.write(disk, to)
}

/// Reads all of a store that is not open, and checks everything that has a checksum.
pub fn verify(directory: impl AsRef<Path>) -> Result<Verified> {
    verify_on(&RealDisk, directory.as_ref())
}

/// Copies a backup into an empty directory, after all of it was checked, and checks the copy.
pub fn restore(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Verified> {
    let (disk, from, to) = (&RealDisk, from.as_ref(), to.as_ref());
    let original = verify_on(disk, from)?;
    make_empty(disk, to)?;
    for name in disk.list(from).map_err(Error::io("list", from))? {
        let own = Segment::number(&name).is_some() || snapshot::position(&name).is_some();
        if own || name == seal::NAME || name == manifest::NAME {
            let path = from.join(&name);
            let file = disk.open(&path).map_err(Error::io("open", &path))?;
            let length = file.length().map_err(Error::io("read", &path))?;
            copy_file(disk, &*file, length, &to.join(name))?;
        }
    }
    copy_blobs(disk, from, to)?;
    disk.sync_directory(to).map_err(Error::io("sync", to))?;
    let copy = verify_on(disk, to)?;
    assert_eq!(copy, original, "a copy holds what was copied");
    Ok(copy)
}

fn verify_on(disk: &dyn Disk, directory: &Path) -> Result<Verified> {
    let names = disk.list(directory).map_err(Error::io("list", directory))?;
    let any = |name: &String| Segment::number(name).is_some() || snapshot::position(name).is_some();
    if !names.iter().any(any) {
        return Err(Error::Place { directory: directory.into(), why: "holds no store" });
    }
    let found = recover(disk, directory)?;
    let blobs = directory.join("blobs");
    let mut count = 0;
    if names.iter().any(|name| name == "blobs") {
        for hash in EmbeddedBlobs::hashes(disk, &blobs)? {
            verify_blob(disk, &blobs::place(&blobs, hash), hash)?;
            count += 1;
        }
    }
    Ok(Verified { position: found.position, records: found.map.len() as u64, blobs: count })
}

fn verify_blob(disk: &dyn Disk, path: &Path, hash: Hash) -> Result<()> {
    let file = disk.open(path).map_err(Error::io("open", path))?;
    let mut hasher = store::Hasher::default();
    let mut offset = 0;
    loop {
        let piece = read_up_to(&*file, offset, PIECE_BYTES).map_err(Error::io("read", path))?;
        if piece.is_empty() {
            break;
        }
        hasher.update(&piece);
        offset += piece.len() as u64;
    }
    if hasher.finish() == hash {
        return Ok(());
    }
    let why = "it does not hold what its name says".into();
    Err(Error::Damaged { path: path.into(), why })
}

fn make_empty(disk: &dyn Disk, directory: &Path) -> Result<()> {
    disk.create_directory(directory).map_err(Error::io("create", directory))?;
    let names = disk.list(directory).map_err(Error::io("list", directory))?;
    if names.is_empty() {
        return Ok(());
    }
    Err(Error::Place { directory: directory.into(), why: "is not empty" })
}

fn copy_blobs(disk: &dyn Disk, from: &Path, to: &Path) -> Result<()> {
    let (from, to) = (from.join("blobs"), to.join("blobs"));
    if disk.list(&from).is_err() {
        return Ok(());
    }
    disk.create_directory(&to).map_err(Error::io("create", &to))?;
    for hash in EmbeddedBlobs::hashes(disk, &from)? {
        let path = blobs::place(&from, hash);
        let Ok(file) = disk.open(&path) else {
            // It was deleted meanwhile.
            continue;
        };
        let target = blobs::place(&to, hash);
        let parent = target.parent().unwrap_or(&to);
        disk.create_directory(parent).map_err(Error::io("create", parent))?;
        let length = file.length().map_err(Error::io("read", &path))?;
        copy_file(disk, &*file, length, &target)?;
        disk.sync_directory(parent).map_err(Error::io("sync", parent))?;
    }
    disk.sync_directory(&to).map_err(Error::io("sync", &to))
}

fn copy_file(disk: &dyn Disk, from: &dyn DiskFile, length: u64, to: &Path) -> Result<()> {
    let target = disk.create(to).map_err(Error::io("create", to))?;
    let mut offset = 0;
    while offset < length {
        let piece = read_up_to(from, offset, PIECE_BYTES.min(length - offset));
        let piece = piece.map_err(Error::io("copy", to))?;
        if piece.is_empty() {
            break;
        }
        target.write_at(offset, &piece).map_err(Error::io("write", to))?;
        offset += piece.len() as u64;
        target.sync().map_err(Error::io("sync", to))?;
    }
    target.sync().map_err(Error::io("sync", to))
}
