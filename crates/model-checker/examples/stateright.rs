//! Explores two-phase commit with stateright and prints what it found, as one line of JSON.
//!
//!     cargo run --release -p model-checker --example stateright -- bfs|dfs PARTICIPANTS THREADS

use std::process::ExitCode;
use std::time::Instant;

use stateright::{Checker, Model};

#[path = "../tests/oracle/two_phase.rs"]
mod two_phase;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [search, participants, threads] = arguments.as_slice() else {
        eprintln!("usage: stateright bfs|dfs PARTICIPANTS THREADS");
        return ExitCode::from(2);
    };
    let (Ok(participants), Ok(threads)) = (participants.parse(), threads.parse()) else {
        eprintln!("not a number: `{participants}` or `{threads}`");
        return ExitCode::from(2);
    };
    let started = Instant::now();
    let checker = two_phase::TwoPhase { participants }.checker().threads(threads);
    let (states, transitions, violated) = match search.as_str() {
        "bfs" => found(checker.spawn_bfs().join()),
        "dfs" => found(checker.spawn_dfs().join()),
        other => {
            eprintln!("no search `{other}`");
            return ExitCode::from(2);
        }
    };
    println!(
        "{{\"states\":{states},\"transitions\":{transitions},\"violated\":{violated},\"seconds\":{:.6}}}",
        started.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}

fn found<M: Model>(checker: impl Checker<M>) -> (usize, usize, usize)
where
    M::State: std::hash::Hash + std::fmt::Debug + Clone + PartialEq,
    M::Action: std::fmt::Debug + Clone + PartialEq,
{
    (checker.unique_state_count(), checker.state_count(), checker.discoveries().len())
}
