//! The page of the studio, whole or in parts.

use std::sync::Arc;

use design::Compiled;
use model_checker::render::{self, Checked, Shown};
use model_checker::{TakenAway, Trace};

use super::checks::{Came, Check, Early, Outcome, What, Why};
use super::sessions::Session;
use super::{Studio, said, served};
use crate::fields::{Sent, sent};
use crate::html::{Html, html};
use crate::prose::prose;
use crate::shell;
use crate::units::count;
use crate::visit::Visit;

/// What may be sent anew without the rest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Told,
    Checked,
    Tried,
    Guard,
}

/// What is to be shown.
pub struct Page {
    text: String,
    from: String,
    pub session: Option<Arc<Session>>,
    pub compiled: Option<Arc<Compiled>>,
    pub bench: Option<Html>,
    pub guard: Option<Html>,
    /// what went wrong, to be told in the first part that changed
    pub trouble: Option<Html>,
    pub changed: Vec<Part>,
}

impl Page {
    pub fn new(text: &str, from: &str) -> Page {
        Page {
            text: text.to_string(),
            from: from.to_string(),
            session: None,
            compiled: None,
            bench: None,
            guard: None,
            trouble: None,
            changed: Vec::new(),
        }
    }

    /// The parts that changed, each with where it belongs.
    pub fn parts(&self, studio: &Studio, form: &Sent) -> Html {
        let mut page = Html::new();
        let session = self.session.as_ref().map_or("", |session| session.id.as_str());
        for part in &self.changed {
            let (at, inner) = match part {
                Part::Told => ("told", self.told(studio)),
                Part::Checked => ("checked", self.checked()),
                Part::Tried => ("tried", self.tried()),
                Part::Guard => ("bench-guard", self.guarded()),
            };
            html!(page, "<div data-part=\"{}\" data-session=\"{}\">{}</div>", at, session, inner);
        }
        if let Some(design) = self.compiled.as_ref().and_then(|it| it.design.as_ref()) {
            for name in ["clause", "bench_without"] {
                let chosen = sent(form, name).unwrap_or_default();
                html!(
                    page,
                    "<select data-choices=\"{}\">{}{}</select>",
                    name,
                    Html::trusted(first_choice(name).into()),
                    said::clauses(design, chosen)
                );
            }
        }
        page
    }

    /// What went wrong is told once, where it did.
    fn trouble_of(&self, part: Part) -> Html {
        match self.changed.first() == Some(&part) {
            true => self.trouble.clone().unwrap_or_default(),
            false => Html::new(),
        }
    }

    fn told(&self, studio: &Studio) -> Html {
        let mut page = self.trouble_of(Part::Told);
        if let Some(compiled) = &self.compiled {
            let has_page = |code: &str| studio.page_of(code).is_some();
            page.add(said::told(compiled, &has_page));
        }
        page
    }

    fn checked(&self) -> Html {
        let mut page = self.trouble_of(Part::Checked);
        if let Some(session) = &self.session {
            let check = session.check().clone();
            page.add(so_far(&check));
        }
        page
    }

    fn tried(&self) -> Html {
        let mut page = self.trouble_of(Part::Tried);
        page.add(self.bench.clone().unwrap_or_default());
        page
    }

    fn guarded(&self) -> Html {
        let mut page = self.trouble_of(Part::Guard);
        page.add(self.guard.clone().unwrap_or_default());
        page
    }

