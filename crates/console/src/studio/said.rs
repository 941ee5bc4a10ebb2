//! What is said of a text: each diagnostic with its place, in the words of `steadfast check`.

use design::Compiled;
use design::model::{Design, OperationKind, Span};

use crate::html::{Html, html};
use crate::prose::prose;

/// So many are shown; whoever has more begins with the first.
const SHOWN: usize = 50;
/// A line that is quoted is cut here.
const QUOTED: usize = 160;

/// The list, or that there is nothing to say. `has_page`: whether there is a page of this code.
pub fn told(compiled: &Compiled, has_page: &dyn Fn(&str) -> bool) -> Html {
    let mut page = Html::new();
    let all = &compiled.diagnostics;
    let errors = all.iter().filter(|said| said.is_error()).count();
    match (&compiled.design, all.len()) {
        (Some(design), 0) => html!(
            page,
            "<p class=\"note good\" data-compiles>It compiles: {}.</p>",
            counted(design)
        ),
        (Some(design), warnings) => html!(
            page,
            "<p class=\"note odd\" data-compiles>It compiles, with {}: {}.</p>",
            some(warnings, "warning"),
            counted(design)
        ),
        (None, _) if errors == all.len() => {
            html!(page, "<p class=\"note bad\">{}.</p>", some(errors, "error"));
        }
        (None, all) => html!(
            page,
            "<p class=\"note bad\">{}, {}.</p>",
            some(errors, "error"),
            some(all - errors, "warning")
        ),
    }
    if all.is_empty() {
        return page;
    }
    html!(page, "<ol class=\"said\">");
    for said in all.iter().take(SHOWN) {
        let class = if said.is_error() { "bad" } else { "odd" };
        let span = said.primary.span;
        let (from, to) = places(compiled, span);
        html!(page, "<li class=\"{}\"", class);
        let own = span.file.0 == 0;
        if own {
            let same_line = from.0 == to.0;
            html!(
                page,
                " data-line=\"{}\" data-column=\"{}\" data-width=\"{}\"",
                from.0,
                from.1,
                if same_line { to.1.saturating_sub(from.1).max(1) } else { 1 }
            );
        }
        let place = match compiled.sources.get(span.file).filter(|_| !own) {
            Some(source) => format!("{}:{}:{}", source.name, from.0, from.1),
            None => format!("{}:{}", from.0, from.1),
        };
        let word = if said.is_error() { "error" } else { "warning" };
        html!(
            page,
            "><p><span class=\"where mono\">{}</span> <strong class=\"{}\">{}</strong> ",
            place,
            class,
            word
        );
        match has_page(said.code) {
            true => html!(
                page,
                "<a class=\"mono\" href=\"/console/_/error/{}\">{}</a>",
                said.code,
                said.code
            ),
            false => html!(page, "<span class=\"mono\">{}</span>", said.code),
        }
        html!(page, " {}</p>", prose(&said.message));
        quoted(&mut page, compiled, span, &said.primary.text);
        for label in &said.secondary {
            let ((line, column), _) = places(compiled, label.span);
            html!(page, "<p class=\"hint\">{}:{} {}</p>", line, column, prose(&label.text));
        }
        for help in &said.help {
            html!(page, "<p class=\"hint\">help: {}</p>", prose(help));
        }
        html!(page, "</li>");
    }
    html!(page, "</ol>");
    if all.len() > SHOWN {
        html!(page, "<p class=\"hint\">And {} more.</p>", all.len() - SHOWN);
    }
    page
}

type Place = (u32, u32);

/// Where it begins and ends, by line and column.
fn places(compiled: &Compiled, span: Span) -> (Place, Place) {
    let Some(source) = compiled.sources.get(span.file) else { return ((0, 0), (0, 0)) };
    let (from, to) = (source.position(span.start), source.position(span.end));
    ((from.line, from.column), (to.line, to.column))
}

/// The line it stands in, with what is said right there.
fn quoted(page: &mut Html, compiled: &Compiled, span: Span, label: &str) {
    let Some(source) = compiled.sources.get(span.file) else { return };
    let ((line, _), _) = places(compiled, span);
    let Some(text) = source.text.lines().nth(line.saturating_sub(1) as usize) else { return };
    let text: String = text.trim_start().chars().take(QUOTED).collect();
    if !text.is_empty() {
        html!(page, "<p class=\"quoted\"><code>{}</code></p>", text);
    }
    if !label.is_empty() {
        html!(page, "<p class=\"hint\">{}</p>", prose(label));
    }
}

pub fn some(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What the design is made of.
fn counted(design: &Design) -> String {
    let step = |kind: &OperationKind| matches!(kind, OperationKind::Step { .. });
    let parts = [
        (design.actors.len(), "actor"),
        (design.subjects.len(), "subject"),
        (design.operations.iter().filter(|it| step(&it.kind)).count(), "step"),
        (design.goals().count(), "goal"),
        (design.failures.len(), "failure"),
    ];
    let parts: Vec<String> = parts.iter().map(|(count, noun)| some(*count, noun)).collect();
    parts.join(", ")
}

/// The clauses that may be taken away, as choices.
pub fn clauses(design: &Design, chosen: &str) -> Html {
    let mut page = Html::new();
    for (name, _) in removable(design) {
        let selected = if name == chosen { " selected" } else { "" };
        html!(page, "<option{}>{}</option>", Html::trusted(selected.into()), name);
    }
    page
}

/// The named clauses of steps; the guard of a repair says when it is due.
pub fn removable(design: &Design) -> Vec<(String, design::model::Protection)> {
    let mut all = design.clauses();
    all.retain(|(_, protection)| {
        let design::model::Protection::Clause { operation, .. } = protection else { return false };
        !matches!(design.operations[operation.index()].kind, OperationKind::Repair { .. })
    });
    all
}
