//! The server's clock. The engine never reads one: `now` is part of the command.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use store::{Surroundings, real_surroundings};

pub trait Clock: Send + Sync {
    /// milliseconds since 1970
    fn now_ms(&self) -> i64;
}

/// The clock of the surroundings, the machine's own by default, which here never runs backwards.
#[derive(Debug)]
pub struct SystemClock {
    surroundings: Arc<dyn Surroundings>,
    latest: AtomicI64,
}

impl SystemClock {
    pub fn of(surroundings: Arc<dyn Surroundings>) -> SystemClock {
        SystemClock { surroundings, latest: AtomicI64::new(0) }
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::of(real_surroundings())
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let now = i64::try_from(self.surroundings.time_ms()).unwrap_or(i64::MAX);
        self.latest.fetch_max(now, Ordering::Relaxed).max(now)
    }
}

/// A clock that is set by hand, for tests.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicI64,
}

impl ManualClock {
    pub fn new(now: i64) -> ManualClock {
        ManualClock { now: AtomicI64::new(now) }
    }

    pub fn advance(&self, ms: i64) {
        self.now.fetch_add(ms, Ordering::SeqCst);
    }

    /// Moves it on to this time; a clock that is further already stays. Gives what it is then.
    pub fn reach(&self, ms: i64) -> i64 {
        self.now.fetch_max(ms, Ordering::SeqCst).max(ms)
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }
}
