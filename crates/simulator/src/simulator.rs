//! One design, and what the worlds are like that it runs in.

use std::sync::Arc;

use design::model::Design;
use runtime::{Lowered, Secrets};
use store_embedded::disk::{Disk, SimulatedDisk};

use crate::script::Size;

/// A commit may have so many bytes, besides a design that it registers.
const COMMIT_BYTES: u64 = 64 << 10;

/// A few snapshots are written in a world of its usual size.
const SNAPSHOT_AFTER_BYTES: u64 = 48 << 10;

/// Another disk in the place of the simulated one, for what is planted in tests.
pub type Hook = Arc<dyn Fn(SimulatedDisk) -> Arc<dyn Disk> + Send + Sync>;

/// Runs one design in many worlds.
#[derive(Clone)]
pub struct Simulator {
    pub lowered: Arc<Lowered>,
    /// the version that takes its place, once in each world, while everybody calls
    pub next: Option<Arc<Lowered>>,
    pub size: Size,
    /// the keys that secrets are kept with; none: no call that has one is taken
    pub secrets: Option<Arc<dyn Secrets>>,
    pub disk: Option<Hook>,
    /// The design is stored as one record. More room than that makes segments longer, and with them every world slower.
    pub(crate) commit_bytes_max: u64,
    /// the store of a server writes a snapshot after so much log
    pub(crate) snapshot_after_bytes: u64,
    /// a fault comes within so many operations; none: as it is drawn
    pub(crate) faults_within: Option<u64>,
}

impl Simulator {
    /// Fails on a design that cannot be served.
    pub fn new(design: Design, size: Size) -> Result<Simulator, String> {
        let commit_bytes_max = stored_bytes(&design) + COMMIT_BYTES;
        let lowered = Arc::new(Lowered::of(design)?);
        Ok(Simulator {
            lowered,
            next: None,
            size,
            secrets: None,
            disk: None,
            commit_bytes_max,
            snapshot_after_bytes: SNAPSHOT_AFTER_BYTES,
            faults_within: None,
        })
    }

    /// In each world this version takes the place of the first one, unless `unfit` has a reason against it.
    pub fn replaced_by(mut self, next: Design) -> Result<Simulator, String> {
        self.commit_bytes_max += stored_bytes(&next);
        self.next = Some(Arc::new(Lowered::of(next)?));
        Ok(self)
    }

    pub fn design(&self) -> &Arc<Design> {
        &self.lowered.design
    }
}

fn stored_bytes(design: &Design) -> u64 {
    serde_json::to_vec(design).map_or(0, |bytes| bytes.len() as u64)
}
