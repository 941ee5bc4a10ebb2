//! The embedded store: the default, and made for production.
//!
//! All records are held in memory, in order. Every commit goes to a log and is synced before it is
//! answered; commits that come while a sync is under way share the next one. Snapshots bound the
//! log and are written while commits go on. One process at a time opens a directory.
//!
//! ```no_run
//! use store::{Commit, Store, block_on};
//! use store_embedded::{Embedded, Options};
//!
//! let store = Embedded::open("data", Options::default())?;
//! block_on(store.commit(Commit::new().absent("seat/1").put("seat/1", "taken")))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backup;
mod base64;
mod blobs;
mod building;
mod committer;
mod contract;
mod core;
pub mod disk;
mod embedded;
mod encoding;
mod error;
mod export;
mod feed;
mod feed_pages;
mod frame;
mod health;
mod housekeeping;
mod identity;
mod locks;
mod manifest;
mod map;
mod opening;
mod options;
mod position;
mod recovery;
mod relisting;
mod scrub;
mod scrubbed;
mod seal;
mod segment;
mod shared;
mod snapshot;
mod transaction;
mod upkeep;

pub use backup::{Restore, Target, Verified, backup_of, holds_store, restore, verify, verify_on};
pub use building::Building;
pub use embedded::{Embedded, Statistics};
pub use error::{Error, Result};
pub use export::{Describe, Exported, export, import};
pub use health::Health;
pub use options::Options;
pub use scrubbed::Scrubbed;
