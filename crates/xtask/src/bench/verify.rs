//! `cargo xtask bench verify`: what it takes to walk a history through its design again, beside what serving it took.
//!
//! `steadfast bench` serves a store over and over, each time with records of its own, until the store holds enough
//! transitions. Then `steadfast verify` walks all of them. Serving is timed from the first call to the last answer
//! of each run, without opening the store; verifying is timed as a whole process, with the copy that it reads.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::measure::{self, Run};
use super::runtime::server::load_average;
use super::scratch::Scratch;
use crate::table::Table;
use crate::{cargo, repo};

const USAGE: &str = "`bench verify` takes `--small`, `--program FILE` and names of designs; without a name it takes \
                     `tickets`, `payments` and `I02`";
/// A lock with a due time, money with an outbox, and leases with numbers that fence.
const DESIGNS: &[&str] = &["tickets", "payments", "I02"];
/// Of what serving took, verifying takes at most so much.
const RATIO_MAX: f64 = 2.0;
/// The records that one run calls about. No run makes so many.
const KEYS: u64 = 1_000_000;
/// A run that does less than one in so many of what the first one did has run dry.
const DRY: u64 = 5;

#[derive(Clone, Copy)]
struct Plan {
    /// that are served, at least
    transitions: u64,
    /// of one run
    seconds: u64,
}

const WHOLE: Plan = Plan { transitions: 1_000_000, seconds: 10 };
const SMALL: Plan = Plan { transitions: 20_000, seconds: 1 };

/// The same transitions, served and walked.
#[derive(Default)]
struct Measured {
    runs: u64,
    /// calls that made a transition
    done: u64,
    /// calls that were refused in the same time
    refused: u64,
    served: f64,
    served_cpu: f64,
    /// transitions that were walked: what was done, and what repairs and deliveries did
    walked: u64,
    verified: f64,
    verified_cpu: f64,
    resident_bytes: u64,
}

pub fn run(arguments: &[&str]) -> crate::Answer {
    let (mut plan, mut program, mut designs) = (WHOLE, None, Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--small" => plan = SMALL,
            "--program" => program = Some(PathBuf::from(words.next().ok_or(USAGE)?)),
            word if word.starts_with('-') => return Err(USAGE.into()),
            design => designs.push(design),
        }
    }
    if designs.is_empty() {
        designs.extend(DESIGNS);
    }
    let program = match program {
        Some(program) => program,
        None => cargo::release_binary(&repo::root()?, "steadfast")?,
    };
    let before = load_average();
    let mut table = Table::new(&[
        "design",
        "transitions",
        "of calls",
        "refused",
        "served in",
        "verified in",
        "ratio",
        "processor, served and verified",
        "resident",
    ]);
    let mut met = true;
    for design in designs {
        let measured = measured(&program, design, plan)?;
        let ratio = measured.verified / measured.served;
        met &= ratio <= RATIO_MAX;
        table.row([
            design.to_owned(),
            measured.walked.to_string(),
            measured.done.to_string(),
            measured.refused.to_string(),
            format!("{:.1} s", measured.served),
            format!("{:.1} s", measured.verified),
            format!("{ratio:.2}"),
            format!("{:.1} s, {:.1} s", measured.served_cpu, measured.verified_cpu),
            format!("{:.0} MiB", measured.resident_bytes as f64 / 1024.0 / 1024.0),
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

fn measured(program: &Path, design: &str, plan: Plan) -> Result<Measured, String> {
    let folder = Scratch::new("verify")?;
    let store = folder.0.join("store");
    let mut measured = Measured::default();
    let mut first = 0;
    // always more than one: what a run makes must not be in the way of the next
    while measured.done < plan.transitions || measured.runs < 2 {
        let mut bench = Command::new(program);
        bench.args(["bench", design, "--json", "--clients", "64"]);
        bench.args(["--keys", &KEYS.to_string()]);
        bench.args(["--first-key", &(measured.runs * KEYS).to_string()]);
        bench.args(["--store", &format!("embedded:{}", store.display())]);
        let run = measure::run(bench.args(["--seconds", &plan.seconds.to_string()]))?;
        let told = parsed(&run)?;
        let done = number(&told, "done")? as u64;
        first = first.max(done);
        if done * DRY < first.max(DRY) {
            return Err(format!(
                "the load has run dry: {done} calls of `{design}` are done in {} s, and {first} were before",
                plan.seconds
            ));
        }
        measured.runs += 1;
        measured.done += done;
        measured.refused += number(&told, "answers")? as u64 - done;
        measured.served += number(&told, "seconds")?;
        measured.served_cpu += run.cpu.as_secs_f64();
        eprintln!(
            "{design}: {} of {} transitions in {:.1} s",
            measured.done, plan.transitions, measured.served
        );
    }
    let mut verify = Command::new(program);
    let run = measure::run(verify.args(["verify", "--json", "--from"]).arg(&store))?;
    let told = parsed(&run)?;
    measured.walked = walked(&told)?;
    if measured.walked < measured.done {
        let Measured { done, walked, .. } = measured;
        return Err(format!("{done} transitions were served, and {walked} were walked:\n{told}"));
    }
    measured.verified = run.wall.as_secs_f64();
    measured.verified_cpu = run.cpu.as_secs_f64();
    measured.resident_bytes = run.resident_bytes_max;
    Ok(measured)
}

fn parsed(run: &Run) -> Result<Value, String> {
    serde_json::from_str(&run.stdout).map_err(|e| format!("that is not JSON: {e}\n{}", run.stdout))
}

fn number(told: &Value, name: &str) -> Result<f64, String> {
    told[name].as_f64().ok_or_else(|| format!("`steadfast bench` gave no `{name}`"))
}

/// Of all designs in the store. What departs ends the program with a failure.
fn walked(told: &Value) -> Result<u64, String> {
    let designs = told["designs"].as_array().filter(|designs| !designs.is_empty());
    let designs = designs.ok_or("`steadfast verify` walked no design")?;
    let of_each = designs.iter().map(|design| design["transitions"].as_u64());
    of_each.sum::<Option<u64>>().ok_or_else(|| "`steadfast verify` gave no `transitions`".into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_takes_designs_and_two_options() {
        assert!(run(&["--large"]).unwrap_err().contains("--small"));
        assert!(run(&["--program"]).unwrap_err().contains("--program FILE"));
    }

    #[test]
    fn nothing_walked_is_no_measurement() {
        assert!(walked(&json!({ "designs": [] })).is_err());
        assert!(walked(&json!({ "designs": [{ "transitions": 3 }, {}] })).is_err());
        let two = json!({ "designs": [{ "transitions": 3 }, { "transitions": 4 }] });
        assert_eq!(walked(&two), Ok(7));
    }

    /// Every run makes transitions, and `verify` walks all of them. How long it takes is not judged here.
    #[test]
    fn a_small_history_is_served_in_several_runs_and_walked() {
        let program = cargo::tested_binary(&repo::root().unwrap(), "steadfast").unwrap();
        let plan = Plan { transitions: 2_000, ..SMALL };
        let measured = measured(&program, "tickets", plan).unwrap();
        assert!(measured.runs >= 2 && measured.done >= 2_000, "{} runs", measured.runs);
        assert!(measured.walked >= measured.done && measured.served >= 2.0);
        assert!(measured.refused > 0, "guards refuse some of what is drawn");
    }
}
