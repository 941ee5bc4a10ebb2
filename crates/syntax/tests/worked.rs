//! The worked designs are read without a word.

use syntax::{FileId, parse};

#[test]
fn the_worked_designs_have_nothing_to_say() {
    for (name, text) in [
        ("claim", include_str!("data/claim.design")),
        ("tickets", include_str!("data/tickets.design")),
        ("payments", include_str!("data/payments.design")),
    ] {
        let parsed = parse(text, FileId(0));
        assert_eq!(parsed.diagnostics, [], "{name}");
        assert!(parsed.tree.items.len() > 10, "{name}");
    }
}
