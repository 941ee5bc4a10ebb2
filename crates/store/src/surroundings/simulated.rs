//! Surroundings in which a seed decides everything: for tests.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::{Moment, Next, Sleep, Step, Surroundings, Task};
use crate::seeded::Seeded;

/// A step takes up to so long, and what happens between two looks at the time as well.
const STEP_US: u64 = 100;
/// The clock on the wall when the world begins.
const BEGUN_MS: u64 = 1_700_000_000_000;

/// One thread, and time that passes when somebody waits or looks at it, as much as the seed decides. Steps of tasks are called while somebody waits, in an
/// order that the seed decides. A step that waits itself lets the others go on meanwhile, and goes on when they have
/// returned: so nobody may wait for what only a task that waits already could do. Clones are the same world.
#[derive(Clone)]
pub struct SimulatedSurroundings(Arc<World>);

struct World(Mutex<State>);

struct State {
    seeded: Seeded,
    now: Duration,
    numbers: u64,
    steps: u64,
    /// in the order of their numbers
    tasks: Vec<Stepped>,
    sleeping: Vec<(Duration, Waker)>,
}

/// A task that has not ended.
struct Stepped {
    number: u64,
    /// When it may be called. All tasks are looked at before each step, so this is one number.
    next: Nanos,
    /// It was woken while it was called.
    woken: bool,
    /// Nothing while it is called.
    step: Option<Step>,
    name: String,
}

/// Since the world began.
type Nanos = u64;

/// It is called just now, or waits to be woken.
const NEVER: Nanos = Nanos::MAX;

fn nanos(time: Duration) -> Nanos {
    Nanos::try_from(time.as_nanos()).unwrap_or(NEVER)
}

/// What came of it that somebody waits.
#[derive(PartialEq, Eq)]
enum Went {
    /// A task has gone on, or time has passed.
    On,
    /// It was waited for long enough.
    Over,
    /// Nothing will ever happen.
    Nowhere,
}

impl SimulatedSurroundings {
    pub fn new(seed: u64) -> Self {
        let state = State {
            seeded: Seeded::new(seed),
            now: Duration::ZERO,
            numbers: 0,
            steps: 0,
            tasks: Vec::new(),
            sleeping: Vec::new(),
        };
        SimulatedSurroundings(Arc::new(World(Mutex::new(state))))
    }

    /// How many steps of tasks were called.
    pub fn steps(&self) -> u64 {
        self.0.lock().steps
    }
}

impl fmt::Debug for SimulatedSurroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        write!(f, "simulated: {} steps in {:?}", state.steps, state.now)
    }
}

impl World {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a task go on, or time pass until one may, but not beyond the end.
    fn go_on(&self, end: Option<Duration>) -> Went {
        let mut state = self.lock();
        if end.is_some_and(|end| state.now >= end) {
            return Went::Over;
        }
        let (ready, next) = state.looked_at();
        if ready > 0 {
            let chosen = state.seeded.below(ready as u64) as usize;
            self.call(state, chosen);
            return Went::On;
        }
        let next = (next != NEVER).then(|| Duration::from_nanos(next));
        let sleeping = state.sleeping.iter().map(|(until, _)| *until);
        let Some(at) = sleeping.chain(next).chain(end).min() else { return Went::Nowhere };
        let left = at.saturating_sub(state.now);
        drop(self.pass(state, left));
        Went::On
    }

    /// Calls one of the tasks that may be called.
    fn call(&self, mut state: MutexGuard<'_, State>, chosen: usize) {
        let now = nanos(state.now);
        let mut ready = state.tasks.iter_mut().filter(|task| task.next <= now);
        let task = ready.nth(chosen).expect("so many are ready");
        let number = task.number;
        (task.next, task.woken) = (NEVER, false);
        let mut step = task.step.take().expect("a task that is ready is not under way");
        state.steps += 1;
        // a step may look at the world
        drop(state);
        let next = step();
        let mut state = self.pass_a_little();
        if next == Next::Ended {
            state.tasks.retain(|task| task.number != number);
            drop(state);
            return;
        }
        let now = state.now;
        let task = state.task(number).expect("only its end removes a task");
        task.step = Some(step);
        task.next = match next {
            _ if task.woken => 0,
            Next::Now => nanos(now),
            Next::After(duration) => nanos(now.saturating_add(duration)),
            Next::Woken | Next::Ended => NEVER,
        };
    }

