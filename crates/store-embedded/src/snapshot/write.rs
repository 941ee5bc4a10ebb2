//! Writing a snapshot.

use std::path::Path;
use std::time::Duration;

use store::Surroundings;

use super::{BLOCK, END, MAGIC, add_checksum, block_header, encode_record, name, unfinished};
use crate::core::Phase;
use crate::disk::DiskFile;
use crate::error::{Error, Result};
use crate::identity::Identity;
use crate::locks::lock;
use crate::manifest::ListedSnapshot;
use crate::segment::FORMAT;
use crate::shared::Shared;

/// So many records, or so many bytes, are copied while commits wait.
const RECORDS_AT_ONCE: usize = 128;
const BYTES_AT_ONCE: usize = 32 << 10;
/// A block is written when it has grown to this.
const BLOCK_BYTES: usize = 16 << 10;
/// The file is synced every so many bytes: a sync of the log waits for one that is under way, which
/// is what a snapshot costs those who wait for an answer.
const SYNC_BYTES: u64 = 32 << 10;
/// After each sync it rests this many times as long as the sync took, and leaves the disk to the
/// log.
const REST: u32 = 4;
const REST_MAX: Duration = Duration::from_millis(50);

/// A snapshot that is durable.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// It holds every commit up to here.
    pub position: u64,
    /// The log must be read over it up to here.
    pub end: u64,
    pub bytes: u64,
    pub(super) checksum: u32,
}

impl Written {
    pub fn listed(&self) -> ListedSnapshot {
        let Written { position, bytes, checksum, .. } = *self;
        ListedSnapshot { position, bytes, checksum }
    }
}

/// Writes a snapshot of the newest state into a directory, while commits go on.
pub fn write(shared: &Shared, directory: &Path) -> Result<Written> {
    let position = shared.core().position;
    let path = directory.join(unfinished(&name(position)));
    let file = shared.disk.create(&path).map_err(Error::io("create", &path))?;
    let surroundings = shared.surroundings();
    let (file, path) = (&*file, &*path);
    let mut output = Output { surroundings, file, path, offset: 0, synced: 0, checksum: 0 };
    let written = write_all(shared, &mut output, position);
    if written.is_err() {
        // What was written is of no use, whether it can be removed or not.
        let _ = shared.disk.remove(path);
    }
    let end = written?;
    let (bytes, checksum) = (output.offset, output.checksum);
    let finished = directory.join(name(position));
    shared.disk.rename(path, &finished).map_err(Error::io("rename", path))?;
    shared.disk.sync_directory(directory).map_err(Error::io("sync", directory))?;
    Ok(Written { position, end, bytes, checksum })
}

/// What a snapshot begins with.
pub fn header(position: u64, store: Identity) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&FORMAT.to_le_bytes());
    header.extend_from_slice(&position.to_le_bytes());
    header.extend_from_slice(&store.to_bytes());
    let checksum = crc32c::crc32c(&header);
    header.extend_from_slice(&checksum.to_le_bytes());
    header
}

/// Answers with the position at its end.
fn write_all(shared: &Shared, output: &mut Output<'_>, position: u64) -> Result<u64> {
    let store = lock(&shared.manifest).store;
    output.write(&header(position, store))?;
    let mut block = Vec::with_capacity(BLOCK_BYTES + BYTES_AT_ONCE);
    let mut after: Option<Vec<u8>> = None;
    let mut records = 0;
    loop {
        let copied = copy_records(shared, &mut after, &mut block)?;
        records += copied as u64;
        if block.len() >= BLOCK_BYTES || copied == 0 && !block.is_empty() {
            output.block(BLOCK, &block)?;
            block.clear();
        }
        if copied == 0 {
            break;
        }
    }
    let end = shared.core().position;
    let durable = shared.progress.block_until(end);
    durable.map_err(|e| Error::io("finish", output.path)(std::io::Error::other(e)))?;
    block.extend_from_slice(&end.to_le_bytes());
    block.extend_from_slice(&records.to_le_bytes());
    output.block(END, &block)?;
    output.file.sync().map_err(Error::io("sync", output.path))?;
    Ok(end)
}

/// Copies some records after a key, and remembers the last.
fn copy_records(
    shared: &Shared,
    after: &mut Option<Vec<u8>>,
    block: &mut Vec<u8>,
) -> Result<usize> {
    let core = shared.core();
    if let Phase::Poisoned(why) = &core.phase {
        let failed = std::io::Error::other(why.clone());
        return Err(Error::io("snapshot", &shared.directory)(failed));
    }
    let start = block.len();
    let mut copied = 0;
    let mut last = None;
    let from = after.take();
    for (key, version, value) in core.map.after(from.as_deref()).take(RECORDS_AT_ONCE) {
        encode_record(block, key, version.0, value);
        copied += 1;
        last = Some(key);
        if block.len() - start >= BYTES_AT_ONCE {
            break;
        }
    }
    *after = last.map(<[u8]>::to_vec);
    Ok(copied)
}

struct Output<'a> {
    surroundings: &'a dyn Surroundings,
    file: &'a dyn DiskFile,
    path: &'a Path,
    offset: u64,
    synced: u64,
    checksum: u32,
}

impl Output<'_> {
    fn block(&mut self, kind: u32, content: &[u8]) -> Result<()> {
        self.checksum = add_checksum(self.checksum, content);
        self.write(&block_header(kind, content))?;
        self.write(content)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_at(self.offset, bytes).map_err(Error::io("write", self.path))?;
        self.offset += bytes.len() as u64;
        if self.offset - self.synced >= SYNC_BYTES {
            let begun = self.surroundings.now();
            self.file.sync().map_err(Error::io("sync", self.path))?;
            self.synced = self.offset;
            let took = self.surroundings.now().since(begun);
            self.surroundings.rest((took * REST).min(REST_MAX));
        }
        Ok(())
    }
}
