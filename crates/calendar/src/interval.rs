//! `every 15m`: instants at equal distances, counted from the beginning of 1970 or from a given moment.

use jiff::Timestamp;

use crate::reading::{Word, Wrong};

const UNITS: [(&str, i64); 4] = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
const LONGEST: i64 = 3_660 * 86_400;

/// In seconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Interval {
    every: i64,
    /// the first instant; before it there is none
    from: i64,
}

impl Interval {
    /// What stands behind `every`.
    pub fn read(every: Word<'_>, words: &[Word<'_>]) -> Result<Interval, Wrong> {
        let example = "for example `every 15m` or `every 1h from 2026-01-01T00:30:00Z`";
        let [length, rest @ ..] = words else {
            return Err(every.wrong("`every` needs a length of time".into(), example));
        };
        let seconds = seconds_of(*length)?;
        let from = match rest {
            [] => 0,
            [from, instant] if from.text == "from" => instant_of(*instant)?,
            [from] if from.text == "from" => {
                return Err(from.wrong("`from` needs an instant".into(), example));
            }
            [word, ..] if word.text == "in" => {
                let help = "leave the zone out, or write fields: `0 3 * * * in Europe/Berlin`";
                return Err(
                    word.wrong("an interval counts elapsed time and has no zone".into(), help)
                );
            }
            [.., word] => {
                let message = format!("`{}` says nothing behind an interval", word.text);
                return Err(word.wrong(message, example));
            }
        };
        Ok(Interval { every: seconds, from })
    }

    /// The first instant after this second.
    pub fn after(&self, second: i64) -> Option<i64> {
        let gone = second.checked_sub(self.from)?;
        if gone < 0 {
            return Some(self.from);
        }
        let count = gone.div_euclid(self.every) + 1;
        count.checked_mul(self.every)?.checked_add(self.from)
    }

    pub fn text(&self) -> String {
        let fits = UNITS.iter().rev().find(|(_, unit)| self.every % unit == 0);
        let (name, unit) = fits.unwrap_or(&UNITS[0]);
        let every = format!("every {}{name}", self.every / unit);
        match Timestamp::from_second(self.from) {
            Ok(from) if self.from != 0 => format!("{every} from {from}"),
            _ => every,
        }
    }
}

fn seconds_of(word: Word<'_>) -> Result<i64, Wrong> {
    let at = word.text.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.text.len());
    let (number, unit) = word.text.split_at(at);
    let unit = UNITS.iter().find(|(name, _)| *name == unit);
    let count = number.parse::<i64>().ok().filter(|_| number.len() <= 9);
    let seconds = count.zip(unit).map(|(count, (_, unit))| count * unit);
    let Some(seconds) = seconds else {
        let message = format!("`{}` is no length of time", word.text);
        return Err(word.wrong(message, "a number and its unit: `30s`, `15m`, `6h`, `1d`"));
    };
    if !(1..=LONGEST).contains(&seconds) {
        let message = format!("an interval is 1s to 3660d long, not `{}`", word.text);
        return Err(word.wrong(message, "choose a length in this range"));
    }
    Ok(seconds)
}

fn instant_of(word: Word<'_>) -> Result<i64, Wrong> {
    let help = "an instant of UTC with whole seconds: `2026-01-01T00:30:00Z`";
    let instant = word.text.parse::<Timestamp>().ok().filter(|_| word.text.ends_with('Z'));
    let Some(instant) = instant else {
        return Err(word.wrong(format!("`{}` is no instant", word.text), help));
    };
    if instant.subsec_nanosecond() != 0 {
        return Err(word.wrong(format!("`{}` has a part of a second", word.text), help));
    }
    Ok(instant.as_second())
}
