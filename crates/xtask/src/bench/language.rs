//! `cargo xtask bench language`: what compiling costs by the line, and whether it grows linearly.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::design_text::design_text;
use super::measure;
use super::scratch::Scratch;
use super::summary::Summary;
use crate::table::Table;
use crate::{cargo, repo};

/// Each twice the one before it.
const LINES: &[usize] = &[25_000, 50_000, 100_000];
const ROUNDS: usize = 5;
/// How much longer twice the lines may take.
const GROWTH_MAX: f64 = 2.2;

/// What the example `compile` says of one file.
#[derive(Debug, PartialEq)]
struct Compiled {
    lines: f64,
    diagnostics: f64,
    nanos: f64,
    cpu_nanos: f64,
}

/// All the runs over one file.
#[derive(Default)]
struct Size {
    lines: f64,
    wall_nanos: Vec<f64>,
    cpu_nanos: Vec<f64>,
    resident_bytes: Vec<f64>,
}

pub fn run(arguments: &[&str]) -> crate::Answer {
    if !arguments.is_empty() {
        return Err("`bench language` takes no arguments".into());
    }
    let root = repo::root()?;
    let compiler = cargo::release_example(&root, "design", "compile")?;
    let folder = Scratch::new("language")?;
    let mut paths = Vec::new();
    for lines in LINES {
        let path = folder.0.join(format!("big_{lines}.design"));
        std::fs::write(&path, design_text(*lines)).map_err(|e| format!("cannot write: {e}"))?;
        paths.push(path);
    }
    let mut sizes: Vec<Size> = LINES.iter().map(|_| Size::default()).collect();
    // Round by round rather than size by size: a disturbance then falls on all sizes alike.
    for _ in 0..ROUNDS {
        for (path, size) in paths.iter().zip(&mut sizes) {
            measure_into(&compiler, path, size)?;
        }
    }
    Ok(report(&sizes))
}

fn measure_into(compiler: &Path, path: &Path, size: &mut Size) -> Result<(), String> {
    let run = measure::run(Command::new(compiler).arg(path))?;
    let compiled = parse(&run.stdout)?;
    if compiled.diagnostics > 0.0 {
        let count = compiled.diagnostics;
        return Err(format!("the generated design has {count} diagnostics: it must be legal"));
    }
    size.lines = compiled.lines;
    size.wall_nanos.push(compiled.nanos);
    size.cpu_nanos.push(compiled.cpu_nanos);
    size.resident_bytes.push(run.resident_bytes_max as f64);
    Ok(())
}

fn parse(stdout: &str) -> Result<Compiled, String> {
    let value: Value = serde_json::from_str(stdout.trim())
        .map_err(|e| format!("the example `compile` printed no JSON: {e}"))?;
    let field = |name: &str| {
        value[name].as_f64().ok_or_else(|| format!("the example `compile` gave no `{name}`"))
    };
    Ok(Compiled {
        lines: field("lines")?,
        diagnostics: field("diagnostics")?,
        nanos: field("nanos")?,
        cpu_nanos: field("cpu_nanos")?,
    })
}

fn report(sizes: &[Size]) -> bool {
    let mut table = Table::new(&["lines", "CPU ms", "wall ms", "ns a line", "MiB", "growth"]);
    let mut before: Option<f64> = None;
    let mut steepest: f64 = 0.0;
    for size in sizes {
        let cpu = Summary::of(&size.cpu_nanos);
        let growth = before.map(|before| cpu.median / before);
        steepest = steepest.max(growth.unwrap_or_default());
        table.row([
            size.lines.to_string(),
            format!("{:.1}", cpu.scaled(1e-6)),
            format!("{:.1}", Summary::of(&size.wall_nanos).scaled(1e-6)),
            format!("{:.0}", cpu.scaled(1.0 / size.lines)),
            format!("{:.1}", Summary::of(&size.resident_bytes).median / 1_048_576.0),
            growth.map_or_else(|| "-".into(), |growth| format!("{growth:.2}")),
        ]);
        before = Some(cpu.median);
    }
    println!(
        "median of {ROUNDS} processes (10th to 90th percentile), each compiling three times\n"
    );
    println!("{table}");
    let linear = steepest <= GROWTH_MAX;
    let verdict = if linear { "within" } else { "ABOVE" };
    println!(
        "twice the lines take at most {steepest:.2} times the time: {verdict} the goal of {GROWTH_MAX}"
    );
    linear
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(millis: &[f64]) -> Vec<Size> {
        let size = |(index, millis): (usize, &f64)| Size {
            lines: 1000.0 * f64::powi(2.0, index as i32),
            wall_nanos: vec![millis * 1e6],
            cpu_nanos: vec![millis * 1e6],
            resident_bytes: vec![1e6],
        };
        millis.iter().enumerate().map(size).collect()
    }

    #[test]
    fn linear_growth_meets_the_goal_and_quadratic_growth_does_not() {
        assert!(report(&sizes(&[10.0, 20.0, 43.0])));
        assert!(!report(&sizes(&[10.0, 20.0, 80.0])));
        assert!(!report(&sizes(&[10.0, 23.0, 46.0])));
    }

    #[test]
    fn the_compilers_answer_is_read_whole_or_not_at_all() {
        let line = "{\"lines\":9,\"diagnostics\":0,\"nanos\":70,\"cpu_nanos\":60}\n";
        let expected = Compiled { lines: 9.0, diagnostics: 0.0, nanos: 70.0, cpu_nanos: 60.0 };
        assert_eq!(parse(line), Ok(expected));
        assert!(parse("{\"lines\":9}").unwrap_err().contains("`diagnostics`"));
        assert!(parse("fine").unwrap_err().contains("no JSON"));
    }
}
