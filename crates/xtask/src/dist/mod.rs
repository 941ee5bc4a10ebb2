//! `cargo xtask dist`: an archive that runs on a machine without Rust, and its checksum.

mod archive;
mod trial;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{cargo, repo};

/// The most that the binary may have.
const BYTES_MAX: u64 = 25_000_000;

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    /// a binary that is there already; it is stripped on the way
    binary: Option<PathBuf>,
    /// where the archive goes, if not to `target/archive`
    to: Option<PathBuf>,
    /// not statically linked
    dynamic: bool,
}

fn wanted(words: &[&str]) -> Result<Wanted, String> {
    let mut wanted = Wanted::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let mut path = || {
            let path = rest.next().map(PathBuf::from);
            path.ok_or_else(|| format!("`{word}` names a path"))
        };
        match *word {
            "--binary" => wanted.binary = Some(path()?),
            "--to" => wanted.to = Some(path()?),
            "--dynamic" => wanted.dynamic = true,
            other => return Err(format!("`{other}` is no option of `cargo xtask dist`")),
        }
    }
    Ok(wanted)
}

pub fn run(words: &[&str]) -> crate::Answer {
    let wanted = wanted(words)?;
    let root = repo::root()?;
    let host = host(&root)?;
    let binary = match &wanted.binary {
        Some(binary) => binary.clone(),
        None => build(&root, &host, !wanted.dynamic)?,
    };
    let to = wanted.to.unwrap_or_else(|| target(&root).join("archive"));
    // its binary is started in another folder
    let to =
        std::path::absolute(to).map_err(|error| format!("no folder for the archive: {error}"))?;
    let made = archive::make(&root, &binary, &host, &to)?;
    println!("{}", made.archive.display());
    println!("  binary  {:.1} MB", made.binary_bytes as f64 / 1e6);
    println!("  archive {:.1} MB", made.archive_bytes as f64 / 1e6);
    if made.binary_bytes > BYTES_MAX {
        println!("the binary is larger than {} MB", BYTES_MAX / 1_000_000);
        return Ok(false);
    }
    trial::run(&made.archive)?;
    println!("unpacked in an empty root, it runs, checks and serves");
    Ok(true)
}

/// The stage of `cargo xtask test`: the same from the binary that the tests before it have used. Cargo is
/// not asked for it: without the tests it would build the crates once more, with other features.
pub fn stage(root: &Path) -> Result<bool, String> {
    let binary = target(root).join("release/steadfast");
    let to = std::path::absolute(target(root).join("archive-tried"));
    let to = to.map_err(|error| format!("no folder for the archive: {error}"))?;
    let made = archive::make(root, &binary, &host(root)?, &to)?;
    trial::run(&made.archive)?;
    println!("{:.1} MB of archive run, check and serve", made.archive_bytes as f64 / 1e6);
    Ok(true)
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// The machine that is built for: `x86_64-unknown-linux-gnu`.
fn host(root: &Path) -> Result<String, String> {
    let said = cargo::output(cargo::command(root).args(["--version", "--verbose"]))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_string).ok_or_else(|| "cargo does not say what it builds for".into())
}

fn build(root: &Path, host: &str, linked: bool) -> Result<PathBuf, String> {
    let mut build = cargo::command(root);
    // with `--target`, flags are for the program alone, not for what runs while it is built
    build.args(["build", "--profile", "dist", "--package", "steadfast", "--target", host]);
    if linked {
        build.env("RUSTFLAGS", "-C target-feature=+crt-static");
    }
    if !cargo::succeeds(&mut build)? {
        return Err("the binary was not built; `--dynamic` does not link it statically".into());
    }
    Ok(target(root).join(host).join("dist/steadfast"))
}

/// Runs a program for whether it succeeds.
fn done(command: &mut Command) -> Result<(), String> {
    match cargo::succeeds(command) {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(format!("`{}` failed", Path::new(command.get_program()).to_string_lossy()))
        }
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_others_are_refused() {
        let read = wanted(&["--binary", "a/b", "--dynamic", "--to", "c"]).unwrap();
        let expected = Wanted { binary: Some("a/b".into()), to: Some("c".into()), dynamic: true };
        assert_eq!(read, expected);
        assert!(wanted(&["--to"]).unwrap_err().contains("names a path"));
        assert!(wanted(&["--fast"]).unwrap_err().contains("no option"));
    }

    #[test]
    fn the_machine_is_known() {
        assert!(host(&repo::root().unwrap()).unwrap().contains('-'));
    }
}
