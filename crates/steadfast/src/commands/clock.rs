//! The clock of a server: the machine's, or one for tests that stands still until it is moved.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use runtime::{Clock, ManualClock, SystemClock};

use crate::problem::Problem;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ClockKind {
    /// the machine's
    System,
    /// for tests
    Manual,
}

pub enum ServerClock {
    System,
    Manual {
        clock: Arc<ManualClock>,
        /// where its time is kept from one run to the next; none: the store forgets as well
        mark: Option<PathBuf>,
    },
}

/// Beside the log of a store whose times are not those of the world.
const MARK: &str = "manual-clock";

impl ClockKind {
    /// Refuses what would mix times of two clocks in one store: by the machine's clock a lease of a
    /// test may last for years, and a clock that stands still never ends a real one.
    pub fn open<'d>(
        self,
        store: &str,
        listen: SocketAddr,
        mut designs: impl Iterator<Item = &'d str>,
    ) -> Result<ServerClock, Problem> {
        let directory = store.strip_prefix("embedded:").map(Path::new);
        let mark = directory.map(|directory| directory.join(MARK));
        let kept = mark.as_deref().filter(|mark| mark.exists());
        if self == ClockKind::System {
            return match kept {
                None => Ok(ServerClock::System),
                Some(_) => Err(Problem::new(format!(
                    "`{store}` was written by a clock that is moved by hand"
                ))
                .help("serve it with `--clock manual`, or another store")),
            };
        }
        if store.starts_with("postgres") {
            return Err(Problem::new(
                "`--clock manual` is for one server, and others may share this store",
            )
            .help("`--clock manual` takes `--store memory:` or a new directory"));
        }
        if !listen.ip().is_loopback() {
            return Err(Problem::new(format!(
                "`{listen}` can be reached from elsewhere, and `--clock manual` is for tests"
            ))
            .help("`--listen 127.0.0.1:0` is any port of this machine"));
        }
        if designs.any(|name| name == "clock") {
            return Err(Problem::new(
                "`/v1/clock` is where the clock is moved, and a design has that name",
            )
            .help("call the file of the design something else"));
        }
        let now = match (kept, directory) {
            (Some(mark), _) => {
                fs::read_to_string(mark).ok().and_then(|text| text.trim().parse().ok())
            }
            (None, Some(directory)) if !is_empty(directory) => {
                return Err(Problem::new(format!("`{store}` was written by the machine's clock"))
                    .help("`--clock manual` takes `--store memory:` or a new directory"));
            }
            _ => Some(SystemClock::default().now_ms()),
        };
        let Some(now) = now else {
            return Err(Problem::new(format!(
                "the time that `{store}` had come to cannot be read"
            )));
        };
        let clock = ServerClock::Manual { clock: Arc::new(ManualClock::new(now)), mark };
        clock
            .keep()
            .map_err(|error| Problem::new(format!("cannot write into `{store}`: {error}")))?;
        Ok(clock)
    }
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_none())
}

impl ServerClock {
    pub fn runtime(&self) -> Arc<dyn Clock> {
        match self {
            ServerClock::System => Arc::new(SystemClock::default()),
            ServerClock::Manual { clock, .. } => Arc::clone(clock) as Arc<dyn Clock>,
        }
    }

    pub fn manual(&self) -> Option<Arc<ManualClock>> {
        match self {
            ServerClock::System => None,
            ServerClock::Manual { clock, .. } => Some(Arc::clone(clock)),
        }
    }

    fn keep(&self) -> std::io::Result<()> {
        let ServerClock::Manual { clock, mark: Some(mark) } = self else { return Ok(()) };
        if let Some(directory) = mark.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(mark, format!("{}\n", clock.now_ms()))
    }

    /// Keeps the time for the next run. A server that is killed goes on from where it began: no step
    /// is ever before the records that it reads, so nothing is undone by that.
    pub fn close(&self) {
        // the store is closed next, and says it if its disk is gone
        let _ = self.keep();
    }
}
