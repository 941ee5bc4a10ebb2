//! Schedules: when something is due again, by the calendar of a time zone or at equal distances.
//!
//! Pure: no clock, no files. The time zones are compiled in, so two machines with the same program agree.

mod cron;
mod days;
mod instant;
mod interval;
mod reading;
mod schedule;
mod zone;

pub use instant::{read_instant, write_instant};
pub use reading::Wrong;
pub use schedule::{Schedule, YEARS_AHEAD};
pub use zone::{Local, Zone, tz_version};
