//! One mistake gives one error: what only follows from it is not said.

mod common;

use common::{codes, designs, errors};
use syntax::FileId;
use syntax::tree::ItemKind;

/// A design without one of its items, and what kind of item that was.
fn without_each_item(text: &str) -> Vec<(String, String)> {
    let parsed = syntax::parse(text, FileId(0));
    let kind = |kind: &ItemKind| match kind {
        ItemKind::Actor(_) => "actor",
        ItemKind::Subject(_) => "subject",
        ItemKind::Operation(_) => "operation",
        ItemKind::Define(_) => "define",
        ItemKind::View(_) => "view",
        ItemKind::Invariant { .. } | ItemKind::Recovers { .. } => "goal",
        ItemKind::Design { .. } | ItemKind::Archetype { .. } => "header",
        _ => "other",
    };
    let items = parsed.tree.items.iter();
    items
        .map(|item| {
            let (start, end) = (item.span.start as usize, item.span.end as usize);
            let what =
                format!("{} {}", kind(&item.kind), text[start..end].lines().next().unwrap_or(""));
            (what, format!("{}{}", &text[..start], &text[end..]))
        })
        .collect()
}

#[test]
fn measure() {
    for (path, text) in designs() {
        for (what, rest) in without_each_item(&text) {
            let compiled = common::compiled(&rest);
            let found = errors(&compiled);
            if found.len() > 1 {
                println!("{path} without {what}: {found:?}");
                for p in &compiled.diagnostics {
                    println!("     {}", common::plain(p).replace('\n', " | "));
                }
            }
        }
        let (tokens, _) = syntax::lex(&text, FileId(0));
        let mut histogram = [0; 12];
        for token in &tokens {
            let (start, end) = (token.span.start as usize, token.span.end as usize);
            let rest = format!("{}{}", &text[..start], &text[end..]);
            let compiled = common::compiled(&rest);
            let n = errors(&compiled).len().min(11);
            histogram[n] += 1;
            if n > 2 {
                println!(
                    "{path} without token {:?} at {:?}: {:?}",
                    &text[start..end],
                    compiled.sources.position(token.span),
                    errors(&compiled)
                );
            }
        }
        println!("{path}: {histogram:?}");
    }
    let _ = codes("");
}
