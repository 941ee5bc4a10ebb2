//! What a schedule may say, and what is wrong with what it may not.

use calendar::{Schedule, tz_version};

#[track_caller]
fn reads(text: &str, stored: &str) {
    let schedule = Schedule::parse(text).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
    assert_eq!(schedule.text(), stored);
    assert_eq!(Schedule::parse(stored).as_ref(), Ok(&schedule), "it is read again as the same");
}

/// The words that are wrong, a part of the message, a part of the help.
#[track_caller]
fn refused(text: &str, at: &str, message: &str, help: &str) {
    let wrong = Schedule::parse(text).expect_err(text);
    assert_eq!(text.get(wrong.at.clone()), Some(at), "{wrong:?}");
    assert!(wrong.message.contains(message), "{wrong:?}");
    assert!(wrong.help.contains(help), "{wrong:?}");
}

#[test]
fn what_is_read_is_stored_in_one_spelling() {
    reads("30 2 * * *", "30 2 * * *");
    reads("  30  2 * * mon-fri   in europe/berlin ", "30 2 * * MON-FRI in Europe/Berlin");
    reads("0 0 1,15 */3 * in UTC", "0 0 1,15 */3 *");
    reads("*/10 5-50/5 * * * *", "*/10 5-50/5 * * * *");
    reads("every 90m", "every 90m");
    reads("every 3600s", "every 1h");
    reads("every 1d from 2026-01-01T06:00:00Z", "every 1d from 2026-01-01T06:00:00Z");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    refused("", "", "not empty", "every 15m");
    refused("30 2 * *", "*", "not 4", "minute, hour, day");
    refused("0 30 2 * * * 2026", "2026", "not 7", "six");
    refused("61 2 * * *", "61", "0..59, not at 61", "range");
    refused("30 24 * * *", "24", "hour", "range");
    refused("30 2 0 * *", "0", "day of the month", "range");
    refused("30 2 * foo *", "foo", "no month", "JAN to DEC");
    refused("30 2 * * 8", "8", "day of the week", "range");
    refused("30 2 L * *", "L", "`L` is not known", "from the first");
    refused("30 2 15W * *", "15W", "`W` is not known", "1-5");
    refused("30 2 * * 5#2", "5#2", "`#` is not known", "weekday");
    refused("30 2 ? * *", "?", "`?` is not known", "`*`");
    refused("H 2 * * *", "H", "`H` is not known", "number");
    refused("5/15 * * * *", "5/15", "not behind `5`", "5-59");
    refused("*/0 * * * *", "0", "above 0", "*/15");
    refused("*/90 * * * *", "90", "only the first", "every 90m");
    refused("*/2/3 * * * *", "*/2/3", "two steps", "leave");
    refused("1,,2 * * * *", ",", "missing", "list");
    refused("40-10 * * * *", "40-10", "backwards", "40-59,0-10");
    refused("1-2-3 * * * *", "1-2-3", "no range", "two ends");
    refused("-1 * * * *", "", "no minute", "from 0 to 59");
    refused("@daily", "@daily", "not known", "0 0 * * *");
    refused("30 2 * * * in Mars/Olympus", "Mars/Olympus", tz_version(), "IANA");
    refused("30 2 * * * in Berlin", "Berlin", "no time zone", "Europe/Berlin");
    refused("30 2 * * * in", "in", "needs a time zone", "Europe/Berlin");
    refused("30 2 * * * in UTC now", "now", "behind the zone", "last");
    refused("30 2 * * * Europe/Berlin", "Europe/Berlin", "no field", "in Europe/Berlin");
    refused("every", "every", "length", "15m");
    refused("every 15", "15", "no length", "15m");
    refused("every 500ms", "500ms", "no length", "30s");
    refused("every 0s", "0s", "1s to 3660d", "range");
    refused("every 99999d", "99999d", "1s to 3660d", "range");
    refused("every 15m in Europe/Berlin", "in", "no zone", "fields");
    refused("every 15m from", "from", "instant", "every");
    refused("every 15m from 2026-01-01", "2026-01-01", "no instant", "UTC");
    refused(
        "every 15m from 2026-01-01T00:00:00.5Z",
        "2026-01-01T00:00:00.5Z",
        "part of a second",
        "whole",
    );
    refused("every 15m now", "now", "behind an interval", "every");
    refused("30 2 * *\t*", "\t", "spaces", "one line");
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "*",
        "/",
        "-",
        ",",
        "5",
        "59",
        "60",
        " ",
        "in",
        "every",
        "15m",
        "from",
        "é",
        "\u{0}",
        "MON",
        "L",
        "#",
        "Europe/Berlin",
        "9999999999",
    ];
    let mut dice = crate::random::Dice(3);
    let mut good = 0;
    for _ in 0..200_000 {
        let text: String =
            (0..dice.below(12)).map(|_| pieces[dice.below(pieces.len() as u64) as usize]).collect();
        match Schedule::parse(&text) {
            Ok(schedule) => {
                good += 1;
                let _ = schedule.next(1_700_000_000_000);
            }
            Err(wrong) => {
                assert!(
                    wrong.at.end <= text.len() + 1 && wrong.column(&text) >= 1,
                    "{text:?} {wrong:?}"
                );
                assert!(!wrong.message.is_empty() && !wrong.help.is_empty());
            }
        }
    }
    assert!(good > 0);
}
