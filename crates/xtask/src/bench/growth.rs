//! `cargo xtask bench growth`: the embedded store with more and more records: memory, restart, and
//! answers while a snapshot is written.

use std::process::Command;

use crate::{cargo, repo};

pub fn run(arguments: &[&str]) -> crate::Answer {
    let millions: &[&str] = match arguments {
        [] => &["1", "4", "16"],
        ["--small"] => &["0.05"],
        _ => return Err("`bench growth` takes `--small` or nothing".into()),
    };
    let root = repo::root()?;
    let program = cargo::release_example(&root, "store-embedded", "load")?;
    let mut growth = Command::new(&program);
    growth.arg("growth").args(millions);
    let mut snapshot = Command::new(&program);
    snapshot.arg("snapshot").arg(millions[0]);
    Ok(cargo::succeeds(&mut growth)? && cargo::succeeds(&mut snapshot)?)
}
