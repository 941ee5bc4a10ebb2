//! Blobs as files of their own, named by their hash.

use std::fmt;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use store::{
    Blob, BlobReader, BlobWriter, Blobs, Error as StoreError, Hash, Hasher, Pending, Uploads,
};

use crate::disk::{Disk, DiskFile, read_up_to};
use crate::error::{Error, Result};
use crate::locks::lock;
use crate::segment::UNFINISHED;

const PIECE_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub struct EmbeddedBlobs {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    begun: AtomicU64,
    /// Held by whoever deletes, and by whoever copies everything.
    deleting: Mutex<()>,
    uploads: Uploads,
}

impl EmbeddedBlobs {
    /// Removes what was begun and never finished.
    pub fn open(disk: Arc<dyn Disk>, store: &Path) -> Result<Self> {
        let directory = store.join("blobs");
        disk.create_directory(&directory).map_err(Error::io("create", &directory))?;
        for name in disk.list(&directory).map_err(Error::io("list", &directory))? {
            if name.ends_with(UNFINISHED) {
                let path = directory.join(name);
                disk.remove(&path).map_err(Error::io("remove", &path))?;
            }
        }
        let (begun, deleting) = (AtomicU64::new(0), Mutex::default());
        Ok(EmbeddedBlobs { disk, directory, begun, deleting, uploads: Uploads::default() })
    }

    /// Every blob's hash, in order.
    pub fn hashes(disk: &dyn Disk, directory: &Path) -> Result<Vec<Hash>> {
        let mut hashes = Vec::new();
        let list = |path: &Path| disk.list(path).map_err(Error::io("list", path));
        for first in list(directory)?.into_iter().filter(|name| name.len() == 2) {
            let names = list(&directory.join(first))?;
            hashes.extend(names.iter().filter_map(|name| name.parse::<Hash>().ok()));
        }
        hashes.sort_unstable();
        Ok(hashes)
    }

    fn begin_now(&self) -> Result<EmbeddedWriter> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let path = self.directory.join(format!("{number}{UNFINISHED}"));
        let file = self.disk.create(&path).map_err(Error::io("create", &path))?;
        let (disk, directory) = (Arc::clone(&self.disk), self.directory.clone());
        let hasher = Hasher::default();
        Ok(EmbeddedWriter { disk, directory, path: Some(path), file, hasher, bytes: 0 })
    }

    fn get_now(&self, hash: Hash) -> Result<Option<EmbeddedReader>> {
        let path = place(&self.directory, hash);
        let file = match self.disk.open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(Error::io("open", &path))?,
        };
        let bytes = file.length().map_err(Error::io("read", &path))?;
        let (blob, hasher) = (Blob { hash, bytes }, Hasher::default());
        Ok(Some(EmbeddedReader { blob, path, file, offset: 0, hasher, ended: false }))
    }

    fn list_now(&self, after: Option<Hash>, limit: usize) -> Result<Vec<Blob>> {
        let hashes = EmbeddedBlobs::hashes(&*self.disk, &self.directory)?;
        let after = hashes.into_iter().filter(|hash| after.is_none_or(|after| *hash > after));
        // One that is deleted meanwhile is left out.
        let blob = |hash| self.get_now(hash).transpose().map(|found| Ok(found?.blob));
        after.filter_map(blob).take(limit).collect()
    }

    /// Nothing is deleted until what is returned is dropped.
    pub fn keep_all(&self) -> MutexGuard<'_, ()> {
        lock(&self.deleting)
    }

    fn delete_now(&self, hash: Hash) -> Result<bool> {
        let _one_at_a_time = lock(&self.deleting);
        let path = place(&self.directory, hash);
        match self.disk.remove(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            removed => removed.map_err(Error::io("remove", &path))?,
        }
        sync_parent(&*self.disk, &path)?;
        Ok(true)
    }
}

/// Where a blob is kept: 256 directories, so that none grows too long.
pub fn place(directory: &Path, hash: Hash) -> PathBuf {
    let name = hash.to_string();
    directory.join(&name[..2]).join(name)
}

fn sync_parent(disk: &dyn Disk, path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(path);
    disk.sync_directory(parent).map_err(Error::io("sync", parent))
}

