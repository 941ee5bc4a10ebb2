//! Broken designs and exactly what is said of them: `data/NAME.design` and `data/NAME.said`.

use std::fs;
use std::path::Path;

use crate::cli::support::run_in;

fn check(name: &str) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let ran = run_in(&data, &["check", &format!("{name}.design")]).exits(2);
    let expected = fs::read_to_string(data.join(format!("{name}.said"))).unwrap_or_default();
    if ran.err != expected {
        let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.said"));
        fs::write(&actual, &ran.err).unwrap();
        panic!(
            "`tests/data/{name}.said` says otherwise\n--- expected\n{expected}\n--- said\n{}\n\
             help: what was said is in {}",
            ran.err,
            actual.display()
        );
    }
    assert_eq!(ran.out, "");
}

#[test]
fn a_brace_that_is_missing() {
    check("missing_brace");
}

#[test]
fn names_that_are_nearly_right() {
    check("misspelt");
}

#[test]
fn a_guard_over_a_view() {
    check("guard_reads_view");
}

#[test]
fn archetypes_that_cannot_be_used() {
    check("archetypes");
}
