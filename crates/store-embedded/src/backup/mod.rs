//! Copies of a store: made while it serves, added to, verified, and restored to any revision.
//!
//! A backup is a directory with a list that is written last. It names every file with its length
//! and digest, content included: a copy that was cut short has no list, or an older one that still
//! holds. Adding to a backup copies what is new and keeps the log, so that every revision since its
//! first snapshot can be restored.

mod copying;
mod cut;
mod list;
mod restore;
mod verify;
mod write;

use std::path::Path;

use self::list::List;
pub use self::restore::{Restore, Target, restore};
pub use self::verify::{export_from, holds_store, verify, verify_on};
pub use self::write::write;
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};

/// What a directory was found to hold, all of it read and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Of the last commit.
    pub position: u64,
    pub records: u64,
    pub blobs: u64,
    /// A backup can be restored to any revision from here on.
    pub earliest: u64,
}

/// The store that a backup is a copy of, as [`Embedded::lineage`](crate::Embedded::lineage) names it. None: it is no
/// backup with a list.
pub fn backup_of(directory: &Path) -> Result<Option<String>> {
    Ok(List::read(&RealDisk, directory)?.map(|list| list.store.to_string()))
}

fn make_empty(disk: &dyn Disk, directory: &Path) -> Result<()> {
    disk.create_directory(directory).map_err(Error::io("create", directory))?;
    let names = disk.list(directory).map_err(Error::io("list", directory))?;
    if names.is_empty() {
        return Ok(());
    }
    Err(Error::Place { directory: directory.into(), why: "is not empty" })
}
