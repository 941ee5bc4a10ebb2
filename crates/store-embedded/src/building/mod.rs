//! Making a store of what another one holds, with the same versions and positions.
//!
//! All records are a snapshot, and the feed is a log before it. A file says that this is not finished yet: as long as it is
//! there the directory is not opened, and whoever copies into it again begins anew.

mod log;

use std::any::Any;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::copying::{AtRest, CopyFrom, CopyTo, Outline};
use store::{Blobs, FeedCommit, Key, Limits, Pending, Record, Store};

use self::log::FeedLog;
use crate::blobs::EmbeddedBlobs;
use crate::disk::{Disk, RealDisk, read_up_to};
use crate::embedded::Embedded;
use crate::error::{Error, Result};
use crate::identity::Identity;
use crate::manifest::{self, Manifest};
use crate::options::{KEY_BYTES_MAX, Options, SCAN_RECORDS_MAX};
use crate::seal::{self, SealFile};
use crate::segment::{Segment, UNFINISHED};
use crate::snapshot::{self, SnapshotFile};

/// Says that the copy is not finished, and of what.
const MARK: &str = "copying";
const MARK_BYTES_MAX: u64 = 4 << 10;
const LOCK: &str = "lock";
const CONTENT: &str = "blobs";

/// A store that is being filled.
#[derive(Debug)]
pub struct Building {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    lock: Option<Box<dyn Any + Send + Sync>>,
    position: u64,
    store: Identity,
    salt: u64,
    snapshot: Option<SnapshotFile>,
    log: FeedLog,
    blobs: EmbeddedBlobs,
}

impl Building {
    /// What a record may be; a blob may be of any length.
    pub fn limits() -> Limits {
        let options = Options::default();
        Limits {
            key_bytes_max: KEY_BYTES_MAX,
            value_bytes_max: options.commit_bytes_max,
            commit_bytes_max: options.commit_bytes_max,
            commit_operations_max: usize::MAX,
            scan_records_max: SCAN_RECORDS_MAX,
        }
    }

    /// Begins a copy in a directory that is empty, is to be made, or holds a copy that was not finished. `from` is how the
    /// other store is shown.
    pub fn begin(directory: impl Into<PathBuf>, from: &str, outline: &Outline) -> Result<Building> {
        let (disk, directory): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), directory.into());
        let surroundings = store::real_surroundings();
        disk.create_directory(&directory).map_err(Error::io("create", &directory))?;
        let is_own = |name: &String| name == LOCK || name == MARK;
        let names = || disk.list(&directory).map_err(Error::io("list", &directory));
        let not_empty = || Error::Place { directory: directory.clone(), why: "is not empty" };
        let begun = names()?.iter().any(|name| name == MARK);
        if !begun && names()?.iter().any(|name| name != LOCK) {
            return Err(not_empty());
        }
        let path = directory.join(LOCK);
        let lock = disk.lock(&path).map_err(Error::io("lock", &path))?;
        let lock = lock.ok_or_else(|| Error::Locked(directory.clone()))?;
        if begun {
            clear(&*disk, &directory)?;
        }
        if !names()?.iter().all(is_own) {
            return Err(not_empty());
        }
        has_room(&directory, outline)?;
        mark(&*disk, &directory, from)?;
        let store = Identity::by_chance(&*surroundings);
        let (salt, position) = (surroundings.chance(), outline.position);
        let snapshot = SnapshotFile::create(&*disk, &directory, position, store)?;
        let time_ms = surroundings.time_ms();
        let log = FeedLog::new(
            Arc::clone(&disk),
            directory.clone(),
            (store, salt),
            time_ms,
            outline.floor,
        );
        let blobs = EmbeddedBlobs::open(Arc::clone(&disk), &directory)?;
        let (snapshot, lock) = (Some(snapshot), Some(lock));
        Ok(Building { disk, directory, lock, position, store, salt, snapshot, log, blobs })
    }

    pub(crate) fn record(&mut self, key: &[u8], version: u64, value: &[u8]) -> Result<()> {
        let snapshot = self.snapshot.as_mut().expect("records come before the list of files");
        snapshot.record(key, version, value)
    }

    /// Lists what was written, so that it can be opened by whoever knows that it is not finished.
    pub(crate) fn list(&mut self) -> Result<()> {
        let Some(snapshot) = self.snapshot.take() else { return Ok(()) };
        let written = snapshot.finish(&*self.disk)?;
        let seal = self.log.finish(self.position)?;
        SealFile::create(&*self.disk, &self.directory, self.store, seal)?;
        let manifest = Manifest {
            snapshot: Some(written.listed()),
            since: self.position,
            segments: std::mem::take(&mut self.log.ended),
            ..Manifest::new(self.store, self.salt)
        };
        manifest.write(&*self.disk, &self.directory)
    }

    async fn opened(&mut self) -> store::Result<AtRest> {
        self.list()?;
        let lock = self.lock.take().ok_or(store::Error::Closed)?;
        let (disk, directory) = (Arc::clone(&self.disk), self.directory.clone());
        let opened = Embedded::open_locked(disk, directory, Options::default(), lock)?;
        AtRest::new(Arc::new(opened) as Arc<dyn Store>, None).await
    }

    /// Makes it a store. Call this when everything was copied and read back.
    pub fn finish(self) -> Result<()> {
        let path = self.directory.join(MARK);
        self.disk.remove(&path).map_err(Error::io("remove", &path))?;
        self.disk.sync_directory(&self.directory).map_err(Error::io("sync", &self.directory))
    }
}

