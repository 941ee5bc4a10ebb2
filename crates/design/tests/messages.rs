//! How messages are written.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use common::snippets;
use syntax::Diagnostic;

/// Every diagnostic that a snippet gives.
fn all() -> Vec<(String, Diagnostic)> {
    let mut found = Vec::new();
    for snippet in snippets() {
        for problem in common::compiled(&snippet.text).diagnostics {
            found.push((snippet.place.clone(), problem));
        }
    }
    found
}

#[test]
fn a_message_is_lowercase_without_a_full_stop() {
    for (place, problem) in all() {
        let labels = problem.secondary.iter().chain([&problem.primary]).map(|label| &label.text);
        for text in labels.chain([&problem.message]).chain(&problem.help) {
            let first = text.chars().next();
            assert!(first.is_none_or(|c| !c.is_uppercase()), "{place}: {text}");
            assert!(!text.ends_with('.'), "{place}: {text}");
            assert!(!text.contains('\n'), "{place}: {text}");
            assert_eq!(text.trim(), text, "{place}");
        }
        assert!(!problem.message.is_empty(), "{place}");
    }
}

#[test]
fn a_message_speaks_of_the_design_and_not_of_the_compiler() {
    let inside = [
        "Some(",
        "None",
        "Type::",
        "Expr",
        "Option<",
        "Vec<",
        "usize",
        "i64",
        "u32",
        "Enum(",
        "Ref(",
        "SubjectId",
        "unwrap",
        "panic",
    ];
    for (place, problem) in all() {
        for text in problem.help.iter().chain([&problem.message]) {
            for word in inside {
                assert!(!text.contains(word), "{place}: `{word}` in {text}");
            }
            assert_eq!(text.matches('`').count() % 2, 0, "{place}: {text}");
        }
    }
}

#[test]
fn nearly_every_message_says_what_to_do() {
    let all = all();
    let without: BTreeSet<&str> =
        all.iter().filter(|(_, p)| p.help.is_empty()).map(|(_, p)| p.code).collect();
    let helpful = all.iter().filter(|(_, problem)| !problem.help.is_empty()).count();
    let share = helpful * 100 / all.len();
    assert!(share >= 90, "{share} %; without help: {without:?}");
    let silent: Vec<_> = without.iter().filter(|code| **code > "E0200").collect();
    assert!(silent.is_empty(), "without help: {silent:?}");
}

#[test]
fn the_help_often_contains_the_fix() {
    let head = "design D\nactor buyer\nsubject Seat(seat: text) {\n\
        truth SeatState { status: FREE | SOLD = FREE, until: time?, price: decimal = 0 }\n}\n";
    for (guard, help) in [
        ("SeatState.satus = FREE", "did you mean `status`?"),
        ("SeatState.status = SLOD", "did you mean `SOLD`?"),
        ("SeatState.status = \"SOLD\"", "a constant is written without quotes"),
        ("SeatState.until < 5m", "add the duration to a time: `now - ttl`"),
        ("SeatState.until + 30 < now", "a duration has a unit: `30s`, `10m`"),
        ("SeatState.until", "`SeatState.until present`, perhaps?"),
        ("seat = \"a1\"", "compare a part of the record's key: `r.key`"),
        ("SeatSate.status = FREE", "did you mean `SeatState`?"),
        ("mx(1, 2) = 2", "did you mean `max`?"),
        ("SeatState.price = null", "declare it as `decimal?` if it may be missing"),
    ] {
        let text =
            format!("{head}step buyer[buy(seat: Seat) {{ x: {guard} }}] {{ seat.until := now }}\n");
        let compiled = common::compiled(&text);
        let said: Vec<&String> = compiled.diagnostics.iter().flat_map(|d| &d.help).collect();
        assert_eq!(said, [help], "{guard}");
    }
}

#[test]
fn a_place_is_inside_its_text() {
    for snippet in snippets() {
        let compiled = common::compiled(&snippet.text);
        for problem in &compiled.diagnostics {
            for label in problem.secondary.iter().chain([&problem.primary]) {
                let source = compiled.sources.get(label.span.file);
                let length = source.map_or(0, |source| source.text.len());
                assert!(label.span.start <= label.span.end, "{}", snippet.place);
                assert!(label.span.end as usize <= length, "{}", snippet.place);
            }
        }
        let starts: Vec<_> = compiled
            .diagnostics
            .iter()
            .map(|problem| (problem.primary.span.file, problem.primary.span.start))
            .collect();
        assert!(starts.is_sorted(), "{}: in the order of the text", snippet.place);
    }
}

#[test]
fn every_code_of_the_compiler_is_met_in_a_snippet() {
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, problem) in &all() {
        *met.entry(problem.code).or_default() += 1;
    }
    // tests of their own: a source of many megabytes, nesting without end, a catalog
    let elsewhere = ["E0008", "E0112", "E0803"];
    for (path, _) in common::files("docs/errors", "md") {
        let code = path.rsplit('/').next().and_then(|name| name.strip_suffix(".md"));
        let code = code.expect("a page has a name");
        if code != "README" && !elsewhere.contains(&code) {
            assert!(met.contains_key(code), "no snippet shows `{code}`");
        }
    }
}
