//! One page that stands on its own: style, drawings and all.

use std::fmt::Write as _;

use drawing::lanes::STYLE as LANES;

use super::page_trace::{anchor, trace};
use super::words::{
    Told, all_searches, bytes, clean, free, place, place_of, reasons, said, seconds, size, slice,
    status, unseen, verdict, worlds,
};
use super::{Shown, traces};
use crate::{FailureStatus, Report, Verdict};

/// What the classes of a report look like, for a page of one's own around [`part`]; its lanes have
/// a style of their own.
pub const STYLE: &str = include_str!("page.css");

/// A design and its report, for a page.
pub struct Checked<'a> {
    /// what the user calls it
    pub name: &'a str,
    /// what it says of itself
    pub title: &'a str,
    pub report: &'a Report,
}

/// A page with everything that was found of each design.
pub fn html(checked: &[Checked<'_>]) -> String {
    let names: Vec<&str> = checked.iter().map(|one| one.name).collect();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{} checked</title>\n<style>\n{STYLE}{LANES}</style>\n</head>\n<body>\n",
        escape(&names.join(", "))
    );
    for one in checked {
        let scope = if checked.len() > 1 { format!("{}-", one.name) } else { String::new() };
        section(&mut out, one, &scope);
    }
    out.push_str("</body>\n</html>\n");
    out
}

/// What was found of one design, without a page around it.
pub fn part(checked: &Checked<'_>) -> String {
    let mut out = String::new();
    section(&mut out, checked, "");
    out
}

/// One history, without a page around it.
pub fn history(shown: &Shown<'_>) -> String {
    let mut out = String::new();
    trace(&mut out, shown, "");
    out
}

/// Text that means only itself in HTML and SVG, between tags and inside quotes.
pub(super) fn escape(text: &str) -> String {
    drawing::attribute(&clean(text))
}

/// A sentence in which what stands in backticks is code.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut parts = text.split('`').peekable();
    let mut inside = false;
    while let Some(part) = parts.next() {
        match (inside, parts.peek().is_some()) {
            (true, true) => out.push_str(&format!("<code>{}</code>", escape(part))),
            // a backtick without its other half
            (true, false) => out.push_str(&format!("`{}", escape(part))),
            (false, _) => out.push_str(&escape(part)),
        }
        inside = !inside;
    }
    out
}

fn section(out: &mut String, one: &Checked<'_>, scope: &str) {
    let report = one.report;
    let word = verdict(report);
    let class = match word {
        "proved" | "holds within bounds" => "good",
        "not known" => "odd",
        _ => "bad",
    };
    let _ = writeln!(
        out,
        "<h1>{}: <span class=\"verdict {class}\">{word}</span></h1>\n\
         <p class=\"faint\">{}</p>\n<p>{}</p>",
        escape(one.name),
        escape(one.title),
        escape(&reasons(report))
    );
    for told in worlds(report) {
        world(out, report, &told);
    }
    goals(out, report, scope);
    failures(out, report);
    if !report.unwitnessed.is_empty() {
        let (class, said) = match unseen(report) {
            "never seen" => ("bad", "Never seen"),
            _ => ("odd", "Not seen so far"),
        };
        let _ = writeln!(out, "<h2 class=\"{class}\">{said}</h2>\n<ul class=\"mono\">");
        for what in &report.unwitnessed {
            let _ = writeln!(out, "<li>{}</li>", escape(what));
        }
        out.push_str("</ul>\n");
    }
    if !report.free.is_empty() {
        out.push_str("<h2 class=\"odd\">Free clauses: no goal breaks without them</h2>\n");
        out.push_str("<ul class=\"mono\">\n");
        for clause in &report.free {
            let _ = writeln!(out, "<li>{}</li>", escape(&free(clause)));
        }
        out.push_str("</ul>\n");
    }
    let shown = traces(report);
    if !shown.is_empty() {
        out.push_str("<h2>Traces</h2>\n");
    }
    for one in &shown {
        trace(out, one, scope);
    }
}

fn world(out: &mut String, report: &Report, told: &Told<'_>) {
    let (world, base) = (told.world, told.base);
    if let Some(name) = told.name {
        let goals = escape(&told.goals.join(", "));
        let _ = writeln!(out, "<h2>{}</h2>\n<p>A world for {goals}.</p>", escape(name));
    }
    let none = ["none".to_string()];
    let faults = if world.faults.is_empty() { &none[..] } else { &world.faults };
    let mut explored = format!(
        "{}, {} bits a state, {}{}",
        size(base),
        base.state_bits,
        bytes(base.bytes),
        if base.closed { "" } else { ", not all of them" },
    );
    if told.name.is_none() {
        let (searches, seconds) = (all_searches(report), seconds(report.seconds));
        let _ = write!(explored, "; all in all {searches} in {seconds}");
    }
    let explored = [explored];
    out.push_str("<dl>\n");
    for (name, list, divided) in [
        ("world", &world.bounds[..], false),
        ("faults", faults, false),
        ("time", &world.time, false),
        ("with", &world.settings, false),
        ("symmetry", &world.symmetry, true),
        ("ranked", &world.normalised, true),
        ("cut", &world.cut, true),
        ("assumed", told.assumed, true),
        ("leads_to", told.assumed_of_leads, true),
        ("note", &world.notes, true),
        ("explored", &explored, false),
    ] {
        if list.is_empty() {
            continue;
        }
        let list: Vec<String> = list.iter().map(|text| prose(text)).collect();
        let text = if divided {
            format!("<div>{}</div>", list.join("</div><div>"))
        } else {
            list.join(", ")
        };
        let _ = writeln!(out, "<dt>{name}</dt><dd>{text}</dd>");
    }
    out.push_str("</dl>\n");
}

