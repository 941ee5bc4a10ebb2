//! A store in PostgreSQL, for several servers at once.
//!
//! Commits are gathered: a group of them is one call of one function, in one round trip and with one wait for the disk.
//! The group locks the row of `head` first, so commits of all servers are in one order, which is the order of the feed.
//! See `docs/decisions/postgres.md`.
//!
//! All requests are plain statements without state in their session. They pass through PgBouncer in its mode
//! `transaction`; only the connection that listens for news must not, and does without if it is told to.

mod address;
mod blobs;
mod commits;
mod connecting;
mod copying;
mod failures;
mod group;
mod opening;
mod pool;
mod reads;
mod schema;
mod store;
mod tail;
mod tls;
mod values;

use postgres_requests as requests;

pub use address::{Address, Listen};
pub use copying::{Begun, Filling, Reading};
pub use opening::OpenError;
pub use store::Postgres;
