//! The verdict in a terminal.

use std::fmt::Write as _;

use super::paint::Paint;
use super::text_trace::trace;
use super::words::{
    Told, all_searches, bytes, clean, free, length, place, place_of, reasons, said, seconds, size,
    slice, status, unseen, used, verdict, worlds,
};
use super::{Shown, traces};
use crate::{FailureStatus, FailureVerdict, Report, Verdict};

/// Which histories are told after the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Traces {
    None,
    /// of what is broken
    Broken,
    /// of what load-bearing protections prevent
    Prevented,
    /// of both
    All,
}

/// The verdict on the design that the user calls `name`, and its traces.
pub fn text(name: &str, report: &Report, which: Traces, paint: Paint) -> String {
    let mut out = String::new();
    let word = verdict(report);
    let bounds = report.bounds();
    let word = match word {
        "proved" if report.goals.is_empty() => paint.odd("nothing to prove"),
        "proved" => paint.good(word),
        "holds within bounds" => {
            format!("{} {}", paint.good("holds within"), clean(&bounds.join(", ")))
        }
        "not known" => paint.odd(word),
        _ => paint.bad(word),
    };
    let _ = writeln!(out, "{}: {word} ({})", paint.strong(&clean(name)), reasons(report));
    for line in used(report) {
        let _ = writeln!(out, "  {} {}", paint.faint(&format!("{:<9}", "uses")), clean(&line));
    }
    for told in worlds(report) {
        world(&mut out, &told, paint);
    }
    goals(&mut out, report, paint);
    failures(&mut out, report, paint);
    unwitnessed(&mut out, report, paint);
    free_clauses(&mut out, report, paint);
    out.push('\n');
    for told in worlds(report) {
        let base = told.base;
        let _ = writeln!(
            out,
            "  as written{} {}, {} bits a state, {}{}",
            told.name.map_or_else(String::new, |name| format!(" in {},", clean(name))),
            size(base),
            base.state_bits,
            bytes(base.bytes),
            if base.closed { "" } else { ", not all of them" },
        );
    }
    let (searches, seconds) = (all_searches(report), seconds(report.seconds));
    let _ = writeln!(out, "  all in all {searches} in {seconds}");
    for shown in traces(report) {
        let wanted = match which {
            Traces::None => false,
            Traces::Broken => shown.claim.is_none(),
            Traces::Prevented => shown.claim.is_some(),
            Traces::All => true,
        };
        if wanted {
            let _ = writeln!(out, "\n{}", heading(&shown, paint));
            out.push_str(&trace(shown.trace, paint));
        }
    }
    out
}

/// One goal that was just found to break, while the search goes on.
pub fn found(goal: &str, held: &crate::Trace, paint: Paint) -> String {
    let shown = Shown { title: goal, claim: None, trace: held };
    format!("{}\n{}", heading(&shown, paint), trace(held, paint))
}

/// The history that a protection prevents.
pub fn prevented(failure: &crate::FailureVerdict, held: &crate::Trace) -> String {
    let shown = Shown { title: &failure.title, claim: Some(&failure.claim), trace: held };
    format!("{}\n{}", heading(&shown, Paint::Plain), trace(held, Paint::Plain))
}

/// Every history alone, without colours.
pub fn told(report: &Report) -> String {
    let one = |shown: &Shown<'_>| {
        format!("{}\n{}", heading(shown, Paint::Plain), trace(shown.trace, Paint::Plain))
    };
    traces(report).iter().map(one).collect::<Vec<_>>().join("\n")
}

fn heading(shown: &Shown<'_>, paint: Paint) -> String {
    let title = clean(shown.title);
    match shown.claim {
        None => format!("{} {}", paint.bad(&format!("{title} is violated:")), length(shown.trace)),
        Some(claim) => format!(
            "{} {}: {}",
            paint.strong(&format!("\"{title}\"")),
            clean(claim),
            length(shown.trace)
        ),
    }
}

fn world(out: &mut String, told: &Told<'_>, paint: Paint) {
    let world = told.world;
    if let Some(name) = told.name {
        let name = paint.strong(&clean(name));
        let _ = writeln!(out, "\n  {name}, for {}", clean(&told.goals.join(", ")));
    }
    let mut row = |name: &str, list: &[String], divider: &str| {
        if !list.is_empty() {
            let list: Vec<String> = list.iter().map(|text| clean(text)).collect();
            let list = list.join(divider);
            let _ = writeln!(out, "  {} {list}", paint.faint(&format!("{name:<9}")));
        }
    };
    let below = format!("\n  {:<9} ", "");
    row("world", &world.bounds, ", ");
    if world.faults.is_empty() {
        row("faults", &["none".to_string()], "");
    } else {
        row("faults", &world.faults, ", ");
    }
    row("time", &world.time, ", ");
    row("with", &world.settings, ", ");
    row("symmetry", &world.symmetry, "; ");
    row("ranked", &world.normalised, "; ");
    row("cut", &world.cut, &below);
    row("assumed", told.assumed, &below);
    row("leads_to", told.assumed_of_leads, &below);
    row("note", &world.notes, &below);
}

