//! Programs of others.

use std::process::{Command, Stdio};

/// Runs to its end, and fails the test with what was printed if it fails.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}\n{complained}", output.status);
    said
}
