//! Runs the tests, lets their output through, and adds up what every test binary reports.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use super::{Extent, Outcome};
use crate::cargo;

/// How many tests passed and failed, over all test binaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
}

/// In release, so that the artefacts are those of `cargo run --release`, and because tests that
/// explore millions of inputs are as slow as the code that they explore. All of them, so that one run
/// tells everything that is wrong.
pub fn run(root: &Path, extent: Extent) -> Result<Outcome, String> {
    let mut command = cargo::command(root);
    command.args(["test", "--workspace", "--release", "--no-fail-fast"]).stdout(Stdio::piped());
    if extent == Extent::Quick {
        command.env("STEADFAST_QUICK", "1");
    }
    let mut child = command.spawn().map_err(|e| format!("cannot start `cargo test`: {e}"))?;
    let mut totals = Totals::default();
    if let Some(stdout) = child.stdout.take() {
        totals = forward(BufReader::new(stdout), &mut std::io::stdout())
            .map_err(|e| format!("cannot read what `cargo test` prints: {e}"))?;
    }
    let status = child.wait().map_err(|e| format!("cannot wait for `cargo test`: {e}"))?;
    println!("\n{} passed, {} failed", totals.passed, totals.failed);
    if status.success() && totals.passed == 0 {
        return Err("`cargo test` ran no test".into());
    }
    Ok(Outcome::from(status.success()))
}

/// Copies every line and adds up those that close a test binary.
fn forward(from: impl BufRead, to: &mut impl Write) -> std::io::Result<Totals> {
    let mut totals = Totals::default();
    for line in from.split(b'\n') {
        let line = line?;
        to.write_all(&line)?;
        to.write_all(b"\n")?;
        if let Some(result) = result(&String::from_utf8_lossy(&line)) {
            totals.passed += result.passed;
            totals.failed += result.failed;
        }
    }
    Ok(totals)
}

/// Reads `test result: ok. 70 passed; 0 failed; …`.
fn result(line: &str) -> Option<Totals> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let count = |word: &str| {
        counts.split("; ").find_map(|part| part.strip_suffix(word)?.trim().parse::<u64>().ok())
    };
    Some(Totals { passed: count("passed")?, failed: count("failed")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
running 2 tests
test a ... ok

test result: ok. 70 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.59s

test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn results_of_all_binaries_are_added_up_and_every_byte_goes_through() {
        let mut printed = Vec::new();
        let totals = forward(PRINTED.as_bytes(), &mut printed).unwrap();
        assert_eq!(totals, Totals { passed: 73, failed: 2 });
        assert_eq!(String::from_utf8(printed).unwrap(), PRINTED);
    }

    #[test]
    fn a_line_that_only_looks_like_a_result_is_none() {
        assert_eq!(result("the test result: ok. 1 passed; 0 failed"), None);
        assert_eq!(result("test result: ok. many passed; 0 failed"), None);
    }
}
