//! `cargo xtask bench calendar`: the next instant of a schedule, beside croniter of PyPI, in processor time.

use std::path::Path;
use std::process::Command;

use super::measure;
use super::scratch::Scratch;
use crate::table::Table;
use crate::{cargo, repo, tools};

/// As in the tests of the crate, so that both ask the same library.
const PACKAGES: [&str; 2] = ["croniter==6.2.4", "tzdata==2026.5"];
/// How often the same questions are asked, so that the start of a program does not count.
const ROUNDS: u64 = 50;

pub fn run(arguments: &[&str]) -> crate::Answer {
    let count: u64 = match arguments {
        [] => 20_000,
        ["--small"] => 1_000,
        _ => return Err("`bench calendar` takes `--small` or nothing".into()),
    };
    let root = repo::root()?;
    let program = cargo::release_example(&root, "calendar", "next_cost")?;
    let load = |mode: &str, rounds: u64| {
        measure::run(Command::new(&program).args([mode, &count.to_string(), &rounds.to_string()]))
    };
    let begun = load("none", 1)?.cpu.as_nanos() as f64;
    let once = load("read", 1)?.cpu.as_nanos() as f64;
    let many = load("read", 1 + ROUNDS)?.cpu.as_nanos() as f64;
    let reading = (many - once) / (ROUNDS * count) as f64;
    let asked = load("next", 1)?.cpu.as_nanos() as f64;
    let asking =
        (load("next", 1 + ROUNDS)?.cpu.as_nanos() as f64 - asked) / (ROUNDS * count) as f64;
    let theirs = croniter(&root, &load("rows", 1)?.stdout)?;
    let mut table = Table::new(&["what", "CPU µs each", "of croniter's"]);
    for (what, nanoseconds) in [
        ("croniter, read and asked", theirs),
        ("ours, read and asked", reading),
        ("ours, asked", asking),
    ] {
        let ratio = format!("1/{:.0}", theirs / nanoseconds);
        table.row([what.to_owned(), format!("{:.2}", nanoseconds / 1_000.0), ratio]);
    }
    print!("{table}");
    println!(
        "{count} random schedules and instants in ten zones; to start takes {:.1} ms",
        begun / 1e6
    );
    let met = reading < theirs;
    println!("{}: ahead of croniter", if met { "met" } else { "not met" });
    Ok(met)
}

/// Nanoseconds of processor time for each row, as the script itself measures them.
fn croniter(root: &Path, rows: &str) -> Result<f64, String> {
    let folder = tools::folder(root, "croniter-6.2.4");
    let python = tools::python(&folder, &PACKAGES)?;
    let scratch = Scratch::new("calendar")?;
    let file = scratch.0.join("rows.txt");
    std::fs::write(&file, rows).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    let script = root.join("crates/calendar/tests/beside.py");
    let mut command = Command::new(python);
    command.arg(script).arg(&file).env("PYTHONTZPATH", "");
    let run = measure::run(&mut command)?;
    let last = run.stdout.lines().last().and_then(|line| line.parse().ok());
    last.ok_or_else(|| "`beside.py` did not say how long it took".to_string())
}
