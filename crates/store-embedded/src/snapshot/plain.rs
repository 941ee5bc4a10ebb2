//! A snapshot of records that come one after the other, and that nobody changes meanwhile.

use std::path::{Path, PathBuf};

use super::write::{Written, header};
use super::{BLOCK, END, add_checksum, block_header, encode_record, name, unfinished};
use crate::disk::{Disk, DiskFile};
use crate::error::{Error, Result};
use crate::identity::Identity;

const BLOCK_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub struct SnapshotFile {
    directory: PathBuf,
    path: PathBuf,
    file: Box<dyn DiskFile>,
    position: u64,
    offset: u64,
    checksum: u32,
    block: Vec<u8>,
    records: u64,
}

impl SnapshotFile {
    /// Begins the snapshot of a position.
    pub fn create(
        disk: &dyn Disk,
        directory: &Path,
        position: u64,
        store: Identity,
    ) -> Result<SnapshotFile> {
        let path = directory.join(unfinished(&name(position)));
        let file = disk.create(&path).map_err(Error::io("create", &path))?;
        let (directory, block) = (directory.into(), Vec::with_capacity(2 * BLOCK_BYTES));
        let (offset, checksum, records) = (0, 0, 0);
        let mut snapshot =
            SnapshotFile { directory, path, file, position, offset, checksum, block, records };
        snapshot.write(&header(position, store))?;
        Ok(snapshot)
    }

    /// In the order of keys.
    pub fn record(&mut self, key: &[u8], version: u64, value: &[u8]) -> Result<()> {
        encode_record(&mut self.block, key, version, value);
        self.records += 1;
        if self.block.len() < BLOCK_BYTES {
            return Ok(());
        }
        self.end_block(BLOCK)
    }

    /// Makes it durable, and gives it its name.
    pub fn finish(mut self, disk: &dyn Disk) -> Result<Written> {
        if !self.block.is_empty() {
            self.end_block(BLOCK)?;
        }
        let position = self.position;
        self.block.extend_from_slice(&position.to_le_bytes());
        self.block.extend_from_slice(&self.records.to_le_bytes());
        self.end_block(END)?;
        self.file.sync().map_err(Error::io("sync", &self.path))?;
        let finished = self.directory.join(name(position));
        disk.rename(&self.path, &finished).map_err(Error::io("rename", &self.path))?;
        disk.sync_directory(&self.directory).map_err(Error::io("sync", &self.directory))?;
        Ok(Written { position, end: position, bytes: self.offset, checksum: self.checksum })
    }

    fn end_block(&mut self, kind: u32) -> Result<()> {
        let block = std::mem::take(&mut self.block);
        self.checksum = add_checksum(self.checksum, &block);
        self.write(&block_header(kind, &block))?;
        self.write(&block)?;
        self.block = block;
        self.block.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_at(self.offset, bytes).map_err(Error::io("write", &self.path))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}
