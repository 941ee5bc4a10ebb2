//! Wakes the workers when something is due earlier than they thought.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::Clock;

/// A clock that jumps is noticed after at most so long.
const SLEEP_MAX_MS: i64 = 1_000;

#[derive(Default)]
pub struct Alarm {
    state: Mutex<State>,
    rung: Condvar,
}

#[derive(Default)]
struct State {
    /// how often it rang
    rings: u64,
    /// until when each sleeper sleeps
    sleepers: Vec<i64>,
    stopped: bool,
    /// whoever is awake leaves everything as it is
    held: bool,
}

impl Alarm {
    /// Something is due at this time. Who sleeps past it wakes; who is awake will not sleep.
    pub fn ring(&self, at: i64) {
        let mut state = self.lock();
        state.rings += 1;
        if state.sleepers.iter().any(|until| at < *until) {
            self.rung.notify_all();
        }
    }

    /// Everybody looks again: the clock was moved by hand.
    pub fn wake(&self) {
        self.lock().rings += 1;
        self.rung.notify_all();
    }

    /// From now on nothing due is made to happen, or it is again.
    pub fn hold(&self, held: bool) {
        self.lock().held = held;
        self.wake();
    }

    pub fn is_held(&self) -> bool {
        self.lock().held
    }

    pub fn stop(&self) {
        self.lock().stopped = true;
        self.rung.notify_all();
    }

    pub fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// To be asked before looking for work, and given to `sleep` if there was none.
    pub fn rings(&self) -> u64 {
        self.lock().rings
    }

    /// Sleeps until `until` by this clock, or until it has rung since `rings`. False: stopped.
    pub fn sleep(&self, rings: u64, until: Option<i64>, clock: &dyn Clock) -> bool {
        let mut state = self.lock();
        let now = clock.now_ms();
        let until = until.unwrap_or(i64::MAX).min(now.saturating_add(SLEEP_MAX_MS));
        if state.stopped || state.rings != rings || until <= now {
            return !state.stopped;
        }
        state.sleepers.push(until);
        let wait = Duration::from_millis((until - now).unsigned_abs());
        let (mut state, _) =
            self.rung.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = state.sleepers.iter().position(|known| *known == until) {
            state.sleepers.swap_remove(at);
        }
        !state.stopped
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
