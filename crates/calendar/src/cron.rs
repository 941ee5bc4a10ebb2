//! The fields of a cron line, and which local times they match.

use crate::days::{DAY, date_of, day_of, days_in, weekday_of};
use crate::reading::{Word, Wrong, split};

/// What one place of the line counts.
struct Field {
    name: &'static str,
    least: u32,
    most: u32,
    /// the names of its values, from `least` on
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/// In the field of weekdays both 0 and 7 are Sunday.
const SUNDAY_AGAIN: u32 = 7;

const FIELDS: [Field; 6] = [
    Field { name: "second", least: 0, most: 59, names: &[] },
    Field { name: "minute", least: 0, most: 59, names: &[] },
    Field { name: "hour", least: 0, most: 23, names: &[] },
    Field { name: "day of the month", least: 1, most: 31, names: &[] },
    Field { name: "month", least: 1, most: 12, names: &MONTHS },
    Field { name: "day of the week", least: 0, most: SUNDAY_AGAIN, names: &WEEKDAYS },
];

/// Which values of each field match, as bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cron {
    seconds: u64,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Neither day field begins with `*`: a day that matches one of them is enough.
    either_day: bool,
    /// The hour begins with `*`: it goes by the clock on the wall, whatever that does.
    pub every_hour: bool,
}

impl Cron {
    /// Five fields, or six with the second first.
    pub fn read(words: &[Word<'_>]) -> Result<Cron, Wrong> {
        let zero = Word { text: "0", start: words.first().map_or(0, |word| word.start) };
        let mut all = Vec::with_capacity(6);
        if words.len() == 5 {
            all.push(zero);
        }
        all.extend_from_slice(words);
        let mut bits = [0; 6];
        for ((bits, field), word) in bits.iter_mut().zip(&FIELDS).zip(&all) {
            *bits = field.read(*word)?;
        }
        let [seconds, minutes, hours, days, months, weekdays] = bits;
        let weekdays = (weekdays | weekdays >> SUNDAY_AGAIN) & 0x7f;
        let star = |at: usize| all[at].text.starts_with('*');
        let either_day = !star(3) && !star(5);
        let every_hour = star(2);
        Ok(Cron { seconds, minutes, hours, days, months, weekdays, either_day, every_hour })
    }

    /// The first local second after this one that matches, up to the end of this year.
    pub fn after(&self, local: i64, last_year: i64) -> Option<i64> {
        let (day, second) = ((local + 1).div_euclid(DAY), (local + 1).rem_euclid(DAY));
        if self.has_day(day)
            && let Some(second) = self.time_from(second as u32)
        {
            return Some(day * DAY + i64::from(second));
        }
        let day = self.day_after(day, last_year)?;
        Some(day * DAY + i64::from(self.time_from(0)?))
    }

    fn has_day(&self, day: i64) -> bool {
        let (year, month, date) = date_of(day);
        self.days_of(year, month) >> date & 1 == 1
    }

    fn day_after(&self, day: i64, last_year: i64) -> Option<i64> {
        let (mut year, mut month, date) = date_of(day);
        let mut left = self.days_of(year, month) & !((2 << date) - 1);
        while left == 0 {
            month += 1;
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
            if year > last_year {
                return None;
            }
            left = self.days_of(year, month);
        }
        Some(day_of(year, month, i64::from(left.trailing_zeros())))
    }

    /// The days of one month that match, as bits from 1 on.
    fn days_of(&self, year: i64, month: i64) -> u64 {
        if self.months >> month & 1 == 0 {
            return 0;
        }
        let first = weekday_of(day_of(year, month, 1));
        // Six weeks of the pattern, then from the weekday of the first day on.
        let weeks = self.weekdays * 0x0000_0008_1020_4081;
        let by_weekday = (weeks >> first) << 1;
        let all = (2 << days_in(year, month)) - 2;
        let days = if self.either_day { self.days | by_weekday } else { self.days & by_weekday };
        days & all
    }

    /// The first second of a day, from this one on, that matches.
    fn time_from(&self, second: u32) -> Option<u32> {
        let (mut hour, mut minute, mut second) = (second / 3_600, second / 60 % 60, second % 60);
        if let Some(found) = first_from(self.hours, hour)
            && found == hour
        {
            if self.minutes >> minute & 1 == 1
                && let Some(found) = first_from(self.seconds, second)
            {
                return Some(hour * 3_600 + minute * 60 + found);
            }
            second = self.seconds.trailing_zeros();
            minute += 1;
            if let Some(found) = first_from(self.minutes, minute) {
                return Some(hour * 3_600 + found * 60 + second);
            }
            hour += 1;
        }
        let hour = first_from(self.hours, hour)?;
        let (minute, second) = (self.minutes.trailing_zeros(), self.seconds.trailing_zeros());
        Some(hour * 3_600 + minute * 60 + second)
    }
}

/// The first bit that is set, from this one on.
fn first_from(bits: u64, from: u32) -> Option<u32> {
    let left = bits.checked_shr(from).filter(|left| *left != 0)?;
    Some(from + left.trailing_zeros())
}

impl Field {
    fn read(&self, word: Word<'_>) -> Result<u64, Wrong> {
        split(word, ',').try_fold(0, |bits, piece| Ok(bits | self.piece(piece)?))
    }

