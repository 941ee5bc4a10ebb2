//! How it stands, drawn on a terminal in the same place again and again.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Style};
use design::model::duration_text;

use super::scenario::Scenario;
use super::stage::Stage;
use crate::output::Output;

/// Between two pictures.
pub const BETWEEN: Duration = Duration::from_millis(100);
/// Lines that wrap could not be drawn over.
const WIDTH: usize = 79;
const BAR: u64 = 24;
/// So many clauses are named.
const CLAUSES: usize = 4;

/// A line, in pieces of one colour each.
#[derive(Clone, Default)]
pub struct Painted(Vec<(Paint, String)>);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Plain,
    Good,
    Odd,
    Bad,
}

impl Paint {
    fn style(self) -> Style {
        match self {
            Paint::Plain => Style::new(),
            Paint::Good => AnsiColor::Green.on_default(),
            Paint::Odd => AnsiColor::Yellow.on_default(),
            Paint::Bad => AnsiColor::BrightRed.on_default().bold(),
        }
    }
}

impl Painted {
    pub fn plain(text: impl Into<String>) -> Painted {
        Painted(vec![(Paint::Plain, text.into())])
    }

    #[must_use]
    pub fn with(mut self, paint: Paint, text: &str) -> Painted {
        match self.0.last_mut() {
            Some((last, held)) if *last == paint => held.push_str(text),
            _ => self.0.push((paint, text.into())),
        }
        self
    }

    fn text(&self, coloured: bool) -> String {
        let mut out = String::new();
        let mut left = WIDTH;
        for (paint, text) in &self.0 {
            let text: String = text.chars().take(left).collect();
            left -= text.chars().count();
            let style = paint.style();
            let _ = match coloured {
                true => write!(out, "{style}{text}{style:#}"),
                false => write!(out, "{text}"),
            };
        }
        out
    }
}

/// A map of cells, a row after the other: how each is drawn.
pub fn cells(marks: impl Iterator<Item = (Paint, char)>) -> Vec<Painted> {
    const ROW: usize = 72;
    let mut rows: Vec<Painted> = Vec::new();
    for (at, (paint, mark)) in marks.enumerate() {
        if at % ROW == 0 {
            rows.push(Painted::plain("  "));
        }
        if let Some(row) = rows.pop() {
            rows.push(row.with(paint, mark.encode_utf8(&mut [0; 4])));
        }
    }
    rows
}

/// `12,345`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1h 7m`
pub fn passed(ms: i64) -> String {
    let (hours, minutes) = (ms / 3_600_000, ms / 60_000 % 60);
    match (hours, minutes) {
        (0, 0) => duration_text(ms / 1_000 * 1_000),
        (0, minutes) => format!("{minutes}m"),
        (hours, minutes) => format!("{hours}h {minutes}m"),
    }
}

/// A terminal that is drawn on; nothing, where there is none.
pub struct Screen {
    coloured: bool,
    /// how many lines were drawn
    lines: usize,
}

impl Screen {
    /// None: nobody would see it.
    pub fn of(output: &Output, json: bool) -> Option<Screen> {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        (terminal && !dumb && !json)
            .then(|| Screen { coloured: output.err_is_coloured(), lines: 0 })
    }

    pub fn draw<S: Scenario>(&mut self, stage: &Stage, scenario: &S, elapsed: Duration) {
        let lines = frame(stage, scenario, elapsed);
        let mut text = String::new();
        if self.lines > 0 {
            let _ = write!(text, "\u{1b}[{}A", self.lines);
        }
        for line in &lines {
            let _ = writeln!(text, "\r\u{1b}[2K{}", line.text(self.coloured));
        }
        // a picture that has become shorter leaves nothing below it
        for _ in lines.len()..self.lines {
            text.push_str("\r\u{1b}[2K\n");
        }
        self.lines = self.lines.max(lines.len());
        let mut err = std::io::stderr();
        let _ = err.write_all(text.as_bytes());
        let _ = err.flush();
    }
}

fn frame<S: Scenario>(stage: &Stage, scenario: &S, elapsed: Duration) -> Vec<Painted> {
    let all = scenario.plan().calls.len() as u64;
    let answered = stage.progress.answered.load(Ordering::Relaxed);
    let filled = (answered * BAR).checked_div(all).unwrap_or(BAR) as usize;
    let bar = "█".repeat(filled) + &"░".repeat(BAR as usize - filled);
    let a_second = (answered as f64 / elapsed.as_secs_f64().max(0.001)) as u64;
    let mut lines = vec![Painted::plain(format!(
        "{bar} {} of {} calls, {} a second, {} passed",
        grouped(answered),
        grouped(all),
        grouped(a_second),
        passed(stage.passed_ms())
    ))];
    lines.extend(scenario.picture(stage));
    lines.push(Painted::plain(format!("refused  {}", refusals(stage, CLAUSES))));
    lines.push(Painted::plain(format!(
        "lost     {} answers; {} given again for the same idempotency key",
        grouped(stage.progress.lost.load(Ordering::Relaxed)),
        grouped(stage.progress.replayed.load(Ordering::Relaxed)),
    )));
    lines
}

/// The clauses that said no most often.
pub fn refusals(stage: &Stage, most: usize) -> String {
    let mut found: Vec<(u64, String)> = Vec::new();
    for (operation, _, refused) in stage.runtime.counters().all() {
        found.extend(
            refused.iter().map(|(clause, count)| (*count, format!("{operation}.{clause}"))),
        );
    }
    found.sort_by(|one, other| other.cmp(one));
    let more = found.len().saturating_sub(most);
    let named = found.iter().take(most);
    let mut named: Vec<String> =
        named.map(|(count, clause)| format!("{clause} {}", grouped(*count))).collect();
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    match named.is_empty() {
        true => "nothing".into(),
        false => named.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_written_for_people() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        for (ms, text) in [(59_900, "59s"), (61_000, "1m"), (3_660_000, "1h 1m")] {
            assert_eq!(passed(ms), text);
        }
    }

    #[test]
    fn a_line_is_never_wider_than_the_terminal_and_plain_without_colours() {
        let line = Painted::plain("x".repeat(70)).with(Paint::Bad, &"y".repeat(70));
        assert_eq!(line.text(false).chars().count(), WIDTH);
        assert!(!line.text(false).contains('\u{1b}') && line.text(true).contains('\u{1b}'));
        let rows = cells((0..100).map(|_| (Paint::Good, '█')));
        let lengths: Vec<usize> = rows.iter().map(|row| row.text(false).chars().count()).collect();
        assert_eq!(lengths, [74, 30]);
    }
}
