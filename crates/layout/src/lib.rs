//! How truth lies in a store: typed keys, and the bytes of records, log entries, outbox entries,
//! kept outcomes, entries of the feed and entries set aside.
//!
//! Everything here turns values into bytes and bytes into values. Nothing here reads or writes a
//! store. A key or value that cannot be read gives a [`Damaged`], which names the space, the key and
//! what was wrong.

mod aside;
mod bytes;
mod codec;
mod damaged;
mod describe;
pub mod feed;
pub mod following;
mod forgetting;
mod form;
pub mod key;
mod log_entry;
mod outbox;
mod outcome;
mod pool;
mod record;
mod registry;
mod round;
mod shared;
pub mod size;
mod space;
pub mod value;

pub use aside::SetAside;
pub use bytes::{Reader, put_bytes, put_number, put_signed, put_sized};
pub use codec::Codec;
pub use damaged::{Damaged, Wrong};
pub use describe::describe;
pub use feed::FeedEntry;
pub use following::{Following, version};
pub use forgetting::{OPERATIONS_MAX, forgetting, log_of};
pub use form::{KeyForm, Part};
pub use key::{
    About, ActedKey, AsideKey, ContentKey, FollowerKey, LogKey, MetaKey, OutboxDueKey, OutboxKey,
    OutcomeDueKey, OutcomeKey, RecordKey, RepairDueKey, StoredKey,
};
pub use log_entry::{append_time, take_append_time};
pub use outbox::{OutboxEntry, event_key, event_name, message_name};
pub use outcome::KeptOutcome;
pub use pool::{Given, Pool};
pub use record::{Head, RecordForm, put_head, take_head};
pub use registry::{Numbered, put_numbers, take_numbers};
pub use round::{put_round, take_round};
pub use shared::{Card, Epoch, Lease, Serves, put_claim, take_claim};
pub use size::Size;
pub use space::{DesignNumber, Space};
