//! Times and durations as texts.

use engine::{NULL, Word};
use serde_json::Value;

/// RFC 3339, or milliseconds since 1970.
pub fn read_time(value: &Value) -> Option<Word> {
    match value {
        Value::Number(number) => number.as_i64().filter(|ms| *ms != NULL),
        Value::String(text) => {
            let time: jiff::Timestamp = text.parse().ok()?;
            Some(time.as_millisecond())
        }
        _ => None,
    }
}

pub fn write_time(ms: Word) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(time) => time.to_string(),
        Err(_) => ms.to_string(),
    }
}

const UNITS: [(&str, i64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// `10m`, `1500ms`, or a number of milliseconds.
pub fn read_duration(value: &Value) -> Option<Word> {
    match value {
        Value::Number(number) => number.as_i64().filter(|ms| *ms != NULL),
        Value::String(text) => {
            let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, unit) = text.split_at(digits);
            let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
            number.parse::<i64>().ok()?.checked_mul(*factor)
        }
        _ => None,
    }
}

/// In the largest unit that is exact.
pub fn write_duration(ms: Word) -> String {
    let (unit, factor) =
        UNITS.iter().find(|(_, factor)| ms != 0 && ms % factor == 0).copied().unwrap_or(("ms", 1));
    format!("{}{unit}", ms / factor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn durations_come_back_in_the_largest_unit() {
        for (text, ms) in [("10m", 600_000), ("1500ms", 1500), ("2d", 172_800_000), ("90s", 90_000)]
        {
            assert_eq!(read_duration(&json!(text)), Some(ms));
            assert_eq!(write_duration(ms), text);
        }
        assert_eq!(write_duration(60_000), "1m");
        assert_eq!(read_duration(&json!("10")), None);
        assert_eq!(read_duration(&json!("m")), None);
        assert_eq!(read_duration(&json!("99999999999999999d")), None);
    }

    #[test]
    fn times_come_back() {
        let text = "2026-11-15T03:56:02.123Z";
        let ms = read_time(&json!(text)).unwrap();
        assert_eq!(write_time(ms), text);
        assert_eq!(read_time(&json!("yesterday")), None);
    }
}
