//! `steadfast schedule TEXT`

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use serde_json::{Value, json};

use super::Answer;
use crate::exit::Exit;
use crate::output::Output;
use crate::problem::Problem;

/// Print when a schedule is due next
///
/// The same function that `next(schedule, after)` of a design calls, with the time zones that are compiled in.
#[derive(Args)]
#[command(
    name = "schedule",
    after_help = "\
Examples:
  steadfast schedule '30 2 * * * in Europe/Berlin'
  steadfast schedule '*/20 * * * * *' --count 3
  steadfast schedule 'every 15m' --after 2026-03-29T00:00:00Z"
)]
pub struct Schedule {
    /// Five fields of cron, or six with the second first, and `in ZONE`; or `every 15m`
    schedule: String,
    /// The first one after this instant; without it, after now
    #[arg(long, value_name = "TIME")]
    after: Option<String>,
    /// How many
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    count: u32,
    /// For a script: an object
    #[arg(long)]
    json: bool,
}

impl Schedule {
    pub fn run(self, output: &mut Output) -> Answer {
        let schedule = calendar::Schedule::parse(&self.schedule).map_err(|wrong| {
            let column = wrong.column(&self.schedule);
            Problem::new(format!("at character {column} of the schedule: {}", wrong.message))
                .help(wrong.help)
        })?;
        let mut at = match &self.after {
            Some(text) => calendar::read_instant(text).ok_or_else(|| {
                Problem::new(format!("`{text}` is no time"))
                    .help("give an instant, such as `2026-03-29T00:00:00Z`")
            })?,
            None => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            }
        };
        let mut instants = Vec::new();
        for _ in 0..self.count {
            let Some(next) = schedule.next(at) else { break };
            at = next;
            instants.push(calendar::write_instant(next));
        }
        let version = calendar::tz_version();
        if self.json {
            let zone = schedule.zone().map(calendar::Zone::name);
            let value: Value = json!({
                "schedule": schedule.text(), "zone": zone, "tz": version, "next": instants,
            });
            output.print(&format!("{value:#}\n"));
            return Ok(Exit::Yes);
        }
        let mut text = format!("{}\n", schedule.text());
        for instant in &instants {
            let _ = writeln!(text, "  {instant}");
        }
        if instants.len() < self.count as usize {
            let years = calendar::YEARS_AHEAD;
            let _ = writeln!(text, "  nothing more within {years} years: `next` is null");
        }
        let _ = writeln!(text, "time zones: IANA {version}");
        output.print(&text);
        Ok(Exit::Yes)
    }
}
