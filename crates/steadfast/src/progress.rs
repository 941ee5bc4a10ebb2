//! How far an exploration has come, when it takes long: on a terminal a line that is gone afterwards, else
//! a line now and then.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use model_checker::Progress;

const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN: Duration = Duration::from_millis(100);
/// Between two lines of a log.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

pub struct Meter {
    name: String,
    started: Instant,
    last: Option<Instant>,
    terminal: bool,
}

impl Meter {
    pub fn new(name: &str) -> Meter {
        let terminal = std::io::stderr().is_terminal();
        Meter { name: name.to_string(), started: Instant::now(), last: None, terminal }
    }

    pub fn show(&mut self, progress: &Progress) {
        let line = line(&self.name, progress);
        self.show_line(&line);
    }

    /// The same for somebody who knows less of it: which arm, and how many states.
    pub fn show_states(&mut self, arm: &str, states: u64) {
        let line = fitted(&format!("{}, {arm}: {states} states so far", self.name));
        self.show_line(&line);
    }

    /// The same for work of another kind.
    pub fn show_text(&mut self, text: &str) {
        let line = fitted(&format!("{}: {text}", self.name));
        self.show_line(&line);
    }

    fn show_line(&mut self, line: &str) {
        let now = Instant::now();
        let (patience, between) = match self.terminal {
            true => (PATIENCE, BETWEEN),
            false => (BETWEEN_LINES, BETWEEN_LINES),
        };
        let due = self.last.is_none_or(|last| now - last >= between);
        if !due || now - self.started < patience {
            return;
        }
        self.last = Some(now);
        let mut err = std::io::stderr();
        let _ = match self.terminal {
            true => write!(err, "\r\u{1b}[2K{line}"),
            false => writeln!(err, "{line}"),
        };
        let _ = err.flush();
    }

    /// Leaves the terminal as it was.
    pub fn clear(&mut self) {
        if self.last.take().is_some() && self.terminal {
            let mut err = std::io::stderr();
            let _ = write!(err, "\r\u{1b}[2K");
            let _ = err.flush();
        }
    }
}

fn line(name: &str, progress: &Progress) -> String {
    let text = format!(
        "{name}, {}: {} states, depth {}, {} states/s, {} MB",
        progress.arm,
        progress.states,
        progress.depth,
        progress.states_per_second().round(),
        progress.bytes / 1_000_000
    );
    fitted(&text)
}

/// A line that wraps could not be cleared.
fn fitted(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(79).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where_the_search_is() {
        let progress = Progress {
            arm: "without hold.free".into(),
            states: 1_000_000,
            depth: 12,
            seconds: 2.0,
            bytes: 30_000_000,
            violated: None,
        };
        assert_eq!(
            line("tickets", &progress),
            "tickets, without hold.free: 1000000 states, depth 12, 500000 states/s, 30 MB"
        );
        assert_eq!(line(&"x".repeat(200), &progress).len(), 79);
    }
}
