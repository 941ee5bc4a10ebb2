//! What is done to a world. A script that was drawn can be carried out again, also with parts of it left out.

use serde_json::{Map, Value};
use store_embedded::disk::Faults;

/// How much happens in a world.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// so many calls are made, over all lives
    pub calls: usize,
    /// so often the server is started
    pub lives: usize,
    /// More than one: so many servers share a store that is far from them. One has a disk of its own.
    pub servers: usize,
    /// the disk does all that it should
    pub sound_disk: bool,
}

impl Default for Size {
    fn default() -> Size {
        Size { calls: 80, lives: 3, servers: 1, sound_disk: false }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Script {
    pub seed: u64,
    pub room: Room,
    pub lives: Vec<Life>,
}

/// How much the store of a server holds before it does something else. It is little, so that a world of a few calls meets
/// all that a store does in days.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// a snapshot is written after so much log
    pub snapshot_after_bytes: u64,
    /// a commit may have so many bytes, besides a design that it registers; a file of the log has little more than that
    pub commit_bytes: u64,
}

impl Room {
    /// What happens to a store after many calls happens after a few.
    pub(crate) const SCARCE: Room = Room { snapshot_after_bytes: 1 << 10, commit_bytes: 2 << 10 };
}

impl Default for Room {
    fn default() -> Room {
        Room { snapshot_after_bytes: 48 << 10, commit_bytes: 8 << 10 }
    }
}

/// From the start of a server to its end.
#[derive(Clone, Debug, Default)]
pub struct Life {
    pub faults: Faults,
    /// what the network does between the servers and their store, where it is far
    pub network: store::Faults,
    /// the servers that share a store; none: there is one, on a disk of its own
    pub servers: Vec<Server>,
    /// the clock is moved by so much before
    pub clock_ms: i64,
    /// after so many calls the next version takes the place of the one that runs
    pub replaced_after: Option<usize>,
    pub acts: Vec<Act>,
}

/// One of the servers that share a store, from its start to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Server {
    pub killed: Option<Kill>,
    /// its clock is ahead of the store's by so much
    pub skew_ms: i64,
}

/// One call of one caller, and the time that it takes after it.
#[derive(Clone, Debug)]
pub struct Act {
    /// which call this is; it stays the same when others are left out
    pub number: u64,
    pub caller: usize,
    pub actor: String,
    pub operation: String,
    pub params: Map<String, Value>,
    /// the caller does not hear the answer, and goes on without it
    pub lost: bool,
    /// the caller has forgotten what it knew
    pub forgets: bool,
    /// it arrives once more, and nobody hears the second answer
    pub doubled: bool,
    pub rest_us: u64,
}

/// When a server is killed: as it asks the store for something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kill {
    /// for this time
    Request(u64),
    /// for this time since it was called so often
    Call { calls: u64, request: u64 },
}

impl Life {
    /// Does anything go wrong on purpose between the servers and a store that is far?
    pub(crate) fn is_calm(&self) -> bool {
        self.network == store::Faults::default()
            && self.servers.iter().all(|server| *server == Server::default())
    }
}

impl Script {
    pub fn calls(&self) -> usize {
        self.lives.iter().map(|life| life.acts.len()).sum()
    }
}
