//! The design itself: drawn, promised, written.

use crate::apps::Apps;
use crate::html::{Html, html};
use crate::prose::prose;
use crate::seen::Seen;
use crate::shell::{self, Tab};
use crate::used;
use crate::value::Place;
use crate::verdict;
use crate::visit::Visit;
use gateway::Service;

pub fn page(visit: &Visit, service: &Service, apps: Option<&Apps>) -> Html {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let mut page = Html::new();
    html!(page, "<h1>{}</h1><p class=\"lead\">{}", design.name, design.title);
    if let Some(address) = apps.and_then(|apps| apps.address(&service.name)) {
        html!(page, " <a href=\"{}\">Its page for those who use it</a>", address);
    }
    html!(page, "</p>");
    page.add(verdict::whole(service));
    let head = std::mem::take(&mut page);
    let drawings = explain::linked(design, &|actor, operation| {
        service.call(actor, operation).map(|_| place.step(actor, operation))
    });
    let mut contents = Vec::new();
    for (at, drawing) in drawings.iter().enumerate() {
        if at == 1 {
            heading(&mut page, &mut contents, "states", "States and protocols");
        }
        html!(
            page,
            "<figure class=\"drawing\" tabindex=\"0\" aria-label=\"{}\">{}</figure>",
            said(&drawing.name),
            Html::trusted(drawing.bare())
        );
    }
    if !design.uses.is_empty() {
        heading(&mut page, &mut contents, "used", "Made of");
        used::section(&mut page, service, &place);
    }
    promises(&mut page, service, &place, &mut contents);
    heading(&mut page, &mut contents, "text", "The text");
    text(&mut page, &service.text);
    let mut whole = head;
    list(&mut whole, &contents);
    whole.add(page);
    shell::of_design(visit, service, Tab::Design, &design.name, &whole)
}

/// Where a section begins, and what it is called.
type Contents = Vec<(&'static str, &'static str)>;

fn heading(page: &mut Html, contents: &mut Contents, id: &'static str, title: &'static str) {
    html!(page, "<h2 id=\"{}\">{}</h2>", id, title);
    contents.push((id, title));
}

/// The sections of a page that is longer than a screen.
fn list(page: &mut Html, contents: &Contents) {
    html!(page, "<nav class=\"contents\" aria-label=\"On this page\"><ul>");
    for (id, title) in contents {
        html!(page, "<li><a href=\"#{}\">{}</a></li>", *id, *title);
    }
    html!(page, "</ul></nav>");
}

/// `machine-Seat-status` for those who hear the page.
fn said(name: &str) -> String {
    let mut parts = name.splitn(3, '-');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("map"), ..) => "who does what to which truth".into(),
        (Some("machine"), Some(subject), Some(attribute)) => {
            format!("states of {attribute} of {subject}")
        }
        (Some("protocol"), Some(name), _) => format!("protocol {name}"),
        _ => name.to_string(),
    }
}

fn promises(page: &mut Html, service: &Service, place: &Place<'_>, contents: &mut Contents) {
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(service.design());
    if !sheet.failures.is_empty() {
        heading(page, contents, "failures", "What must not happen");
        html!(
            page,
            "<div class=\"wide\"><table class=\"stack\"><thead><tr>\
             <th>failure</th><th>prevented by</th><th>otherwise breaks</th></tr></thead><tbody>"
        );
        for failure in &sheet.failures {
            html!(page, "<tr><td><strong>{}</strong></td><td>", failure.title);
            for (at, text) in failure.prevention.iter().enumerate() {
                html!(page, "{}{}", if at > 0 { "; " } else { "" }, prose(text));
            }
            html!(
                page,
                "</td><td data-name=\"otherwise breaks\"><code>{}</code></td></tr>",
                failure.breaks.join(", ")
            );
        }
        html!(page, "</tbody></table></div>");
    }
    if [&sheet.invariants, &sheet.recovers, &sheet.leads_to].iter().any(|goals| !goals.is_empty()) {
        heading(page, contents, "goals", "What is promised");
        html!(page, "<div class=\"card\"><dl class=\"truth\">");
        for goal in &sheet.invariants {
            html!(page, "<dt>{}</dt><dd><code>{}</code></dd>", goal.name, goal.text);
        }
        for goal in &sheet.recovers {
            html!(
                page,
                "<dt>{}</dt><dd><span class=\"faint\">comes back to</span> <code>{}</code></dd>",
                goal.name,
                goal.text
            );
        }
        for goal in &sheet.leads_to {
            html!(page, "<dt>{}</dt><dd><code>{}</code></dd>", goal.name, goal.text);
        }
        html!(page, "</dl></div><p><a href=\"{}\">See it checked</a></p>", place.at("/check"));
    }
}

const WORDS: [&str; 27] = [
    "design",
    "archetype",
    "actor",
    "subject",
    "truth",
    "log",
    "view",
    "step",
    "repair",
    "effect",
    "on",
    "read",
    "protocol",
    "invariant",
    "recovers",
    "failure",
    "hotspot",
    "check",
    "test",
    "expect",
    "define",
    "use",
    "visible",
    "without",
    "breaks",
    "emit",
    "send",
];

/// The text with numbered lines; its words stand out a little.
fn text(page: &mut Html, text: &str) {
    html!(page, "<pre class=\"text\" tabindex=\"0\" aria-label=\"the text of the design\">");
    for line in text.lines() {
        html!(page, "<span>");
        coloured(page, line);
        html!(page, "</span>");
    }
    html!(page, "</pre>");
}

fn coloured(page: &mut Html, line: &str) {
    let mut rest = line;
    while !rest.is_empty() {
        if rest.starts_with("//") {
            html!(page, "<em>{}</em>", rest);
            return;
        }
        if let Some(after) = rest.strip_prefix('"') {
            let end = after.find('"').map_or(rest.len(), |at| at + 2);
            html!(page, "<q>{}</q>", &rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = match rest.find(|letter| !is_word(letter)) {
            Some(0) => rest.chars().next().map_or(1, char::len_utf8),
            Some(at) => at,
            None => rest.len(),
        };
        let (word, after) = rest.split_at(end);
        if WORDS.contains(&word) {
            html!(page, "<i>{}</i>", word);
        } else {
            page.add(word);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_whole_and_as_text() {
        let mut page = Html::new();
        coloured(&mut page, "step a[b] { x := \"<script>\" } // </pre>");
        assert_eq!(
            page.as_str(),
            "<i>step</i> a[b] { x := <q>&quot;&lt;script&gt;&quot;</q> } <em>// &lt;/pre&gt;</em>"
        );
        let mut open = Html::new();
        coloured(&mut open, "failure \"never closed é");
        assert_eq!(open.as_str(), "<i>failure</i> <q>&quot;never closed é</q>");
    }
}
