//! The log of a server: a line on the error output for each event, with its fields.

use std::fmt::{self, Write as _};
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// How much is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Level {
    /// nothing
    Off,
    /// what needs a person
    Error,
    /// also work that is stalled for now
    Warn,
    /// and what happens rarely: opening, replacing, entries tried again
    Info,
    /// and what callers do wrong
    Debug,
}

impl Level {
    /// From now on, for the whole process.
    pub fn begin(self) {
        let log = Log { level: self.filter(), to: Mutex::new(std::io::stderr()) };
        // only a program that serves twice in one process could have begun before
        let _ = tracing::subscriber::set_global_default(log);
    }

    fn filter(self) -> LevelFilter {
        match self {
            Level::Off => LevelFilter::OFF,
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
        }
    }
}

/// The crates whose events are told; those of libraries are not.
const OURS: [&str; 8] =
    ["console", "gateway", "outgoing", "runtime", "server", "steadfast", "store", "store_embedded"];

struct Log<W> {
    level: LevelFilter,
    to: Mutex<W>,
}

impl<W: Write + Send + 'static> Subscriber for Log<W> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let of = metadata.target().split("::").next().unwrap_or_default();
        metadata.is_event() && *metadata.level() <= self.level && OURS.contains(&of)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis());
        let mut line = Line::default();
        event.record(&mut line);
        let level = event.metadata().level().as_str().to_lowercase();
        let at = runtime::time::write_time(i64::try_from(now).unwrap_or(i64::MAX));
        let text = format!("{at} {level}: {}{}\n", line.message, line.fields);
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        // there is nobody to tell that nobody reads it
        let _ = to.write_all(text.as_bytes());
    }

    // there are no spans in the log

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What an event says.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Line {
    fn add(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message = one_line(value);
            return;
        }
        let plain = !value.is_empty()
            && value.chars().all(|letter| !letter.is_whitespace() && !matches!(letter, '"' | '='));
        let _ = match plain {
            true => write!(self.fields, " {}={}", field.name(), one_line(value)),
            false => {
                let value = one_line(value).replace('"', "\\\"");
                write!(self.fields, " {}=\"{value}\"", field.name())
            }
        };
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, &format!("{value:?}"));
    }
}

/// Whatever is in a value, an event is one line.
fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Kept(std::sync::Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_event_is_one_line_with_its_fields() {
        let kept = Kept::default();
        let log = Log { level: LevelFilter::WARN, to: Mutex::new(kept.clone()) };
        tracing::subscriber::with_default(log, || {
            let reason = "it \"ends\"\nearly";
            tracing::error!(design = %"Shop", times = 3, reason, "an entry was set aside");
            tracing::info!("nobody asked for this");
            tracing::error!(target: "h2::codec", "of a library");
        });
        let said = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let (at, rest) = said.split_once(' ').unwrap();
        assert!(at.starts_with("20") && at.ends_with('Z'), "{said}");
        assert_eq!(
            rest,
            "error: an entry was set aside design=Shop times=3 reason=\"it \\\"ends\\\"\\nearly\"\n"
        );
    }
}
