//! What can be set, and what it is when nothing is set.

use std::sync::Arc;
use std::time::Duration;

use store::{Surroundings, real_surroundings};

use crate::frame::SECTOR_BYTES;
use crate::segment::START_BYTES;

/// How a store is kept. The defaults suit a server with a disk of its own.
#[derive(Clone, Debug)]
pub struct Options {
    /// The length of one file of the log. It is raised when the other settings need more.
    pub segment_bytes: u64,
    /// A snapshot is written when the log has grown by this much since the last one, and by as much
    /// as that one was long.
    pub snapshot_after_bytes: u64,
    /// Keys, values and feed entries of one commit together.
    pub commit_bytes_max: u64,
    /// So much may wait to be written; who comes then has to wait.
    pub pending_bytes_max: u64,
    /// Who has waited this long is refused.
    pub busy_after: Duration,
    /// So much of the log is kept for readers of the feed beyond what recovery needs.
    pub feed_retention_bytes: u64,
    /// A log that rests this long is sealed, so that damage to its end can be told from a crash.
    pub seal_after: Duration,
    /// Everything on disk is read this often, slowly; never, if this is zero.
    pub scrub_every: Duration,
    /// Time, threads and chance; the machine's own, if nothing else is given.
    pub surroundings: Arc<dyn Surroundings>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            segment_bytes: 32 << 20,
            snapshot_after_bytes: 64 << 20,
            commit_bytes_max: 4 << 20,
            pending_bytes_max: 8 << 20,
            busy_after: Duration::from_secs(2),
            feed_retention_bytes: 256 << 20,
            seal_after: Duration::from_millis(50),
            scrub_every: Duration::from_secs(24 * 60 * 60),
            surroundings: real_surroundings(),
        }
    }
}

pub const KEY_BYTES_MAX: u64 = 4 << 10;
pub const SCAN_RECORDS_MAX: usize = 10_000;

impl Options {
    /// A small store, for tests.
    pub fn small() -> Self {
        Options {
            segment_bytes: 16 << 10,
            snapshot_after_bytes: 256 << 10,
            commit_bytes_max: 5 << 10,
            pending_bytes_max: 4 << 10,
            feed_retention_bytes: 32 << 10,
            ..Options::default()
        }
    }

    /// The longest that a commit may be as it is written. Many tiny records cost more than their
    /// keys and values.
    pub(crate) fn encoded_bytes_max(&self) -> u64 {
        self.commit_bytes_max + self.commit_bytes_max / 4 + 256
    }

    /// A segment takes at least one batch that is full and a commit.
    pub(crate) fn segment_bytes(&self) -> u64 {
        let sector = SECTOR_BYTES as u64;
        let frames = self.pending_bytes_max + self.encoded_bytes_max() + 2 * sector;
        self.segment_bytes.max(START_BYTES + frames).next_multiple_of(sector)
    }
}
