//! The server of a world: its store, the version that has the say, its workers.

use std::sync::Arc;

use design::model::Design;
use runtime::{Runtime, Settings, Workers};
use store::Store;
use store_embedded::disk::{Disk, SimulatedDisk};
use store_embedded::{Embedded, Options};

use crate::drawing::lengths;
use crate::outside::{Provider, head};
use crate::replacing::{Running, Stage};
use crate::surroundings::Moved;
use crate::trouble::Trouble;
use crate::world::{World, lock};

impl World {
    pub(crate) fn open(&self, disk: &SimulatedDisk) -> Result<Arc<dyn Store>, String> {
        let options = Options {
            segment_bytes: 64 << 10,
            snapshot_after_bytes: 48 << 10,
            commit_bytes_max: self.simulator.commit_bytes_max,
            pending_bytes_max: 256 << 10,
            feed_retention_bytes: 1 << 30,
            surroundings: Arc::<Moved>::clone(&self.surroundings),
            ..Options::default()
        };
        let under: Arc<dyn Disk> = match &self.simulator.disk {
            Some(hook) => hook(disk.clone()),
            None => Arc::new(disk.clone()),
        };
        let store = Embedded::open_on(under, "store", options);
        store.map(|store| Arc::new(store) as Arc<dyn Store>).map_err(|error| error.to_string())
    }

    /// The version that has the say, as the store knows it. A replacement that was acknowledged counts.
    fn version(&self, store: &Arc<dyn Store>) -> Result<Arc<Design>, Trouble> {
        let first = &self.simulator.design;
        let Some(next) = &self.simulator.next else { return Ok(Arc::clone(first)) };
        let failed = |error: String| Trouble::Failed { what: "opening a design".into(), error };
        let settings = Settings {
            surroundings: Arc::<Moved>::clone(&self.surroundings),
            ..Settings::default()
        };
        let kept = runtime::kept(&**store, &first.name, &settings);
        let kept = kept.map_err(|error| failed(error.to_string()))?.and_then(|kept| kept.design);
        let is_next = kept.is_some_and(|kept| runtime::alike(&kept, next));
        let stage = lock(&self.shared).stage;
        let now = match stage {
            Stage::Before if is_next => {
                return Err(failed("the next version has the say, and nobody put it there".into()));
            }
            Stage::Done { .. } if !is_next => {
                let error = "a replacement that was acknowledged is lost";
                return Err(failed(error.into()));
            }
            Stage::Begun { .. } if !is_next => Stage::Before,
            Stage::Begun { from } => Stage::Done { from, at: u64::MAX },
            stage => stage,
        };
        let mut shared = lock(&self.shared);
        shared.stage = now;
        let design = if is_next { next } else { first };
        if is_next && stage != now {
            shared.serve(design);
        }
        Ok(Arc::clone(design))
    }

    pub(crate) fn serve(&self, store: &Arc<dyn Store>) -> Result<Arc<Runtime>, Trouble> {
        let design = self.version(store)?;
        let settings = Settings::default();
        // weeks pass in a world: a repair that has to look again every few seconds would do nothing else
        let longest = lengths(&design).last().copied().unwrap_or_default();
        let settings = Settings {
            surroundings: Arc::<Moved>::clone(&self.surroundings),
            secrets: self.simulator.secrets.clone(),
            reexamine_ms: settings.reexamine_ms.max(longest / 200),
            ..settings
        };
        let runtime = Runtime::open((*design).clone(), Arc::clone(store), settings);
        let unopened = |error: runtime::OpenError| Trouble::Unopened { error: error.to_string() };
        let runtime = Arc::new(runtime.map_err(unopened)?);
        if let Stage::Done { at, .. } = &mut lock(&self.shared).stage
            && *at == u64::MAX
        {
            // what is written from now on is of the new version
            *at = head(self.around(), &runtime);
        }
        self.provider.serves(&runtime, &design);
        // Built later they would be built by a call, which holds them while it waits; and in a world of one thread nobody
        // may wait for a lock. A disk that fails here fails the calls as well.
        let _ = runtime.follow_views();
        Ok(runtime)
    }

    /// It has workers from now on, and everybody may call it.
    pub(crate) fn run_it(&self, runtime: Arc<Runtime>) {
        let workers = Workers::start(&runtime, Arc::<Provider>::clone(&self.provider), 2);
        let workers = Some(workers.expect("a simulated task starts"));
        *lock(&self.running) = Running { runtime: Some(runtime), workers, retired: Vec::new() };
    }

    pub(crate) fn stop_it(&self) {
        // tasks that end look for what runs: nothing is held meanwhile
        let Running { runtime, workers, retired } = std::mem::take(&mut *lock(&self.running));
        drop(workers);
        drop(retired);
        drop(runtime);
    }
}
