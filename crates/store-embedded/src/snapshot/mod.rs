//! Snapshots: all records in one file, so that the log before them is not needed to recover.
//!
//! A snapshot is written while commits go on, a few records at a time, so the records in it are not
//! all of one moment. That does no harm: it says from which position on the log must be read over
//! it, each record carries its version, and the log never takes a record back to an older one. It
//! counts only when the log is durable up to where its writing ended, and when it is listed.

pub mod names;
mod plain;
mod read;
mod write;

use std::path::Path;
use std::sync::atomic::Ordering;

pub use self::names::{name, position};
pub use self::plain::SnapshotFile;
pub use self::read::{Loaded, examine, load, store};
pub use self::write::{header, write};
use crate::encoding::encode_number;
use crate::error::{Error, Result};
use crate::housekeeping::remove_segments;
use crate::locks::lock;
use crate::segment::UNFINISHED;
use crate::shared::Shared;

/// Writes a snapshot and removes what is not needed any more.
pub fn take(shared: &Shared) -> Result<()> {
    let mut housekeeping = lock(&shared.housekeeping);
    let log_bytes = shared.core().log_bytes;
    let written = write(shared, &shared.directory)?;
    // From here on it counts, and what is before it need not be kept.
    shared.list(None, Some(written.listed()))?;
    shared.snapshot_position.store(written.position, Ordering::Release);
    housekeeping.snapshot_bytes = written.bytes;
    housekeeping.snapshot_at_log_bytes = log_bytes;
    housekeeping.carried_bytes = 0;
    remove_older(shared, &shared.directory, written.position)?;
    remove_segments(shared, &mut housekeeping)
}

fn remove_older(shared: &Shared, directory: &Path, newest: u64) -> Result<()> {
    let names = shared.disk.list(directory).map_err(Error::io("list", directory))?;
    for name in names {
        if position(&name).is_some_and(|position| position < newest) {
            let path = directory.join(name);
            shared.disk.remove(&path).map_err(Error::io("remove", &path))?;
        }
    }
    shared.disk.sync_directory(directory).map_err(Error::io("sync", directory))
}

/// The name of a file while it is being written.
fn unfinished(name: &str) -> String {
    format!("{name}{UNFINISHED}")
}

/// Blocks and the end of the file begin with these bytes.
const BLOCK: u32 = 0x6b6c_6253;
const END: u32 = 0x646e_6553;
const MAGIC: [u8; 8] = *b"SFsnap\r\n";
/// Magic, format, position, the id of the store, checksum.
const HEADER_BYTES: usize = 40;
/// In format 1, without the id.
const HEADER_BYTES_WITHOUT_ID: usize = 24;
/// Kind, checksum, length.
const BLOCK_HEADER_BYTES: usize = 12;

/// The checksum of a snapshot goes over its blocks, one after the other.
fn add_checksum(checksum: u32, block: &[u8]) -> u32 {
    crc32c::crc32c_append(checksum, &crc32c::crc32c(block).to_le_bytes())
}

/// What stands before the content of a block.
fn block_header(kind: u32, content: &[u8]) -> [u8; BLOCK_HEADER_BYTES] {
    let mut header = [0; BLOCK_HEADER_BYTES];
    header[..4].copy_from_slice(&kind.to_le_bytes());
    header[4..8].copy_from_slice(&crc32c::crc32c(content).to_le_bytes());
    header[8..].copy_from_slice(&(content.len() as u32).to_le_bytes());
    header
}

/// How a record lies in a block.
fn encode_record(block: &mut Vec<u8>, key: &[u8], version: u64, value: &[u8]) {
    encode_number(block, key.len() as u64);
    encode_number(block, value.len() as u64);
    block.extend_from_slice(&version.to_le_bytes());
    block.extend_from_slice(key);
    block.extend_from_slice(value);
}
