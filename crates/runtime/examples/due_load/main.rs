//! Many due times: what it costs to set, cancel and fire them. Prints one line of JSON.
//!
//! `due_load [--pending N] [--burst N]`

mod timers;

use std::process::ExitCode;

const USAGE: &str = "usage: due_load [--pending N] [--burst N]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<String, String> {
    let (mut pending, mut burst) = (1_000_000, 100_000);
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return Err(USAGE.into()) };
        let value = value.parse().map_err(|_| USAGE.to_string())?;
        match name.as_str() {
            "--pending" => pending = value,
            "--burst" => burst = value,
            _ => return Err(USAGE.into()),
        }
    }
    let name = format!("steadfast-due-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let outcome = timers::run(&directory, pending, burst);
    // what is left behind lies in the system's temporary directory
    drop(std::fs::remove_dir_all(&directory));
    outcome.map(|figures| figures.to_json())
}
