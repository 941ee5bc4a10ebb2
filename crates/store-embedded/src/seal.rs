//! Up to where the log is known to be durable, kept apart from the log.
//!
//! A seal is written when the log rests, when the store is opened and when it is closed. It has two
//! places, in different pages, which are written in turn: a crash may tear one, and the other
//! vouches for a little less. Damage to the log before a seal is no torn batch.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::disk::{Disk, DiskFile, read_up_to};
use crate::encoding::Reader;
use crate::error::{Error, Result};
use crate::identity::Identity;
use crate::segment::UNFINISHED;

pub const NAME: &str = "seal";

const MAGIC: [u8; 8] = *b"SFseal\r\n";
const PLACE_BYTES: u64 = 4096;
const SEAL_BYTES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    pub segment: u64,
    /// Frames up to here are durable.
    pub end: u64,
    /// The position of the commit to come.
    pub next: u64,
    /// Of the last frame.
    pub checksum: u32,
}

/// The newest seal of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub seal: Seal,
    pub store: Identity,
    sequence: u64,
}

/// The file, and which of its places is next.
#[derive(Debug)]
pub struct SealFile {
    file: Box<dyn DiskFile>,
    store: Identity,
    sequence: u64,
}

pub fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// The newest seal, if the directory has any.
pub fn read(disk: &dyn Disk, directory: &Path) -> Result<Option<Found>> {
    let path = path(directory);
    let file = match disk.open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(Error::io("open", &path))?,
    };
    let bytes = read_up_to(&*file, 0, 2 * PLACE_BYTES).map_err(Error::io("read", &path))?;
    let places = [0, PLACE_BYTES as usize].map(|at| bytes.get(at..at + SEAL_BYTES));
    let found = places.into_iter().flatten().filter_map(decode).max_by_key(|found| found.sequence);
    let why = || "neither of its two places can be read".to_owned();
    found.map(Some).ok_or_else(|| Error::Damaged { path: path.clone(), why: why() })
}

impl SealFile {
    /// Makes the file with its first seal.
    pub fn create(disk: &dyn Disk, directory: &Path, store: Identity, seal: Seal) -> Result<Self> {
        let unfinished = directory.join(format!("{NAME}{UNFINISHED}"));
        let file = disk.create(&unfinished).map_err(Error::io("create", &unfinished))?;
        let filled = file.write_at(0, &[0; 2 * PLACE_BYTES as usize]);
        filled.map_err(Error::io("fill", &unfinished))?;
        let mut seals = SealFile { file, store, sequence: 0 };
        seals.write(seal).map_err(Error::io("write", &unfinished))?;
        let path = path(directory);
        disk.rename(&unfinished, &path).map_err(Error::io("rename", &unfinished))?;
        disk.sync_directory(directory).map_err(Error::io("sync", directory))?;
        Ok(seals)
    }

    pub fn open(disk: &dyn Disk, directory: &Path, found: &Found) -> Result<Self> {
        let path = path(directory);
        let file = disk.open(&path).map_err(Error::io("open", &path))?;
        Ok(SealFile { file, store: found.store, sequence: found.sequence })
    }

    /// Only when everything up to there is durable.
    pub fn write(&mut self, seal: Seal) -> io::Result<()> {
        let sequence = self.sequence + 1;
        let place = sequence % 2 * PLACE_BYTES;
        self.file.write_at(place, &encode(seal, self.store, sequence))?;
        self.file.sync()?;
        self.sequence = sequence;
        Ok(())
    }
}

fn encode(seal: Seal, store: Identity, sequence: u64) -> [u8; SEAL_BYTES] {
    let mut bytes = [0; SEAL_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..24].copy_from_slice(&store.to_bytes());
    bytes[24..32].copy_from_slice(&sequence.to_le_bytes());
    bytes[32..40].copy_from_slice(&seal.segment.to_le_bytes());
    bytes[40..48].copy_from_slice(&seal.end.to_le_bytes());
    bytes[48..56].copy_from_slice(&seal.next.to_le_bytes());
    bytes[56..60].copy_from_slice(&seal.checksum.to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[..60]);
    bytes[60..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<Found> {
    let mut reader = Reader::new(bytes);
    let magic = reader.bytes(8)? == MAGIC;
    let store = Identity::from_bytes(reader.bytes(16)?)?;
    let sequence = reader.u64()?;
    let (segment, end, next) = (reader.u64()?, reader.u64()?, reader.u64()?);
    let seal = Seal { segment, end, next, checksum: reader.u32()? };
    let whole = reader.u32()? == crc32c::crc32c(&bytes[..60]);
    (magic && whole).then_some(Found { seal, store, sequence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimulatedDisk;

    #[test]
    fn the_newer_of_two_counts_and_the_older_when_that_is_damaged() {
        let disk = SimulatedDisk::new();
        let directory = Path::new("store");
        assert_eq!(read(&disk, directory).unwrap(), None);
        let seal = |next| Seal { segment: 1, end: 512 * next, next, checksum: 9 };
        let mut seals = SealFile::create(
            &disk,
            directory,
            Identity::by_chance(&store::SimulatedSurroundings::new(1)),
            seal(1),
        )
        .unwrap();
        let newest = || read(&disk, directory).map(|found| found.unwrap().seal);
        for next in 2..6 {
            seals.write(seal(next)).unwrap();
            assert_eq!(newest().unwrap(), seal(next));
        }
        let file = disk.open(&path(directory)).unwrap();
        // The fifth is in the second place.
        file.write_at(PLACE_BYTES + 30, b"!").unwrap();
        assert_eq!(newest().unwrap(), seal(4));
        file.write_at(30, b"!").unwrap();
        let error = newest().unwrap_err();
        assert!(error.to_string().contains("store/seal"), "{error}");
    }
}
