//! What went wrong, told where it happened.

use crate::html::{Html, html};
use server::problem::{OverHttp as _, Problem};

/// A note in the place of what could not be shown.
pub fn note(problem: &Problem) -> Html {
    let mut page = Html::new();
    html!(
        page,
        "<div class=\"note bad\" role=\"alert\"><h2>{}</h2><p>{}</p>",
        capital(&problem.title),
        crate::prose::prose(&problem.detail)
    );
    if problem.status().as_u16() == 429 {
        html!(page, "<p>Try again in a second.</p>");
    }
    html!(page, "</div>");
    page
}

/// A sentence begins with a capital letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if first != '`' => first.to_uppercase().chain(letters).collect(),
        _ => text.replace('`', ""),
    }
}
