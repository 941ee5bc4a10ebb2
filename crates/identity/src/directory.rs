//! Files that only their owner reads, and lines that are on the disk before anyone relies on them.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::Error;

/// Makes a directory for its owner alone, or sees that it is one.
pub fn make(path: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| Error::io(path, &error))?;
    private(path)
}

/// Refuses what others may read: a key that was read is no longer a key.
pub fn private(path: &Path) -> Result<(), Error> {
    let metadata = fs::metadata(path).map_err(|error| Error::io(path, &error))?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(Error::Open { path: path.to_path_buf() });
    }
    Ok(())
}

/// A file to read and to append to; made if it is not there.
pub fn open_lines(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    let options = options.read(true).append(true).create(true).mode(0o600);
    options.open(path).map_err(|error| Error::io(path, &error))
}

/// Writes a file that was not there, whole and durable.
pub fn write_new(path: &Path, text: &str) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    let written = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    written.map_err(|error| Error::io(path, &error))?;
    sync_parent(path)
}

/// Makes the name of a file durable.
pub fn sync_parent(path: &Path) -> Result<(), Error> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let synced = File::open(parent).and_then(|directory| directory.sync_all());
    synced.map_err(|error| Error::io(parent, &error))
}

pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Ok(()) => sync_parent(path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io(path, &error)),
    }
}

/// The whole lines from `offset` on, and how many bytes of an unfinished one follow them.
pub fn lines_from(file: &mut File, path: &Path, offset: u64) -> Result<(String, u64), Error> {
    let mut bytes = Vec::new();
    let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_to_end(&mut bytes));
    read.map_err(|error| Error::io(path, &error))?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let torn = (bytes.len() - whole) as u64;
    bytes.truncate(whole);
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, torn)),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let before = error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count();
            Err(Error::Damaged { path: path.to_path_buf(), line: before + 1 })
        }
    }
}

/// Appends lines after the `end` of the whole ones, and waits for the disk. What was left of a line
/// that was never finished is cut off first: nobody was told that it had been written.
pub fn append(file: &mut File, path: &Path, end: u64, torn: u64, text: &str) -> Result<(), Error> {
    let appended = (|| {
        if torn > 0 {
            file.set_len(end)?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_data()
    })();
    appended.map_err(|error| Error::io(path, &error))
}

/// What tells that a file has changed, without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    device: u64,
    inode: u64,
    pub length: u64,
    modified: (i64, i64),
}

impl Stamp {
    pub fn of(path: &Path) -> Option<Stamp> {
        fs::metadata(path).ok().map(|metadata| Stamp::from(&metadata))
    }

    /// Appended to at most: what was read before still stands.
    pub fn continues(&self, before: &Stamp, read: u64) -> bool {
        (self.device, self.inode) == (before.device, before.inode) && self.length >= read
    }
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Stamp {
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}
