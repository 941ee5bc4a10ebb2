//! The designs in `verdicts/`: little systems, right and with one bug planted (`NAME-wrong`), at least
//! three for each abstraction of the checker. Each says in its head what must be found; all that
//! differs is listed.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use design::model::Design;
use model_checker::{FailureStatus, Options, Report, Verdict, check};

/// One line `// expect: …`.
#[derive(Debug)]
enum Expected {
    Goal {
        name: String,
        verdict: String,
    },
    Failure {
        title: String,
        status: String,
    },
    Unseen(String),
    /// the failure says its guard once more
    Restates(String),
    /// the clause breaks no goal when it is taken away
    Free(String),
}

struct Case {
    name: String,
    /// or why there is none
    design: Result<Design, String>,
    expected: Vec<Expected>,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "design"))
        .collect();
    paths.sort();
    paths.iter().map(|path| case(path)).collect()
}

fn case(path: &Path) -> Case {
    let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
    let text = fs::read_to_string(path).expect("it is text");
    let compiled = design::compile(&name, &text, &design::NoCatalog);
    let design = compiled.design.ok_or_else(|| {
        let said = compiled.diagnostics.iter().map(|problem| problem.message.clone());
        said.collect::<Vec<_>>().join("; ")
    });
    let lines = text.lines().filter_map(|line| line.strip_prefix("// expect: "));
    let expected = lines
        .map(|line| expected(line).unwrap_or_else(|| panic!("{name}: what is expected? {line}")))
        .collect();
    Case { name, design, expected }
}

fn expected(line: &str) -> Option<Expected> {
    if let Some(rest) = line.strip_prefix("goal ") {
        let (name, verdict) = rest.split_once(' ')?;
        return Some(Expected::Goal { name: name.into(), verdict: verdict.into() });
    }
    if let Some(rest) = line.strip_prefix("failure \"") {
        let (title, status) = rest.split_once("\" ")?;
        return Some(Expected::Failure { title: title.into(), status: status.into() });
    }
    let (kind, what) = line.split_once(' ')?;
    let what = what.strip_prefix('"')?.strip_suffix('"')?.to_string();
    match kind {
        "unseen" => Some(Expected::Unseen(what)),
        "restates" => Some(Expected::Restates(what)),
        "free" => Some(Expected::Free(what)),
        _ => None,
    }
}

fn explored(design: &Design) -> Result<Report, String> {
    let options = Options { max_states: 3_000_000, threads: 1, ..Options::default() };
    // one design that makes the checker panic does not hide the others
    catch_unwind(|| check(design, &options, &mut |_| {}).map_err(|why| why.to_string()))
        .unwrap_or_else(|_| Err("the checker panicked".into()))
}

/// What was found, in the words of the expectations.
fn said(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Proved => "proved".into(),
        Verdict::Holds(within) => format!("holds within {}", within.join(", ")),
        Verdict::Violated(trace) => format!("violated in {}", trace.steps.len()),
        Verdict::Unknown(why) => format!("not known: {why}"),
    }
}

fn status(found: &FailureStatus) -> String {
    match found {
        FailureStatus::LoadBearing(_) => "load-bearing".into(),
        FailureStatus::Redundant { covered_by } => format!("redundant: {covered_by:?}"),
        FailureStatus::Vacuous { why } => format!("vacuous: {why}"),
        FailureStatus::Unknown { why } => format!("not known: {why}"),
        FailureStatus::Compiler { .. } | FailureStatus::Measured => "elsewhere".into(),
    }
}

/// `violated` stands for a trace of any length, `not known` for any reason, and `holds within
/// BOUND` for bounds among which is this one.
fn agrees(found: &str, wanted: &str) -> bool {
    if let Some(bound) = wanted.strip_prefix("holds within ") {
        return found.strip_prefix("holds within ").is_some_and(|bounds| bounds.contains(bound));
    }
    let rest = found.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ']))
}

