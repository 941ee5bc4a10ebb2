//! How often one caller may call one step: `limit 5 per 1m per me`. At most so many in any time of that
//! length, counted here from the start of the service on; what must never be exceeded is a guard on truth.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use design::model::Rate;
use rustc_hash::FxHashMap;

/// The calls of all callers of one operation.
#[derive(Debug)]
pub struct Rates {
    rate: Rate,
    calls: Mutex<Calls>,
}

#[derive(Default, Debug)]
struct Calls {
    /// by caller: when its last calls came, in milliseconds
    of: FxHashMap<String, VecDeque<i64>>,
    /// callers that have not called for long are forgotten when there are more than this
    sweep_at: usize,
}

const SWEEP_AT: usize = 1_024;

/// How a caller stands with its limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    pub rate: Rate,
    /// calls that are taken now
    pub calls: u32,
    /// until one more is
    pub again_ms: i64,
}

impl Rates {
    pub fn new(rate: Rate) -> Rates {
        Rates { rate, calls: Mutex::default() }
    }

    /// Counts a call, or refuses it: then nothing is counted.
    pub fn take(&self, caller: &str, now_ms: i64) -> Result<Left, Left> {
        let Rate { count, per } = self.rate;
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.sweep(now_ms.saturating_sub(per));
        let times = match calls.of.get_mut(caller) {
            Some(times) => times,
            None => calls.of.entry(caller.to_string()).or_default(),
        };
        // a clock that went back makes nobody wait longer than the time of the limit
        let over = |at: &i64| *at <= now_ms - per || *at > now_ms;
        while times.front().is_some_and(over) {
            times.pop_front();
        }
        let taken = times.len() < count as usize;
        if taken {
            times.push_back(now_ms);
        }
        let left = count - u32::try_from(times.len()).unwrap_or(count).min(count);
        let again_ms = match left {
            0 => times.front().map_or(0, |first| first + per - now_ms),
            _ => 0,
        };
        let left = Left { rate: self.rate, calls: left, again_ms };
        if taken { Ok(left) } else { Err(left) }
    }
}

impl Calls {
    /// Forgets who has not called since then, once there are twice as many as after the last time.
    fn sweep(&mut self, since: i64) {
        if self.of.len() < self.sweep_at.max(SWEEP_AT) {
            return;
        }
        self.of.retain(|_, times| times.back().is_some_and(|last| *last > since));
        self.sweep_at = self.of.len() * 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_of_that_length_has_more_calls() {
        let rates = Rates::new(Rate { count: 5, per: 60_000 });
        let mut taken: Vec<i64> = Vec::new();
        // somebody who tries every 3.7 seconds for an hour
        for now in (0..3_600_000).step_by(3_700) {
            let before = taken.len();
            match rates.take("ann", now) {
                Ok(_) => taken.push(now),
                Err(left) => {
                    assert_eq!(left.calls, 0);
                    assert!((1..=60_000).contains(&left.again_ms), "{left:?}");
                    let again = now + left.again_ms;
                    let within = taken.iter().filter(|at| **at > again - 60_000).count();
                    assert_eq!(within, 4, "then one is taken");
                }
            }
            let within = taken.iter().filter(|at| **at > now - 60_000).count();
            assert!(within <= 5);
            assert!(taken.len() > before || within == 5, "nobody waits for nothing");
        }
        // as many as somebody gets who tries on that grid
        assert_eq!(taken.len(), 289);
    }

    #[test]
    fn each_caller_has_its_own_and_is_told_what_is_left() {
        let rates = Rates::new(Rate { count: 2, per: 1_000 });
        let left = |result: Result<Left, Left>| match result {
            Ok(left) => (true, left.calls, left.again_ms),
            Err(left) => (false, left.calls, left.again_ms),
        };
        assert_eq!(left(rates.take("ann", 0)), (true, 1, 0));
        assert_eq!(left(rates.take("ann", 300)), (true, 0, 700));
        assert_eq!(left(rates.take("ann", 999)), (false, 0, 1));
        assert_eq!(left(rates.take("bob", 999)), (true, 1, 0));
        assert_eq!(left(rates.take("ann", 1_000)), (true, 0, 300));
        // the clock went back
        assert_eq!(left(rates.take("ann", 10)), (true, 1, 0));
    }

    #[test]
    fn callers_that_are_gone_are_forgotten() {
        let rates = Rates::new(Rate { count: 1, per: 10 });
        for at in 0..100_000 {
            assert!(rates.take(&format!("c{at}"), at).is_ok());
        }
        assert!(rates.calls.lock().unwrap().of.len() <= SWEEP_AT);
    }
}