impl Blobs for EmbeddedBlobs {
    fn begin(&self) -> Pending<'_, Box<dyn BlobWriter>> {
        let writer = self.begin_now().map(|writer| Box::new(writer) as Box<dyn BlobWriter>);
        Box::pin(ready(writer.map_err(StoreError::from)))
    }

    fn get(&self, hash: Hash) -> Pending<'_, Option<Box<dyn BlobReader>>> {
        let reader = self.get_now(hash);
        let reader =
            reader.map(|found| found.map(|reader| Box::new(reader) as Box<dyn BlobReader>));
        Box::pin(ready(reader.map_err(StoreError::from)))
    }

    fn list(&self, after: Option<Hash>, limit: usize) -> Pending<'_, Vec<Blob>> {
        Box::pin(ready(self.list_now(after, limit).map_err(StoreError::from)))
    }

    fn uploads(&self) -> &Uploads {
        &self.uploads
    }

    fn delete(&self, hash: Hash) -> Pending<'_, bool> {
        Box::pin(ready(self.delete_now(hash).map_err(StoreError::from)))
    }
}

struct EmbeddedWriter {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    /// The unfinished file, until it is finished.
    path: Option<PathBuf>,
    file: Box<dyn DiskFile>,
    hasher: Hasher,
    bytes: u64,
}

impl fmt::Debug for EmbeddedWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a blob of {} bytes so far", self.bytes)
    }
}

impl EmbeddedWriter {
    fn write_now(&mut self, piece: &[u8]) -> Result<()> {
        let path = self.path.as_deref().unwrap_or(&self.directory);
        self.file.write_at(self.bytes, piece).map_err(Error::io("write", path))?;
        self.hasher.update(piece);
        self.bytes += piece.len() as u64;
        Ok(())
    }

    fn finish_now(&mut self, expected: Option<Hash>) -> store::Result<Blob> {
        let hash = self.hasher.finish();
        if let Some(expected) = expected.filter(|expected| *expected != hash) {
            let message = format!("the blob is `{hash}` and not `{expected}`");
            return Err(StoreError::Damaged(message));
        }
        let to = place(&self.directory, hash);
        self.file.sync().map_err(Error::io("sync", &to))?;
        let parent = to.parent().unwrap_or(&self.directory);
        self.disk.create_directory(parent).map_err(Error::io("create", parent))?;
        if let Some(path) = self.path.take() {
            self.disk.rename(&path, &to).map_err(Error::io("rename", &path))?;
        }
        sync_parent(&*self.disk, &to)?;
        sync_parent(&*self.disk, parent)?;
        Ok(Blob { hash, bytes: self.bytes })
    }
}

impl Drop for EmbeddedWriter {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            // If it cannot be removed now, it is when the store is opened again.
            let _ = self.disk.remove(&path);
        }
    }
}

impl BlobWriter for EmbeddedWriter {
    fn write(&mut self, piece: Bytes) -> Pending<'_, ()> {
        Box::pin(ready(self.write_now(&piece).map_err(StoreError::from)))
    }

    fn finish(mut self: Box<Self>, expected: Option<Hash>) -> Pending<'static, Blob> {
        Box::pin(ready(self.finish_now(expected)))
    }
}

#[derive(Debug)]
struct EmbeddedReader {
    blob: Blob,
    path: PathBuf,
    file: Box<dyn DiskFile>,
    offset: u64,
    hasher: Hasher,
    ended: bool,
}

impl EmbeddedReader {
    fn next_now(&mut self) -> store::Result<Option<Bytes>> {
        if self.ended {
            return Ok(None);
        }
        let piece = read_up_to(&*self.file, self.offset, PIECE_BYTES);
        let piece = piece.map_err(Error::io("read", &self.path))?;
        self.hasher.update(&piece);
        self.offset += piece.len() as u64;
        self.ended = self.offset >= self.blob.bytes || piece.is_empty();
        if self.ended && self.hasher.finish() != self.blob.hash {
            let path = self.path.display();
            return Err(StoreError::Damaged(format!("`{path}` does not hold what its name says")));
        }
        Ok((!piece.is_empty()).then(|| piece.into()))
    }
}

impl BlobReader for EmbeddedReader {
    fn blob(&self) -> Blob {
        self.blob
    }

    fn next(&mut self) -> Pending<'_, Option<Bytes>> {
        Box::pin(ready(self.next_now()))
    }
}