    /// All of it.
    pub fn whole(&self, studio: &Studio, visit: &Visit, form: &Sent) -> Html {
        let mut page = Html::new();
        html!(
            page,
            "<h1>Studio</h1><p class=\"lead\">Write a design, check it and try it. Nothing that is served is touched: \
             what you try here is in memory, and gone when you leave.</p>"
        );
        self.beginnings(&mut page, studio, visit);
        html!(
            page,
            "<form class=\"studio\" method=\"post\" action=\"/console/_/studio\" data-studio data-from=\"{}\">\
             <input type=\"hidden\" name=\"session\" value=\"{}\"><div class=\"desk\">\
             <section aria-label=\"The text\"><div class=\"paper\"><div class=\"gutter\" aria-hidden=\"true\">\
             </div><div class=\"sheet\"><div class=\"marks\" aria-hidden=\"true\"></div><textarea id=\"text\" \
             name=\"text\" aria-label=\"the text of the design\" spellcheck=\"false\" autocomplete=\"off\" \
             autocapitalize=\"off\" wrap=\"off\" rows=\"28\">\n{}</textarea></div></div><div class=\"actions\">\
             <button class=\"button second\" name=\"do\" value=\"look\" formnovalidate data-plain>Look for \
             errors</button></div></section><section aria-label=\"Errors\"><div id=\"told\" \
             aria-live=\"polite\">{}</div></section></div>",
            self.from,
            self.session.as_ref().map_or("", |session| session.id.as_str()),
            self.text,
            self.told(studio)
        );
        self.checks(&mut page, form);
        self.tries(&mut page, form);
        html!(page, "</form>");
        shell::alone(visit, "Studio", &page)
    }

    /// What one may begin with.
    fn beginnings(&self, page: &mut Html, studio: &Studio, visit: &Visit) {
        html!(
            page,
            "<form class=\"inline card\" method=\"get\" action=\"/console/_/studio\" data-begin><div \
             class=\"field\"><label for=\"from\">Begin with</label><select id=\"from\" name=\"from\">"
        );
        let option = |page: &mut Html, value: &str, label: &str| {
            let selected = if value == self.from { " selected" } else { "" };
            html!(
                page,
                "<option value=\"{}\"{}>{}</option>",
                value,
                Html::trusted(selected.into()),
                label
            );
        };
        option(page, "example", "an example");
        html!(page, "<optgroup label=\"served here\">");
        for service in served(&visit.gateway) {
            option(page, &format!("served:{}", service.name), &service.design().name);
        }
        html!(page, "</optgroup>");
        let listed = studio.texts.listed();
        let mut folders: Vec<&str> = Vec::new();
        for one in &listed {
            if !folders.contains(&one.folder.as_str()) {
                folders.push(&one.folder);
            }
        }
        for folder in folders {
            html!(page, "<optgroup label=\"catalog: {}\">", folder);
            for one in listed.iter().filter(|one| one.folder == folder) {
                option(
                    page,
                    &format!("catalog:{}", one.name),
                    &format!("{}  {}", one.name, one.title),
                );
            }
            html!(page, "</optgroup>");
        }
        html!(
            page,
            "</select></div><button class=\"button second\">Load</button><p class=\"hint\" data-kept \
             hidden></p></form>"
        );
    }

    fn checks(&self, page: &mut Html, form: &Sent) {
        html!(
            page,
            "<section class=\"card\" aria-labelledby=\"check-title\"><h2 id=\"check-title\">Check</h2><div \
             class=\"inline\">"
        );
        choice(
            page,
            "seconds",
            "at most",
            sent(form, "seconds").unwrap_or("30"),
            &[("10", "10 seconds"), ("30", "30 seconds"), ("120", "2 minutes")],
        );
        choice(
            page,
            "states",
            "and",
            sent(form, "states").unwrap_or("500000"),
            &[
                ("100000", "100 000 states"),
                ("500000", "500 000 states"),
                ("2000000", "2 000 000 states"),
            ],
        );
        html!(
            page,
            "<button class=\"button\" name=\"do\" value=\"check\" formnovalidate>Check</button></div><div \
             class=\"inline\"><div class=\"field\"><label for=\"clause\">or take away a guard</label>"
        );
        self.clauses(page, "clause", form);
        html!(
            page,
            "</div><button class=\"button second\" name=\"do\" value=\"without\" formnovalidate>See what \
             breaks</button></div><div id=\"checked\" tabindex=\"-1\" aria-live=\"polite\">{}</div></section>",
            self.checked()
        );
    }

