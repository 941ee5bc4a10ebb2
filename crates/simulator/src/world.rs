//! One world: a server that lives a few times, and is asked for all kinds of things.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use runtime::{Remembered, Walk};
use store::{Cursor, Hasher, Partition, Seeded, Surroundings, Task};

use crate::caller::{Caller, Pending, Shared};
use crate::drawing::Drawing;
use crate::facts::{By, Event, Facts, Outcome};
use crate::ledger::Ledger;
use crate::locking::lock;
use crate::outside::Provider;
use crate::people::{Stands, people};
use crate::replacing::{Operator, Stage};
use crate::running::Running;
use crate::script::{Life, Script, Size};
use crate::serving::Ground;
use crate::simulator::Simulator;
use crate::smaller::within;
use crate::surroundings::Moved;
use crate::trouble::Trouble;

/// With few attempts the world outside is often not heard in time, and the design is told that nothing is known.
const ATTEMPTS_FEW: u32 = 2;
const ATTEMPTS_MANY: u32 = 8;
/// After the last call of a life its server has so long to itself.
const AFTER: Duration = Duration::from_secs(2);
/// So long, and what a server had in hand that was killed is taken over by another one.
const TAKEN_OVER: Duration = Duration::from_secs(20);

pub(crate) struct World {
    pub(crate) simulator: Simulator,
    pub(crate) shared: Arc<Mutex<Shared>>,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) surroundings: Arc<Moved>,
    pub(crate) provider: Arc<Provider>,
    /// none: what steps rest on is not in the feed
    pub(crate) walk: Option<Walk>,
    pub(crate) walked: Cursor,
    /// the last revision that was walked
    pub(crate) stood: u64,
    /// the walk has come to the next version
    pub(crate) followed: bool,
    pub(crate) running: Arc<Mutex<Running>>,
    pub(crate) stands: Stands,
    /// the store has the design: a server has opened it
    pub(crate) registered: bool,
    pub(crate) hasher: Hasher,
    seeded: Seeded,
}