fn goals(out: &mut String, report: &Report, scope: &str) {
    if report.goals.is_empty() {
        return;
    }
    out.push_str(
        "<h2>Goals</h2>\n<table class=\"stack\">\n\
         <thead><tr><th>goal</th><th>verdict</th><th></th></tr></thead>\n<tbody>\n",
    );
    for goal in &report.goals {
        let class = match &goal.verdict {
            Verdict::Proved | Verdict::Holds(_) => "good",
            Verdict::Violated(_) => "bad",
            Verdict::Unknown(_) => "odd",
        };
        let (word, more) = said(&goal.verdict);
        let more = [Some(more), place(report, goal.goal), slice(goal)].into_iter().flatten();
        let more = more.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            out,
            "<tr><td class=\"name\">{}</td><td class=\"word {class}\">{word}</td><td>{}</td></tr>",
            match &goal.verdict {
                Verdict::Violated(_) => {
                    let at = anchor(scope, &goal.name);
                    format!("<a href=\"#{at}\">{}</a>", escape(&goal.name))
                }
                _ => escape(&goal.name),
            },
            escape(&more)
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

fn failures(out: &mut String, report: &Report) {
    if report.failures.is_empty() {
        return;
    }
    out.push_str(
        "<h2>Failures</h2>\n<table class=\"stack\">\n<thead><tr><th>failure</th>\
         <th>protection</th><th>verdict</th><th></th></tr></thead>\n<tbody>\n",
    );
    for failure in &report.failures {
        let (word, more) = status(failure);
        let class = match &failure.status {
            _ if failure.expected() => "good",
            FailureStatus::Unknown { .. } => "odd",
            _ => "bad",
        };
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"name\">{}</td><td class=\"word {class}\">{word}</td>\
             <td>{}</td></tr>",
            escape(&failure.title),
            escape(&match place_of(report, failure) {
                Some(place) => format!("{}, {place}", failure.claim),
                None => failure.claim.clone(),
            }),
            escape(&more)
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn page(report: &Report) -> String {
        html(&[Checked { name: "tickets", title: "Seat booking", report }])
    }

    /// Each history and each of its steps has a place that a link leads to, once on a page.
    #[test]
    fn a_step_has_a_place_of_its_own() {
        let report = fixture::report();
        let ids = |text: &str| {
            let ids = text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
            let mut ids: Vec<String> = ids.map(String::from).collect();
            let all = ids.len();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), all, "{ids:?}");
            ids
        };
        let text = page(&report);
        let at = crate::render::broken_at(&report).expect("a goal is violated");
        assert!(ids(&text).contains(&at), "{at}: {:?}", ids(&text));
        assert!(at.contains("-step-"), "{at}");
        let goal = at.split("-step-").next().unwrap();
        assert!(text.contains(&format!("href=\"#{goal}\"")), "{goal}");
        let one = |name| Checked { name, title: "Seat booking", report: &report };
        ids(&html(&[one("tickets"), one("shop")]));
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let text = page(&fixture::report());
        for part in ["http://", "https://", "<link", "<script", "url(", "@import"] {
            let found = text.replace("http://www.w3.org/2000/svg", "").contains(part);
            assert!(!found, "{part}");
        }
        assert_eq!(text.matches("<svg").count(), 2);
    }

    #[test]
    fn backticks_become_code() {
        assert_eq!(prose("`a<b` holds"), "<code>a&lt;b</code> holds");
        assert_eq!(prose("no `end"), "no `end");
    }

    #[test]
    fn no_text_of_a_design_becomes_markup() {
        let evil = "</style></title><script>alert('x')</script>\"onload=\"x";
        let mut report = fixture::report();
        report.design = evil.into();
        report.world.bounds = vec![evil.into()];
        report.goals[0].name = evil.into();
        report.failures[0].title = evil.into();
        report.failures[0].claim = evil.into();
        report.unwitnessed = vec![evil.into()];
        if let Verdict::Violated(trace) = &mut report.goals[0].verdict {
            trace.ending = evil.into();
            trace.initial[0].record = evil.into();
            let step = &mut trace.steps[0];
            step.name = evil.into();
            step.principal = Some(evil.into());
            step.params = vec![(evil.into(), evil.into())];
            step.changes[0].after = evil.into();
            step.would_have_refused = Some(evil.into());
        }
        let text = html(&[Checked { name: evil, title: evil, report: &report }]);
        assert!(!text.contains("<script") && !text.contains("\"onload"));
        assert_eq!(text.matches("</style>").count(), 1);
        assert_eq!(text.matches("</title>").count(), 1 + text.matches("<svg").count());
    }
}