    fn clauses(&self, page: &mut Html, name: &'static str, form: &Sent) {
        let design = self.compiled.as_ref().and_then(|it| it.design.as_ref());
        let chosen = sent(form, name).unwrap_or_default();
        html!(
            page,
            "<select id=\"{}\" name=\"{}\">{}{}</select>",
            name,
            name,
            Html::trusted(first_choice(name).into()),
            design.map(|design| said::clauses(design, chosen)).unwrap_or_default()
        );
    }

    fn tries(&self, page: &mut Html, form: &Sent) {
        html!(
            page,
            "<section class=\"card\" aria-labelledby=\"try-title\"><h2 id=\"try-title\">Try it</h2><div \
             class=\"inline\"><div class=\"field\"><label for=\"bench_without\">guards</label>"
        );
        self.clauses(page, "bench_without", form);
        html!(
            page,
            "</div><button class=\"button\" name=\"do\" value=\"open\" formnovalidate>Open a scratch store</button>\
             <button class=\"quiet\" name=\"do\" value=\"close\" formnovalidate>Close it</button></div><p \
             class=\"hint\">An empty store in memory. Time passes when you say so, and you answer for the world \
             outside.</p><div id=\"tried\" tabindex=\"-1\">{}</div></section>",
            self.tried()
        );
    }
}

fn first_choice(name: &str) -> &'static str {
    match name {
        "bench_without" => "<option value=\"\">all in place</option>",
        _ => "<option value=\"\">choose one</option>",
    }
}

fn choice(page: &mut Html, name: &str, label: &str, chosen: &str, all: &[(&str, &str)]) {
    html!(
        page,
        "<div class=\"field\"><label for=\"{}\">{}</label><select id=\"{}\" name=\"{}\">",
        name,
        label,
        name,
        name
    );
    for (value, words) in all {
        let selected = if *value == chosen { " selected" } else { "" };
        html!(
            page,
            "<option value=\"{}\"{}>{}</option>",
            value,
            Html::trusted(selected.into()),
            words
        );
    }
    html!(page, "</select></div>");
}

/// How a check stands.
fn so_far(check: &Check) -> Html {
    let mut page = Html::new();
    match check {
        Check::NotAsked => {}
        Check::Running { arm, states, since, time, early } => {
            html!(
                page,
                "<div class=\"note\" data-working><p><strong>Exploring</strong> <code>{}</code>: {} states so far, \
                 {} of {} seconds.</p><p class=\"choices\"><button class=\"button second\" name=\"do\" value=\"stop\" \
                 formnovalidate>Stop</button> <button class=\"button second\" name=\"do\" value=\"progress\" \
                 formnovalidate data-plain>Look again</button></p></div>",
                arm,
                count(*states as f64),
                since.elapsed().as_secs(),
                time.as_secs()
            );
            histories(&mut page, early);
        }
        Check::Done(outcome) => came(&mut page, outcome),
    }
    page
}

fn came(page: &mut Html, outcome: &Outcome) {
    match &outcome.came {
        Came::Report(report) => {
            let (name, title) = (&outcome.name, &outcome.title);
            let part = render::part(&Checked { name, title, report });
            html!(page, "<div class=\"report\" data-walked>{}</div>", Html::trusted(part));
        }
        Came::TakenAway(answer) => taken_away(page, outcome, answer),
        Came::Ended { why, arm, states, early } => {
            let why = match why {
                Why::Stopped => "Stopped",
                Why::OutOfTime => "The time is over",
            };
            html!(
                page,
                "<div class=\"note odd\"><h3>Not known</h3><p>{} after {} seconds, in <code>{}</code> with {} \
                 states. {}</p></div>",
                why,
                format!("{:.0}", outcome.seconds),
                arm,
                count(*states as f64),
                if early.is_empty() {
                    "Nothing was seen to break until then."
                } else {
                    "This breaks:"
                }
            );
            histories(page, early);
        }
        Came::Failed(why) => html!(
            page,
            "<div class=\"note bad\"><h3>It cannot be checked</h3><p>{}</p></div>",
            prose(why)
        ),
    }
}

