//! How long calls took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets in microseconds.
const BOUNDS_US: [u64; 14] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
    5_000_000,
];

/// How long things took.
#[derive(Debug, Default)]
pub struct Histogram {
    /// the last one is for everything above the bounds
    buckets: [AtomicU64; BOUNDS_US.len() + 1],
    sum_us: AtomicU64,
}

impl Histogram {
    pub fn record(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let at = BOUNDS_US.partition_point(|bound| *bound < us);
        self.buckets[at].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// How many there were, and how long they took together.
    pub fn total(&self) -> (u64, Duration) {
        let count = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).sum();
        (count, Duration::from_micros(self.sum_us.load(Ordering::Relaxed)))
    }

    /// How many took at most so many microseconds, by rising bound.
    pub fn within(&self) -> [(f64, u64); BOUNDS_US.len() + 1] {
        let mut below = 0;
        std::array::from_fn(|at| {
            below += self.buckets[at].load(Ordering::Relaxed);
            (BOUNDS_US.get(at).map_or(f64::INFINITY, |bound| *bound as f64), below)
        })
    }

    /// The upper bound, in microseconds, of the bucket in which this share of all lies; none:
    /// nothing was recorded, or it lies above the last bound.
    pub fn quantile_us(&self, share: f64) -> Option<u64> {
        let (count, _) = self.total();
        let wanted = (share * count as f64).ceil() as u64;
        let mut below = 0;
        for (bucket, bound) in self.buckets.iter().zip(BOUNDS_US) {
            below += bucket.load(Ordering::Relaxed);
            if count > 0 && below >= wanted {
                return Some(bound);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_up_to_each_bound() {
        let histogram = Histogram::default();
        for us in [10, 50, 51, 900, 10_000_000] {
            histogram.record(Duration::from_micros(us));
        }
        let within = histogram.within();
        for bound in [(50.0, 2), (100.0, 3), (1_000.0, 4), (5_000_000.0, 4), (f64::INFINITY, 5)] {
            assert!(within.contains(&bound), "{bound:?} in {within:?}");
        }
        assert_eq!(histogram.total().0, 5);
        assert_eq!(histogram.quantile_us(0.5), Some(100));
        assert_eq!(histogram.quantile_us(1.0), None);
    }
}
