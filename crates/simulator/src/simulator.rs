//! One design, and what the worlds are like that it runs in.

use std::sync::Arc;

use design::model::Design;
use runtime::{Lowered, Secrets, Settings};
use store_embedded::disk::{Disk, SimulatedDisk};

use crate::script::{Room, Size};

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
    pub(crate) designs_bytes: u64,
    pub(crate) room: Room,
    /// so often an effect is tried; each world has its own
    pub(crate) attempts_max: u32,
    /// a fault comes within so many operations; none: as it is drawn
    pub(crate) faults_within: Option<u64>,
    /// all calls are made in this life; none: as many in each
    pub(crate) busy_life: Option<usize>,
}

impl Simulator {
    /// Fails on a design that cannot be served.
    pub fn new(design: Design, size: Size) -> Result<Simulator, String> {
        let designs_bytes = stored_bytes(&design);
        let lowered = Arc::new(Lowered::of(design)?);
        Ok(Simulator {
            lowered,
            next: None,
            size,
            secrets: None,
            disk: None,
            designs_bytes,
            room: Room::default(),
            attempts_max: Settings::default().outbox.attempts_max,
            faults_within: None,
            busy_life: None,
        })
    }

    /// In each world this version takes the place of the first one, unless `unfit` has a reason against it.
    pub fn replaced_by(mut self, next: Design) -> Result<Simulator, String> {
        self.designs_bytes += stored_bytes(&next);
        self.next = Some(Arc::new(Lowered::of(next)?));
        Ok(self)
    }

    pub fn design(&self) -> &Arc<Design> {
        &self.lowered.design
    }
}

fn stored_bytes(design: &Design) -> u64 {
    design::to_bytes(design).len() as u64
}