fn taken_away(page: &mut Html, outcome: &Outcome, answer: &TakenAway) {
    let What::Without { name, prevents, .. } = &outcome.what else { return };
    match answer {
        TakenAway::Breaks { goal, trace } => {
            html!(
                page,
                "<div class=\"note bad\" data-breaks><h3>Without <code>{}</code>, <code>{}</code> breaks</h3>",
                name,
                goal
            );
            if !prevents.is_empty() {
                html!(page, "<p>It prevents: <strong>{}</strong></p>", prevents.join(", "));
            }
            if trace.steps.iter().all(|step| step.would_have_refused.is_none()) {
                html!(
                    page,
                    "<p>It would have refused none of these steps: check the design as it is written.</p>"
                );
            }
            html!(page, "</div>");
            history(page, goal, Some(&format!("without {name}")), trace);
        }
        TakenAway::Nothing { within } => html!(
            page,
            "<div class=\"note good\" data-nothing><h3>Nothing breaks in this world without <code>{}</code></h3>\
             <p>Every goal holds all the same{}. Something else covers it, or the world of <code>check</code> is too \
             small to need it.</p></div>",
            name,
            if within.is_empty() {
                String::new()
            } else {
                format!(", within {}", within.join(", "))
            }
        ),
        TakenAway::Unknown(why) => html!(
            page,
            "<div class=\"note odd\"><h3>Not known</h3><p>Nothing was seen to break without <code>{}</code>: \
             {}.</p></div>",
            name,
            prose(why)
        ),
    }
}

fn histories(page: &mut Html, early: &[Early]) {
    for (goal, trace) in early {
        history(page, goal, None, trace);
    }
}

fn history(page: &mut Html, title: &str, claim: Option<&str>, trace: &Trace) {
    let part = render::history(&Shown { title, claim, trace });
    let part = part.replacen("<details class=\"trace\">", "<details class=\"trace\" open>", 1);
    html!(page, "<div class=\"report\" data-walked data-open>{}</div>", Html::trusted(part));
}

/// The page of an error code: headings, paragraphs, and texts of designs as they are.
pub fn markdown(text: &str) -> Html {
    let mut page = Html::new();
    let mut lines = text.lines();
    let mut paragraph = String::new();
    let flush = |page: &mut Html, paragraph: &mut String| {
        if !paragraph.is_empty() {
            html!(page, "<p>{}</p>", prose(paragraph.trim_end()));
            paragraph.clear();
        }
    };
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            flush(&mut page, &mut paragraph);
            let code: Vec<&str> =
                lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            html!(
                page,
                "<pre class=\"text code\" tabindex=\"0\"><code>{}</code></pre>",
                code.join("\n")
            );
        } else if let Some(heading) = line.strip_prefix("# ") {
            flush(&mut page, &mut paragraph);
            html!(page, "<h1>{}</h1>", heading);
        } else if let Some(heading) = line.strip_prefix("## ") {
            flush(&mut page, &mut paragraph);
            html!(page, "<h2>{}</h2>", heading);
        } else if line.is_empty() {
            flush(&mut page, &mut paragraph);
        } else {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    flush(&mut page, &mut paragraph);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_an_error_is_shown_as_text() {
        let page = markdown("# E1: `a` <b>\n\nIt is\nso: `x`.\n\n```design\nstep <a>\n```\n");
        assert_eq!(
            page.as_str(),
            "<h1>E1: `a` &lt;b&gt;</h1><p>It is so: <code>x</code>.</p>\
             <pre class=\"text code\" tabindex=\"0\"><code>step &lt;a&gt;</code></pre>"
        );
    }
}
