//! One file of the log: a head that says which, then frames.

use std::path::{Path, PathBuf};

use crate::disk::{Disk, DiskFile};
use crate::encoding::Reader;
use crate::error::{Error, Result};

/// Frames begin here.
pub const HEADER_BYTES: usize = 64;

/// The version of everything that is written: log, snapshots and the place of blobs.
pub const FORMAT: u32 = 1;

const MAGIC: [u8; 8] = *b"SFlog\r\n\0";
const PREFIX: &str = "log-";

/// What is being made and has no meaning yet ends so.
pub const UNFINISHED: &str = ".tmp";

#[derive(Debug)]
pub struct Segment {
    pub number: u64,
    pub path: PathBuf,
    pub file: Box<dyn DiskFile>,
    pub bytes: u64,
}

impl Segment {
    pub fn name(number: u64) -> String {
        format!("{PREFIX}{number:016x}")
    }

    /// The number in the name of a segment's file.
    pub fn number(name: &str) -> Option<u64> {
        let digits = name.strip_prefix(PREFIX)?;
        (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
    }

    /// Opens the file of this number and examines its head.
    pub fn open(disk: &dyn Disk, directory: &Path, number: u64) -> Result<Segment> {
        let path = directory.join(Segment::name(number));
        let file = disk.open(&path).map_err(Error::io("open", &path))?;
        let bytes = file.length().map_err(Error::io("read", &path))?;
        let mut header = [0; HEADER_BYTES];
        file.read_at(0, &mut header).map_err(Error::io("read", &path))?;
        let damaged =
            |why: &str| Error::DamagedLog { segment: path.clone(), offset: 0, why: why.into() };
        let (format, found) =
            read_header(&header).ok_or_else(|| damaged("its head cannot be read"))?;
        if format != FORMAT {
            return Err(Error::Format { path, found: format, known: FORMAT });
        }
        if found != number {
            return Err(damaged("it is another segment than its name says"));
        }
        Ok(Segment { number, path, file, bytes })
    }

    /// Makes a segment ready to be written: room that is really there, and the new number in its
    /// head. An old one is taken instead of fresh room where there is one.
    pub fn prepare(
        disk: &dyn Disk,
        directory: &Path,
        number: u64,
        bytes: u64,
        old: Option<Segment>,
    ) -> Result<Segment> {
        let unfinished = directory.join(format!("{}{UNFINISHED}", Segment::name(number)));
        let file = match old.filter(|old| old.bytes == bytes) {
            Some(old) => {
                disk.rename(&old.path, &unfinished).map_err(Error::io("rename", &old.path))?;
                // Before the head changes: a crash must not leave it under the old name.
                disk.sync_directory(directory).map_err(Error::io("sync", directory))?;
                old.file
            }
            None => {
                let file = disk.create(&unfinished).map_err(Error::io("create", &unfinished))?;
                let filled = fill(&*file, bytes);
                if filled.is_err() {
                    // Gives back what room it took. It is of no use, whether that succeeds or not.
                    let _ = disk.remove(&unfinished);
                }
                filled.map_err(Error::io("fill", &unfinished))?;
                file
            }
        };
        file.write_at(0, &header(number)).map_err(Error::io("write", &unfinished))?;
        file.sync().map_err(Error::io("sync", &unfinished))?;
        let path = directory.join(Segment::name(number));
        disk.rename(&unfinished, &path).map_err(Error::io("rename", &unfinished))?;
        disk.sync_directory(directory).map_err(Error::io("sync", directory))?;
        Ok(Segment { number, path, file, bytes })
    }
}

/// Zeros from end to end, so that no later write needs room.
///
/// They are written page by page: a system that keeps a file in memory in pieces as large as the
/// writes that made them would otherwise treat a commit of a few bytes as a piece of megabytes.
fn fill(file: &dyn DiskFile, bytes: u64) -> std::io::Result<()> {
    const PAGE: u64 = 4 << 10;
    const SYNC: u64 = 8 << 20;
    let zeros = [0; PAGE as usize];
    let mut offset = 0;
    while offset < bytes {
        let piece = PAGE.min(bytes - offset);
        file.write_at(offset, &zeros[..piece as usize])?;
        offset += piece;
        if offset.is_multiple_of(SYNC) {
            file.sync()?;
        }
    }
    Ok(())
}

pub fn header(number: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    header[12..20].copy_from_slice(&number.to_le_bytes());
    let checksum = crc32c::crc32c(&header[..60]);
    header[60..].copy_from_slice(&checksum.to_le_bytes());
    header
}

/// The format and the number.
fn read_header(header: &[u8; HEADER_BYTES]) -> Option<(u32, u64)> {
    let mut reader = Reader::new(header);
    let magic = reader.bytes(8)? == MAGIC;
    let found = (reader.u32()?, reader.u64()?);
    let checksum = Reader::new(&header[60..]).u32()? == crc32c::crc32c(&header[..60]);
    (magic && checksum).then_some(found)
}
