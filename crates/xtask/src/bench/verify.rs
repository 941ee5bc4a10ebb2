//! `cargo xtask bench verify`: what it takes to walk a history through its design again, beside what serving it took.

use std::process::Command;

use serde_json::Value;

use super::measure::{self, Run};
use super::runtime::server::load_average;
use super::scratch::Scratch;
use crate::table::Table;
use crate::{cargo, repo};

const USAGE: &str =
    "`bench verify` takes `--small` and names of designs; without a name it takes `tickets`";
/// Transitions that are served, at least.
const TRANSITIONS: u64 = 1_000_000;
const SMALL: u64 = 20_000;
/// Of what serving took, verifying takes at most so much.
const RATIO_MAX: f64 = 2.0;

pub fn run(arguments: &[&str]) -> crate::Answer {
    let small = arguments.contains(&"--small");
    let mut designs: Vec<&str> =
        arguments.iter().copied().filter(|argument| *argument != "--small").collect();
    if designs.iter().any(|design| design.starts_with('-')) {
        return Err(USAGE.into());
    }
    if designs.is_empty() {
        designs.push("tickets");
    }
    let (transitions, seconds) = if small { (SMALL, 1) } else { (TRANSITIONS, 10) };
    let program = cargo::release_binary(&repo::root()?, "steadfast")?;
    let before = load_average();
    let mut table = Table::new(&[
        "design",
        "transitions",
        "served in",
        "verified in",
        "ratio",
        "processor, served and verified",
        "resident",
    ]);
    let mut met = true;
    for design in designs {
        let folder = Scratch::new("verify")?;
        let store = folder.0.join("store");
        let (mut done, mut served, mut cpu) = (0, 0.0, 0.0);
        while done < transitions {
            let mut bench = Command::new(&program);
            let at = format!("embedded:{}", store.display());
            bench.args(["bench", design, "--json", "--clients", "64", "--keys", "1000000"]);
            bench.args(["--store", &at, "--seconds", &seconds.to_string()]);
            let run = measure::run(&mut bench)?;
            let told = parsed(&run)?;
            let more = told["done"].as_u64().unwrap_or_default();
            if more == 0 {
                return Err(format!("no step of `{design}` is done by what is tried"));
            }
            done += more;
            served += told["seconds"].as_f64().unwrap_or(f64::NAN);
            cpu += run.cpu.as_secs_f64();
            eprintln!("{design}: {done} of {transitions} transitions, {served:.1} s");
        }
        let mut verify = Command::new(&program);
        let run = measure::run(verify.args(["verify", "--json", "--from"]).arg(&store))?;
        let told = parsed(&run)?;
        let walked = walked(&told);
        if walked < done {
            return Err(format!(
                "{done} transitions were served, and {walked} were walked:\n{told}"
            ));
        }
        let verified = run.wall.as_secs_f64();
        let ratio = verified / served;
        met &= ratio <= RATIO_MAX;
        table.row([
            design.to_owned(),
            walked.to_string(),
            format!("{served:.1} s"),
            format!("{verified:.1} s"),
            format!("{ratio:.2}"),
            format!("{cpu:.1} s, {:.1} s", run.cpu.as_secs_f64()),
            format!("{:.0} MiB", run.resident_bytes_max as f64 / 1024.0 / 1024.0),
        ]);
    }
    println!(
        "durable, 64 clients; load of the machine {before} before and {} after\n",
        load_average()
    );
    print!("{table}");
    println!(
        "{}: at most {RATIO_MAX} times what serving took",
        if met { "met" } else { "not met" }
    );
    Ok(met)
}

fn parsed(run: &Run) -> Result<Value, String> {
    serde_json::from_str(&run.stdout).map_err(|e| format!("that is not JSON: {e}\n{}", run.stdout))
}

/// Of all designs in the store.
fn walked(told: &Value) -> u64 {
    let designs = told["designs"].as_array().map_or(&[][..], Vec::as_slice);
    designs.iter().filter_map(|design| design["transitions"].as_u64()).sum()
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn it_takes_designs_and_one_word() {
        assert!(run(&["--large"]).unwrap_err().contains("--small"));
    }
}