fn goals(out: &mut String, report: &Report, paint: Paint) {
    if report.goals.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  {}", paint.strong("goals"));
    let width = widest(report.goals.iter().map(|goal| clean(&goal.name)));
    for goal in &report.goals {
        let (word, more) = said(&goal.verdict);
        let word = match &goal.verdict {
            Verdict::Proved | Verdict::Holds(_) => paint.good(word),
            Verdict::Violated(_) => paint.bad(word),
            Verdict::Unknown(_) => format!("{}:", paint.odd(word)),
        };
        let more = [Some(more), place(report, goal.goal)].into_iter().flatten();
        let more = more.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let explored = slice(goal).map_or_else(String::new, |told| paint.faint(&clean(&told)));
        let more = [clean(&more), explored].join("  ");
        let line = format!("    {:<width$}  {word} {}", clean(&goal.name), more.trim());
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn failures(out: &mut String, report: &Report, paint: Paint) {
    if report.failures.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  {}", paint.strong("failures"));
    let quoted = |failure: &FailureVerdict| format!("\"{}\"", clean(&failure.title));
    let width = widest(report.failures.iter().map(quoted)).min(48);
    for failure in &report.failures {
        let (word, more) = status(failure);
        let padded = format!("{word:<12}");
        let word = match &failure.status {
            _ if failure.expected() => paint.good(&padded),
            FailureStatus::Unknown { .. } => paint.odd(&padded),
            _ => paint.bad(&padded),
        };
        let _ = writeln!(out, "    {:<width$}  {word}  {}", quoted(failure), clean(&more));
        let claim = match place_of(report, failure) {
            Some(place) => format!("{}, {place}", failure.claim),
            None => failure.claim.clone(),
        };
        let _ = writeln!(out, "    {:<width$}  {}", "", paint.faint(&clean(&claim)));
    }
}

fn unwitnessed(out: &mut String, report: &Report, paint: Paint) {
    if report.unwitnessed.is_empty() {
        return;
    }
    let these = if report.worlds.is_empty() { "this world" } else { "these worlds" };
    let heading = format!("{} in {these}", unseen(report));
    let heading = if report.closed() { paint.bad(&heading) } else { paint.odd(&heading) };
    let _ = writeln!(out, "\n  {heading}");
    for what in &report.unwitnessed {
        let _ = writeln!(out, "    {}", clean(what));
    }
}

fn free_clauses(out: &mut String, report: &Report, paint: Paint) {
    if report.free.is_empty() {
        return;
    }
    let heading = "free clauses: no goal breaks without them";
    let _ = writeln!(out, "\n  {}", paint.odd(heading));
    for clause in &report.free {
        let _ = writeln!(out, "    {}", clean(&free(clause)));
    }
    let help = "name the failure that each prevents, or keep it with `defence STEP.clause \"why\"`";
    let _ = writeln!(out, "    {}", paint.faint(help));
}

fn widest(names: impl Iterator<Item = String>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn the_verdict_says_what_was_explored_and_what_was_found() {
        let text = text("tickets", &fixture::report(), Traces::Broken, Paint::Plain);
        for part in [
            "tickets: violated (1 goal violated, 1 goal proved, ",
            "world     seat: 1, booking: 2",
            "faults    crash, lost_reply",
            "one_winner  violated in 4 steps",
            "released    proved 1,204 states of Seat, buyer",
            "\"oversell\"       load-bearing  4 steps",
            "without hold.free breaks one_winner",
            "covered by confirm.open",
            "never seen in this world\n    confirm.yours refuses",
            "as written 1,234 states, 5,678 transitions, depth 9",
            "all in all 1 search, 1,234 states in 0.7 s",
            "one_winner is violated: 4 steps",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn only_what_is_broken_is_told_unless_all_is_asked_for() {
        let report = fixture::report();
        let told = |which| text("t", &report, which, Paint::Plain).matches("1. ").count();
        assert_eq!(told(Traces::Broken), 1);
        assert_eq!(told(Traces::All), 2);
    }
}
