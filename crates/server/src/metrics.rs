//! What is counted here; what steps came to is counted by the runtime.

use std::fmt::Write as _;
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

    /// In Prometheus text; `labels` is without braces.
    pub fn write(&self, name: &str, labels: &str, out: &mut String) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut below = 0;
        for (at, bucket) in self.buckets.iter().enumerate() {
            below += bucket.load(Ordering::Relaxed);
            let bound = match BOUNDS_US.get(at) {
                Some(us) => format!("{}", *us as f64 / 1e6),
                None => "+Inf".to_string(),
            };
            let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {below}");
        }
        let (count, sum) = self.total();
        let _ = writeln!(out, "{name}_sum{{{labels}}} {}", sum.as_secs_f64());
        let _ = writeln!(out, "{name}_count{{{labels}}} {count}");
    }
}

/// The kinds of requests that are told apart.
pub const ROUTES: [&str; 8] =
    ["step", "truth", "view", "feed", "batch", "socket", "page", "unknown"];
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Requests by route and by the first digit of the status.
#[derive(Debug, Default)]
pub struct Requests {
    counts: [[AtomicU64; CLASSES.len()]; ROUTES.len()],
}

impl Requests {
    pub fn count(&self, route: &str, status: u16) {
        let route = ROUTES.iter().position(|known| *known == route).unwrap_or(ROUTES.len() - 1);
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        self.counts[route][class].fetch_add(1, Ordering::Relaxed);
    }

    pub fn write(&self, out: &mut String) {
        for (route, counts) in ROUTES.iter().zip(&self.counts) {
            for (class, count) in CLASSES.iter().zip(counts) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let _ = writeln!(
                        out,
                        "steadfast_http_requests_total{{route=\"{route}\",status=\"{class}\"}} {count}"
                    );
                }
            }
        }
    }
}

/// A label's value as the text format wants it.
pub fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
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
        let mut text = String::new();
        histogram.write("took_seconds", "design=\"x\"", &mut text);
        for line in [
            "took_seconds_bucket{design=\"x\",le=\"0.00005\"} 2",
            "took_seconds_bucket{design=\"x\",le=\"0.0001\"} 3",
            "took_seconds_bucket{design=\"x\",le=\"0.001\"} 4",
            "took_seconds_bucket{design=\"x\",le=\"5\"} 4",
            "took_seconds_bucket{design=\"x\",le=\"+Inf\"} 5",
            "took_seconds_count{design=\"x\"} 5",
        ] {
            assert!(text.lines().any(|its| its == line), "{line} in\n{text}");
        }
        assert_eq!(histogram.quantile_us(0.5), Some(100));
        assert_eq!(histogram.quantile_us(1.0), None);
    }

    #[test]
    fn labels_are_escaped() {
        assert_eq!(label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
