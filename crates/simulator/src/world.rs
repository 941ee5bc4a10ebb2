//! One world: a server that lives a few times, and is asked for all kinds of things.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use design::model::Design;
use runtime::{Remembered, Runtime, Secrets, Settings, Walk, Workers};
use store::{Cursor, Hasher, Partition, Seeded, Store, Surroundings, Task};
use store_embedded::disk::{Disk, Faults, SimulatedDisk};
use store_embedded::{Embedded, Options};

use crate::caller::{Caller, Shared};
use crate::drawing::{Drawing, lengths};
use crate::facts::{Event, Facts, Outcome};
use crate::ledger::{Ledger, apply, number_of};
use crate::outside::Provider;
use crate::people::{Stands, people};
use crate::script::{Life, Script, Size};
use crate::surroundings::Moved;
use crate::trouble::Trouble;

/// After the last call of a life its server has so long to itself.
const AFTER: Duration = Duration::from_secs(2);

/// A commit may have so many bytes, besides a design that it registers.
const COMMIT_BYTES: u64 = 64 << 10;

/// Another disk in the place of the simulated one, for what is planted in tests.
pub type Hook = Arc<dyn Fn(SimulatedDisk) -> Arc<dyn Disk> + Send + Sync>;

/// Runs one design in many worlds.
#[derive(Clone)]
pub struct Simulator {
    pub design: Arc<Design>,
    pub size: Size,
    /// the keys that secrets are kept with; none: no call that has one is taken
    pub secrets: Option<Arc<dyn Secrets>>,
    pub disk: Option<Hook>,
    /// The design is stored as one record. More room than that makes segments longer, and with them every world slower.
    commit_bytes_max: u64,
}

pub(crate) struct World {
    simulator: Simulator,
    shared: Arc<Mutex<Shared>>,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) surroundings: Arc<Moved>,
    pub(crate) provider: Arc<Provider>,
    /// none: what steps rest on is not in the feed
    pub(crate) walk: Option<Walk>,
    pub(crate) walked: Cursor,
    hasher: Hasher,
    seeded: Seeded,
}

pub(crate) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Simulator {
    pub fn new(design: Design, size: Size) -> Simulator {
        let stored = serde_json::to_vec(&design).map_or(0, |bytes| bytes.len() as u64);
        let commit_bytes_max = stored + COMMIT_BYTES;
        Simulator { design: Arc::new(design), size, secrets: None, disk: None, commit_bytes_max }
    }

    /// The world of a seed.
    pub fn draw(&self, seed: u64) -> Outcome {
        self.run(seed, None)
    }

    /// The world of a script.
    pub fn again(&self, script: &Script) -> Outcome {
        self.run(script.seed, Some(script))
    }

    fn run(&self, seed: u64, given: Option<&Script>) -> Outcome {
        let mut world = World::new(self, seed);
        let mut script = Script { seed, lives: Vec::new() };
        let ran = catch_unwind(AssertUnwindSafe(|| world.run(given, &mut script)));
        let trouble = match ran {
            Ok(Ok(())) => None,
            Ok(Err(trouble)) => Some(trouble),
            Err(panic) => Some(Trouble::Panicked { message: message(&*panic) }),
        };
        let mut shared = lock(&world.shared);
        // the life that something went wrong in, as far as it came
        if given.is_none()
            && let Some(last) = script.lives.last_mut()
            && last.acts.is_empty()
        {
            last.acts.append(&mut shared.acts);
        }
        let mut facts = std::mem::take(&mut shared.facts);
        facts.passed_ms = world.surroundings.time_ms().saturating_sub(BEGUN_MS);
        let mut story = std::mem::take(&mut shared.story);
        story.sort_by_key(|event| event.at_ms);
        drop(shared);
        let hasher = std::mem::take(&mut world.hasher);
        Outcome { script, trouble, digest: hasher.finish(), facts, story }
    }
}

/// The clock when a world begins.
const BEGUN_MS: u64 = 1_700_000_000_000;

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()))
        .unwrap_or_else(|| "no message".into())
}

impl World {
    fn new(simulator: &Simulator, seed: u64) -> World {
        let design = Arc::clone(&simulator.design);
        let people = people(&design);
        let mut seeded = Seeded::new(seed ^ 0x5eed);
        let stands = Stands::draw(&design, &mut seeded);
        let drawing = Drawing::new(&design, &people, stands, seed);
        let outside = Drawing::new(&design, &people, stands, !seed);
        let surroundings = Arc::new(Moved::new(seed));
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let around: Arc<dyn Surroundings> = Arc::<Moved>::clone(&surroundings);
        let provider =
            Arc::new(Provider::new(Arc::clone(&design), outside, Arc::clone(&ledger), around));
        let mut walk = Walk::new((*design).clone()).ok();
        if let Some(walk) = &mut walk {
            walk.watch_only(|goal| stands.is_judged(&design, goal));
        }
        for person in &people {
            walk.iter_mut().for_each(|walk| walk.know(person.actor, &person.name));
        }
        let callers = people.len();
        let shared = Shared {
            design,
            people,
            drawing,
            given: None,
            left: 0,
            acts: Vec::new(),
            pending: vec![None; callers],
            memory: vec![Remembered::default(); callers],
            facts: Facts::default(),
            story: Vec::new(),
            trouble: None,
        };
        World {
            simulator: simulator.clone(),
            shared: Arc::new(Mutex::new(shared)),
            ledger,
            surroundings,
            provider,
            walk,
            walked: Cursor::start(Partition::default()),
            hasher: Hasher::default(),
            seeded,
        }
    }

