//! `steadfast bench DESIGN`

mod caller;
mod report;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use design::model::OperationKind;
use futures_util::TryStreamExt;
use futures_util::stream::FuturesUnordered;
use runtime::{Delivered, Delivery, Outside, Runtime, Settings, Workers};
use serde_json::Value;

use super::Answer;
use crate::catalog::Embedded;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::load;
use crate::output::Output;
use crate::problem::Problem;
use crate::removed::Removed;
use crate::size;

use caller::Caller;
use report::Report;

/// What a client makes is numbered up to ten times as far.
const KEYS_MAX: u64 = 1_000_000_000;
const FIRST_KEY_MAX: u64 = 1_000_000_000;

/// Put load on a design
///
/// Every client takes any step of the design with any parameters, over and over, in this process and
/// without HTTP. Refusals are answers, too: a guard that says no has done its work. Each answer is as
/// durable as the store makes it, which is stated. Effects are answered with ok at once.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast bench tickets
  steadfast bench shop.design --clients 64 --seconds 10
  steadfast bench tickets --store memory: --json
  steadfast bench tickets --store embedded:./load --first-key 1000")]
pub struct Bench {
    /// A path, or the name of a design in the catalog
    #[arg(value_name = "DESIGN")]
    design: String,
    /// Clients that call at the same time, each waiting for its answer
    #[arg(long, value_name = "N", default_value = "16", value_parser = size::threads)]
    clients: usize,
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// How many records of each subject are called about
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=KEYS_MAX))]
    keys: u64,
    /// The number of the first of these records: with another one, a later run on the same store finds nothing of
    /// an earlier run
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=FIRST_KEY_MAX))]
    first_key: u64,
    /// Where truth is kept; without it, in a directory that is removed afterwards
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    #[arg(long)]
    json: bool,
}

impl Bench {
    pub fn run(self, output: &mut Output) -> Answer {
        let loaded = load(&self.design)?;
        let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
        diagnostics::tell(output, &loaded.name, &compiled.diagnostics, &compiled.sources);
        let Some(design) = compiled.design else { return Ok(Exit::Wrong) };
        let steps = design.operations.iter();
        if !steps.clone().any(|known| matches!(known.kind, OperationKind::Step { .. })) {
            return Err(Problem::new(format!("`{}` has no step to call", loaded.name)));
        }
        let folder = Removed::new("bench");
        let address = match &self.store {
            Some(address) => address.clone(),
            None => format!("embedded:{}", folder.0.display()),
        };
        let store = steadfast::open_store(&address)
            .map_err(|error| Problem::new(error.message).help(error.help))?;
        let durability = store.describe().durability;
        let settings =
            Settings { secrets: Some(steadfast::passing_secrets()), ..Settings::default() };
        let runtime = Runtime::open(design, Arc::clone(&store), settings).map_err(|error| {
            Problem::new(format!("`{}`: {error}", steadfast::shown_store(&address)))
        })?;
        let runtime = Arc::new(runtime);
        let workers = Workers::start(&runtime, Arc::new(Agreeable), 1)
            .map_err(|error| Problem::new(format!("cannot start threads: {error}")))?;
        let over = AtomicBool::new(false);
        let report = match store.local() {
            Some(_) => self.load(&runtime, &over),
            // a server does not keep a thread for everybody who waits for a store that is far away
            None => self.load_without_threads(&runtime, &over),
        };
        drop(workers);
        drop(runtime);
        store::block_on(store.close()).map_err(|error| Problem::new(error.to_string()))?;
        let mut report = report?;
        report.durability = durability;
        output.print(&if self.json { report.json() } else { report.text() });
        Ok(Exit::Yes)
    }

    fn caller<'r>(&self, runtime: &'r Runtime, at: usize) -> Caller<'r> {
        Caller::new(runtime, at as u64, self.first_key..self.first_key + self.keys)
    }

    fn load_without_threads(
        &self,
        runtime: &Arc<Runtime>,
        over: &AtomicBool,
    ) -> Result<Report, Problem> {
        let begun = Instant::now();
        let client = |at| async move {
            let mut caller = self.caller(runtime, at);
            while !over.load(Ordering::Relaxed) {
                caller.call_async().await?;
            }
            Ok(caller.tally)
        };
        let clients: FuturesUnordered<_> = (0..self.clients).map(client).collect();
        let tallies: Result<Vec<_>, Problem> = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_secs(self.seconds));
                over.store(true, Ordering::Relaxed);
            });
            store::block_on(clients.try_collect())
        });
        let name = runtime.design().name.clone();
        Ok(Report::new(&name, self.clients, begun.elapsed(), tallies?))
    }

    fn load(&self, runtime: &Arc<Runtime>, over: &AtomicBool) -> Result<Report, Problem> {
        let begun = Instant::now();
        let tallies = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.clients)
                .map(|at| {
                    let mut caller = self.caller(runtime, at);
                    scope.spawn(move || {
                        while !over.load(Ordering::Relaxed) {
                            caller.call()?;
                        }
                        Ok(caller.tally)
                    })
                })
                .collect();
            std::thread::sleep(Duration::from_secs(self.seconds));
            over.store(true, Ordering::Relaxed);
            let joined = threads.into_iter().map(|thread| match thread.join() {
                Ok(tally) => tally,
                Err(_) => Err(Problem::new("a client panicked")),
            });
            joined.collect::<Result<Vec<_>, Problem>>()
        })?;
        let name = runtime.design().name.clone();
        Ok(Report::new(&name, self.clients, begun.elapsed(), tallies))
    }
}

/// The world outside does what it is asked, at once.
struct Agreeable;

impl Outside for Agreeable {
    fn deliver(&self, _: &Delivery) -> Delivered {
        Delivered::Ok(Value::Null)
    }
}
