//! The servers of a world: what they stand on, the version that has the say, their workers.

use std::sync::Arc;

use runtime::{Lowered, OpenError, Outside, Runtime, Settings, Workers};
use store::{Distant, Seeded, Store, Surroundings};
use store_embedded::disk::{Disk, SimulatedDisk};
use store_embedded::{Embedded, Options};

use crate::drawing::lengths;
use crate::facts::{By, Event};
use crate::link::{Door, Link};
use crate::locking::lock;
use crate::outside::Provider;
use crate::replacing::Stage;
use crate::running::{Place, Running, Served};
use crate::script::{Life, Server};
use crate::simulator::Simulator;
use crate::surroundings::Moved;
use crate::trouble::Trouble;
use crate::world::World;

/// Where the truth of a world lies, from one life to the next.
pub(crate) enum Ground {
    /// on a disk of its only server
    Disk(SimulatedDisk),
    /// in a store that is far from its servers
    Far(Arc<Distant>),
}

impl Ground {
    /// What is read from it may be missing, since the power is cut.
    pub fn has_crashed(&self) -> bool {
        matches!(self, Ground::Disk(disk) if disk.has_crashed())
    }

    /// What goes wrong from now on.
    pub fn set_faults(&self, life: &Life) {
        match self {
            Ground::Disk(disk) => disk.set_faults(life.faults.clone()),
            Ground::Far(far) => far.set_faults(life.network),
        }
    }

    pub fn calm(&self) {
        self.set_faults(&Life::default());
    }

    /// Whoever looks at a store that is far away, between two lives, sees it as it is.
    pub fn calm_network(&self) {
        if let Ground::Far(far) = self {
            far.set_faults(store::Faults::default());
        }
    }

    /// What is left of it when its servers have ended.
    pub fn after(self, seeded: &mut Seeded) -> Ground {
        match self {
            Ground::Disk(disk) => Ground::Disk(disk.after_power_cut(seeded)),
            Ground::Far(far) => Ground::Far(far),
        }
    }
}

impl World {
    pub(crate) fn ground(&mut self, seed: u64) -> Ground {
        if self.simulator.size.servers <= 1 {
            return Ground::Disk(SimulatedDisk::new());
        }
        let around: Arc<dyn Surroundings> = Arc::<Moved>::clone(&self.surroundings);
        let far = Arc::new(Distant::within(around, seed, store::Faults::default()));
        lock(&self.running).far = Some(Arc::clone(&far));
        Ground::Far(far)
    }

