//! So that a flood of refusals cannot fill the disk.

use std::sync::{Mutex, PoisonError};

/// Lets a burst through, then a few: what it holds back is counted.
#[derive(Debug)]
pub struct Limiter {
    burst: u64,
    /// one more is let through after so long
    every_ms: i64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    left: u64,
    filled_at_ms: i64,
    held_back: u64,
}

impl Limiter {
    pub fn new(burst: u64, every_ms: i64) -> Limiter {
        let state = State { left: burst, filled_at_ms: i64::MIN, held_back: 0 };
        Limiter { burst, every_ms: every_ms.max(1), state: Mutex::new(state) }
    }

    /// None: hold it back. Otherwise how many were held back since the last one.
    pub fn admit(&self, now_ms: i64) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.filled_at_ms == i64::MIN {
            state.filled_at_ms = now_ms;
        }
        let gained = (now_ms - state.filled_at_ms).max(0) / self.every_ms;
        if gained > 0 {
            state.left = self.burst.min(state.left.saturating_add(gained.unsigned_abs()));
            state.filled_at_ms += gained * self.every_ms;
        }
        if state.left == 0 {
            state.held_back += 1;
            return None;
        }
        state.left -= 1;
        Some(std::mem::take(&mut state.held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_a_burst_and_then_a_trickle_that_tells_of_the_rest() {
        let limiter = Limiter::new(3, 1_000);
        let told: Vec<Option<u64>> = (0..6).map(|_| limiter.admit(50)).collect();
        assert_eq!(told, [Some(0), Some(0), Some(0), None, None, None]);
        assert_eq!(limiter.admit(1_049), None);
        assert_eq!(limiter.admit(1_050), Some(4));
        assert_eq!(limiter.admit(1_051), None);
        // quiet for long: a whole burst again, and no more
        let told = (0..9).filter(|_| limiter.admit(1_000_000).is_some()).count();
        assert_eq!(told, 3);
        assert_eq!(limiter.admit(0), None, "a clock that runs backwards gives nothing");
    }
}
