//! Reading a snapshot.

use std::path::Path;

use super::{BLOCK, BLOCK_HEADER_BYTES, END, HEADER_BYTES, MAGIC};
use crate::disk::{Disk, DiskFile, read_up_to};
use crate::encoding::Reader;
use crate::error::{Error, Result};
use crate::map::Map;
use crate::segment::FORMAT;

/// The records of a snapshot, over which the log from `position` to at least `end` must be read.
#[derive(Debug)]
pub struct Loaded {
    pub map: Map,
    pub position: u64,
    pub end: u64,
    pub bytes: u64,
}

/// Reads a snapshot and verifies all of it.
pub fn load(disk: &dyn Disk, path: &Path) -> Result<Loaded> {
    let file = disk.open(path).map_err(Error::io("open", path))?;
    let header = read_up_to(&*file, 0, HEADER_BYTES as u64).map_err(Error::io("read", path))?;
    let damaged = |why: &str| Error::DamagedSnapshot { path: path.into(), why: why.into() };
    let (format, position) =
        read_header(&header).ok_or_else(|| damaged("its head cannot be read"))?;
    if format != FORMAT {
        return Err(Error::Format { path: path.into(), found: format, known: FORMAT });
    }
    let mut map = Map::default();
    let mut records = 0;
    let mut bytes = HEADER_BYTES as u64;
    loop {
        let block = read_block(&*file, bytes).map_err(Error::io("read", path))?;
        let offset = bytes;
        let cannot = || damaged(&format!("the block at offset {offset} cannot be read"));
        let (kind, content) = block.ok_or_else(cannot)?;
        bytes += (BLOCK_HEADER_BYTES + content.len()) as u64;
        let mut reader = Reader::new(&content);
        if kind == END {
            let end = reader.u64().ok_or_else(cannot)?;
            let said = reader.u64().ok_or_else(cannot)?;
            if said != records || said != map.len() as u64 {
                return Err(damaged("it holds another number of records than it says"));
            }
            return Ok(Loaded { map, position, end, bytes });
        }
        while !reader.is_empty() {
            read_record(&mut reader, &mut map).ok_or_else(cannot)?;
            records += 1;
        }
    }
}

fn read_record(reader: &mut Reader<'_>, map: &mut Map) -> Option<()> {
    let (key, value) = (reader.number()?, reader.number()?);
    let version = reader.u64()?;
    map.put_last(reader.bytes(key)?, version, reader.bytes(value)?);
    Some(())
}

fn read_header(header: &[u8]) -> Option<(u32, u64)> {
    let mut reader = Reader::new(header);
    let magic = reader.bytes(8)? == MAGIC;
    let found = (reader.u32()?, reader.u64()?);
    let checksum = reader.u32()? == crc32c::crc32c(&header[..HEADER_BYTES - 4]);
    (magic && checksum).then_some(found)
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
