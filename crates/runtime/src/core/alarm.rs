//! Wakes the workers when something is due earlier than they thought.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use store::Next;

/// A clock that jumps is noticed after at most so long.
const SLEEP_MAX_MS: i64 = 1_000;
/// Whoever has nothing to do looks again after at most so long, where everything that becomes due rings.
const LOOK_MS: i64 = 60_000;

#[derive(Default)]
pub struct Alarm {
    state: Mutex<State>,
    /// held by whoever makes repairs happen, from before it looks whether it may until none is under way
    firing: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// how often it rang
    rings: u64,
    workers: Vec<Sleeper>,
    stopped: bool,
    /// whoever is awake leaves everything as it is
    held: bool,
}

#[derive(Default)]
struct Sleeper {
    waker: Option<Waker>,
    /// until when it sleeps; none: it is awake
    until: Option<i64>,
    /// it has looked: how often it had rung then, and before when nothing is to be done unless it rings
    idle: Option<(u64, i64)>,
}

/// One of those who are woken.
#[derive(Clone, Copy)]
pub struct WorkerNumber(usize);

/// What a worker finds when it is called.
pub enum Called {
    /// Look for work. If there is none, `rings` is to be given to `rest`.
    Look { rings: u64 },
    /// Leave everything as it is.
    Rest(Next),
}

impl State {
    /// Wakes those who sleep past a time.
    fn wake(&self, at: i64) {
        let asleep = |worker: &&Sleeper| worker.until.is_some_and(|until| at < until);
        for worker in self.workers.iter().filter(asleep) {
            if let Some(waker) = &worker.waker {
                waker.wake_by_ref();
            }
        }
    }
}

impl Alarm {
    /// Something is due at this time. Who sleeps past it wakes; who is awake will not sleep.
    pub fn ring(&self, at: i64) {
        let mut state = self.lock();
        state.rings += 1;
        state.wake(at);
    }

    /// From now on nothing due is made to happen, or it is again. Everybody looks: the clock was moved by hand. When this
    /// returns, and nothing is to happen, no repair is under way any more.
    pub fn hold(&self, held: bool) {
        let mut state = self.lock();
        state.held = held;
        state.rings += 1;
        state.wake(i64::MIN);
        drop(state);
        if held {
            drop(self.firing());
        }
    }

    /// To be had before [`Alarm::called`], by whoever makes repairs happen, until it is done.
    pub fn firing(&self) -> MutexGuard<'_, ()> {
        self.firing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.wake(i64::MIN);
    }

    pub fn enlist(&self) -> WorkerNumber {
        let mut state = self.lock();
        state.workers.push(Sleeper::default());
        WorkerNumber(state.workers.len() - 1)
    }

    /// How a worker is woken. It may sleep already, and is woken now.
    pub fn woken_by(&self, worker: WorkerNumber, waker: &Waker) {
        self.lock().workers[worker.0].waker = Some(waker.clone());
        waker.wake_by_ref();
    }

    /// A worker is called, at this time.
    pub fn called(&self, worker: WorkerNumber, now: i64) -> Called {
        let mut state = self.lock();
        state.workers[worker.0].until = None;
        let idle = state.workers[worker.0].idle.take();
        let rings = state.rings;
        match idle {
            _ if state.stopped => Called::Rest(Next::Ended),
            _ if state.held => Called::Rest(state.rest(worker, rings, None, now)),
            // it was called to look at the clock, and nothing has become due by it
            Some((rung, until)) if rung == rings && now < until => {
                let next = state.rest(worker, rings, Some(until), now);
                state.workers[worker.0].idle = idle;
                Called::Rest(next)
            }
            _ => Called::Look { rings },
        }
    }

    /// A worker has found nothing to do before `until`: when it is to be called next, if it has not rung since.
    /// `rung`: it rings for everything that becomes due earlier. Otherwise it is called to look, and soon.
    pub fn rest(
        &self,
        worker: WorkerNumber,
        rings: u64,
        (until, rung): (Option<i64>, bool),
        now: i64,
    ) -> Next {
        let mut state = self.lock();
        let next = state.rest(worker, rings, until, now);
        if rung {
            let until = until.unwrap_or(i64::MAX).min(now.saturating_add(LOOK_MS));
            state.workers[worker.0].idle = Some((rings, until));
        }
        next
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn rest(&mut self, worker: WorkerNumber, rings: u64, until: Option<i64>, now: i64) -> Next {
        let until = until.unwrap_or(i64::MAX).min(now.saturating_add(SLEEP_MAX_MS));
        if self.stopped {
            return Next::Ended;
        }
        if self.rings != rings || until <= now {
            return Next::Now;
        }
        self.workers[worker.0].until = Some(until);
        Next::After(Duration::from_millis((until - now).unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(alarm: &Alarm, worker: WorkerNumber, now: i64) -> Option<u64> {
        match alarm.called(worker, now) {
            Called::Look { rings } => Some(rings),
            Called::Rest(_) => None,
        }
    }

    #[test]
    fn who_has_nothing_to_do_looks_at_the_clock_and_leaves_the_store_alone() {
        let alarm = Alarm::default();
        let worker = alarm.enlist();
        let rings = looks(&alarm, worker, 0).expect("the first time it looks");
        let next = alarm.rest(worker, rings, (Some(30_000), true), 0);
        assert_eq!(next, Next::After(Duration::from_millis(1_000)));
        for now in [1_000, 2_000, 29_999] {
            assert_eq!(looks(&alarm, worker, now), None, "{now}");
        }
        // the clock has come to it, or has jumped over it
        assert_eq!(looks(&alarm, worker, 90_000), Some(rings));
        alarm.rest(worker, rings, (None, true), 90_000);
        assert_eq!(looks(&alarm, worker, 149_999), None);
        assert_eq!(looks(&alarm, worker, 150_000), Some(rings), "now and then it looks");
    }

    #[test]
    fn what_rings_is_looked_at_at_once_and_what_does_not_ring_soon() {
        let alarm = Alarm::default();
        let worker = alarm.enlist();
        let rings = looks(&alarm, worker, 0).expect("the first time it looks");
        alarm.rest(worker, rings, (None, true), 0);
        alarm.ring(5);
        assert_eq!(looks(&alarm, worker, 1), Some(rings + 1));
        // others may change the store, and nobody rings
        alarm.rest(worker, rings + 1, (None, false), 1);
        assert_eq!(looks(&alarm, worker, 1_001), Some(rings + 1));
    }
}
