//! The disk of the machine.

use std::any::Any;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{Disk, DiskFile};

#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(true).clone();
        Ok(Box::new(RealFile(options.open(path)?)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(RealFile(OpenOptions::new().read(true).write(true).open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        fs::read_dir(directory)?.map(name).collect()
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        File::open(directory)?.sync_all()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Any + Send + Sync>>> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn read_at(&self, mut offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match self.0.read_at(&mut buffer[read..], offset) {
                Ok(0) => break,
                Ok(more) => {
                    read += more;
                    offset += more as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
