//! Sentences on a page.

use crate::html::{Html, html};

/// A sentence in which what stands in backticks is code.
pub fn prose(text: &str) -> Html {
    let mut page = Html::new();
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 1 {
            html!(page, "<code>{}</code>", part);
        } else {
            page.add(part);
        }
    }
    page
}
