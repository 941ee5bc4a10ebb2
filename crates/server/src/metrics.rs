//! What is counted of HTTP, and how counts are written; what steps came to is counted by the runtime.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use gateway::Histogram;

/// A histogram in Prometheus text; `labels` is without braces.
pub fn write(histogram: &Histogram, name: &str, labels: &str, out: &mut String) {
    let comma = if labels.is_empty() { "" } else { "," };
    for (us, below) in histogram.within() {
        let bound = if us.is_finite() { format!("{}", us / 1e6) } else { "+Inf".to_string() };
        let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {below}");
    }
    let (count, sum) = histogram.total();
    let _ = writeln!(out, "{name}_sum{{{labels}}} {}", sum.as_secs_f64());
    let _ = writeln!(out, "{name}_count{{{labels}}} {count}");
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
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_histogram_counts_up_to_each_bound() {
        let histogram = Histogram::default();
        for us in [10, 50, 51, 900, 10_000_000] {
            histogram.record(Duration::from_micros(us));
        }
        let mut text = String::new();
        write(&histogram, "took_seconds", "design=\"x\"", &mut text);
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
    }

    #[test]
    fn labels_are_escaped() {
        assert_eq!(label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