impl Simulator {
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
        if let Some(given) = given {
            world.simulator.room = given.room;
        }
        let mut script = Script { seed, room: world.simulator.room, lives: Vec::new() };
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
        let design = Arc::clone(simulator.design());
        let people = people(&design);
        let mut seeded = Seeded::new(seed ^ 0x5eed);
        let stands = Stands::draw(&design, &mut seeded);
        let attempts_max = if seeded.percent(50) { ATTEMPTS_FEW } else { ATTEMPTS_MANY };
        let drawing = Drawing::new(&design, &people, stands, seed);
        let outside = Drawing::new(&design, &people, stands, !seed);
        let surroundings = Arc::new(Moved::new(seed));
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let around: Arc<dyn Surroundings> = Arc::<Moved>::clone(&surroundings);
        let running: Arc<Mutex<Running>> = Arc::default();
        let provider = Arc::new(Provider::new(
            Arc::clone(&design),
            outside,
            Arc::clone(&ledger),
            Arc::clone(&running),
            around,
        ));
        let mut walk = Walk::of_lowered(&simulator.lowered).ok();
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
            simulator: Simulator { attempts_max, ..simulator.clone() },
            shared: Arc::new(Mutex::new(shared)),
            ledger,
            surroundings,
            provider,
            walk,
            walked: Cursor::start(Partition::default()),
            stood: 0,
            followed: false,
            running,
            stands,
            registered: false,
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
        let mut ground = self.ground(script.seed);
        let Size { calls, lives, .. } = self.simulator.size;
        let lives = given.map_or(lives, |script| script.lives.len());
        for at in 0..lives {
            let calls = match self.simulator.busy_life {
                Some(busy) if busy == at => calls,
                Some(_) => 0,
                None => calls / lives.max(1),
            };
            let life = match given {
                Some(script) => script.lives[at].clone(),
                None => self.draw_life(at, calls),
            };
            script.lives.push(Life { acts: Vec::new(), ..life.clone() });
            self.prepare(&life, given.is_some(), calls);
            self.live(&ground, &life)?;
            let acts = std::mem::take(&mut lock(&self.shared).acts);
            if let Some(last) = script.lives.last_mut() {
                last.acts = acts;
            }
            self.facts(|facts| facts.lives += 1);
            self.count_faults(&ground);
            ground = ground.after(&mut self.seeded);
        }
        ground.calm();
        if let Ground::Far(far) = &ground {
            // also a replacement that nobody knows of: whoever starts after it is told who has the say
            self.around().block_on(far.arrive());
        }
        self.settle(&ground)?;
        if let Ground::Disk(disk) = &ground {
            self.hasher.update(disk.digest().to_string().as_bytes());
        }
        Ok(())
    }

    fn draw_life(&self, at: usize, calls: usize) -> Life {
        let Size { servers, sound_disk, .. } = self.simulator.size;
        let drawing = &mut lock(&self.shared).drawing;
        let mut life = Life::default();
        if servers > 1 {
            life.network = drawing.network();
            life.servers = (0..servers).map(|_| drawing.server()).collect();
        } else if !sound_disk {
            life.faults = drawing.faults();
        }
        let clock_ms = drawing.clock_ms();
        // the clock that several servers share is their store's, and that does not go back
        let clock_ms = if servers > 1 { clock_ms.max(0) } else { clock_ms };
        life.clock_ms = if at == 0 { 0 } else { clock_ms };
        let next = self.simulator.next.as_ref();
        life.replaced_after = next.and_then(|_| drawing.replaced_after(calls));
        self.simulator.faults_within.iter().for_each(|most| within(&mut life, *most));
        life
    }

    fn count_faults(&self, ground: &Ground) {
        match ground {
            Ground::Disk(disk) => {
                self.facts(|facts| {
                    facts.power_cuts += u64::from(disk.has_crashed());
                    facts.disk_faults += u64::from(disk.has_failed());
                    facts.disk_operations += disk.operations();
                });
                if disk.has_crashed() {
                    self.tell_of(true, "the power is cut");
                }
            }
            // the store counts over all lives
            Ground::Far(far) => self.facts(|facts| facts.lost_requests = far.lost()),
        }
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

    /// One life, in which anything may fail at any time.
    fn live(&mut self, ground: &Ground, life: &Life) -> Result<(), Trouble> {
        if let Ground::Disk(disk) = ground {
            // also what happens before it serves anybody
            disk.set_faults(life.faults.clone());
        }
        let store = match self.open(ground) {
            Ok(store) => store,
            Err(error) => {
                let excused =
                    matches!(ground, Ground::Disk(disk) if disk.has_crashed() || disk.has_failed());
                return if excused { Ok(()) } else { Err(Trouble::Unopened { error }) };
            }
        };
        self.tell(if life.servers.is_empty() { "the server starts" } else { "the servers start" });
        self.walk_on(&store, ground)?;
        if matches!(ground, Ground::Disk(_)) && self.seeded.percent(50) {
            // What was walked is not needed any more: files of the log that no recovery needs may go. A fault may meet it.
            let _ = self.around().block_on(store.trim(self.walked));
        }
        self.start(ground, &store, life)?;
        if !lock(&self.running).servers.is_empty() {
            self.registered = true;
            self.call(life.replaced_after);
            if !ground.has_crashed() {
                let long = life.servers.len() > 1 && self.seeded.percent(50);
                self.around().rest(if long { TAKEN_OVER } else { AFTER });
            }
        }
        self.stop_it();
        ground.calm_network();
        if matches!(ground, Ground::Disk(_)) && self.seeded.percent(30) {
            // whatever it says: the power is cut right after
            let _ = self.around().block_on(store.close());
        }
        drop(store);
        match lock(&self.shared).trouble.take() {
            Some(trouble) => Err(trouble),
            None => Ok(()),
        }
    }

    /// Every caller does its part.
    pub(crate) fn call(&self, replaced_after: Option<usize>) {
        let (callers, operator) = {
            let mut shared = lock(&self.shared);
            shared.callers = shared.people.len();
            shared.pending.iter_mut().flatten().for_each(Pending::begin_life);
            let after = replaced_after.filter(|_| shared.stage == Stage::Before);
            (shared.people.len(), after.zip(self.simulator.next.clone()))
        };
        let operator = operator.map(|(after, next)| {
            let operator = Operator {
                next,
                after,
                simulator: self.simulator.clone(),
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
                let (shared, ledger) = (&self.shared, &self.ledger);
                let caller = Caller::new(at, shared, ledger, &self.running, &self.surroundings);
                let waker = Arc::clone(&caller.waker);
                let step = Box::new(move || caller.step());
                let task = self.surroundings.spawn("caller", step);
                let task = task.expect("a simulated task starts");
                waker.get_or_init(|| task.waker().clone());
                task
            })
            .collect();
        tasks.into_iter().chain(operator).for_each(Task::join);
    }
}
