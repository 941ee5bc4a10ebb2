//! Several measurements as one: the middle, and how far they lie apart.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub p10: f64,
    pub median: f64,
    pub p90: f64,
}

impl Summary {
    /// Of at least one measurement.
    pub fn of(measurements: &[f64]) -> Self {
        assert!(!measurements.is_empty(), "a summary of nothing");
        let mut sorted = measurements.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| quantile(&sorted, share);
        Self { p10: at(0.1), median: at(0.5), p90: at(0.9) }
    }

    /// The same in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self { p10: self.p10 * factor, median: self.median * factor, p90: self.p90 * factor }
    }
}

/// The value at a share of the way through, between two measurements where it falls between them.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(1);
        let Self { p10, median, p90 } = self;
        write!(f, "{median:.digits$} ({p10:.digits$} to {p90:.digits$})")
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn one_measurement_is_its_own_summary() {
        assert_eq!(Summary::of(&[7.0]), Summary { p10: 7.0, median: 7.0, p90: 7.0 });
    }

    #[test]
    fn the_order_of_measurements_does_not_matter() {
        let summary = Summary::of(&[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(summary.median, 3.0);
        assert!((summary.p10 - 1.4).abs() < 1e-9 && (summary.p90 - 4.6).abs() < 1e-9);
        assert_eq!(Summary::of(&[1.0, 2.0]).median, 1.5);
    }

    #[test]
    fn one_outlier_moves_the_spread_and_not_the_middle() {
        let summary = Summary::of(&[10.0, 10.0, 10.0, 10.0, 900.0]);
        assert_eq!(summary.median, 10.0);
        assert!(summary.p90 > 400.0);
    }

    #[test]
    fn a_summary_reads_as_middle_and_spread() {
        let summary = Summary::of(&[1000.0, 2000.0, 3000.0]).scaled(0.001);
        assert_eq!(format!("{summary:.2}"), "2.00 (1.20 to 2.80)");
    }

    #[test]
    #[should_panic(expected = "a summary of nothing")]
    fn nothing_has_no_summary() {
        Summary::of(&[]);
    }
}
