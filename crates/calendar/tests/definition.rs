//! The next instant by definition: every second is looked at, one after the other.

use calendar::{Schedule, Zone};

use crate::random::{Dice, Line, ZONES, instant};

/// The first instant after this one, up to `until`, by what the reference says of skipped and doubled times.
pub fn next(line: &Line, zone: &Zone, after: i64, until: i64) -> Option<i64> {
    let local = |second: i64| second + zone.offset(second).expect("a second of these centuries");
    let step = if line.with_seconds() { 1 } else { 60 };
    // Where the clock was ahead of today's latest, within the last day: what lies below came before.
    let begin = after - 2 * 86_400;
    let mut latest = local(begin);
    let mut change = zone.change_after(begin);
    while let Some(at) = change.filter(|at| *at <= after) {
        latest = latest.max(local(at - 1));
        change = zone.change_after(at);
    }
    latest = latest.max(local(after));
    let mut second = after + 1;
    while second <= until {
        let shown = local(second);
        let day = shown.div_euclid(86_400);
        let calm = change.is_none_or(|at| at > second + 86_400) && shown == latest + 1;
        if calm && !line.has_day(day) {
            // to the end of this day, on which nothing happens
            let rest = (day + 1) * 86_400 - shown;
            second += rest;
            latest = shown + rest - 1;
            continue;
        }
        if change == Some(second) {
            let skipped = latest + 1..shown;
            if !line.every_hour && skipped.into_iter().any(|local| line.matches(local)) {
                return Some(second);
            }
            change = zone.change_after(second);
        }
        let first = shown > latest;
        if line.matches(shown) && (line.every_hour || first) {
            return Some(second);
        }
        latest = latest.max(shown);
        // only whole minutes can match, and clocks change at whole minutes
        if step == 60 && shown.rem_euclid(60) == 0 && change.is_none_or(|at| at > second + 60) {
            second += 59;
            latest = latest.max(shown + 59);
        }
        second += 1;
    }
    None
}

#[test]
fn the_next_instant_is_the_one_of_the_definition() {
    let mut dice = Dice(7);
    let (mut found, mut nothing, mut moved) = (0, 0, 0);
    for round in 0..6_000 {
        let zone = Zone::named(ZONES[round % ZONES.len()]).expect("a zone of the database");
        let line = Line::random(&mut dice, round % 4 == 0);
        let after = instant(&mut dice, &zone);
        let text = format!("{} in {}", line.text, zone.name());
        let schedule = Schedule::parse(&text).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
        let next_ms = schedule.next(after * 1_000 + 999);
        let until = after + if line.with_seconds() { 4 } else { 40 } * 86_400;
        match next(&line, &zone, after, until) {
            Some(by_definition) => {
                assert_eq!(next_ms, Some(by_definition * 1_000), "{text} after {after}");
                found += 1;
                let offset = zone.offset(by_definition).expect("an offset");
                moved += usize::from(!line.matches(by_definition + offset));
            }
            None => {
                assert!(next_ms.is_none_or(|next| next > until * 1_000), "{text} after {after}");
                nothing += 1;
            }
        }
    }
    assert!(found > 3_000 && nothing > 100 && moved > 5, "{found} {nothing} {moved}");
}