/// What differs between the expectations of a design and its report.
fn differences(case: &Case, report: &Report) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut differs = |what: &str, found: &str, wanted: &str| {
        if !agrees(found, wanted) {
            wrong.push(format!("{}: {what} is {found}, and should be {wanted}", case.name));
        }
    };
    let mut goals: Vec<&str> = report.goals.iter().map(|goal| goal.name.as_str()).collect();
    let mut failures: Vec<&str> =
        report.failures.iter().map(|failure| failure.title.as_str()).collect();
    let mut unseen: Vec<&str> = report.unwitnessed.iter().map(String::as_str).collect();
    for expected in &case.expected {
        match expected {
            Expected::Goal { name, verdict } => {
                let goal = report.goal(name);
                differs(name, &goal.map_or("no goal".into(), |goal| said(&goal.verdict)), verdict);
                goals.retain(|held| held != name);
            }
            Expected::Failure { title, status: wanted } => {
                let found = report.failure(title);
                let found = found.map_or("no failure".into(), |failure| status(&failure.status));
                differs(title, &found, wanted);
                failures.retain(|held| held != title);
            }
            Expected::Unseen(what) => {
                let found = if unseen.contains(&what.as_str()) { "unseen" } else { "seen" };
                differs(what, found, "unseen");
                unseen.retain(|held| held != what);
            }
            Expected::Restates(title) => {
                let found = report.failure(title).is_some_and(|failure| failure.restates);
                differs(
                    title,
                    if found { "restates its guard" } else { "more" },
                    "restates its guard",
                );
            }
            Expected::Free(clause) => {
                let found = report.free.iter().any(|free| free.clause == *clause);
                differs(clause, if found { "free" } else { "needed" }, "free");
            }
        }
    }
    for goal in goals {
        wrong.push(format!("{}: nothing is expected of {goal}", case.name));
    }
    // of a design with a bug planted only what was named is asked
    if !case.name.ends_with("-wrong") {
        for failure in failures {
            wrong.push(format!("{}: nothing is expected of \"{failure}\"", case.name));
        }
        for what in unseen {
            wrong.push(format!("{}: never seen: {what}", case.name));
        }
    }
    wrong
}

#[test]
fn every_verdict_is_right() {
    let wrong: Vec<String> = cases()
        .iter()
        .flat_map(|case| match case.design.as_ref().map_err(Clone::clone).and_then(explored) {
            Ok(report) => differences(case, &report),
            Err(why) => vec![format!("{}: {why}", case.name)],
        })
        .collect();
    assert!(wrong.is_empty(), "{} verdicts are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// `abstraction: pair, pair; single`
fn listed() -> Vec<(String, Vec<String>, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts/README.md");
    let text = fs::read_to_string(path).expect("it is there");
    let names = |list: &str| list.split(", ").map(str::to_string).collect::<Vec<_>>();
    let lines = text.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    lines
        .map(|(what, list)| match list.split_once("; ") {
            Some((pairs, single)) => (what.to_string(), names(pairs), names(single)),
            None => (what.to_string(), names(list), vec![]),
        })
        .collect()
}

#[test]
fn there_are_three_pairs_for_each_abstraction() {
    let names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
    let listed = listed();
    for (what, pairs, single) in &listed {
        assert!(pairs.len() >= 3, "{what}: {pairs:?}");
        for name in pairs {
            let wrong = format!("{name}-wrong");
            assert!(names.contains(name) && names.contains(&wrong), "{what}: {name} is no pair");
        }
        assert!(single.iter().all(|name| names.contains(name)), "{what}: {single:?}");
    }
    for name in &names {
        let right = name.strip_suffix("-wrong").unwrap_or(name).to_string();
        let found = listed
            .iter()
            .any(|(_, pairs, single)| pairs.contains(&right) || single.contains(&right));
        assert!(found, "{name} is not in the list");
    }
    let pairs = names.iter().filter(|name| names.contains(&format!("{name}-wrong"))).count();
    assert!(pairs >= 60 && listed.len() >= 20, "{pairs} pairs, {} abstractions", listed.len());
}

/// The verdicts without their details.
fn words(report: &Report) -> Vec<(String, &'static str)> {
    let word = |verdict: &Verdict| match verdict {
        Verdict::Proved => "proved",
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "not known",
    };
    report.goals.iter().map(|goal| (goal.name.clone(), word(&goal.verdict))).collect()
}

/// Checks every design once more, changed by `change`, and compares the words.
fn unchanged_by(change: fn(&mut Design)) {
    let mut wrong = Vec::new();
    for case in cases() {
        let Ok(design) = case.design else { continue };
        let mut changed = design.clone();
        change(&mut changed);
        if changed == design {
            continue;
        }
        let (before, after) = (explored(&design), explored(&changed));
        let said =
            |report: &Result<Report, String>| report.as_ref().map(words).map_err(Clone::clone);
        let (before, after) = (said(&before), said(&after));
        if before != after {
            wrong.push(format!("{}: {before:?}, then {after:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn proved_has_nothing_to_do_with_how_large_a_bound_is() {
    unchanged_by(|design| {
        for bound in &mut design.world.bounds {
            bound.high += 2;
        }
    });
}

#[test]
fn symmetry_and_independence_change_no_verdict() {
    unchanged_by(|design| design.world.symmetry_off = true);
}