    pub(crate) fn around(&self) -> &dyn Surroundings {
        &*self.surroundings
    }

    pub(crate) fn facts(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut lock(&self.shared).facts);
    }

    pub(crate) fn tell(&self, text: impl Into<String>) {
        let (at_ms, text) = (self.surroundings.time_ms(), text.into());
        lock(&self.shared).story.push(Event { at_ms, text });
    }

    fn run(&mut self, given: Option<&Script>, script: &mut Script) -> Result<(), Trouble> {
        let mut disk = SimulatedDisk::new();
        let Size { calls, lives, sound_disk } = self.simulator.size;
        let lives = given.map_or(lives, |script| script.lives.len());
        for at in 0..lives {
            let life = match given {
                Some(script) => script.lives[at].clone(),
                None => {
                    let drawing = &mut lock(&self.shared).drawing;
                    let faults = if sound_disk { Faults::default() } else { drawing.faults() };
                    let clock_ms = drawing.clock_ms();
                    Life { faults, clock_ms: if at == 0 { 0 } else { clock_ms }, acts: Vec::new() }
                }
            };
            script.lives.push(Life { acts: Vec::new(), ..life.clone() });
            self.prepare(&life, given.is_some(), calls / lives.max(1));
            disk.set_faults(life.faults.clone());
            self.live(&disk)?;
            let acts = std::mem::take(&mut lock(&self.shared).acts);
            if let Some(last) = script.lives.last_mut() {
                last.acts = acts;
            }
            self.facts(|facts| {
                facts.lives += 1;
                facts.power_cuts += u64::from(disk.has_crashed());
                facts.disk_faults += u64::from(disk.has_failed());
                facts.disk_operations += disk.operations();
            });
            if disk.has_crashed() {
                self.tell("the power is cut");
            }
            disk = disk.after_power_cut(&mut self.seeded);
        }
        disk.set_faults(Faults::default());
        self.settle(&disk)?;
        self.hasher.update(disk.digest().to_string().as_bytes());
        Ok(())
    }

    fn prepare(&mut self, life: &Life, given: bool, calls: usize) {
        if life.clock_ms != 0 {
            self.surroundings.jump(life.clock_ms);
            self.facts(|facts| facts.clock_jumps += 1);
            self.tell(format!("the clock jumps by {} ms", life.clock_ms));
        }
        let mut shared = lock(&self.shared);
        shared.left = if given { life.acts.len() } else { calls };
        let callers = shared.people.len();
        shared.given = given.then(|| {
            let mut queues = vec![VecDeque::new(); callers];
            for act in &life.acts {
                queues[act.caller].push_back(act.clone());
            }
            queues
        });
    }

    /// No call is made any more but those that are asked again.
    pub(crate) fn no_more_calls(&self) {
        let mut shared = lock(&self.shared);
        shared.left = 0;
        let callers = shared.people.len();
        shared.given = Some(vec![VecDeque::new(); callers]);
    }

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

    pub(crate) fn serve(&self, store: &Arc<dyn Store>) -> Result<Arc<Runtime>, String> {
        let settings = Settings::default();
        // weeks pass in a world: a repair that has to look again every few seconds would do nothing else
        let longest = lengths(&self.simulator.design).last().copied().unwrap_or_default();
        let settings = Settings {
            surroundings: Arc::<Moved>::clone(&self.surroundings),
            secrets: self.simulator.secrets.clone(),
            reexamine_ms: settings.reexamine_ms.max(longest / 200),
            ..settings
        };
        let design = (*self.simulator.design).clone();
        let runtime = Runtime::open(design, Arc::clone(store), settings);
        let runtime = Arc::new(runtime.map_err(|error| error.to_string())?);
        self.provider.serves(&runtime);
        // Built later they would be built by a call, which holds them while it waits; and in a world of one thread nobody
        // may wait for a lock. A disk that fails here fails the calls as well.
        let _ = runtime.follow_views();
        Ok(runtime)
    }

    /// One life, on a disk that may fail at any time.
    fn live(&mut self, disk: &SimulatedDisk) -> Result<(), Trouble> {
        let store = match self.open(disk) {
            Ok(store) => store,
            Err(error) => return self.unopened(disk, error),
        };
        self.tell("the server starts");
        self.walk_on(&store, disk)?;
        let runtime = match self.serve(&store) {
            Ok(runtime) => runtime,
            Err(error) => return self.unopened(disk, error),
        };
        let workers = Workers::start(&runtime, Arc::<Provider>::clone(&self.provider), 2);
        let workers = workers.expect("a simulated task starts");
        self.call(&runtime);
        if !disk.has_crashed() {
            self.around().rest(AFTER);
        }
        drop(workers);
        drop(runtime);
        if self.seeded.percent(30) {
            // whatever it says: the power is cut right after
            let _ = self.around().block_on(store.close());
        }
        drop(store);
        match lock(&self.shared).trouble.take() {
            Some(trouble) => Err(trouble),
            None => Ok(()),
        }
    }

    fn unopened(&self, disk: &SimulatedDisk, error: String) -> Result<(), Trouble> {
        // what a fault explains is met again in the next life
        if disk.has_crashed() || disk.has_failed() {
            return Ok(());
        }
        Err(Trouble::Unopened { error })
    }

    /// Every caller does its part.
    pub(crate) fn call(&self, runtime: &Arc<Runtime>) {
        let callers = lock(&self.shared).people.len();
        let tasks: Vec<Task> = (0..callers)
            .map(|at| {
                let caller = Caller {
                    at,
                    shared: Arc::clone(&self.shared),
                    ledger: Arc::clone(&self.ledger),
                    runtime: Arc::clone(runtime),
                    surroundings: Arc::clone(&self.surroundings),
                };
                let step = Box::new(move || caller.step());
                self.surroundings.spawn("caller", step).expect("a simulated task starts")
            })
            .collect();
        tasks.into_iter().for_each(Task::join);
    }

    /// Walks what the history has gained, as a store tells it that has just been opened.
    pub(crate) fn walk_on(
        &mut self,
        store: &Arc<dyn Store>,
        disk: &SimulatedDisk,
    ) -> Result<(), Trouble> {
        loop {
            let page = match self.around().block_on(store.feed(self.walked, 1_000)) {
                Ok(page) => page,
                Err(_) if disk.has_crashed() => return Ok(()),
                Err(error) => {
                    let what = "reading the feed".to_string();
                    return Err(Trouble::Failed { what, error: error.to_string() });
                }
            };
            for commit in &page.commits {
                let revision = commit.cursor.position();
                for entry in &commit.entries {
                    self.hasher.update(&revision.to_be_bytes());
                    self.hasher.update(entry);
                    self.walk_entry(revision, entry)?;
                }
            }
            // a page without commits is not the end
            if page.next == std::mem::replace(&mut self.walked, page.next) {
                break;
            }
        }
        self.notes_before(self.walked.position() + 1)?;
        if self.walk.is_some() {
            lock(&self.ledger).settle()?;
        }
        Ok(())
    }

    fn walk_entry(&mut self, revision: u64, entry: &[u8]) -> Result<(), Trouble> {
        self.facts(|facts| facts.transitions += 1);
        self.notes_before(revision)?;
        let Some(walk) = &mut self.walk else { return Ok(()) };
        let read = layout::feed::of_any(entry).map(layout::FeedEntry::parse);
        let called = match &read {
            Some(Ok(read)) => read.trace.as_ref().map(|trace| number_of(&trace.id)),
            _ => None,
        };
        let heard = lock(&self.ledger).is_heard(called);
        let departed = |departure: runtime::Departure| Trouble::Departed {
            revision,
            what: departure.to_string(),
        };
        let taken = walk.take(entry, heard).map_err(departed)?;
        let by = String::from_utf8_lossy(&taken.principal);
        let text = match by.is_empty() {
            true => format!("{}[{}]", taken.actor, taken.operation),
            false => format!("{}[{}] of {by} is done", taken.actor, taken.operation),
        };
        let at_ms = u64::try_from(taken.at).unwrap_or_default();
        let text = format!("revision {revision}: {text}");
        lock(&self.shared).story.push(Event { at_ms, text });
        lock(&self.ledger).found(&taken, revision)?;
        self.watch(revision)
    }

    fn notes_before(&mut self, revision: u64) -> Result<(), Trouble> {
        let Some(walk) = &mut self.walk else { return Ok(()) };
        let notes = lock(&self.ledger).notes_before(revision);
        for note in notes {
            apply(walk, &note).map_err(|error| {
                let what = "what a caller heard".to_string();
                Trouble::Failed { what, error }
            })?;
            if let Some(broken) = walk.broken(false).into_iter().next() {
                let (goal, trouble) = (broken.goal, broken.trouble);
                return Err(Trouble::Broken { goal, revision: revision - 1, trouble });
            }
        }
        Ok(())
    }

    fn watch(&mut self, revision: u64) -> Result<(), Trouble> {
        let Some(walk) = &mut self.walk else { return Ok(()) };
        match walk.broken(false).into_iter().next() {
            Some(broken) => {
                let (goal, trouble) = (broken.goal, broken.trouble);
                Err(Trouble::Broken { goal, revision, trouble })
            }
            None => Ok(()),
        }
    }
}
