//! The contract of a store, a store in memory, and the suite that every store must pass.
//!
//! A store holds opaque keys and bytes. It knows nothing of designs: what a record means, when it
//! is due and who may see it is laid out by whoever uses the store.
//!
//! Time, threads and chance come from [`Surroundings`], here and in everything that stands on a store.
//!
//! ```
//! use store::{Commit, Memory, Store, block_on};
//!
//! let memory = Memory::new();
//! let cursor = block_on(memory.commit(Commit::new().absent("seat/1").put("seat/1", "taken")))?;
//! let found = block_on(memory.read(&["seat/1".into()], Some(cursor)))?;
//! assert_eq!(found.records[0].as_ref().unwrap().value, "taken");
//! # Ok::<(), store::Error>(())
//! ```

mod blob;
mod commit;
pub mod conformance;
mod contract;
pub mod copying;
mod cursor;
mod distant;
mod error;
mod hash;
mod key;
mod limits;
pub mod linearizability;
mod local;
mod memory;
mod merge;
mod optimistic;
mod pending;
mod progress;
mod record;
mod seeded;
mod surroundings;
mod uploads;

pub use blob::{Blob, BlobReader, BlobWriter, Blobs};
pub use commit::{Check, Commit, Expected, Token, Write};
pub use contract::{Description, FeedCommit, FeedPage, Page, Read, Scan, Store};
pub use cursor::{Cursor, Partition};
pub use distant::{Distant, Faults};
pub use error::{Error, Result};
pub use hash::{Hash, Hasher};
pub use key::{Key, KeyRange};
pub use limits::Limits;
pub use local::{Decision, LocalStore, Ticket, Transaction, Visit};
pub use memory::Memory;
pub use merge::merge_scan;
pub use optimistic::{Ground, Recent, Retry, Settled, transact};
pub use pending::Pending;
pub use progress::{Callback, Durable, Progress};
pub use record::{Record, Version};
pub use seeded::Seeded;
pub use surroundings::{
    Moment, Next, RealSurroundings, Signal, SimulatedSurroundings, Sleep, Step, Surroundings, Task,
    block_on, real_surroundings,
};
pub use uploads::{Upload, Uploads};
