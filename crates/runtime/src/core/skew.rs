//! How far this server's clock is from the store's. Where several servers decide by their clocks, one that is far off
//! would end leases that are not over, or keep those that are: it refuses to serve instead.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use store::Moment;

/// The clocks are compared this often, by whoever asks for something then.
const EVERY: Duration = Duration::from_secs(1);

/// The clock of this server is too far from the store's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Skewed {
    /// how far it is ahead; behind, if this is below zero
    pub ahead_ms: i64,
    pub most_ms: i64,
}

impl fmt::Display for Skewed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.ahead_ms < 0 { "behind" } else { "ahead of" };
        let (off, most) = (self.ahead_ms.unsigned_abs(), self.most_ms);
        write!(
            f,
            "the clock of this server is {off} ms {side} the store's, of at most {most} ms: it does not serve until it \
             is set right"
        )
    }
}

#[derive(Default)]
pub struct Skew(Mutex<Compared>);

#[derive(Default)]
struct Compared {
    at: Option<Moment>,
    beyond: Option<Skewed>,
    /// how far this server is ahead, as it was found last
    ahead_ms: i64,
}

impl Skew {
    /// What is known; whether it is time to compare again, which is up to whoever is told so.
    pub(super) fn known(&self, now: Moment) -> (Option<Skewed>, bool) {
        let mut compared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let again = compared.at.is_none_or(|at| now.since(at) >= EVERY);
        if again {
            compared.at = Some(now);
        }
        (compared.beyond, again)
    }

    /// How far this server's clock is ahead of the store's, as far as is known.
    pub fn ahead_ms(&self) -> i64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ahead_ms
    }

    pub(super) fn learn(&self, ahead_ms: i64, beyond: Option<Skewed>) -> Option<Skewed> {
        let mut compared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        compared.ahead_ms = ahead_ms;
        std::mem::replace(&mut compared.beyond, beyond)
    }
}
