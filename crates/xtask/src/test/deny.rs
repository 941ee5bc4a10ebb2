//! Licences, bans, sources and advisories of the dependencies, by `cargo deny`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Extent, Outcome};
use crate::{cargo, tools};

/// The one version that is used, so that `deny.toml` means the same everywhere.
const VERSION: &str = "0.20.2";

pub fn run(root: &Path, extent: Extent) -> Result<Outcome, String> {
    if extent == Extent::Quick {
        return Ok(Outcome::PassedExcept("dependencies were not examined (`--quick`)".into()));
    }
    let program = installed(root)?;
    if !deny(root, &program, &["check", "licenses", "bans", "sources"])? {
        return Ok(Outcome::Failed);
    }
    // Without its database `check advisories` fails as if it had found something. Fetching it is
    // tried first, so that a missing network is told from a vulnerable dependency.
    if !deny(root, &program, &["fetch", "db"])? {
        let note = "advisories were NOT CHECKED: their database cannot be fetched from here";
        println!("{note}");
        return Ok(Outcome::PassedExcept(note.into()));
    }
    deny(root, &program, &["check", "advisories"]).map(Outcome::from)
}

fn deny(root: &Path, program: &Path, arguments: &[&str]) -> Result<bool, String> {
    let mut command = Command::new(program);
    command.current_dir(root).arg("--workspace").args(arguments);
    cargo::succeeds(&mut command)
}

/// The program, built once into the cache when it is not there yet.
fn installed(root: &Path) -> Result<PathBuf, String> {
    let folder = tools::folder(root, &format!("cargo-deny-{VERSION}"));
    let program = folder.join("bin/cargo-deny");
    if program.is_file() {
        return Ok(program);
    }
    println!("building cargo-deny {VERSION}, once; this takes about three minutes");
    let mut install = cargo::command(root);
    install.args(["install", "--quiet", "--locked", "--root"]).arg(&folder);
    install.arg(format!("cargo-deny@{VERSION}"));
    // Its artefacts are of no use to anything else: cargo puts them aside and removes them.
    install.env_remove("CARGO_TARGET_DIR");
    if !cargo::succeeds(&mut install)? {
        return Err(format!("cargo-deny {VERSION} could not be installed"));
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_run_says_that_dependencies_were_not_examined() {
        let outcome = run(Path::new("."), Extent::Quick).unwrap();
        let Outcome::PassedExcept(note) = outcome else { panic!("{outcome:?}") };
        assert!(note.contains("not examined"), "{note}");
    }

    #[test]
    fn a_refused_dependency_is_told_from_a_tool_that_cannot_start() {
        let here = Path::new(".");
        assert_eq!(deny(here, Path::new("false"), &["check"]), Ok(false));
        assert!(deny(here, Path::new("no-such-tool"), &["check"]).is_err());
    }
}
