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
