//! `cargo xtask bench explain`: how long it takes to explain the whole catalog.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::measure;
use crate::table::Table;
use crate::{cargo, repo};

/// Deriving the sheets of the whole catalog stays well below a second.
const SHEETS_MS_MAX: f64 = 200.0;

pub fn run(arguments: &[&str]) -> crate::Answer {
    if !arguments.is_empty() {
        return Err("`bench explain` takes no arguments".into());
    }
    let root = repo::root()?;
    let program = cargo::release_example(&root, "explain", "derive")?;
    let mut designs = Vec::new();
    collect(&root.join("designs"), &mut designs)?;
    designs.sort();
    let measured = measure::run(Command::new(&program).args(&designs))?;
    let answer: Value = serde_json::from_str(&measured.stdout)
        .map_err(|e| format!("`derive` printed something else than JSON: {e}"))?;
    let number = |name: &str| answer[name].as_f64().unwrap_or(f64::NAN);
    let sheets_ms = number("sheets_nanos") / 1e6;
    let mut table = Table::new(&["what", "figure"]);
    for (what, figure) in [
        ("designs", format!("{}", number("designs"))),
        ("operations and views", format!("{}", number("operations"))),
        ("all sheets", format!("{sheets_ms:.2} ms")),
        ("sheets, drawings, four engines", format!("{:.2} ms", number("everything_nanos") / 1e6)),
        ("written", format!("{:.0} KiB", number("bytes") / 1024.0)),
        ("resident", format!("{:.1} MiB", measured.resident_bytes_max as f64 / 1024.0 / 1024.0)),
    ] {
        table.row([what.to_owned(), figure]);
    }
    print!("{table}");
    let met = sheets_ms < SHEETS_MS_MAX;
    println!(
        "{}: all sheets in {sheets_ms:.2} ms, of {SHEETS_MS_MAX} ms",
        if met { "met" } else { "not met" }
    );
    Ok(met)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("cannot list designs: {e}"))?;
    for entry in entries {
        let path = entry.map_err(|e| format!("cannot list designs: {e}"))?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|end| end == "design") {
            paths.push(path);
        }
    }
    Ok(())
}