    /// `*`, `7`, `1-5`, `*/15`, `10-40/10`
    fn piece(&self, word: Word<'_>) -> Result<u64, Wrong> {
        let name = self.name;
        if word.text.is_empty() {
            let at = word.start..word.start + 1;
            let help = format!("the {name} is a number, a range, `*`, or a list of them: `1,5-7`");
            return Err(Wrong::new(at, format!("a value of the {name} is missing"), help));
        }
        let mut halves = split(word, '/');
        let (of, step) = (halves.next().unwrap_or(word), halves.next());
        if halves.next().is_some() {
            return Err(word.wrong(format!("`{}` has two steps", word.text), "leave one out"));
        }
        let (low, high, single) = self.span(of)?;
        let step = match step {
            None => 1,
            Some(_) if single => {
                let text = of.text;
                let help =
                    format!("write `{text}-{}/…` for every so many from {text} on", self.last());
                return Err(word.wrong(
                    format!("a step stands behind `*` or a range, not behind `{text}`"),
                    help,
                ));
            }
            Some(step) => self.step(step, high - low)?,
        };
        Ok((low..=high).step_by(step as usize).fold(0, |bits, value| bits | 1 << value))
    }

    /// Both ends, and whether it is one value.
    fn span(&self, word: Word<'_>) -> Result<(u32, u32, bool), Wrong> {
        if word.text == "*" {
            return Ok((self.least, self.last(), false));
        }
        let mut ends = split(word, '-');
        let (Some(low), high, None) = (ends.next(), ends.next(), ends.next()) else {
            let help = "a range has two ends: `1-5`";
            return Err(word.wrong(format!("`{}` is no range", word.text), help));
        };
        let from = self.value(low, word)?;
        let Some(high) = high else { return Ok((from, from, true)) };
        let mut to = self.value(high, word)?;
        if to == 0 && from > 0 && self.most == SUNDAY_AGAIN {
            to = SUNDAY_AGAIN;
        }
        if from > to {
            let message = format!("the range `{}` goes backwards", word.text);
            let help = format!(
                "write the two parts: `{}-{},{}-{}`",
                low.text,
                self.last(),
                self.least,
                high.text
            );
            return Err(word.wrong(message, help));
        }
        Ok((from, to, false))
    }

    /// The largest value, Sunday counted once.
    fn last(&self) -> u32 {
        if self.most == SUNDAY_AGAIN { 6 } else { self.most }
    }

    fn step(&self, word: Word<'_>, width: u32) -> Result<u32, Wrong> {
        let step = digits(word.text).filter(|step| *step > 0);
        let Some(step) = step else {
            let message = format!("a step is a whole number above 0, not `{}`", word.text);
            return Err(word.wrong(message, "for example `*/15`"));
        };
        if step > width {
            let message =
                format!("a step of {step} leaves only the first value of this {}", self.name);
            let help = "steps begin anew with each range; for a distance of time write `every 90m`";
            return Err(word.wrong(message, help));
        }
        Ok(step)
    }

    fn value(&self, word: Word<'_>, whole: Word<'_>) -> Result<u32, Wrong> {
        if let Some(value) = digits(word.text) {
            if (self.least..=self.most).contains(&value) {
                return Ok(value);
            }
            let message = format!(
                "the {} lies in {}..{}, not at {}",
                self.name, self.least, self.most, word.text
            );
            return Err(word.wrong(message, "put it into the range"));
        }
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(word.text));
        if let Some(at) = named {
            return Ok(self.least + at as u32);
        }
        Err(self.unknown(word, whole))
    }

    /// Why this is no value.
    fn unknown(&self, word: Word<'_>, whole: Word<'_>) -> Wrong {
        let name = self.name;
        let other = whole
            .text
            .chars()
            .find(|c| matches!(c, '?' | '#' | 'L' | 'l' | 'W' | 'w' | 'H' | 'h' | 'R' | 'r'));
        let known = self.names.iter().any(|held| whole.text.to_ascii_uppercase().contains(held));
        if let Some(mark) = other.filter(|mark| !known && (whole.text.len() <= 4 || *mark == '#')) {
            let mark = mark.to_ascii_uppercase();
            let what = match mark {
                '?' => "write `*`: it says nothing about the day",
                'L' => "days are counted from the first; let a step decide whether it is the last",
                'W' => "write the weekdays: `1-5`; let a step decide which of them counts",
                '#' => "write the days of the month, and let a step ask for the weekday",
                _ => "write the number itself: two servers must agree on it",
            };
            return whole.wrong(format!("`{mark}` is not known in the {name} here"), what);
        }
        let help = match self.names {
            [] => format!("the {name} is a number from {} to {}", self.least, self.most),
            [first, .., last] => format!(
                "the {name} is a number from {} to {}, or {first} to {last}",
                self.least, self.most
            ),
            [one] => format!("the {name} is a number, or {one}"),
        };
        word.wrong(format!("`{}` is no {name}", word.text), help)
    }
}

/// At most three digits, and nothing else.
fn digits(text: &str) -> Option<u32> {
    let plain =
        !text.is_empty() && text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}
