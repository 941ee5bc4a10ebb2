//! Schedules as callers give them, and the instants that follow from them.

use calendar::Schedule;
use engine::{NULL, Word};
use serde_json::Value;

use super::json::{BadValue, expected};

/// Longer texts are not looked at.
const MAX_SCHEDULE: usize = 256;

/// The schedule in its one spelling.
pub fn read(value: &Value) -> Result<String, BadValue> {
    let text = value.as_str().ok_or_else(|| {
        expected("a schedule, such as \"30 2 * * * in Europe/Berlin\" or \"every 15m\"", value)
    })?;
    if text.len() > MAX_SCHEDULE {
        return Err(BadValue::new("", format!("a schedule has at most {MAX_SCHEDULE} bytes")));
    }
    let schedule = Schedule::parse(text).map_err(|wrong| {
        let column = wrong.column(text);
        let message = format!("at character {column}: {}; {}", wrong.message, wrong.help);
        BadValue::new("", message)
    })?;
    Ok(schedule.text().to_owned())
}

/// The first instant of a stored schedule after this one, null if there is none. None: it cannot be read.
pub fn next(stored: &[u8], after: Word) -> Option<Word> {
    let text = std::str::from_utf8(stored).ok()?;
    match Schedule::parse(text) {
        Ok(schedule) => Some(schedule.next(after).unwrap_or(NULL)),
        Err(wrong) => {
            // it was read when it came in: by a newer program, with newer data of time zones
            let version = calendar::tz_version();
            tracing::error!(
                schedule = text,
                wrong = wrong.message,
                tz = version,
                "a stored schedule cannot be read"
            );
            None
        }
    }
}
