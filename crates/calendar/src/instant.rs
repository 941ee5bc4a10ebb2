//! Instants as texts.

use jiff::Timestamp;

/// Milliseconds since 1970 of an instant in RFC 3339.
pub fn read_instant(text: &str) -> Option<i64> {
    Some(text.parse::<Timestamp>().ok()?.as_millisecond())
}

pub fn write_instant(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |instant| instant.to_string())
}
