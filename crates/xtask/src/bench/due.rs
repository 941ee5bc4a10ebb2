//! `cargo xtask bench due`: a million pending due times, and a burst of many in one second.

use std::process::Command;

use serde_json::Value;

use super::measure;
use crate::table::Table;
use crate::{cargo, repo};

const PHASES: &[(&str, &str)] = &[
    ("set", "set, of the pile"),
    ("burst_fire", "fired, of the burst"),
    ("cancel", "cancelled, of the pile"),
    ("fire", "fired, of the pile"),
];

pub fn run(arguments: &[&str]) -> crate::Answer {
    let sizes = match arguments {
        [] => ["1000000", "100000"],
        ["--small"] => ["20000", "5000"],
        _ => return Err("`bench due` takes `--small` or nothing".into()),
    };
    let root = repo::root()?;
    let program = cargo::release_example(&root, "runtime", "due_load")?;
    let mut command = Command::new(program);
    command.args(["--pending", sizes[0], "--burst", sizes[1]]);
    // It ends with an error if a single repair was missed or fired twice.
    let run = measure::run(&mut command)?;
    let value: Value = serde_json::from_str(run.stdout.trim())
        .map_err(|e| format!("the example `due_load` printed no JSON: {e}"))?;
    println!("{}", report(&value)?);
    let mib = run.resident_bytes_max as f64 / 1_048_576.0;
    println!("{} pending, a burst of {}; {mib:.0} MiB at most", sizes[0], sizes[1]);
    println!("every repair was fired once, none was missed, nothing cancelled was fired");
    Ok(true)
}

fn report(value: &Value) -> Result<Table, String> {
    let mut table = Table::new(&["due times", "CPU µs each", "seconds in all"]);
    for (name, title) in PHASES {
        let field = |what: &str| {
            let name = format!("{name}_{what}");
            value[&name].as_f64().ok_or_else(|| format!("the example `due_load` gave no `{name}`"))
        };
        table.row([
            (*title).to_owned(),
            format!("{:.2}", field("cpu_us_each")?),
            format!("{:.2}", field("seconds")?),
        ]);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::report;

    #[test]
    fn every_phase_is_told_or_it_is_an_error() {
        let mut value = serde_json::json!({});
        assert!(report(&value).err().unwrap().contains("`set_cpu_us_each`"));
        for phase in ["set", "burst_fire", "cancel", "fire"] {
            value[format!("{phase}_cpu_us_each")] = 1.25.into();
            value[format!("{phase}_seconds")] = 2.into();
        }
        let table = report(&value).unwrap().to_string();
        assert_eq!(table.lines().count(), 5);
        assert!(table.contains("1.25") && table.contains("2.00"), "{table}");
    }
}
