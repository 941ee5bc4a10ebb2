//! Numbers as a person reads them.

use crate::value::grouped;

/// A count.
pub fn count(value: f64) -> String {
    if value.fract() > 0.0 && value < 10.0 {
        return format!("{value:.1}");
    }
    grouped(value.round().max(0.0) as u64)
}

/// Microseconds, in the unit that reads best.
pub fn latency(micros: f64) -> String {
    match micros {
        ..1.0 => "0".into(),
        1.0..1_000.0 => format!("{micros:.0} \u{b5}s"),
        1_000.0..10_000.0 => format!("{:.1} ms", micros / 1_000.0),
        1_000.0..1_000_000.0 => format!("{:.0} ms", micros / 1_000.0),
        _ => format!("{:.1} s", micros / 1_000_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_read_well() {
        assert_eq!(latency(250.0), "250 \u{b5}s");
        assert_eq!(latency(2_500.0), "2.5 ms");
        assert_eq!(latency(25_000.0), "25 ms");
        assert_eq!(latency(2_500_000.0), "2.5 s");
    }
}
