//! "Which archetype is my problem?", on the first page. Whoever serves the pages has the catalog, and answers.

use std::sync::Arc;

use crate::fields::{Sent, sent};
use crate::html::{Html, html};

/// The archetypes that fit a question, best first.
pub type Finding = dyn Fn(&str) -> Vec<Suggestion> + Send + Sync;

/// Whoever answers questions.
#[derive(Clone)]
pub struct Finder(pub Arc<Finding>);

/// An archetype that fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suggestion {
    pub id: String,
    pub name: String,
    pub purpose: String,
    /// which words were found where
    pub found: Vec<String>,
    /// what to type, and what to write in a design; none: it does not ship
    pub next: Option<[String; 2]>,
}

/// A form, and the answer to what it asked.
pub fn part(finder: &Finder, query: &Sent) -> Html {
    let asked = sent(query, "find").unwrap_or_default().trim();
    let mut page = Html::new();
    html!(
        page,
        "<section id=\"find\"><h2>Which archetype is my problem?</h2><form class=\"inline card\" \
         method=\"get\" action=\"/console#find\"><div class=\"field\"><label for=\"find-words\">What is \
         shared, and what goes wrong</label><input id=\"find-words\" name=\"find\" value=\"{}\" \
         placeholder=\"double booking\" maxlength=\"400\"></div><button class=\"button \
         second\">Find</button></form>",
        asked
    );
    if !asked.is_empty() {
        let found = (finder.0)(asked);
        if found.is_empty() {
            html!(page, "<p>No archetype knows a word of this. Say it in other words.</p>");
        }
        for one in &found {
            suggestion(&mut page, one);
        }
    }
    html!(page, "</section>");
    page
}

fn suggestion(page: &mut Html, one: &Suggestion) {
    html!(
        page,
        "<section class=\"card\"><h3>{} {}</h3><p>{}</p><p class=\"faint\">{}</p>",
        one.id,
        one.name,
        one.purpose,
        one.found.join("; ")
    );
    match &one.next {
        Some([explain, using]) => {
            html!(page, "<p><code>{}</code>, or <code>{}</code> in a design</p>", explain, using)
        }
        None => html!(page, "<p>No design of it is in this program yet.</p>"),
    }
    html!(page, "</section>");
}
