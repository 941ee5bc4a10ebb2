//! One history on the page: its swim lanes, then its steps with the state after each.

use std::fmt::Write as _;

use super::page::{escape, prose};
use super::sentence::sentence;
use super::state::{Value, by_record, states};
use super::svg::svg;
use super::text_trace::{belief, changes};
use super::words::{length, would_have};
use super::{Shown, traces};
use crate::{Report, TraceStep};

/// The history of a goal has a place of its own, and so has each of its steps; of a failure there may be several. `scope` is
/// put before these anchors, where a page has several designs.
pub(super) fn trace(out: &mut String, shown: &Shown<'_>, scope: &str) {
    let trace = shown.trace;
    let (title, its_own) = (shown.title, shown.claim.is_none());
    let id = |anchor: &dyn Fn() -> String| match its_own {
        true => format!(" id=\"{}\"", anchor()),
        false => String::new(),
    };
    let open = if its_own { " open" } else { "" };
    let what = match shown.claim {
        None => "<span class=\"bad\">violated</span>".to_string(),
        Some(claim) => format!("<code>{}</code>", escape(claim)),
    };
    let _ = writeln!(
        out,
        "<details class=\"trace\"{}{open}>\n<summary><strong>{}</strong> {what} \
         <span class=\"faint\">{}</span></summary>\n\
         <figure tabindex=\"0\" aria-label=\"the history, drawn\">\n{}</figure>\n<ol class=\"steps\">",
        id(&|| anchor(scope, title)),
        escape(title),
        escape(&length(trace)),
        svg(trace, &format!("{title}: {}", length(trace)))
    );
    let states = states(trace);
    for (at, step) in trace.steps.iter().enumerate() {
        if trace.cycle_start == Some(at) {
            out.push_str("<p class=\"repeat\">from here on, for ever:</p>\n");
        }
        let _ = write!(out, "<li{}>", id(&|| step_anchor(scope, title, at + 1)));
        one(out, step, states.get(at + 1).map_or(&[], Vec::as_slice));
    }
    out.push_str("</ol>\n");
    if !trace.ending.is_empty() {
        let _ = writeln!(out, "<p class=\"ending\">So: {}.</p>", prose(&trace.ending));
    }
    out.push_str("</details>\n");
}

/// Where the history of a goal stands on its page.
pub(super) fn anchor(scope: &str, title: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_';
    let plain = |c: char| if is_plain(c) { c.to_ascii_lowercase() } else { '-' };
    scope.chars().chain(title.chars()).map(plain).collect()
}

fn step_anchor(scope: &str, title: &str, number: usize) -> String {
    format!("{}-step-{number}", anchor(scope, title))
}

/// Where what is broken first is seen on the page of a report: the step that breaks it. None: nothing is broken.
pub fn broken_at(report: &Report) -> Option<String> {
    let shown = traces(report).into_iter().find(|shown| shown.claim.is_none())?;
    // what goes on for ever breaks in no step
    Some(match shown.trace.cycle_start {
        None if !shown.trace.steps.is_empty() => {
            step_anchor("", shown.title, shown.trace.steps.len())
        }
        _ => anchor("", shown.title),
    })
}

fn one(out: &mut String, step: &TraceStep, state: &[Value]) {
    let _ = writeln!(out, "{}", escape(&sentence(step)));
    if let Some(clause) = &step.would_have_refused {
        let _ = writeln!(
            out,
            "<p class=\"bad\">Here <code>{}</code> {}.</p>",
            escape(clause),
            would_have(clause)
        );
    }
    let said = changes(step);
    if !said.is_empty() || !step.memory.is_empty() {
        out.push_str("<ul class=\"mono\">\n");
        for line in said {
            let _ = writeln!(out, "<li class=\"good\">{}</li>", escape(&line));
        }
        for line in &step.memory {
            let _ = writeln!(out, "<li class=\"faint\">believed: {}</li>", escape(&belief(line)));
        }
        out.push_str("</ul>\n");
    }
    if !state.is_empty() {
        out.push_str("<details><summary>state</summary><div class=\"wide\"><table><tbody>\n");
        let mut last = "";
        for value in by_record(state) {
            let class = if value.changed { " class=\"changed\"" } else { "" };
            let record = if value.record == last { "" } else { &value.record };
            let _ = writeln!(
                out,
                "<tr{class}><td class=\"name\">{}</td><td class=\"name\">{}</td>\
                 <td class=\"name\">{}</td></tr>",
                escape(record),
                escape(&value.attribute),
                escape(&value.value)
            );
            last = &value.record;
        }
        out.push_str("</tbody></table></div></details>\n");
    }
    out.push_str("</li>\n");
}
