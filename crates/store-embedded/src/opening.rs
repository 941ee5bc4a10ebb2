//! Opening a directory: what was found is made durable, listed and sealed before anyone is served.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use store::{Progress, Signal};

use crate::blobs::EmbeddedBlobs;
use crate::core::Core;
use crate::disk::{Disk, read_up_to};
use crate::error::{Error, Result};
use crate::frame::LastFrame;
use crate::frame::Layout;
use crate::identity::Identity;
use crate::manifest::Manifest;
use crate::map::KeyHasher;
use crate::options::Options;
use crate::recovery::{Recovered, recover};
use crate::seal::{Seal, SealFile};
use crate::segment::{Belongs, START_BYTES, Segment, UNFINISHED};
use crate::shared::{Shared, Tasks};
use crate::upkeep::Housekeeping;

/// What opening found besides the state.
pub struct Found {
    pub blobs: EmbeddedBlobs,
    pub cut_bytes: u64,
    pub notes: Vec<String>,
}

pub fn open(disk: Arc<dyn Disk>, directory: PathBuf, options: Options) -> Result<(Shared, Found)> {
    let notes = tighten(&*disk, &directory)?;
    let hasher = KeyHasher::by_chance(&*options.surroundings);
    let recovered = recover(&*disk, &directory, hasher)?;
    remove_left_over(&*disk, &directory, &recovered)?;
    let blobs = EmbeddedBlobs::open(Arc::clone(&disk), &directory)?;
    let cut_bytes = recovered.cut_bytes;
    let shared = share(disk, directory, options, recovered)?;
    Ok((shared, Found { blobs, cut_bytes, notes }))
}

/// A store is for its owner alone. One that was made by an older version, or copied by other tools,
/// is mended: behind a directory that nobody else may enter, files are out of reach as well.
fn tighten(disk: &dyn Disk, directory: &Path) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let mut tighten = |path: &Path| match disk.tighten(path) {
        Ok(None) => Ok(()),
        Ok(Some(mode)) => {
            let path = path.display();
            notes.push(format!("others could use `{path}`, whose mode was {mode:04o}: mended"));
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Err(Error::Loose { path: path.into(), mode: mode_of(path) })
        }
        Err(error) => Err(Error::io("change the mode of", path)(error)),
    };
    tighten(directory)?;
    for name in disk.list(directory).map_err(Error::io("list", directory))? {
        tighten(&directory.join(name))?;
    }
    Ok(notes)
}

fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).map_or(0, |found| found.mode() & 0o777)
}

fn remove_left_over(disk: &dyn Disk, directory: &Path, recovered: &Recovered) -> Result<()> {
    let names = disk.list(directory).map_err(Error::io("list", directory))?;
    let left_over = names
        .into_iter()
        .filter(|name| name.ends_with(UNFINISHED) || recovered.left_over.contains(name));
    for name in left_over {
        let path = directory.join(name);
        disk.remove(&path).map_err(Error::io("remove", &path))?;
    }
    disk.sync_directory(directory).map_err(Error::io("sync", directory))
}

/// What was recovered may be in no more than the system's cache, and after a failed sync the cache
/// does not know it: the last batch is written once more. Those before it were synced.
fn make_durable(segment: &Segment, last_frame: Option<u64>, end: u64) -> Result<()> {
    if let Some(start) = last_frame {
        let frame = read_up_to(&*segment.file, start, end.saturating_sub(start));
        let frame = frame.map_err(Error::io("read", &segment.path))?;
        segment.file.write_at(start, &frame).map_err(Error::io("write", &segment.path))?;
    }
    segment.file.sync().map_err(Error::io("sync", &segment.path))
}

fn share(
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    options: Options,
    mut recovered: Recovered,
) -> Result<Shared> {
    let surroundings = &*options.surroundings;
    let manifest = match recovered.manifest.take() {
        Some(manifest) => manifest,
        None => Manifest {
            snapshot: recovered.listed_snapshot,
            ..Manifest::new(Identity::by_chance(surroundings), surroundings.chance())
        },
    };
    let (segment, offset) = go_on(&*disk, &directory, &options, &manifest, &mut recovered)?;
    let seals = seal(&*disk, &directory, &manifest, &recovered, &segment, offset)?;
    let is_listed = manifest.segments.iter().any(|listed| listed.number == segment.number);
    let mut core = Core::new(recovered.map, recovered.position, segment, offset);
    core.next = recovered.ready;
    core.last_frame =
        LastFrame { checksum: recovered.last_checksum, time_ms: recovered.last_time_ms };
    let snapshot_bytes = recovered.snapshot_bytes;
    let carried_bytes = recovered.log_bytes;
    let housekeeping = Housekeeping { snapshot_bytes, snapshot_at_log_bytes: 0, carried_bytes };
    let progress = Progress::within(Arc::clone(&options.surroundings), recovered.position);
    let shared = Shared {
        disk,
        directory,
        options,
        progress: Arc::new(progress),
        core: Mutex::new(core),
        room: Signal::default(),
        tasks: Tasks::default(),
        feed: Mutex::new(recovered.feed),
        housekeeping: Mutex::new(housekeeping),
        manifest: Mutex::new(manifest),
        seals: Mutex::new(seals),
        snapshot_position: AtomicU64::new(recovered.snapshot_position),
        trimmed: AtomicU64::new(0),
        snapshot_trouble: Mutex::default(),
        scrubbed: Mutex::default(),
        old: Mutex::default(),
    };
    if !is_listed {
        shared.list(None, None)?;
    }
    Ok(shared)
}

/// The segment that the log goes on in, and where. A log of format 1 goes on in a new segment.
fn go_on(
    disk: &dyn Disk,
    directory: &Path,
    options: &Options,
    manifest: &Manifest,
    recovered: &mut Recovered,
) -> Result<(Arc<Segment>, u64)> {
    let tail = recovered.tail.take();
    if let Some((segment, end)) = &tail {
        make_durable(segment, recovered.last_frame, *end)?;
    }
    match tail {
        Some((segment, end)) if segment.kind.layout == Layout::Sectors => Ok((segment, end)),
        tail => {
            let number = tail.map_or(1, |(segment, _)| segment.number + 1);
            let segment = match recovered.ready.take() {
                Some(ready) => ready,
                None => {
                    let belongs = Belongs { store: manifest.store, salt: manifest.salt, number };
                    let bytes = options.segment_bytes();
                    Arc::new(Segment::prepare(disk, directory, belongs, bytes, None)?)
                }
            };
            recovered.feed.begin(Arc::clone(&segment), recovered.position + 1);
            Ok((segment, START_BYTES))
        }
    }
}

/// From now on, what was recovered is vouched for.
fn seal(
    disk: &dyn Disk,
    directory: &Path,
    manifest: &Manifest,
    recovered: &Recovered,
    segment: &Segment,
    end: u64,
) -> Result<SealFile> {
    let checksum = if end > START_BYTES { recovered.last_checksum } else { 0 };
    let seal = Seal { segment: segment.number, end, next: recovered.position + 1, checksum };
    match recovered.seal.filter(|found| found.store == manifest.store) {
        Some(found) => {
            let mut seals = SealFile::open(disk, directory, &found)?;
            let path = crate::seal::path(directory);
            seals.write(seal).map_err(Error::io("seal", &path))?;
            Ok(seals)
        }
        None => SealFile::create(disk, directory, manifest.store, seal),
    }
}