    fn pass_a_little(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        let took = Duration::from_micros(1 + state.seeded.below(STEP_US));
        self.pass(state, took)
    }

    /// So much time passes, and wakes who has slept for long enough. Who is woken may look at the world, so it is let
    /// go before.
    fn pass<'w>(
        &'w self,
        mut state: MutexGuard<'w, State>,
        duration: Duration,
    ) -> MutexGuard<'w, State> {
        state.now += duration;
        let now = state.now;
        if state.sleeping.iter().all(|(until, _)| *until > now) {
            return state;
        }
        let over: Vec<Waker> = {
            let over = state.sleeping.extract_if(.., |(until, _)| *until <= now);
            over.map(|(_, waker)| waker).collect()
        };
        drop(state);
        over.into_iter().for_each(Waker::wake);
        self.lock()
    }

    /// Nobody who is left can do what is waited for.
    fn stuck(&self) -> ! {
        let names: Vec<String> = self.lock().tasks.iter().map(|task| task.name.clone()).collect();
        panic!("everyone waits and nothing will happen; tasks: {}", names.join(", "));
    }
}

impl State {
    /// How many tasks may be called, and when the next of the others may.
    fn looked_at(&self) -> (usize, Nanos) {
        let now = nanos(self.now);
        let (mut ready, mut next) = (0, NEVER);
        for task in &self.tasks {
            if task.next <= now {
                ready += 1;
            } else {
                next = next.min(task.next);
            }
        }
        (ready, next)
    }

    fn task(&mut self, number: u64) -> Option<&mut Stepped> {
        let at = self.tasks.binary_search_by_key(&number, |task| task.number).ok()?;
        self.tasks.get_mut(at)
    }
}

impl Surroundings for SimulatedSurroundings {
    fn now(&self) -> Moment {
        Moment(self.0.pass_a_little().now)
    }

    fn time_ms(&self) -> u64 {
        BEGUN_MS + self.0.lock().now.as_millis() as u64
    }

    fn chance(&self) -> u64 {
        self.0.lock().seeded.number()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let world = Arc::clone(&self.0);
        let until = world.lock().now.saturating_add(duration);
        Box::pin(std::future::poll_fn(move |context: &mut Context<'_>| {
            let mut state = world.lock();
            if state.now >= until {
                return Poll::Ready(());
            }
            // It is asked after every step.
            let known =
                |(at, waker): &(Duration, Waker)| *at == until && waker.will_wake(context.waker());
            if !state.sleeping.iter().any(known) {
                state.sleeping.push((until, context.waker().clone()));
            }
            Poll::Pending
        }))
    }

    fn wait(
        &self,
        mut future: Pin<&mut dyn Future<Output = ()>>,
        at_most: Option<Duration>,
    ) -> bool {
        let end = at_most.and_then(|at_most| self.0.lock().now.checked_add(at_most));
        // It is asked again after each step, so nobody needs to wake it.
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if future.as_mut().poll(&mut context).is_ready() {
                return true;
            }
            match self.0.go_on(end) {
                Went::On => {}
                Went::Over => return false,
                Went::Nowhere => self.0.stuck(),
            }
        }
    }

    fn spawn(&self, name: &str, step: Step) -> io::Result<Task> {
        let mut state = self.0.lock();
        let (number, now) = (state.numbers, state.now);
        state.numbers += 1;
        let (name, step) = (name.into(), Some(step));
        state.tasks.push(Stepped { number, next: nanos(now), woken: false, step, name });
        drop(state);
        // A step may hold what holds the task: the world must not be held by them in turn.
        let waker = Waker::from(Arc::new(Wakes { world: Arc::downgrade(&self.0), number }));
        let world = Arc::downgrade(&self.0);
        let join = move || {
            let Some(world) = world.upgrade() else { return };
            while world.lock().task(number).is_some() {
                if world.go_on(None) == Went::Nowhere {
                    world.stuck();
                }
            }
        };
        Ok(Task { waker, join: Box::new(join) })
    }
}

