//! Calling cargo from inside a command that cargo itself started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A cargo command in the workspace root.
///
/// `cargo run` leaves variables about the package `xtask` in the environment. A nested cargo would
/// hand them to build scripts that watch them, and so rebuild crates for no reason.
///
/// Nothing is built incrementally: rustc 1.95 miscompiles optimised code that way.
pub fn command(root: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).stdin(Stdio::null()).env("CARGO_INCREMENTAL", "0");
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name.as_ref());
        }
    }
    command
}

/// Runs a command with its output going straight to the terminal.
pub fn succeeds(command: &mut Command) -> Result<bool, String> {
    let status = command.status().map_err(|e| format!("cannot start {}: {e}", shown(command)))?;
    Ok(status.success())
}

/// Runs a command for what it prints.
pub fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot start {}: {e}", shown(command)))?;
    if !output.status.success() {
        return Err(format!("{} failed: {}", shown(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{} printed no text", shown(command)))
}

/// Builds one example in release and says where its binary is. It is built as a part of the whole
/// workspace, like the tests: of one package alone, crates would be built once more with other features.
pub fn release_example(root: &Path, package: &str, example: &str) -> Result<PathBuf, String> {
    let mut build = command(root);
    build.args(["build", "--quiet", "--release", "--workspace", "--example", example]);
    build.arg("--message-format=json-render-diagnostics");
    let messages = output(&mut build)?;
    executable(&messages, example)
        .ok_or_else(|| format!("cargo built no binary for the example `{example}` of `{package}`"))
}

/// Builds a package's binary in release and says where it is.
pub fn release_binary(root: &Path, package: &str) -> Result<PathBuf, String> {
    let mut build = command(root);
    build.args(["build", "--quiet", "--release", "--package", package]);
    build.arg("--message-format=json-render-diagnostics");
    let messages = output(&mut build)?;
    executable(&messages, package)
        .ok_or_else(|| format!("cargo built no binary for the package `{package}`"))
}

/// A package's binary as the tests of the workspace have it, for a test of ours. An example is built with it, since only
/// what takes dev-dependencies is built with the features of the tests: they have built all of this already.
#[cfg(test)]
pub fn tested_binary(root: &Path, package: &str) -> Result<PathBuf, String> {
    let mut build = command(root);
    build.args(["build", "--quiet", "--release", "--workspace", "--bin", package]);
    build.args(["--example", "due_load", "--message-format=json-render-diagnostics"]);
    let messages = output(&mut build)?;
    executable(&messages, package)
        .ok_or_else(|| format!("cargo built no binary for the package `{package}`"))
}

/// Finds a target's binary in the messages of `cargo build --message-format=json`.
fn executable(messages: &str, target: &str) -> Option<PathBuf> {
    messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(
        |message| {
            let is_target = message["reason"] == "compiler-artifact"
                && message["target"]["name"].as_str() == Some(target);
            is_target.then(|| message["executable"].as_str().map(PathBuf::from))?
        },
    )
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![program.file_name().unwrap_or_default().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_found_among_other_messages() {
        let messages = r#"not json at all
{"reason":"build-script-executed","target":{"name":"compile"},"executable":"/wrong"}
{"reason":"compiler-artifact","target":{"name":"design"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"compile"},"executable":"/right"}"#;
        assert_eq!(executable(messages, "compile"), Some(PathBuf::from("/right")));
        assert_eq!(executable(messages, "other"), None);
    }

    #[test]
    fn a_command_is_shown_by_name_and_arguments() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command.args(["fmt", "--check"]);
        assert_eq!(shown(&command), "`cargo fmt --check`");
    }

    #[test]
    fn a_failing_command_is_told_from_one_that_cannot_start() {
        assert_eq!(succeeds(&mut Command::new("false")), Ok(false));
        assert!(succeeds(&mut Command::new("no-such-program-here")).is_err());
        assert!(output(&mut Command::new("false")).unwrap_err().contains("failed"));
    }
}
