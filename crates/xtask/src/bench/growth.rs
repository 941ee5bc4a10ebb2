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
    // A process for each: what one run gave back to its heap is not there for the next.
    for what in ["growth", "snapshot"] {
        for number in millions {
            if !cargo::succeeds(Command::new(&program).args([what, number]))? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
