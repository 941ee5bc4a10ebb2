//! Small words that every form of a report uses.

use design::model::{FailureProof, Goal};

use crate::{
    ArmResult, FailureStatus, FailureVerdict, FreeClause, GoalVerdict, Report, Trace, Verdict,
    WorldSummary,
};

/// A text of the design without what would move a cursor or change a colour.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The key of a call, taken away, has a name that no clause has.
fn is_key(protection: &str) -> bool {
    protection.starts_with("keyed of ")
}

/// What a protection that was taken away would have done here.
pub(super) fn would_have(protection: &str) -> &'static str {
    match is_key(protection) {
        true => "would have given the first answer again",
        false => "would have refused",
    }
}

/// What it does here, where it is in place.
pub(super) fn does(protection: &str) -> &'static str {
    if is_key(protection) { "gives the first answer again" } else { "refuses" }
}

/// `1 step`, `12,345 states`
pub(super) fn counted(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {noun}{s}", grouped(count))
}

/// `12,345`
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `0.012 s`, `1.2 s`, `75 s`
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => format!("{s:.3} s"),
        s if s < 10.0 => format!("{s:.1} s"),
        s => format!("{s:.0} s"),
    }
}

/// `12 kB`, `3.4 GB`
pub(super) fn bytes(bytes: u64) -> String {
    let mut size = bytes as f64;
    for unit in ["B", "kB", "MB"] {
        if size < 1000.0 {
            let digits = usize::from(size < 10.0 && unit != "B");
            return format!("{size:.digits$} {unit}");
        }
        size /= 1000.0;
    }
    format!("{size:.1} GB")
}

/// `12,345 states, 67,890 transitions, depth 14`
pub(super) fn size(arm: &ArmResult) -> String {
    format!(
        "{}, {}, depth {}",
        counted(arm.states, "state"),
        counted(arm.transitions, "transition"),
        arm.depth
    )
}

/// What was explored for a goal that holds: `1,204 states`, `1,204 states of Seat, memory of buyer`.
pub(super) fn slice(goal: &GoalVerdict) -> Option<String> {
    let held = matches!(goal.verdict, Verdict::Proved | Verdict::Holds(_));
    let states = counted(goal.states, "state");
    held.then(|| match &goal.slice {
        Some(slice) => format!("{states} of {slice}"),
        None => states,
    })
}

/// What a design uses, one line each: `A08 as Seat, without cancel_seat`.
pub(super) fn used(report: &Report) -> Vec<String> {
    let one = |used: &design::model::Use| {
        let mut line = format!("{} as {}", used.archetype, used.noun);
        if !used.hidden.is_empty() {
            line.push_str(&format!("; hidden {}", used.hidden.join(", ")));
        }
        if !used.added.is_empty() {
            line.push_str(&format!("; added {}", used.added.join(", ")));
        }
        for left in &used.left_out {
            line.push_str(&format!("; without {}, because {}", left.goal, left.because));
        }
        line
    };
    report.uses.iter().map(one).collect()
}

/// Every search of a check, added up: `12 searches, 345,678 states`.
pub(super) fn all_searches(report: &Report) -> String {
    let states = report.searches.iter().map(|search| search.states).sum();
    let searches = match report.searches.len() {
        1 => "1 search".into(),
        n => format!("{n} searches"),
    };
    format!("{searches}, {}", counted(states, "state"))
}

pub(super) fn length(trace: &Trace) -> String {
    match trace.cycle_start {
        Some(start) if start < trace.steps.len() => {
            let again = match trace.steps.len() - start {
                1 => "one".into(),
                n => n.to_string(),
            };
            let steps = counted(trace.steps.len() as u64, "step");
            format!("{steps}, the last {again} for ever")
        }
        _ => counted(trace.steps.len() as u64, "step"),
    }
}

