//! The reference checker agrees: the design as a module of TLA+, translated by `explain` from the design
//! alone, has as many states for TLC as for the checker, and every invariant and every failure has the same
//! verdict. Without symmetry and ranks, with times in steps of a part of a unit.
//!
//! `cargo xtask tlc` asks about all of the list, and names of designs about these.

#[path = "tlc/compare.rs"]
mod compare;
#[path = "tlc/tool.rs"]
mod tool;

use compare::{compare, compare_with, design};

/// In the test command; they cover a kind of thing each.
const FEW: &[&str] = &["seats", "lease", "meeting", "payment", "gossip", "kitchen"];

/// All that are asked about by `cargo xtask tlc`.
const MORE: &[&str] = &[];

fn asked() -> Vec<String> {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match std::env::var("STEADFAST_TLC").unwrap_or_default().as_str() {
        "" => list(FEW),
        "all" => list(&[FEW, MORE].concat()),
        names => list(&names.split(',').collect::<Vec<_>>()),
    }
}

#[test]
fn tlc_finds_the_same_states_and_the_same_verdicts() {
    let mut wrong = Vec::new();
    for name in asked() {
        match design(&name).and_then(|design| compare(&name, &design)) {
            Ok(line) => println!("{name}: {line}"),
            Err(problem) => {
                println!("{name}: {problem}");
                wrong.push(format!("{name}: {problem}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
