//! Nesting without end gives one clear message, on a small stack, in linear time.

use crate::mutations::walk;
use syntax::{FileId, MAX_DEPTH, parse_counting};

const LEVELS: usize = 100_000;
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// What is repeated before the middle, the middle, and what is repeated after it.
const IN_EXPRESSION: &[(&str, &str, &str, &str)] = &[
    ("parentheses", "(", "1", ")"),
    ("lists", "[", "1", "]"),
    ("sets", "{", "1", "}"),
    ("records", "{ a: ", "1", "}"),
    ("indexes", "a[", "1", "]"),
    ("calls", "f(", "1", ")"),
    ("old", "old(", "a", ")"),
    ("count", "count(A where ", "true", ")"),
    ("sum", "sum(", "1", " of A)"),
    ("not", "not ", "true", ""),
    ("minus", "- ", "1", ""),
    ("if", "if true then 1 else ", "1", ""),
    ("if in if", "if ", "true", " then 1 else 2"),
    ("let", "let a = 1 in ", "a", ""),
    ("let in let", "let a = ", "1", " in a"),
    ("all", "all x in A: ", "true", ""),
    ("any", "any x in A where ", "true", ": true"),
    ("implies", "a implies ", "a", ""),
    ("plus to the right", "1 + (", "1", ")"),
    ("mixed brackets", "({[", "1", "]})"),
];

const IN_STEP: &[(&str, &str, &str, &str)] = &[
    ("blocks", "if true { ", "a := 1", " }"),
    ("blocks in lines", "if true {\n", "a := 1\n", "}\n"),
    ("else if", "if true { } else ", "if true { }", ""),
    ("else blocks", "if true { } else { ", "a := 1", " }"),
    ("for", "for x in a { ", "a := 1", " }"),
];

const IN_TYPE: &[(&str, &str, &str, &str)] = &[
    ("list", "list ", "int", ""),
    ("map", "map int ", "int", ""),
    ("parentheses in types", "(", "int", ")"),
];

const AS_ITEM: &[(&str, &str, &str, &str)] =
    &[("items in items", "failure \"f\" { refused by compiler E0301 {\n", "actor a\n", "} }\n")];

/// Where it stands, what is repeated behind it, and the one message it gives.
const IN_A_ROW: &[(&str, &str, &str, &str)] = &[
    ("fields", "invariant n: a", ".a", "E0112"),
    ("indexes in a row", "invariant n: a", "[1]", "E0112"),
    ("present", "invariant n: a", " present", "E0112"),
    ("plus", "invariant n: 1", " + 1", "E0112"),
    ("times", "invariant n: 1", " * 1", "E0112"),
    ("optional", "define n(a: int", "?", "E0112"),
    ("targets", "step a[b] { a", ".a", "E0112"),
    ("comparisons", "invariant n: a", " < a", "E0111"),
    ("closing", "actor a", "}", "E0103"),
    ("opening braces", "", "{", "E0101"),
    ("opening brackets", "", "[", "E0101"),
    ("opening parentheses", "actor a ", "(", "E0107"),
];

/// (name, text, the one code it gives)
fn texts() -> Vec<(String, String, &'static str)> {
    let mut texts = Vec::new();
    let mut add = |shapes: &[(&str, &str, &str, &str)], before: &str, after: &str| {
        for (name, open, middle, close) in shapes {
            let opened = open.repeat(LEVELS);
            let closed = close.repeat(LEVELS);
            let whole = format!("{before}{opened}{middle}{closed}{after}");
            texts.push((name.to_string(), whole, "E0112"));
            texts.push((format!("{name}, cut off"), format!("{before}{opened}"), "E0112"));
        }
    };
    add(IN_EXPRESSION, "design D\ninvariant n: ", "\nactor last\n");
    add(IN_STEP, "design D\nstep a[b] { ", " }\nactor last\n");
    add(IN_TYPE, "design D\nsubject S(s: text) { truth T { a: ", " } }\nactor last\n");
    add(AS_ITEM, "design D\n", "\nactor last\n");
    for (name, start, link, code) in IN_A_ROW {
        let text = format!("{start}{}\nactor last\n", link.repeat(LEVELS));
        texts.push((name.to_string(), text, code));
    }
    texts
}

#[test]
fn nesting_without_end_gives_one_message_on_a_small_stack() {
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| {
        for (name, text, code) in texts() {
            check(&name, &text, code);
        }
    });
    let joined = worker.expect("a thread can be started").join();
    if let Err(panic) = joined {
        std::panic::resume_unwind(panic);
    }
}

fn check(name: &str, text: &str, code: &str) {
    let (parsed, looks) = parse_counting(text, FileId(0));
    let codes: Vec<&str> = parsed.diagnostics.iter().take(5).map(|d| d.code).collect();
    assert_eq!(codes, [code], "{name}");
    let walked = walk::file(&parsed.tree);
    assert!(walked.depth <= MAX_DEPTH, "{name}: {} levels", walked.depth);
    if text.ends_with("actor last\n") {
        let last = parsed.tree.items.last().map(|item| item.span.text(text));
        assert_eq!(last, Some("actor last"), "{name}");
    }
    let tokens = parsed.tokens.len() as u64;
    assert!(
        looks <= crate::mutations::LOOKS_PER_TOKEN * tokens,
        "{name}: {looks} looks for {tokens} tokens"
    );
    // dropping the tree happens here, on the small stack
}

#[test]
fn what_is_deep_but_not_too_deep_is_read() {
    for (open, close, levels) in [("(", ")", 190), ("not ", "", 190), ("f(", ")", 95)] {
        let text = format!("invariant n: {}a{}", open.repeat(levels), close.repeat(levels));
        let (parsed, _) = parse_counting(&text, FileId(0));
        assert_eq!(parsed.diagnostics, [], "{open}");
    }
    let chain = format!("invariant n: a{}", ".a".repeat(150));
    assert_eq!(parse_counting(&chain, FileId(0)).0.diagnostics, []);
    let flat = format!("invariant n: a{}", " and a or b".repeat(20_000));
    assert_eq!(parse_counting(&flat, FileId(0)).0.diagnostics, []);
}