/// The whole report in one word.
pub(super) fn verdict(report: &Report) -> &'static str {
    if report.ok() {
        if report.bounds().is_empty() { "proved" } else { "holds within bounds" }
    } else if report.unknown() {
        "not known"
    } else if report.goals.iter().any(|goal| matches!(goal.verdict, Verdict::Violated(_))) {
        "violated"
    } else {
        "not proved"
    }
}

/// What is said of a goal: a word, and what there is to add.
pub(super) fn said(verdict: &Verdict) -> (&'static str, String) {
    match verdict {
        Verdict::Proved => ("proved", String::new()),
        Verdict::Holds(bounds) => ("holds within", bounds.join(", ")),
        Verdict::Violated(trace) => ("violated", format!("in {}", length(trace))),
        Verdict::Unknown(why) => ("not known", why.clone()),
    }
}

/// A clause that nothing needs, and how far that is known.
pub(super) fn free(clause: &FreeClause) -> String {
    match clause.within.as_slice() {
        [] => clause.clause.clone(),
        why if !clause.known => format!("{} (not known: {})", clause.clause, why.join(", ")),
        within => format!("{} (within {})", clause.clause, within.join(", ")),
    }
}

/// One world, as it is told of.
pub(super) struct Told<'a> {
    /// none: the default one
    pub(super) name: Option<&'a str>,
    /// the goals that have this world of their own
    pub(super) goals: &'a [String],
    pub(super) world: &'a WorldSummary,
    pub(super) base: &'a ArmResult,
    /// What `recovers` assumes; of no interest where nothing is to recover.
    pub(super) assumed: &'a [String],
    /// What `leads_to` assumes.
    pub(super) assumed_of_leads: &'a [String],
}

/// Every world of a report, the default one first.
pub(super) fn worlds(report: &Report) -> Vec<Told<'_>> {
    let mut all = vec![told(report, None, &[], &report.world, &report.base)];
    for named in &report.worlds {
        let name = Some(named.name.as_str());
        all.push(told(report, name, &named.goals, &named.world, &named.base));
    }
    all
}

fn told<'a>(
    report: &Report,
    name: Option<&'a str>,
    goals: &'a [String],
    world: &'a WorldSummary,
    base: &'a ArmResult,
) -> Told<'a> {
    let here =
        || report.goals.iter().map(|held| held.goal).filter(|at| report.world_of(*at) == name);
    let recovers = here().any(|goal| matches!(goal, Goal::Recovery(_)));
    let leads = here().any(|goal| matches!(goal, Goal::LeadsTo(_)));
    let assumed: &[String] = if recovers { &world.fairness } else { &[] };
    let assumed_of_leads: &[String] = if leads { &world.fairness_of_leads } else { &[] };
    Told { name, goals, world, base, assumed, assumed_of_leads }
}

/// `in races`, of a goal that is not judged in the default world.
pub(super) fn place(report: &Report, goal: Goal) -> Option<String> {
    report.world_of(goal).map(|world| format!("in {world}"))
}

/// The same of the goal that a failure breaks.
pub(super) fn place_of(report: &Report, failure: &FailureVerdict) -> Option<String> {
    world_of(report, failure).map(|world| format!("in {world}"))
}

pub(super) fn world_of<'a>(report: &'a Report, failure: &FailureVerdict) -> Option<&'a str> {
    match &failure.proof {
        FailureProof::Without { breaks, .. } => report.world_of(*breaks),
        FailureProof::Compiler { .. } | FailureProof::Measured { .. } => None,
    }
}

/// How it is said that something was not witnessed: before every state was seen, it may still come.
pub(super) fn unseen(report: &Report) -> &'static str {
    if report.closed() { "never seen" } else { "not seen so far" }
}

