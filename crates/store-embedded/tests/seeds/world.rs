//! One small world: a store that lives a few times on a disk that fails.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use store::{
    Decision, Hash, Hasher, KeyRange, LocalStore, Moment, Scan, Seeded, SimulatedSurroundings,
    Sleep, Step, Store, Surroundings, Task, Ticket,
};
use store_embedded::disk::{Faults, SimulatedDisk};
use store_embedded::{Embedded, Options};

/// What is put back that a seed does not decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plant {
    Nothing,
    /// The order of a hash set of the standard library reaches the disk.
    HashOrder,
    /// The store asks the machine for chance.
    Chance,
}

impl Plant {
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    pub fn named(name: &str) -> Plant {
        let known = [Plant::Nothing, Plant::HashOrder, Plant::Chance];
        known.into_iter().find(|plant| plant.name() == name).expect("a plant that is known")
    }

    /// Few show it: a plant makes every world differ.
    pub fn worlds(self, all: u64) -> u64 {
        if self == Plant::Nothing { all } else { 20 }
    }
}

/// What happened in the worlds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    pub lives: u64,
    pub crashes: u64,
    pub poisoned: u64,
    pub snapshots: u64,
    pub scrubs: u64,
    /// Worlds whose store could be opened at the end.
    pub reopened: u64,
}

/// Simulated, but for chance.
#[derive(Debug)]
struct Chancy(SimulatedSurroundings);

impl Surroundings for Chancy {
    fn now(&self) -> Moment {
        self.0.now()
    }

    fn time_ms(&self) -> u64 {
        self.0.time_ms()
    }

    fn chance(&self) -> u64 {
        RandomState::new().hash_one(0)
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.0.sleep(duration)
    }

    fn wait(&self, future: Pin<&mut dyn Future<Output = ()>>, at_most: Option<Duration>) -> bool {
        self.0.wait(future, at_most)
    }

    fn spawn(&self, name: &str, step: Step) -> io::Result<Task> {
        self.0.spawn(name, step)
    }
}

/// Everything that is seen, in the order in which it is seen.
#[derive(Default)]
struct History(Hasher);

impl History {
    fn note(&mut self, what: &str, seen: impl Display) {
        self.0.update(format!("{what}: {seen}\n").as_bytes());
    }
}

/// The digest of what a seed comes to: what was asked and answered, where the power was cut, the files.
pub fn world(seed: u64, plant: Plant, facts: &mut Facts) -> Hash {
    let simulated = SimulatedSurroundings::new(seed);
    let surroundings: Arc<dyn Surroundings> = match plant {
        Plant::Chance => Arc::new(Chancy(simulated.clone())),
        _ => Arc::new(simulated.clone()),
    };
    let mut world = World {
        seeded: Seeded::new(!seed),
        surroundings,
        plant,
        history: History::default(),
        issued: 0,
        acknowledged: 0,
    };
    let mut disk = SimulatedDisk::new();
    for _ in 0..3 {
        disk.set_faults(world.faults());
        facts.lives += 1;
        disk = match world.open(&disk) {
            Some(store) => world.live(store, disk, facts),
            None => disk.after_power_cut(&mut world.seeded),
        };
        world.history.note("time", format!("{simulated:?}"));
    }
    let store = world.open(&disk).unwrap_or_else(|| panic!("seed {seed}: it does not open"));
    let position = store.statistics().snapshot_position.max(world.position(&store));
    assert!(position >= world.acknowledged, "seed {seed}: {} was lost", world.acknowledged);
    facts.reopened += 1;
    drop(store);
    world.history.note("disk", disk.digest());
    world.history.0.finish()
}

struct World {
    seeded: Seeded,
    surroundings: Arc<dyn Surroundings>,
    plant: Plant,
    history: History,
    issued: u64,
    acknowledged: u64,
}

impl World {
    fn faults(&mut self) -> Faults {
        let at = |seeded: &mut Seeded, most| Some(1 + seeded.below(most));
        let mut faults = Faults::default();
        match self.seeded.below(10) {
            0 => faults.short_write_at = at(&mut self.seeded, 60),
            1 => faults.failed_sync_at = at(&mut self.seeded, 30),
            2 => faults.capacity_bytes = Some(4_200 + self.seeded.below(5_000)),
            3 => {}
            _ => faults.crash_at = at(&mut self.seeded, 120),
        }
        faults
    }

    fn open(&mut self, disk: &SimulatedDisk) -> Option<Embedded> {
        let options = Options {
            segment_bytes: 2 << 10,
            snapshot_after_bytes: 3 << 10,
            commit_bytes_max: 512,
            pending_bytes_max: 512,
            feed_retention_bytes: 4 << 10,
            scrub_every: Duration::from_millis(40),
            surroundings: Arc::clone(&self.surroundings),
            ..Options::default()
        };
        match Embedded::open_on(Arc::new(disk.clone()), "store", options) {
            Ok(store) => {
                let position = self.position(&store);
                self.history.note("opened at", position);
                self.look(&store);
                // What was issued and is not there is gone for good.
                self.issued = position;
                Some(store)
            }
            Err(error) => {
                self.history.note("not opened", error);
                None
            }
        }
    }

