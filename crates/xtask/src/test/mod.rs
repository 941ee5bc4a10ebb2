//! The one command that says whether everything passes.

mod deny;
mod report;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::{cargo, repo, tidy};

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
    Stage { name: "format", run: |root, _| run_cargo(root, &["fmt", "--all", "--check"], &[]) },
    Stage { name: "tidy", run: |_, _| tidy::run().map(Outcome::from) },
    Stage { name: "clippy", run: |root, _| run_cargo(root, CLIPPY, &[]) },
    Stage { name: "tests", run: tests },
    Stage { name: "dependencies", run: deny::run },
];

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

/// In release, so that the artefacts are those of `cargo run --release`, and because tests that
/// explore millions of inputs are as slow as the code that they explore.
fn tests(root: &Path, extent: Extent) -> Result<Outcome, String> {
    let quick: &[(&str, &str)] = match extent {
        Extent::Whole => &[],
        Extent::Quick => &[("STEADFAST_QUICK", "1")],
    };
    run_cargo(root, &["test", "--workspace", "--release"], quick)
}

/// Runs cargo with its output going straight through.
fn run_cargo(
    root: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Result<Outcome, String> {
    let mut command = cargo::command(root);
    command.args(arguments).envs(variables.iter().copied());
    cargo::succeeds(&mut command).map(Outcome::from)
}
