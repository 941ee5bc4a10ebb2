//! Two designs held against each other, for people.

use super::{Page, code};
use crate::against::{Change, Difference, Follows};

pub fn difference(difference: &Difference) -> String {
    let mut page = Page::default();
    page.line(&format!("# From {} to {}", difference.old, difference.new));
    page.line("");
    let Difference { old_version, new_version, .. } = difference;
    page.line(&format!("From version `{old_version}` to version `{new_version}`."));
    page.line("");
    if difference.is_empty() {
        page.line("Nothing changes for stored truth, for what is in flight, or for clients.");
        return page.text;
    }
    page.line(match difference.follows {
        Follows::AsItIs => "**Stored truth can follow as it is.**",
        Follows::ByRewriting => "**Stored truth can follow**, once its records are rewritten by the rules below.",
        Follows::IfUnused => "**Stored truth can follow only if it allows what is below**, which has to be looked at.",
        Follows::Never => "**Stored truth cannot follow:** no rule gives the new truth from the old.",
    });
    section(&mut page, "Stored truth", &difference.truth, true);
    section(&mut page, "In flight: memory, outbox, due times", &difference.in_flight, true);
    section(&mut page, "Clients", &difference.clients, false);
    page.text
}

fn section(page: &mut Page, title: &str, changes: &[Change], follows: bool) {
    page.heading(title);
    if changes.is_empty() {
        page.line("Nothing changes.");
        return;
    }
    let rows = changes.iter().map(|change| {
        let mut row = vec![code(&change.on), change.text.clone()];
        if follows {
            row.push(change.follows.text().into());
        }
        row
    });
    if follows {
        page.table(&["on", "what changes", "follows"], rows);
    } else {
        page.table(&["on", "what changes"], rows);
    }
}