    fn position(&self, store: &Embedded) -> u64 {
        let head = self.surroundings.block_on(store.head(Default::default()));
        head.expect("an open store has a head").position()
    }

    /// Everything that the store holds and tells.
    fn look(&mut self, store: &Embedded) {
        let scan = store.scan(Scan::new(KeyRange::all(), 100));
        match self.surroundings.block_on(scan) {
            Ok(page) => self.history.note("records", format!("{:?}", page.records)),
            Err(error) => self.history.note("no records", error),
        }
        let start = store::Cursor::start(Default::default());
        match self.surroundings.block_on(store.feed(start, 100)) {
            Ok(page) => self.history.note("feed", format!("{:?}", page.commits)),
            Err(error) => self.history.note("no feed", error),
        }
    }

    /// One life of a store, and the disk after the power was cut.
    fn live(&mut self, store: Embedded, disk: SimulatedDisk, facts: &mut Facts) -> SimulatedDisk {
        let mut tickets = Vec::new();
        for _ in 0..25 {
            self.commit(&store, &mut tickets);
            match self.seeded.below(20) {
                0..6 => self.settle(&mut tickets),
                6..9 => {
                    let rest = Duration::from_micros(self.seeded.below(90_000));
                    self.surroundings.rest(rest);
                }
                9 => {
                    let taken = store.snapshot().map_or_else(|e| e.to_string(), |()| "yes".into());
                    self.history.note("snapshot", taken);
                }
                10 => self.put_blob(&store),
                _ => {}
            }
        }
        self.settle(&mut tickets);
        self.look(&store);
        self.history.note("statistics", format!("{:?}", store.statistics()));
        self.history.note("health", format!("{:?}", store.health()));
        facts.snapshots += u64::from(store.statistics().snapshot_position > 0);
        facts.scrubs += u64::from(store.health().scrubbed.is_some());
        facts.poisoned += u64::from(store.health().failed.is_some() && !disk.has_crashed());
        facts.crashes += u64::from(disk.has_crashed());
        self.history.note("crashed", disk.has_crashed());
        self.history.note("operations", disk.operations());
        if self.seeded.percent(50) {
            let closed = self.surroundings.block_on(store.close());
            self.history.note("closed", format!("{closed:?}"));
        }
        self.history.note("disk", disk.digest());
        let after = disk.after_power_cut(&mut self.seeded);
        drop(store);
        self.history.note("disk after", after.digest());
        after
    }

    fn commit(&mut self, store: &Embedded, tickets: &mut Vec<(u64, Ticket)>) {
        let number = self.issued + 1;
        let mut changes = BTreeMap::new();
        for _ in 0..=self.seeded.below(3) {
            let key = format!("key/{}", self.seeded.below(20));
            let value = format!("{number}/").repeat(1 + self.seeded.below(20) as usize);
            changes.insert(key, (!self.seeded.percent(20)).then_some(value));
        }
        let mut changes: Vec<_> = changes.into_iter().collect();
        if self.plant == Plant::HashOrder {
            changes.extend((0..16).map(|n| (format!("more/{n}"), Some(String::new()))));
            let unordered: HashSet<_> = changes.drain(..).collect();
            changes.extend(unordered);
        }
        let issued = store.transact(&mut |transaction| {
            for (key, value) in &changes {
                match value {
                    Some(value) => transaction.put(key.as_bytes(), value.as_bytes()),
                    None => transaction.delete(key.as_bytes()),
                }
            }
            transaction.feed(number.to_string().as_bytes());
            Decision::Commit
        });
        match issued {
            Ok(ticket) => {
                assert_eq!(ticket.position(), number);
                self.issued = number;
                tickets.push((number, ticket));
            }
            Err(error) => self.history.note("refused", error),
        }
    }

    /// Waits for everything that was issued.
    fn settle(&mut self, tickets: &mut Vec<(u64, Ticket)>) {
        for (number, ticket) in tickets.drain(..) {
            match ticket.wait() {
                Ok(()) => self.acknowledged = self.acknowledged.max(number),
                Err(error) => self.history.note("not durable", error),
            }
        }
        self.history.note("acknowledged", self.acknowledged);
    }

    fn put_blob(&mut self, store: &Embedded) {
        let content = format!("content {}", self.seeded.below(5));
        let stored = self.surroundings.block_on(async {
            let mut writer = store.blobs().begin().await?;
            writer.write(content.into()).await?;
            writer.finish(None).await
        });
        let stored = stored.map_or_else(|error| error.to_string(), |blob| blob.hash.to_string());
        self.history.note("blob", stored);
    }
}
