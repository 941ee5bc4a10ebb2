//! One file of the log: a head that says which, then frames.

use std::path::{Path, PathBuf};

use crate::disk::{Disk, DiskFile};
use crate::encoding::Reader;
use crate::error::{Error, Result};
use crate::frame::{Kind, Layout, SECTOR_BYTES};
use crate::identity::Identity;

/// A new segment's frames begin here: its head has a sector to itself.
pub const START_BYTES: u64 = SECTOR_BYTES as u64;

const HEADER_BYTES: usize = 64;

/// The version of everything that is written: list, seal, log, snapshots and the place of blobs.
pub const FORMAT: u32 = 2;
/// Without a list; it is read, and goes on as [`FORMAT`].
pub const FORMAT_WITHOUT_LIST: u32 = 1;

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
    pub kind: Kind,
    /// Of the store that it belongs to; nothing in format 1.
    pub store: Option<Identity>,
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
        Segment::open_at(disk, directory.join(Segment::name(number)), number)
    }

    /// The same, of a file with a name of its own.
    pub fn open_at(disk: &dyn Disk, path: PathBuf, number: u64) -> Result<Segment> {
        let file = disk.open(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::Missing {
                path: path.clone(),
                why: "`manifest` lists it as a part of the log".into(),
            },
            _ => Error::io("open", &path)(error),
        })?;
        let bytes = file.length().map_err(Error::io("read", &path))?;
        let mut header = [0; HEADER_BYTES];
        file.read_at(0, &mut header).map_err(Error::io("read", &path))?;
        let damaged =
            |why: &str| Error::DamagedLog { segment: path.clone(), offset: 0, why: why.into() };
        let found = Header::read(&header).ok_or_else(|| damaged("its head cannot be read"))?;
        let layout = match found.format {
            FORMAT => Layout::Sectors,
            FORMAT_WITHOUT_LIST => Layout::Packed,
            format => return Err(Error::Format { path, found: format, known: FORMAT }),
        };
        if found.number != number {
            return Err(damaged("it is another segment than its name says"));
        }
        let kind = Kind { segment: number, salt: found.salt, layout };
        let store = Some(found.store).filter(|_| layout == Layout::Sectors);
        Ok(Segment { number, path, file, bytes, kind, store })
    }

    /// Makes a segment ready to be written: room that is really there, and the new number in its
    /// head. An old one is taken instead of fresh room where there is one.
    pub fn prepare(
        disk: &dyn Disk,
        directory: &Path,
        belongs: Belongs,
        bytes: u64,
        old: Option<Segment>,
    ) -> Result<Segment> {
        let number = belongs.number;
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
        file.write_at(0, &belongs.head()).map_err(Error::io("write", &unfinished))?;
        file.sync().map_err(Error::io("sync", &unfinished))?;
        let path = directory.join(Segment::name(number));
        disk.rename(&unfinished, &path).map_err(Error::io("rename", &unfinished))?;
        disk.sync_directory(directory).map_err(Error::io("sync", directory))?;
        let kind = Kind { segment: number, salt: belongs.salt, layout: Layout::Sectors };
        Ok(Segment { number, path, file, bytes, kind, store: Some(belongs.store) })
    }
}

/// What stands in the head of a segment: which one it is, and of which store.
#[derive(Clone, Copy, Debug)]
pub struct Belongs {
    pub store: Identity,
    pub salt: u64,
    pub number: u64,
}

impl Belongs {
    /// A sector, so that frames never share one with it.
    pub fn head(self) -> [u8; SECTOR_BYTES] {
        let mut head = [0; SECTOR_BYTES];
        head[..8].copy_from_slice(&MAGIC);
        head[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        head[12..20].copy_from_slice(&self.number.to_le_bytes());
        head[20..36].copy_from_slice(&self.store.to_bytes());
        head[36..44].copy_from_slice(&self.salt.to_le_bytes());
        let checksum = crc32c::crc32c(&head[..HEADER_BYTES - 4]);
        head[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
        head
    }
}

struct Header {
    format: u32,
    number: u64,
    store: Identity,
    salt: u64,
}

impl Header {
    fn read(header: &[u8; HEADER_BYTES]) -> Option<Header> {
        let (content, checksum) = header.split_at(HEADER_BYTES - 4);
        let mut reader = Reader::new(content);
        let magic = reader.bytes(8)? == MAGIC;
        let (format, number) = (reader.u32()?, reader.u64()?);
        let store = Identity::from_bytes(reader.bytes(16)?)?;
        let salt = reader.u64()?;
        let whole = Reader::new(checksum).u32()? == crc32c::crc32c(content);
        (magic && whole).then_some(Header { format, number, store, salt })
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
