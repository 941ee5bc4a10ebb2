//! Reading a snapshot.

use std::io::ErrorKind;
use std::path::Path;

use super::{
    BLOCK, BLOCK_HEADER_BYTES, END, HEADER_BYTES, HEADER_BYTES_WITHOUT_ID, MAGIC, add_checksum,
};
use crate::disk::{Disk, DiskFile, read_up_to};
use crate::encoding::Reader;
use crate::error::{Error, Result};
use crate::identity::Identity;
use crate::manifest::ListedSnapshot;
use crate::map::{KeyHasher, Map};
use crate::segment::{FORMAT, FORMAT_WITHOUT_LIST};

/// A scrub rests after so many bytes.
const REST_BYTES: u64 = 1 << 20;

/// The records of a snapshot, over which the log from `position` to at least `end` must be read.
#[derive(Debug)]
pub struct Loaded {
    pub map: Map,
    pub position: u64,
    pub end: u64,
    pub bytes: u64,
    /// Of the checksums of its blocks.
    pub checksum: u32,
    /// The store that it belongs to; nothing in format 1.
    pub store: Option<Identity>,
}

impl Loaded {
    /// Before the first commit.
    pub fn nothing(hasher: KeyHasher) -> Self {
        let map = Map::new(hasher);
        Loaded { map, position: 0, end: 0, bytes: 0, checksum: 0, store: None }
    }
}

/// The store that a snapshot belongs to, from its head alone.
pub fn store(disk: &dyn Disk, path: &Path) -> Result<Option<Identity>> {
    let file = open(disk, path)?;
    Ok(head(&*file, path)?.store)
}

fn open(disk: &dyn Disk, path: &Path) -> Result<Box<dyn DiskFile>> {
    disk.open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let why = "`manifest` lists it, and the log before it may be gone".into();
            Error::Missing { path: path.into(), why }
        }
        _ => Error::io("open", path)(error),
    })
}

fn head(file: &dyn DiskFile, path: &Path) -> Result<Head> {
    let bytes = read_up_to(file, 0, HEADER_BYTES as u64).map_err(Error::io("read", path))?;
    match Head::read(&bytes) {
        Some(head) if head.format == FORMAT || head.format == FORMAT_WITHOUT_LIST => Ok(head),
        Some(head) => Err(Error::Format { path: path.into(), found: head.format, known: FORMAT }),
        None => {
            let why = "its head cannot be read".into();
            Err(Error::DamagedSnapshot { path: path.into(), why })
        }
    }
}

/// Reads a snapshot and verifies all of it.
pub fn load(disk: &dyn Disk, path: &Path, hasher: KeyHasher) -> Result<Loaded> {
    let file = open(disk, path)?;
    let damaged = |why: &str| Error::DamagedSnapshot { path: path.into(), why: why.into() };
    let Head { position, store, bytes: head_bytes, .. } = head(&*file, path)?;
    let mut map = Map::new(hasher);
    let mut records = 0;
    let mut bytes = head_bytes as u64;
    let mut checksum = 0;
    loop {
        let block = read_block(&*file, bytes).map_err(Error::io("read", path))?;
        let offset = bytes;
        let cannot = || damaged(&format!("the block at offset {offset} cannot be read"));
        let (kind, content) = block.ok_or_else(cannot)?;
        checksum = add_checksum(checksum, &content);
        bytes += (BLOCK_HEADER_BYTES + content.len()) as u64;
        let mut reader = Reader::new(&content);
        if kind == END {
            let end = reader.u64().ok_or_else(cannot)?;
            let said = reader.u64().ok_or_else(cannot)?;
            if said != records || said != map.len() as u64 {
                return Err(damaged("it holds another number of records than it says"));
            }
            if file.length().map_err(Error::io("read", path))? != bytes {
                return Err(damaged("something stands behind its end"));
            }
            return Ok(Loaded { map, position, end, bytes, checksum, store });
        }
        while !reader.is_empty() {
            read_record(&mut reader, &mut map).ok_or_else(cannot)?;
            records += 1;
        }
    }
}

/// Reads a snapshot and verifies its blocks, without keeping what they hold. `rest` is called after
/// each piece.
pub fn examine(disk: &dyn Disk, path: &Path, rest: &mut dyn FnMut()) -> Result<ListedSnapshot> {
    let file = open(disk, path)?;
    let Head { position, bytes: head_bytes, .. } = head(&*file, path)?;
    let (mut bytes, mut checksum, mut rested) = (head_bytes as u64, 0, head_bytes as u64);
    loop {
        let block = read_block(&*file, bytes).map_err(Error::io("read", path))?;
        let Some((kind, content)) = block else {
            let why = format!("the block at offset {bytes} cannot be read");
            return Err(Error::DamagedSnapshot { path: path.into(), why });
        };
        checksum = add_checksum(checksum, &content);
        bytes += (BLOCK_HEADER_BYTES + content.len()) as u64;
        if kind == END {
            return Ok(ListedSnapshot { position, bytes, checksum });
        }
        if bytes - rested >= REST_BYTES {
            rest();
            rested = bytes;
        }
    }
}

fn read_record(reader: &mut Reader<'_>, map: &mut Map) -> Option<()> {
    let (key, value) = (reader.number()?, reader.number()?);
    let version = reader.u64()?;
    map.put_last(reader.bytes(key)?, version, reader.bytes(value)?);
    Some(())
}

struct Head {
    format: u32,
    position: u64,
    store: Option<Identity>,
    bytes: usize,
}

impl Head {
    fn read(bytes: &[u8]) -> Option<Head> {
        let mut reader = Reader::new(bytes);
        let magic = reader.bytes(8)? == MAGIC;
        let (format, position) = (reader.u32()?, reader.u64()?);
        let (store, length) = match format {
            FORMAT_WITHOUT_LIST => (None, HEADER_BYTES_WITHOUT_ID),
            _ => (Some(Identity::from_bytes(reader.bytes(16)?)?), HEADER_BYTES),
        };
        let checksum = reader.u32()? == crc32c::crc32c(&bytes[..length - 4]);
        (magic && checksum).then_some(Head { format, position, store, bytes: length })
    }
}

/// The kind and content of the block at an offset, if it is whole.
fn read_block(file: &dyn DiskFile, offset: u64) -> std::io::Result<Option<(u32, Vec<u8>)>> {
    let header = read_up_to(file, offset, BLOCK_HEADER_BYTES as u64)?;
    let mut reader = Reader::new(&header);
    let (Some(kind), Some(checksum), Some(length)) = (reader.u32(), reader.u32(), reader.u32())
    else {
        return Ok(None);
    };
    let content = read_up_to(file, offset + BLOCK_HEADER_BYTES as u64, length.into())?;
    let known = kind == BLOCK || kind == END;
    let whole = content.len() == length as usize && crc32c::crc32c(&content) == checksum;
    Ok((known && whole).then_some((kind, content)))
}