    pub(crate) fn open(&self, ground: &Ground) -> Result<Arc<dyn Store>, String> {
        let disk = match ground {
            Ground::Disk(disk) => disk,
            Ground::Far(far) => return Ok(Arc::<Distant>::clone(far)),
        };
        let room = self.simulator.room;
        // a design is registered once: without it files of the log are short, and a life of a few calls comes to their end
        let registers = !self.registered || self.simulator.next.is_some();
        let designs_bytes = if registers { self.simulator.designs_bytes } else { 0 };
        let options = Options {
            // as long as the others need it
            segment_bytes: 0,
            snapshot_after_bytes: room.snapshot_after_bytes,
            commit_bytes_max: designs_bytes + room.commit_bytes,
            pending_bytes_max: room.commit_bytes,
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

    /// Where the servers of a life stand.
    fn places(&self, ground: &Ground, store: &Arc<dyn Store>, life: &Life) -> Vec<Place> {
        let outside: Arc<dyn Outside> = Arc::<Provider>::clone(&self.provider);
        let Ground::Far(far) = ground else {
            let (store, surroundings) = (Arc::clone(store), Arc::clone(&self.surroundings));
            return vec![Place { number: 1, store, surroundings, outside, link: None }];
        };
        let servers = life.servers.iter().enumerate();
        let place = |(at, server): (usize, &Server)| {
            let (shared, around) = (Arc::clone(&self.shared), Arc::clone(&self.surroundings));
            let told = Box::new(move || {
                let mut shared = lock(&shared);
                shared.facts.kills += 1;
                let (at_ms, by) = (around.time_ms(), By::Server { bad: true });
                let text = format!("server {} is killed", at + 1);
                shared.story.push(Event { at_ms, by, text });
            });
            let link = Arc::new(Link::new(far, server.killed, told));
            let door = Door { outside: Arc::clone(&outside), link: Arc::clone(&link) };
            Place {
                number: at + 1,
                store: Arc::<Link>::clone(&link),
                surroundings: Arc::new(self.surroundings.skewed(server.skew_ms)),
                outside: Arc::new(door),
                link: Some(link),
            }
        };
        servers.map(place).collect()
    }

    /// The version that has the say, as the store knows it. A replacement that was acknowledged counts.
    fn version(&self, store: &Arc<dyn Store>) -> Result<Arc<Lowered>, Trouble> {
        let first = &self.simulator.lowered;
        let Some(next) = &self.simulator.next else { return Ok(Arc::clone(first)) };
        let failed = |error: String| Trouble::Failed { what: "opening a design".into(), error };
        let settings = Settings {
            surroundings: Arc::<Moved>::clone(&self.surroundings),
            ..Settings::default()
        };
        let kept = runtime::kept(&**store, &first.design.name, &settings);
        let kept = kept.map_err(|error| failed(error.to_string()))?.and_then(|kept| kept.design);
        let is_next = kept.is_some_and(|kept| runtime::alike(&kept, &next.design));
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
        let lowered = if is_next { next } else { first };
        if is_next && stage != now {
            shared.serve(&lowered.design);
        }
        Ok(Arc::clone(lowered))
    }

    /// All servers of a life start, on what the ground holds. None of them may: what is wrong on purpose explains it.
    pub(crate) fn start(
        &self,
        ground: &Ground,
        store: &Arc<dyn Store>,
        life: &Life,
    ) -> Result<(), Trouble> {
        let lowered = self.version(store)?;
        self.provider.serves(&lowered.design);
        ground.set_faults(life);
        for place in self.places(ground, store, life) {
            let runtime = match self.simulator.serve(&lowered, &place) {
                Ok(runtime) => runtime,
                Err(error) => {
                    self.unopened(ground, life, place.number, &error)?;
                    continue;
                }
            };
            if let Stage::Done { at, .. } = &mut lock(&self.shared).stage
                && *at == u64::MAX
            {
                // what is written from now on is of the new version
                *at = crate::running::head(self.around(), &runtime);
            }
            self.run_it(runtime, place);
        }
        Ok(())
    }

    /// What a fault explains is met again in the next life.
    pub(crate) fn unopened(
        &self,
        ground: &Ground,
        life: &Life,
        number: usize,
        error: &OpenError,
    ) -> Result<(), Trouble> {
        let excused = match ground {
            Ground::Disk(disk) => disk.has_crashed() || disk.has_failed(),
            Ground::Far(_) => !life.is_calm(),
        };
        if !excused {
            return Err(Trouble::Unopened { error: error.to_string() });
        }
        if self.simulator.size.servers > 1 {
            self.tell(format!("server {number} does not start: {error}"));
        }
        Ok(())
    }

    /// It has workers from now on, and everybody may call it.
    fn run_it(&self, runtime: Arc<Runtime>, place: Place) {
        let workers = Workers::start(&runtime, Arc::clone(&place.outside), 2);
        let workers = workers.expect("a simulated task starts");
        lock(&self.running).servers.push(Served { runtime, workers, place });
    }

    pub(crate) fn stop_it(&self) {
        // tasks that end look for what runs: nothing is held meanwhile
        let mut running = lock(&self.running);
        let far = running.far.clone();
        let ended = std::mem::replace(&mut *running, Running { far, ..Running::default() });
        drop(running);
        drop(ended);
    }
}

impl Simulator {
    /// A server opens a version.
    pub(crate) fn serve(
        &self,
        lowered: &Arc<Lowered>,
        place: &Place,
    ) -> Result<Arc<Runtime>, OpenError> {
        let settings = Settings::default();
        // weeks pass in a world: a repair that has to look again every few seconds would do nothing else
        let longest = lengths(&lowered.design).last().copied().unwrap_or_default();
        let mut settings = Settings {
            surroundings: Arc::<Moved>::clone(&place.surroundings),
            secrets: self.secrets.clone(),
            reexamine_ms: settings.reexamine_ms.max(longest / 200),
            ..settings
        };
        settings.outbox.attempts_max = self.attempts_max;
        let runtime = Runtime::open_lowered(lowered, Arc::clone(&place.store), settings)?;
        // Built later they would be built by a call, which waits for them. A disk that fails here fails the calls as well.
        let _ = runtime.follow_views();
        Ok(Arc::new(runtime))
    }
}
