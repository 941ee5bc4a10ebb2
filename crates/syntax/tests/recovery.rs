//! One mistake, one message, at the right place; and the rest of the text is still read.

use syntax::{Diagnostic, FileId, TokenKind, lex, parse};

const WORKED: &[(&str, &str)] = &[
    ("claim", include_str!("data/claim.design")),
    ("tickets", include_str!("data/tickets.design")),
    ("payments", include_str!("data/payments.design")),
    ("constructs", include_str!("data/constructs.design")),
];

fn place(text: &str, diagnostic: &Diagnostic) -> String {
    let before = &text[..diagnostic.primary.span.start as usize];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{} {line}:{column}", diagnostic.code)
}

fn places(text: &str) -> Vec<String> {
    parse(text, FileId(0)).diagnostics.iter().map(|d| place(text, d)).collect()
}

/// Leaves out each token of these kinds in turn; returns what gave more than one message, and
/// fails if leaving one out gives none.
fn left_out(kinds: &[TokenKind]) -> (usize, Vec<String>) {
    let mut tried = 0;
    let mut noisy = Vec::new();
    for (name, text) in WORKED {
        let items = parse(text, FileId(0)).tree.items.len();
        for token in lex(text, FileId(0)).0 {
            if !kinds.contains(&token.kind) {
                continue;
            }
            let (start, end) = (token.span.start as usize, token.span.end as usize);
            let broken = format!("{}{}", &text[..start], &text[end..]);
            let parsed = parse(&broken, FileId(0));
            let line = text[..start].matches('\n').count() + 1;
            let said: Vec<String> = parsed
                .diagnostics
                .iter()
                .map(|d| format!("{} {}", place(&broken, d), d.message))
                .collect();
            tried += 1;
            assert!(!said.is_empty(), "{name}:{line}: nothing is said without {:?}", token.kind);
            if said.len() > 1 || parsed.tree.items.len() < items {
                let found = parsed.tree.items.len();
                noisy.push(format!(
                    "{name}:{line} without {:?} at {start}: {found} of {items} items, {said:#?}",
                    token.kind
                ));
            }
        }
    }
    (tried, noisy)
}

#[test]
fn the_constructs_have_nothing_to_say() {
    for (name, text) in WORKED {
        assert_eq!(places(text), [""; 0], "{name}");
    }
}

#[test]
fn a_missing_closing_bracket_gives_one_message_and_loses_no_item() {
    let closing = [TokenKind::CloseBrace, TokenKind::CloseBracket, TokenKind::CloseParen];
    let (tried, noisy) = left_out(&closing);
    assert!(tried >= 200, "only {tried} were tried");
    assert!(noisy.is_empty(), "{} of {tried}:\n{}", noisy.len(), noisy.join("\n"));
}

#[test]
fn a_missing_opening_bracket_gives_one_message_and_loses_no_item() {
    let opening = [TokenKind::OpenBrace, TokenKind::OpenBracket, TokenKind::OpenParen];
    let (tried, noisy) = left_out(&opening);
    assert!(tried >= 200, "only {tried} were tried");
    assert!(noisy.is_empty(), "{} of {tried}:\n{}", noisy.len(), noisy.join("\n"));
}

#[test]
fn each_mistake_gives_its_one_message_at_its_place() {
    let table = include_str!("data/mistakes.txt");
    let mut tried = 0;
    for entry in table.split("=== ").filter(|entry| !entry.is_empty()) {
        let (expected, text) = entry.split_once('\n').expect("a first line and a text");
        let parsed = parse(text, FileId(0));
        let said: Vec<String> = parsed
            .diagnostics
            .iter()
            .map(|d| format!("{} {}", place(text, d), d.message))
            .collect();
        assert_eq!(said, [expected], "{text}");
        tried += 1;
    }
    assert!(tried >= 80, "only {tried} mistakes in the table");
}

#[test]
fn messages_keep_their_style() {
    let table = include_str!("data/mistakes.txt");
    for entry in table.split("=== ").filter_map(|entry| entry.split_once('\n')) {
        for d in parse(entry.1, FileId(0)).diagnostics {
            let lines = d.help.iter().chain([&d.message, &d.primary.text]);
            for line in lines.chain(d.secondary.iter().map(|label| &label.text)) {
                assert!(!line.ends_with('.') || line.ends_with("…"), "{line}");
                assert!(!line.starts_with(char::is_uppercase), "{line}");
            }
        }
    }
}

#[test]
fn a_missing_bracket_is_shown_with_the_one_that_opened_it() {
    let text = "step a[go(s: S)] {\n    T.n := 1\n\nactor b\n";
    let diagnostics = parse(text, FileId(0)).diagnostics;
    assert_eq!(diagnostics.len(), 1);
    let opener = diagnostics[0].secondary[0].span;
    assert_eq!((opener.start, opener.text(text)), (17, "{"));
}

#[test]
fn mistakes_in_different_places_are_all_told() {
    let text = "design D
subject S(s: text) {
    truth T { n: , m: int = }
    trth U { a: int }
}
step a[go(s: S) { one: a =
    two: b < c < d }] {
    T.n = 1
    T.m :=
    T.o := 3
}
step b[go2(s: S)] { T.n }
check { s 2 }
";
    assert_eq!(
        places(text),
        [
            "E0105 3:18",
            "E0104 3:29",
            "E0115 4:5",
            "E0104 6:27",
            "E0111 7:16",
            "E0110 8:9",
            "E0104 9:11",
            "E0107 12:25",
            "E0121 13:11",
        ]
    );
}

#[test]
fn a_source_that_is_too_long_gets_one_message_and_an_empty_tree() {
    let text = "a".repeat(syntax::MAX_SOURCE_BYTES + 1);
    let parsed = parse(&text, FileId(0));
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["E0008"]);
    assert!(parsed.tree.items.is_empty());
    assert_eq!(parsed.tokens.len(), 1);
}

#[test]
fn what_is_said_twice_is_reported_where_it_is_said_again() {
    let said = |text: &str| places(text);
    assert_eq!(said("design D\nstep a[go] keyed keyed { }\n"), ["E0116 2:18"]);
    assert_eq!(said("design D\nrepair a[go] every 1s every 2s { }\n"), ["E0116 2:23"]);
    let log = "design D\nsubject S(s: text) {\n    log L { n: int } retain 3 retain 4\n}\n";
    assert_eq!(said(log), ["E0116 3:31"]);
}
