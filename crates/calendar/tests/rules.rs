//! What is promised about clock changes, days, intervals and the end of the search, case by case.

use calendar::{Schedule, YEARS_AHEAD};
use jiff::Timestamp;

fn ms(instant: &str) -> i64 {
    instant.parse::<Timestamp>().expect("an instant").as_millisecond()
}

/// The instants after the first one, one after the other.
#[track_caller]
fn follow(schedule: &str, after: &str, expected: &[&str]) {
    let schedule = Schedule::parse(schedule).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let mut at = ms(after);
    for wanted in expected {
        at = schedule.next(at).unwrap_or_else(|| panic!("nothing after {at}"));
        let found = Timestamp::from_millisecond(at).expect("an instant").to_string();
        assert_eq!(found, *wanted, "{schedule}");
    }
}

#[test]
fn a_fixed_hour_that_is_skipped_comes_when_the_clock_is_put_forward() {
    let days = ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"];
    follow("30 2 * * * in Europe/Berlin", "2026-03-27T12:00:00Z", &days);
    // several of them come once
    let once = ["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z", "2026-03-30T00:15:00Z"];
    follow("*/15 2 * * * in Europe/Berlin", "2026-03-29T00:00:00Z", &once);
    // and not beside one that is due then anyway
    let same = ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z", "2026-03-30T01:30:00Z"];
    follow(
        "30 2,3 * * * in Europe/Berlin",
        "2026-03-29T00:00:00Z",
        &[same[0], "2026-03-29T01:30:00Z"],
    );
    follow("30 2,3 * * * in Europe/Berlin", "2026-03-29T02:00:00Z", &same[1..]);
    // a whole day
    follow("0 12 30 12 * in Pacific/Apia", "2011-12-30T09:00:00Z", &["2011-12-30T10:00:00Z"]);
}

#[test]
fn a_fixed_hour_that_is_doubled_comes_the_first_time() {
    let days = ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"];
    follow("30 2 * * * in Europe/Berlin", "2026-10-24T12:00:00Z", &days);
    // asked for in the second pass: it has been
    follow("30 2 * * * in Europe/Berlin", "2026-10-25T01:10:00Z", &days[1..]);
    let halves = ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"];
    follow("45 1 * * * in Australia/Lord_Howe", "2026-04-04T00:00:00Z", &halves);
}

#[test]
fn a_star_in_the_hour_goes_by_the_wall() {
    let forward = ["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z"];
    follow("30 * * * * in Europe/Berlin", "2026-03-29T00:00:00Z", &forward);
    let back = [
        "2026-10-24T23:30:00Z",
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-25T02:30:00Z",
    ];
    follow("30 * * * * in Europe/Berlin", "2026-10-24T23:00:00Z", &back);
    // of every second hour, 02:00 is skipped, and comes twice
    follow("0 */2 * * * in Europe/Berlin", "2026-03-28T23:30:00Z", &["2026-03-29T02:00:00Z"]);
    let twice = ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T03:00:00Z"];
    follow("0 */2 * * * in Europe/Berlin", "2026-10-24T23:30:00Z", &twice);
}

#[test]
fn one_day_field_or_the_other_unless_one_begins_with_a_star() {
    // the 13th, and every Friday
    let either = ["2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"];
    follow("0 0 13 * FRI", "2026-02-01T00:00:00Z", &either);
    // Fridays with an odd number
    let both = ["2026-02-13T00:00:00Z", "2026-02-27T00:00:00Z", "2026-03-13T00:00:00Z"];
    follow("0 0 */2 * 5", "2026-02-01T00:00:00Z", &both);
    follow(
        "0 0 * * SAT-SUN",
        "2026-02-02T00:00:00Z",
        &["2026-02-07T00:00:00Z", "2026-02-08T00:00:00Z"],
    );
    follow("0 0 * * 7", "2026-02-02T00:00:00Z", &["2026-02-08T00:00:00Z"]);
}

#[test]
fn six_fields_begin_with_the_second() {
    let seconds = ["2026-02-01T00:00:20Z", "2026-02-01T00:00:40Z", "2026-02-01T00:01:00Z"];
    follow("*/20 * * * * *", "2026-02-01T00:00:00Z", &seconds);
    // a part of a second is past
    follow("* * * * * *", "2026-02-01T00:00:00.999Z", &["2026-02-01T00:00:01Z"]);
}

#[test]
fn an_interval_does_not_drift() {
    let quarters = ["2026-02-01T00:15:00Z", "2026-02-01T00:30:00Z"];
    follow("every 15m", "2026-02-01T00:00:00Z", &quarters);
    follow("every 15m", "2026-02-01T00:07:13.250Z", &quarters);
    let from = ["2026-02-01T00:05:00Z", "2026-02-01T06:05:00Z", "2026-02-01T12:05:00Z"];
    follow("every 6h from 2026-02-01T00:05:00Z", "2025-01-01T00:00:00Z", &from);
}

#[test]
fn what_never_comes_is_none_and_what_comes_late_is_found() {
    let never = Schedule::parse("0 0 30 2 *").expect("a schedule");
    assert_eq!(never.next(ms("2026-01-01T00:00:00Z")), None);
    follow("0 0 29 2 *", "2096-03-01T00:00:00Z", &["2104-02-29T00:00:00Z"]);
    // the 29th of February on a Sunday, a Wednesday or a Saturday: the longest wait around 2100
    follow(
        "0 0 29 2 */3",
        "2088-03-01T00:00:00Z",
        &["2096-02-29T00:00:00Z", "2108-02-29T00:00:00Z"],
    );
    assert_eq!(YEARS_AHEAD, 50);
    let daily = Schedule::parse("0 0 * * *").expect("a schedule");
    assert_eq!(daily.next(i64::MAX), None);
    assert_eq!(daily.next(i64::MIN + 1), None);
    let every = Schedule::parse("every 1d").expect("a schedule");
    assert_eq!(every.next(i64::MAX), None);
}
