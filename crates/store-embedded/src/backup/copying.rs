//! Copying files, and the digests of what was copied.

use std::path::Path;

use store::{Hash, Hasher};

use crate::disk::{Disk, DiskFile, read_up_to};
use crate::error::{Error, Result};

const PIECE_BYTES: u64 = 1 << 20;

/// Copies so many bytes of a file, and makes them durable. Answers with their digest.
pub fn copy(disk: &dyn Disk, from: &dyn DiskFile, length: u64, to: &Path) -> Result<Hash> {
    copy_under(disk, from, length, to, &[])
}

/// The same, with another beginning. The digest is of what was read.
pub fn copy_under(
    disk: &dyn Disk,
    from: &dyn DiskFile,
    length: u64,
    to: &Path,
    head: &[u8],
) -> Result<Hash> {
    let target = disk.create(to).map_err(Error::io("create", to))?;
    let mut hasher = Hasher::default();
    let mut offset = 0;
    while offset < length {
        let piece = read_up_to(from, offset, PIECE_BYTES.min(length - offset));
        let mut piece = piece.map_err(Error::io("copy", to))?;
        if piece.is_empty() {
            let why = format!("only {offset} of {length} bytes can be read");
            return Err(Error::Damaged { path: to.into(), why });
        }
        hasher.update(&piece);
        if offset == 0 {
            let replaced = head.len().min(piece.len());
            piece[..replaced].copy_from_slice(&head[..replaced]);
        }
        target.write_at(offset, &piece).map_err(Error::io("write", to))?;
        offset += piece.len() as u64;
        target.sync().map_err(Error::io("sync", to))?;
    }
    target.sync().map_err(Error::io("sync", to))?;
    Ok(hasher.finish())
}

/// The digest of a file that must have this length.
pub fn digest(disk: &dyn Disk, path: &Path, length: u64) -> Result<Hash> {
    let file = disk.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::Missing { path: path.into(), why: "the backup lists it".into() }
        }
        _ => Error::io("open", path)(error),
    })?;
    let found = file.length().map_err(Error::io("read", path))?;
    if found != length {
        let why = format!("it has {found} bytes, and {length} are listed");
        return Err(Error::Damaged { path: path.into(), why });
    }
    let mut hasher = Hasher::default();
    let mut offset = 0;
    while offset < length {
        let piece = read_up_to(&*file, offset, PIECE_BYTES).map_err(Error::io("read", path))?;
        if piece.is_empty() {
            break;
        }
        hasher.update(&piece);
        offset += piece.len() as u64;
    }
    Ok(hasher.finish())
}

/// Fails unless a file has the length and the digest that are listed.
pub fn expect(disk: &dyn Disk, path: &Path, length: u64, listed: Hash) -> Result<()> {
    if digest(disk, path, length)? == listed {
        return Ok(());
    }
    Err(Error::Damaged { path: path.into(), why: "it does not match its digest".into() })
}
