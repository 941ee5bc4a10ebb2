//! A schedule, and the next instant that it names.

use std::fmt;

use crate::cron::Cron;
use crate::days::{DAY, date_of};
use crate::interval::Interval;
use crate::reading::{Word, Wrong, words};
use crate::zone::{Local, Zone};

/// So many years after a moment are looked at. Beyond them there is no next one.
pub const YEARS_AHEAD: i64 = 50;

/// What a schedule may be asked about, in seconds: from the year 1 to the year 9900.
const ASKED: std::ops::Range<i64> = -62_135_596_800..250_250_000_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    text: String,
    kind: Kind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    Calendar { cron: Cron, zone: Zone },
    Every(Interval),
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Schedule {
    pub fn parse(text: &str) -> Result<Schedule, Wrong> {
        let strange = |c: char| c.is_control() || (c.is_whitespace() && c != ' ');
        if let Some(at) = text.find(strange) {
            let message = "only spaces divide the fields of a schedule".to_string();
            return Err(Wrong::new(at..at + 1, message, "write it on one line"));
        }
        let all = words(text);
        match &all[..] {
            [] => {
                let help = "for example `30 2 * * * in Europe/Berlin` or `every 15m`";
                Err(Wrong::new(0..text.len(), "a schedule is not empty".into(), help))
            }
            [every, rest @ ..] if every.text == "every" => {
                let interval = Interval::read(*every, rest)?;
                Ok(Schedule { text: interval.text(), kind: Kind::Every(interval) })
            }
            [first, ..] if first.text.starts_with('@') => Err(short(*first)),
            _ => calendar(&all, text.len()),
        }
    }

    /// As it is stored and compared: one space between fields, names in capitals.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// None: it is an interval.
    pub fn zone(&self) -> Option<&Zone> {
        match &self.kind {
            Kind::Calendar { zone, .. } => Some(zone),
            Kind::Every(_) => None,
        }
    }

    /// Does it go by the clock on the wall, because its hour begins with `*`?
    pub fn goes_by_the_wall(&self) -> bool {
        matches!(&self.kind, Kind::Calendar { cron, .. } if cron.every_hour)
    }

    /// The first instant after this one, both in milliseconds since 1970. None: there is none within
    /// [`YEARS_AHEAD`] years.
    pub fn next(&self, after_ms: i64) -> Option<i64> {
        let second = after_ms.div_euclid(1_000);
        if !ASKED.contains(&second) {
            return None;
        }
        let next = match &self.kind {
            Kind::Every(interval) => interval.after(second)?,
            Kind::Calendar { cron, zone } if cron.every_hour => on_the_wall(cron, zone, second)?,
            Kind::Calendar { cron, zone } => each_once(cron, zone, second)?,
        };
        assert!(next > second, "the next instant lies after the moment that it is asked for");
        next.checked_mul(1_000)
    }
}

fn short(word: Word<'_>) -> Wrong {
    let help = match word.text {
        "@yearly" | "@annually" => "write `0 0 1 1 *`",
        "@monthly" => "write `0 0 1 * *`",
        "@weekly" => "write `0 0 * * 0`",
        "@daily" | "@midnight" => "write `0 0 * * *`",
        "@hourly" => "write `0 * * * *`",
        _ => "write the five fields: minute, hour, day, month, weekday",
    };
    word.wrong(format!("`{}` is not known here", word.text), help)
}

fn calendar(all: &[Word<'_>], end: usize) -> Result<Schedule, Wrong> {
    let divide = all.iter().position(|word| word.text == "in").unwrap_or(all.len());
    let (fields, rest) = all.split_at(divide);
    let count = fields.len();
    if !(5..=6).contains(&count) {
        let at = fields.get(6).map_or_else(|| fields.last().map_or(end..end, Word::at), Word::at);
        let named = fields
            .last()
            .filter(|word| word.text.contains('/') && Zone::named(word.text).is_some());
        let help = match named {
            Some(word) => format!("write `in {}`", word.text),
            None => "minute, hour, day, month, weekday: `30 2 * * *`; with a second before them there are six".into(),
        };
        return Err(Wrong::new(
            at,
            format!("a schedule has five or six fields, not {count}"),
            help,
        ));
    }
    let zone = match rest {
        [] => Zone::utc(),
        [_, zone] => Zone::read(*zone)?,
        [word] => {
            return Err(
                word.wrong("`in` needs a time zone".into(), "for example `in Europe/Berlin`")
            );
        }
        [.., word] => {
            let message = format!("`{}` says nothing behind the zone", word.text);
            return Err(word.wrong(message, "the zone stands last"));
        }
    };
    let last = fields[count - 1];
    if last.text.contains('/')
        && !last.text.starts_with(['*', '0', '1', '2', '3', '4', '5', '6', '7'])
        && Zone::named(last.text).is_some()
    {
        return Err(last.wrong(
            format!("`{}` is a time zone and no field", last.text),
            format!("write `in {}`", last.text),
        ));
    }
    let cron = Cron::read(fields)?;
    let mut text =
        fields.iter().map(|word| word.text.to_ascii_uppercase()).collect::<Vec<_>>().join(" ");
    if zone != Zone::utc() {
        text = format!("{text} in {}", zone.name());
    }
    Ok(Schedule { text, kind: Kind::Calendar { cron, zone } })
}

fn last_year(local: i64) -> i64 {
    date_of(local.div_euclid(DAY)).0 + YEARS_AHEAD
}

/// Each local time that matches comes once: if it is skipped, when the clock is put forward; if it is
/// doubled, the first time.
fn each_once(cron: &Cron, zone: &Zone, second: i64) -> Option<i64> {
    let mut local = second + zone.offset(second)?;
    let last = last_year(local);
    loop {
        local = cron.after(local, last)?;
        let found = match zone.local(local)? {
            Local::Once { offset } => local - offset,
            Local::Skipped { at } => at,
            Local::Doubled { first, .. } => local - first,
        };
        if found > second {
            return Some(found);
        }
    }
}

/// Whenever the clock on the wall shows a time that matches: what is skipped does not come, what is
/// doubled comes twice.
fn on_the_wall(cron: &Cron, zone: &Zone, second: i64) -> Option<i64> {
    let start = second + zone.offset(second)?;
    let last = last_year(start);
    let again = again(cron, zone, second, start);
    let mut local = start;
    let found = loop {
        let Some(next) = cron.after(local, last) else { break None };
        local = next;
        match zone.local(local)? {
            Local::Once { offset } => break Some(local - offset),
            Local::Skipped { .. } => {}
            Local::Doubled { first, second: later } => {
                let first = local - first;
                break Some(if first > second { first } else { local - later });
            }
        }
    };
    match (found, again) {
        (Some(found), Some(again)) => Some(found.min(again)),
        (found, again) => found.or(again),
    }
}

/// In the first pass of doubled times: the first one that comes in the second pass.
fn again(cron: &Cron, zone: &Zone, second: i64, local: i64) -> Option<i64> {
    let Local::Doubled { first, second: later } = zone.local(local)? else { return None };
    if local - first != second {
        return None;
    }
    let change = zone.change_after(second)?;
    let next = cron.after(change + later - 1, last_year(local))?;
    (next < change + first).then_some(next - later)
}
