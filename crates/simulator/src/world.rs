//! One world: a server that lives a few times, and is asked for all kinds of things.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use design::model::Design;
use layout::DesignNumber;
use runtime::{Remembered, Runtime, Secrets, Settings, Walk, Workers};
use store::{Cursor, Hasher, Partition, Seeded, Store, Surroundings, Task};
use store_embedded::disk::{Disk, Faults, SimulatedDisk};
use store_embedded::{Embedded, Options};

use crate::caller::{Caller, Shared};
use crate::drawing::{Drawing, lengths};
use crate::facts::{By, Event, Facts, Outcome};
use crate::ledger::{Ledger, apply, number_of};
use crate::outside::{Provider, head};
use crate::people::{Stands, people};
use crate::replacing::{Operator, Running, Stage};
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
    /// the version that takes its place, once in each world, while everybody calls
    pub next: Option<Arc<Design>>,
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
    /// the walk has come to the next version
    followed: bool,
    pub(crate) running: Arc<Mutex<Running>>,
    stands: Stands,
    hasher: Hasher,
    seeded: Seeded,
}

pub(crate) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Simulator {
    pub fn new(design: Design, size: Size) -> Simulator {
        let commit_bytes_max = stored_bytes(&design) + COMMIT_BYTES;
        let design = Arc::new(design);
        Simulator { design, next: None, size, secrets: None, disk: None, commit_bytes_max }
    }

    /// In each world this version takes the place of the first one, unless `unfit` has a reason against it.
    #[must_use]
    pub fn replaced_by(mut self, next: Design) -> Simulator {
        self.commit_bytes_max += stored_bytes(&next);
        self.next = Some(Arc::new(next));
        self
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

fn stored_bytes(design: &Design) -> u64 {
    serde_json::to_vec(design).map_or(0, |bytes| bytes.len() as u64)
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
            callers: 0,
            stage: Stage::Before,
        };
        World {
            simulator: simulator.clone(),
            shared: Arc::new(Mutex::new(shared)),
            ledger,
            surroundings,
            provider,
            walk,
            walked: Cursor::start(Partition::default()),
            followed: false,
            running: Arc::default(),
            stands,
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
        self.tell_of(false, text);
    }

    fn tell_of(&self, bad: bool, text: impl Into<String>) {
        let (at_ms, text) = (self.surroundings.time_ms(), text.into());
        lock(&self.shared).story.push(Event { at_ms, by: By::Server { bad }, text });
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
                    let clock_ms = if at == 0 { 0 } else { clock_ms };
                    let calls = calls / lives.max(1);
                    let next = self.simulator.next.as_ref();
                    let replaced_after = next.and_then(|_| drawing.replaced_after(calls));
                    Life { faults, clock_ms, replaced_after, acts: Vec::new() }
                }
            };
            script.lives.push(Life { acts: Vec::new(), ..life.clone() });
            self.prepare(&life, given.is_some(), calls / lives.max(1));
            disk.set_faults(life.faults.clone());
            self.live(&disk, life.replaced_after)?;
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
                self.tell_of(true, "the power is cut");
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
            self.tell_of(true, format!("the clock jumps by {} ms", life.clock_ms));
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

    /// One life, on a disk that may fail at any time.
    fn live(&mut self, disk: &SimulatedDisk, replaced_after: Option<usize>) -> Result<(), Trouble> {
        let store = match self.open(disk) {
            Ok(store) => store,
            Err(error) => return self.unopened(disk, Trouble::Unopened { error }),
        };
        self.tell("the server starts");
        self.walk_on(&store, disk)?;
        let runtime = match self.serve(&store) {
            Ok(runtime) => runtime,
            Err(error) => return self.unopened(disk, error),
        };
        self.run_it(runtime);
        self.call(replaced_after);
        if !disk.has_crashed() {
            self.around().rest(AFTER);
        }
        self.stop_it();
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

    fn unopened(&self, disk: &SimulatedDisk, trouble: Trouble) -> Result<(), Trouble> {
        // what a fault explains is met again in the next life
        if disk.has_crashed() || disk.has_failed() {
            return Ok(());
        }
        Err(trouble)
    }

    /// Every caller does its part.
    pub(crate) fn call(&self, replaced_after: Option<usize>) {
        let (callers, operator) = {
            let mut shared = lock(&self.shared);
            shared.callers = shared.people.len();
            let after = replaced_after.filter(|_| shared.stage == Stage::Before);
            (shared.people.len(), after.zip(self.simulator.next.clone()))
        };
        let operator = operator.map(|(after, next)| {
            let operator = Operator {
                next,
                after,
                shared: Arc::clone(&self.shared),
                running: Arc::clone(&self.running),
                provider: Arc::clone(&self.provider),
                surroundings: Arc::clone(&self.surroundings),
            };
            let step = Box::new(move || operator.step());
            self.surroundings.spawn("operator", step).expect("a simulated task starts")
        });
        let tasks: Vec<Task> = (0..callers)
            .map(|at| {
                let caller = Caller {
                    at,
                    shared: Arc::clone(&self.shared),
                    ledger: Arc::clone(&self.ledger),
                    running: Arc::clone(&self.running),
                    surroundings: Arc::clone(&self.surroundings),
                };
                let step = Box::new(move || caller.step());
                self.surroundings.spawn("caller", step).expect("a simulated task starts")
            })
            .collect();
        tasks.into_iter().chain(operator).for_each(Task::join);
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
        let (mut may, must) = lock(&self.shared).stage.is_new(revision);
        let number = layout::feed::number_of(entry);
        if let Some(walk) = &self.walk
            && !self.followed
            && (must || number != Some(walk.number()))
        {
            self.follow(revision, number)?;
        }
        may &= !self.followed;
        let Some(walk) = &mut self.walk else { return Ok(()) };
        if number.is_some_and(|number| number < walk.number()) {
            let what = "an earlier version acts after it was replaced".to_string();
            return Err(Trouble::Departed { revision, what });
        }
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
        let taken = match walk.take(entry, heard) {
            // while it is replaced, it may be of the one or of the other version
            Err(_) if may => {
                self.follow(revision, number)?;
                let walk = self.walk.as_mut().expect("it has followed");
                walk.take(entry, heard).map_err(departed)?
            }
            taken => taken.map_err(departed)?,
        };
        let by = String::from_utf8_lossy(&taken.principal);
        let text = match by.is_empty() {
            true => format!("{}[{}]", taken.actor, taken.operation),
            false => format!("{}[{}] of {by} is done", taken.actor, taken.operation),
        };
        let at_ms = u64::try_from(taken.at).unwrap_or_default();
        let text = format!("revision {revision}: {text}");
        let by = By::Feed { called: !by.is_empty() };
        lock(&self.shared).story.push(Event { at_ms, by, text });
        lock(&self.ledger).found(&taken, revision)?;
        self.watch(revision)
    }

    /// The walk goes on with the next version.
    fn follow(&mut self, revision: u64, number: Option<DesignNumber>) -> Result<(), Trouble> {
        let departed = |what: String| Trouble::Departed { revision, what };
        let (Some(walk), Some(next), Some(number)) = (&mut self.walk, &self.simulator.next, number)
        else {
            return Err(departed("a transition of another version".into()));
        };
        walk.follow((**next).clone(), number).map_err(departed)?;
        let stands = self.stands;
        walk.watch_only(|goal| stands.is_judged(next, goal));
        for person in people(next) {
            walk.know(person.actor, &person.name);
        }
        self.followed = true;
        Ok(())
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
