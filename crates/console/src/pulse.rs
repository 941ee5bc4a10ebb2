//! How the last minutes went: one look a second at counters that are kept anyway.

use std::collections::VecDeque;

/// So many seconds are kept.
pub const SECONDS: usize = 300;

/// What counters said at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    pub done: u64,
    pub refused: u64,
    /// how many answers took at most so many microseconds, by rising bound: all of them together
    /// up to and with each bound
    pub within: Vec<(f64, u64)>,
}

/// What happened in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Second {
    pub done: u64,
    pub refused: u64,
    /// microseconds; none: nothing was answered
    pub p50: Option<f64>,
    pub p99: Option<f64>,
}

/// The last seconds, the newest last.
#[derive(Debug, Default)]
pub struct Pulse {
    last: Option<Totals>,
    seconds: VecDeque<Second>,
}

impl Pulse {
    /// Takes what the counters say now; a second after the last time.
    pub fn beat(&mut self, now: Totals) {
        if let Some(last) = &self.last {
            let within: Vec<(f64, u64)> = now
                .within
                .iter()
                .enumerate()
                .map(|(at, (bound, count))| {
                    let before = last.within.get(at).map_or(0, |(_, count)| *count);
                    (*bound, count.saturating_sub(before))
                })
                .collect();
            self.seconds.push_back(Second {
                done: now.done.saturating_sub(last.done),
                refused: now.refused.saturating_sub(last.refused),
                p50: quantile(&within, 0.50),
                p99: quantile(&within, 0.99),
            });
            while self.seconds.len() > SECONDS {
                self.seconds.pop_front();
            }
        }
        self.last = Some(now);
    }

    /// So many seconds a plot shows: as many as there are, in round numbers.
    pub fn span(seconds: usize) -> usize {
        [60, 120].into_iter().find(|span| *span >= seconds).unwrap_or(SECONDS)
    }

    pub fn seconds(&self) -> Vec<Second> {
        self.seconds.iter().copied().collect()
    }
}

/// Where this share of the answers lies, between the bounds that hold it.
pub fn quantile(within: &[(f64, u64)], share: f64) -> Option<f64> {
    let total = within.last().map_or(0, |(_, count)| *count);
    if total == 0 {
        return None;
    }
    let rank = share * total as f64;
    let (mut low, mut below) = (0.0, 0);
    for (bound, count) in within {
        if *count as f64 >= rank {
            if !bound.is_finite() {
                return Some(low);
            }
            let part = (rank - below as f64) / (count - below).max(1) as f64;
            return Some(low + (bound - low) * part);
        }
        (low, below) = (*bound, *count);
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_what_changed_since_the_last() {
        let mut pulse = Pulse::default();
        let totals = |done, refused, counts: [u64; 3]| Totals {
            done,
            refused,
            within: vec![(100.0, counts[0]), (200.0, counts[1]), (f64::INFINITY, counts[2])],
        };
        pulse.beat(totals(10, 1, [10, 10, 10]));
        assert_eq!(pulse.seconds(), []);
        pulse.beat(totals(110, 1, [60, 110, 110]));
        pulse.beat(totals(110, 3, [60, 110, 110]));
        let seconds = pulse.seconds();
        assert_eq!(
            seconds[0],
            Second { done: 100, refused: 0, p50: Some(100.0), p99: Some(198.0) }
        );
        assert_eq!(seconds[1], Second { done: 0, refused: 2, p50: None, p99: None });
        for _ in 0..2 * SECONDS {
            pulse.beat(totals(110, 3, [60, 110, 110]));
        }
        assert_eq!(pulse.seconds().len(), SECONDS);
    }

    #[test]
    fn beyond_the_last_bound_the_last_bound_is_all_that_is_known() {
        assert_eq!(quantile(&[(100.0, 1), (f64::INFINITY, 100)], 0.99), Some(100.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
