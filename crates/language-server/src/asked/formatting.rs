//! `steadfast fmt`, as edits.

use gen_lsp_types::{Range, TextEdit};
use syntax::Span;

use crate::snapshot::{Snapshot, TEXT};

/// What changes is one stretch, from the first line that differs to the last: an editor then keeps its place in the rest.
pub fn edits(snapshot: &Snapshot) -> Vec<TextEdit> {
    let before = &snapshot.text;
    let after = syntax::format(before).text;
    if *before == after {
        return Vec::new();
    }
    let lines = |text: &str| text.split_inclusive('\n').map(str::len).collect::<Vec<_>>();
    let (old, new) = (lines(before), lines(&after));
    let same = |a: &str, b: &str| a == b;
    let mut start = 0;
    for (a, b) in before.split_inclusive('\n').zip(after.split_inclusive('\n')) {
        if !same(a, b) {
            break;
        }
        start += a.len();
    }
    let mut end = 0;
    let most = (before.len() - start).min(after.len() - start);
    for (a, b) in old.iter().rev().zip(new.iter().rev()) {
        let (from, to) = (before.len() - end - a, after.len() - end - b);
        let lines = (&before[from..from + a], &after[to..to + b]);
        if a != b || end + a > most || !same(lines.0, lines.1) {
            break;
        }
        end += a;
    }
    let span = Span::new(TEXT, start as u32, (before.len() - end) as u32);
    let range: Range = snapshot.range(span);
    vec![TextEdit { range, new_text: after[start..after.len() - end].to_string() }]
}
