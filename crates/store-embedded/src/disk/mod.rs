//! What the store asks of a disk. All access goes through here, so that tests can put a disk
//! underneath that fails.

mod content;
mod real;
mod sectors;
mod simulated;

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::path::Path;

pub use self::real::RealDisk;
pub use self::simulated::{AfterName, Faults, SimulatedDisk};

/// A file system.
pub trait Disk: Debug + Send + Sync {
    /// A new, empty file; an old one of this name is replaced.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// The names of the files and directories in a directory, in no order.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;

    fn create_directory(&self, directory: &Path) -> io::Result<()>;

    /// Makes durable which names a directory holds.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;

    /// Takes from all but the owner the right to use a file or directory. Answers with the mode
    /// that it had, if that was looser.
    fn tighten(&self, path: &Path) -> io::Result<Option<u32>>;

    /// Keeps others out until what is returned is dropped; nothing when another has it.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Any + Send + Sync>>>;
}

/// An open file.
pub trait DiskFile: Debug + Send + Sync {
    /// Writes all of it, or fails.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Reads as much as there is, up to the length of the buffer.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    fn length(&self) -> io::Result<u64>;

    /// Makes what was written durable.
    fn sync(&self) -> io::Result<()>;
}

/// All of a file from an offset on, up to so many bytes.
pub fn read_up_to(file: &dyn DiskFile, offset: u64, bytes_max: u64) -> io::Result<Vec<u8>> {
    let left = file.length()?.saturating_sub(offset);
    let mut bytes = vec![0; left.min(bytes_max) as usize];
    let read = file.read_at(offset, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
