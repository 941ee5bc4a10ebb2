//! Explores a model with stateright and prints what it found, as one line of JSON.
//!
//!     cargo run --release -p model-checker --example stateright -- bfs|dfs MODEL THREADS
//!
//! MODEL: the number of participants of two-phase commit, or a design of the catalog.

use std::process::ExitCode;
use std::time::Instant;

use stateright::{Checker, Model};

#[path = "../tests/oracle/two_phase.rs"]
mod two_phase;

#[path = "../tests/oracle/append_log.rs"]
mod append_log;
#[path = "../tests/oracle/claim.rs"]
mod claim;
#[path = "../tests/oracle/replicated.rs"]
mod replicated;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [search, model, threads] = arguments.as_slice() else {
        eprintln!("usage: stateright bfs|dfs PARTICIPANTS|I02|I05|I16 THREADS");
        return ExitCode::from(2);
    };
    let Ok(threads) = threads.parse() else {
        eprintln!("not a number: `{threads}`");
        return ExitCode::from(2);
    };
    let breadth_first = match search.as_str() {
        "bfs" => true,
        "dfs" => false,
        other => {
            eprintln!("no search `{other}`");
            return ExitCode::from(2);
        }
    };
    let started = Instant::now();
    let (states, transitions, violated) = match (model.as_str(), model.parse()) {
        ("I02", _) => found(claim::Claim { claimants: 2, writes: 2 }, breadth_first, threads),
        ("I05", _) => {
            found(append_log::AppendLog { partitions: 2, offsets: 2 }, breadth_first, threads)
        }
        ("I16", _) => {
            found(replicated::Replicated { messages: 2, term_max: 2 }, breadth_first, threads)
        }
        (_, Ok(participants)) => {
            found(two_phase::TwoPhase { participants }, breadth_first, threads)
        }
        (other, Err(_)) => {
            eprintln!("no model `{other}`");
            return ExitCode::from(2);
        }
    };
    println!(
        "{{\"states\":{states},\"transitions\":{transitions},\"violated\":{violated},\"seconds\":{:.6}}}",
        started.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}

/// States, transitions, and how many properties do not hold.
fn found<M>(model: M, breadth_first: bool, threads: usize) -> (usize, usize, usize)
where
    M: Model + Send + Sync + 'static,
    M::State: std::hash::Hash + std::fmt::Debug + Clone + PartialEq + Send + Sync,
    M::Action: std::fmt::Debug + Clone + PartialEq,
{
    let builder = model.checker().threads(threads);
    if breadth_first { told(builder.spawn_bfs().join()) } else { told(builder.spawn_dfs().join()) }
}

fn told<M: Model>(checker: impl Checker<M>) -> (usize, usize, usize)
where
    M::State: std::hash::Hash + std::fmt::Debug + Clone + PartialEq,
    M::Action: std::fmt::Debug + Clone + PartialEq,
{
    let first = checker.model().init_states().len();
    (checker.unique_state_count(), checker.state_count() - first, checker.discoveries().len())
}