/// What is behind that word, in a few more.
pub(super) fn reasons(report: &Report) -> String {
    let goals = |wanted: fn(&Verdict) -> bool| {
        report.goals.iter().filter(|goal| wanted(&goal.verdict)).count() as u64
    };
    let mut parts = Vec::new();
    if report.goals.is_empty() {
        parts.push("no goal is stated".to_string());
    }
    let violated = goals(|verdict| matches!(verdict, Verdict::Violated(_)));
    let unknown = goals(|verdict| matches!(verdict, Verdict::Unknown(_)));
    let holding = goals(|verdict| matches!(verdict, Verdict::Holds(_)));
    let proved = goals(|verdict| matches!(verdict, Verdict::Proved));
    if violated > 0 {
        parts.push(format!("{} violated", counted(violated, "goal")));
    }
    if unknown > 0 {
        parts.push(format!("{} not known", counted(unknown, "goal")));
    }
    if holding > 0 {
        let hold = if holding == 1 { "holds" } else { "hold" };
        parts.push(format!("{} {hold} within bounds", counted(holding, "goal")));
    }
    if proved > 0 {
        parts.push(format!("{} proved", counted(proved, "goal")));
    }
    for word in ["not known", "redundant", "vacuous", "load-bearing", "in depth", "covered"] {
        let count = report.failures.iter().filter(|f| summary_word(f) == word).count() as u64;
        if count > 0 {
            parts.push(format!("{} {word}", counted(count, "failure")));
        }
    }
    if !report.unwitnessed.is_empty() {
        let events = counted(report.unwitnessed.len() as u64, "event");
        parts.push(format!("{events} {}", unseen(report)));
    }
    let free = report.free.iter().filter(|clause| clause.known).count() as u64;
    if free > 0 {
        parts.push(counted(free, "free clause"));
    }
    parts.join(", ")
}

fn summary_word(failure: &FailureVerdict) -> &'static str {
    match &failure.status {
        FailureStatus::Redundant { .. } | FailureStatus::Vacuous { .. } if failure.covered => {
            "covered"
        }
        FailureStatus::Redundant { .. } if failure.expected() => "in depth",
        FailureStatus::Redundant { .. } => "redundant",
        FailureStatus::LoadBearing(_) => "load-bearing",
        FailureStatus::Vacuous { .. } => "vacuous",
        FailureStatus::Unknown { .. } => "not known",
        FailureStatus::Compiler { .. } | FailureStatus::Measured => "",
    }
}

/// What became of a failure: a word, and what there is to add.
pub(super) fn status(failure: &FailureVerdict) -> (&'static str, String) {
    match &failure.status {
        FailureStatus::LoadBearing(trace) if failure.in_depth => {
            ("load-bearing", format!("{}; declared in depth, yet nothing covers it", length(trace)))
        }
        FailureStatus::LoadBearing(trace) if failure.restates => {
            ("load-bearing", format!("{}; restates its guard", length(trace)))
        }
        FailureStatus::LoadBearing(trace) => ("load-bearing", length(trace)),
        FailureStatus::Redundant { covered_by } => {
            let mut text = match covered_by.as_slice() {
                [] => "nothing breaks without it".into(),
                names => format!("covered by {}", names.join(" and ")),
            };
            if failure.in_depth {
                text.push_str(", as declared: defence in depth");
            }
            match failure.covered {
                true => ("covered", text),
                false => ("redundant", text),
            }
        }
        FailureStatus::Vacuous { why } if failure.covered => ("covered", why.clone()),
        FailureStatus::Vacuous { why } => ("vacuous", why.clone()),
        FailureStatus::Unknown { why } => ("not known", why.clone()),
        FailureStatus::Compiler { code } => ("refused", format!("does not compile: {code}")),
        FailureStatus::Measured => ("measured", "a quantity, watched at run time".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_745_408), "1,745,408");
        assert_eq!(counted(1, "state"), "1 state");
        assert_eq!(counted(1000, "state"), "1,000 states");
        assert_eq!(seconds(0.0123), "0.012 s");
        assert_eq!(seconds(75.4), "75 s");
        assert_eq!(bytes(900), "900 B");
        assert_eq!(bytes(1_500_000), "1.5 MB");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\nc"), "a\u{fffd}[31mb\u{fffd}c");
    }
}
