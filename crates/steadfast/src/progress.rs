//! How far an exploration has come: on a terminal only, only when it takes long, and gone afterwards.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use model_checker::Progress;

const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN: Duration = Duration::from_millis(100);

pub struct Meter {
    name: String,
    started: Instant,
    last: Option<Instant>,
    on: bool,
}

impl Meter {
    pub fn new(name: &str) -> Meter {
        let on = std::io::stderr().is_terminal();
        Meter { name: name.to_string(), started: Instant::now(), last: None, on }
    }

    pub fn show(&mut self, progress: &Progress) {
        let now = Instant::now();
        let due = self.last.is_none_or(|last| now - last >= BETWEEN);
        if !self.on || !due || now - self.started < PATIENCE {
            return;
        }
        self.last = Some(now);
        let line = line(&self.name, progress);
        let mut err = std::io::stderr();
        let _ = write!(err, "\r\u{1b}[2K{line}");
        let _ = err.flush();
    }

    /// Leaves the terminal as it was.
    pub fn clear(&mut self) {
        if self.last.take().is_some() {
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
    // a line that wraps could not be cleared
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
        };
        assert_eq!(
            line("tickets", &progress),
            "tickets, without hold.free: 1000000 states, depth 12, 500000 states/s, 30 MB"
        );
        assert_eq!(line(&"x".repeat(200), &progress).len(), 79);
    }
}
