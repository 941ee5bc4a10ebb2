//! What a person must know of a store that serves.

use crate::core::Phase;
use crate::embedded::Embedded;
use crate::locks::lock;
use crate::scrub;
use crate::scrubbed::Scrubbed;

/// How a store is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// No room is left for the log: writes are refused, reads are served, and writes are taken
    /// again by themselves when there is room.
    pub full: Option<String>,
    /// A write or sync of the log failed: nothing more is taken until the store is opened anew.
    pub failed: Option<String>,
    /// The last snapshot could not be written: the log grows, and is kept.
    pub snapshot: Option<String>,
    /// The last scrub that came to its end.
    pub scrubbed: Option<Scrubbed>,
}

impl Embedded {
    pub fn health(&self) -> Health {
        let core = self.shared.core();
        let full = core.full.clone().filter(|_| !core.has_room(&self.shared.options));
        let failed = match &core.phase {
            Phase::Poisoned(why) => Some(why.clone()),
            _ => None,
        };
        drop(core);
        let snapshot = lock(&self.shared.snapshot_trouble).clone();
        let scrubbed = lock(&self.shared.scrubbed).clone();
        Health { full, failed, snapshot, scrubbed }
    }

    /// Reads everything that is on disk now, without rest, and answers with what it found.
    pub fn scrub(&self) -> Scrubbed {
        let came_to = scrub::scrub(&self.shared);
        *lock(&self.shared.scrubbed) = Some(came_to.clone());
        came_to
    }
}