impl CopyTo for Building {
    fn base(&self) -> u64 {
        0
    }

    fn records(&mut self, records: Vec<(Key, Record)>) -> Pending<'_, u64> {
        Box::pin(async move {
            let snapshot = self.snapshot.as_mut().ok_or(store::Error::Closed)?;
            for (key, record) in &records {
                snapshot.record(key, record.version.0, &record.value)?;
            }
            Ok(records.len() as u64)
        })
    }

    fn feed(&mut self, commits: Vec<FeedCommit>) -> Pending<'_, u64> {
        Box::pin(async move {
            for commit in &commits {
                self.log.commit(commit.cursor.position(), &commit.entries)?;
            }
            Ok(commits.len() as u64)
        })
    }

    fn content(&self) -> &dyn Blobs {
        &self.blobs
    }

    fn read_back(&mut self) -> Pending<'_, Box<dyn CopyFrom + '_>> {
        Box::pin(async move {
            let opened = self.opened().await?;
            Ok(Box::new(opened) as Box<dyn CopyFrom>)
        })
    }
}

/// Fails if a copy was begun in this directory and is not finished.
pub fn is_finished(disk: &dyn Disk, directory: &Path) -> Result<()> {
    let path = directory.join(MARK);
    let file = match disk.open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        file => file.map_err(Error::io("open", &path))?,
    };
    let text = read_up_to(&*file, 0, MARK_BYTES_MAX).map_err(Error::io("read", &path))?;
    let from = String::from_utf8_lossy(&text).trim().to_owned();
    Err(Error::Unfinished { directory: directory.into(), from })
}

fn mark(disk: &dyn Disk, directory: &Path, from: &str) -> Result<()> {
    let path = directory.join(MARK);
    let file = disk.create(&path).map_err(Error::io("create", &path))?;
    file.write_at(0, format!("{from}\n").as_bytes()).map_err(Error::io("write", &path))?;
    file.sync().map_err(Error::io("sync", &path))?;
    disk.sync_directory(directory).map_err(Error::io("sync", directory))
}

/// Fails before anything is written, if it would not fit: with a tenth for what stands around records, and the segments
/// that the store makes ready when it is opened.
fn has_room(directory: &Path, outline: &Outline) -> Result<()> {
    let found = rustix::fs::statvfs(directory);
    let found = found.map_err(|error| Error::io("look at", directory)(error.into()))?;
    let room = found.f_bavail.saturating_mul(found.f_frsize);
    let Outline { record_bytes, feed_bytes, blob_bytes, .. } = outline;
    let segments = 2 * Options::default().segment_bytes();
    let needed = (record_bytes + feed_bytes) / 10 * 11 + blob_bytes + segments;
    if needed <= room {
        return Ok(());
    }
    Err(Error::Room { directory: directory.into(), needed, room })
}

/// Takes away what a copy that was not finished has left, and nothing else.
fn clear(disk: &dyn Disk, directory: &Path) -> Result<()> {
    let own = |name: &String| {
        let files = [manifest::NAME, seal::NAME].contains(&&**name) || name.ends_with(UNFINISHED);
        files || Segment::number(name).is_some() || snapshot::position(name).is_some()
    };
    for name in disk.list(directory).map_err(Error::io("list", directory))? {
        let path = directory.join(&name);
        if own(&name) {
            disk.remove(&path).map_err(Error::io("remove", &path))?;
        } else if name == CONTENT {
            std::fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}
