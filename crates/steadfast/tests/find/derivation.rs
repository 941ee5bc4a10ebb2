//! `docs/derivation.md`: from a sentence to an engine, five times.

use std::fs;

use crate::cli::readme::transcripts;
use crate::cli::support::{root, run};

#[test]
fn the_worked_examples_are_what_happens() {
    let page = fs::read_to_string(root().join("docs/derivation.md")).unwrap();
    let shown = transcripts(&page);
    let examples = page.lines().filter(|line| line.starts_with("> ")).count();
    assert_eq!((examples, shown.len()), (5, 5 * 4));
    for shown in shown {
        shown.holds(&run(&shown.words()).exits(0).out);
    }
}