/// Wakes one task.
struct Wakes {
    world: Weak<World>,
    number: u64,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        let Some(world) = self.world.upgrade() else { return };
        if let Some(task) = world.lock().task(self.number) {
            // who is called just now is called again
            match task.step {
                Some(_) => task.next = 0,
                None => task.woken = true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::surroundings::Signal;

    /// The order in which three tasks were called, each until it had been called four times.
    fn order(seed: u64) -> Vec<usize> {
        let simulated = SimulatedSurroundings::new(seed);
        let surroundings: &dyn Surroundings = &simulated;
        let calls = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<Task> = (0..3)
            .map(|task| {
                let (calls, mut left) = (Arc::clone(&calls), 4);
                let step = move || {
                    calls.lock().unwrap().push(task);
                    left -= 1;
                    if left == 0 { Next::Ended } else { Next::After(Duration::from_micros(20)) }
                };
                surroundings.spawn("counts", Box::new(step)).unwrap()
            })
            .collect();
        tasks.into_iter().for_each(Task::join);
        let calls = calls.lock().unwrap().clone();
        assert_eq!(calls.len(), 12);
        calls
    }

    #[test]
    fn one_seed_gives_one_order_and_another_seed_another() {
        let orders: Vec<_> = (0..20).map(order).collect();
        assert_eq!(orders, (0..20).map(order).collect::<Vec<_>>());
        assert!(orders.iter().any(|other| *other != orders[0]));
    }

    #[test]
    fn an_hour_passes_at_once() {
        let simulated = SimulatedSurroundings::new(1);
        let surroundings: &dyn Surroundings = &simulated;
        let (begun, time_ms) = (surroundings.now(), surroundings.time_ms());
        assert_eq!(surroundings.time_ms(), time_ms);
        surroundings.rest(Duration::from_secs(3_600));
        assert_eq!(surroundings.time_ms(), time_ms + 3_600_000);
        surroundings.block_on(surroundings.sleep(Duration::from_secs(5)));
        assert_eq!(surroundings.time_ms(), time_ms + 3_605_000);
        let passed = surroundings.now().since(begun);
        let looks = Duration::from_millis(1);
        assert!(passed >= Duration::from_secs(3_605), "{passed:?}");
        assert!(passed <= Duration::from_secs(3_605) + looks, "{passed:?}");
    }

    #[test]
    fn a_task_is_called_when_it_is_woken_and_not_before() {
        let simulated = SimulatedSurroundings::new(1);
        let surroundings: &dyn Surroundings = &simulated;
        let (calls, signal) = (Arc::new(AtomicU64::new(0)), Arc::new(Signal::default()));
        let step = {
            let (calls, signal) = (Arc::clone(&calls), Arc::clone(&signal));
            move || {
                calls.fetch_add(1, Ordering::SeqCst);
                signal.ring();
                Next::Woken
            }
        };
        let task = surroundings.spawn("woken", Box::new(step)).unwrap();
        surroundings.rest(Duration::from_secs(1));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        let times = signal.times();
        task.waker().wake_by_ref();
        surroundings.block_on(signal.after(times));
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[test]
    #[should_panic(expected = "everyone waits and nothing will happen; tasks: idle")]
    fn a_wait_that_nobody_can_end_is_said() {
        let simulated = SimulatedSurroundings::new(1);
        let surroundings: &dyn Surroundings = &simulated;
        let _task = surroundings.spawn("idle", Box::new(|| Next::Woken)).unwrap();
        surroundings.block_on(std::future::pending::<()>());
    }
}
