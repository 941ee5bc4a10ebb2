//! The one command that says whether everything passes.

mod cargo_test;
mod deny;
mod report;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::{cargo, dist, repo, tidy};

/// How much of it to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Whole,
    /// For the edit loop: long tests take fewer cases, and dependencies are not examined.
    Quick,
}

/// How a stage ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    /// Passed, but for something that could not be looked at, which the report must say.
    PassedExcept(String),
    Failed,
}

impl From<bool> for Outcome {
    fn from(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

struct Stage {
    name: &'static str,
    run: fn(&Path, Extent) -> Result<Outcome, String>,
}

/// The cheapest first, since the first failure ends the run.
const STAGES: &[Stage] = &[
    Stage { name: "format", run: |root, _| run_cargo(root, FORMAT) },
    Stage { name: "tidy", run: |_, _| tidy::run().map(Outcome::from) },
    Stage { name: "clippy", run: |root, _| run_cargo(root, CLIPPY) },
    Stage { name: "tests", run: cargo_test::run },
    Stage { name: "archive", run: |root, _| dist::stage(root).map(Outcome::from) },
    Stage { name: "dependencies", run: deny::run },
];

const FORMAT: &[&str] = &["fmt", "--all", "--check"];

const CLIPPY: &[&str] =
    &["clippy", "--quiet", "--workspace", "--all-targets", "--release", "--", "-D", "warnings"];

/// A stage that ran, for the table at the end.
struct Ran {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

pub fn run(extent: Extent) -> crate::Answer {
    let root = repo::root()?;
    let mut ran: Vec<Ran> = Vec::new();
    for stage in STAGES {
        println!("== {}", stage.name);
        let start = Instant::now();
        let outcome = (stage.run)(&root, extent).unwrap_or_else(|problem| {
            eprintln!("error: {problem}");
            Outcome::Failed
        });
        let failed = outcome == Outcome::Failed;
        ran.push(Ran { name: stage.name, outcome, took: start.elapsed() });
        if failed {
            break;
        }
    }
    println!("\n{}", report::table(&ran));
    println!("{}", report::closing_line(&ran, STAGES.len()));
    Ok(ran.iter().all(|stage| stage.outcome != Outcome::Failed))
}

/// Runs cargo with its output going straight through.
fn run_cargo(root: &Path, arguments: &[&str]) -> Result<Outcome, String> {
    cargo::succeeds(cargo::command(root).args(arguments)).map(Outcome::from)
}
