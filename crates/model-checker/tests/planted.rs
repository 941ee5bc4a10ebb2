//! Small designs, each with a planted bug (marked `BUG`), and what the checker must say of it: the
//! goal that breaks and the length of the shortest history that shows it, or the verdict on the
//! failure that the author claims.

use std::collections::BTreeSet;
use std::path::PathBuf;

use model_checker::{FailureStatus, Options, Report, Trace, Verdict};

#[derive(Debug, PartialEq, Eq)]
enum Shows {
    /// this goal breaks, after so many steps
    Breaks(&'static str, usize),
    /// it is never reached: so many steps, the last of which come back to where the cycle starts
    Loops(&'static str, usize, usize),
    /// it is never reached: after so many steps nothing happens any more
    Stuck(&'static str, usize),
    /// every goal holds: the twin of a bug
    Holds,
    /// without its protection the failure happens, after so many steps
    LoadBearing(&'static str, usize),
    Redundant(&'static str, &'static [&'static str]),
    Vacuous(&'static str),
    /// never seen, in these words
    Unseen(&'static str),
}
use Shows::*;

const PLANTED: &[(&str, &[Shows])] = &[
    ("recovery_loops", &[Stuck("unstuck", 1)]),
    ("fair_repair", &[Holds, LoadBearing("nobody mends it", 1)]),
    ("no_repair", &[Stuck("unstuck", 1)]),
    ("undoing_repairs", &[Loops("good", 3, 1)]),
    ("starvation", &[Loops("served", 3, 1)]),
    ("vacuous_invariant", &[Vacuous("refund of nothing")]),
    ("vacuous_guard", &[Vacuous("negative"), Unseen("add.sane refuses")]),
    ("redundant_guard", &[Redundant("stale writer", &["commit.newer"])]),
    ("clock_step", &[Breaks("no_steal", 3)]),
    ("lost_reply", &[Breaks("charged_once", 2)]),
    ("lost_update", &[Breaks("every_save_counts", 4)]),
    ("duplicate_spend", &[Breaks("spent_once", 2)]),
    ("duplicate_keyed", &[Holds]),
    (
        "without_keyed",
        &[
            Holds,
            LoadBearing("charged twice by a retry", 2),
            Redundant("closed twice by a retry", &["spend.first", "close.asked_once"]),
        ],
    ),
    ("rounded_fee", &[Holds]),
    ("rounded_twice", &[Breaks("nothing_lost", 1)]),
    ("split_in_three", &[Holds]),
    ("thirds_lose_a_cent", &[Breaks("all_of_it", 4)]),
    ("keyed_never_repeated", &[Holds, Vacuous("charged twice by a retry")]),
    ("stale_after_pause", &[Breaks("advances", 4)]),
    ("crash_forgets", &[Breaks("run_once", 3)]),
    ("orphan", &[Stuck("free", 1)]),
    ("late_after_release", &[Breaks("sound", 4)]),
    ("use_after_cancel", &[Breaks("not_both", 2)]),
    ("write_skew", &[Breaks("someone", 4)]),
    ("counter_drift", &[Breaks("one_sold", 4)]),
    ("off_by_one", &[Breaks("limit", 3)]),
    ("aba", &[Breaks("not_mixed", 4)]),
    ("outbox_missing", &[Stuck("told", 1)]),
    // Paid, called, decided, unsure; again, called, decided.
    ("effect_key_missing", &[Breaks("charged_once", 7)]),
    ("unknown_is_failure", &[Breaks("charged_once", 7)]),
    ("reconcile_missing", &[Stuck("settled", 2)]),
    ("lease_boundary", &[Breaks("no_steal", 4)]),
    ("renew_unfenced", &[Breaks("own_lease", 2)]),
    ("content_by_key", &[Breaks("never_without_content", 1), Breaks("unsigned", 3)]),
    ("message_lost", &[Stuck("equal", 2)]),
    ("message_doubled", &[Breaks("one_each", 4)]),
    // Two are sent, and the second comes first.
    ("message_reordered", &[Breaks("never_back", 4)]),
    ("message_lost_value", &[Stuck("nothing_lost", 2)]),
    ("partition_heals", &[Holds]),
    ("split_brain", &[Breaks("one_leader", 2)]),
    ("cache_stale", &[Breaks("never_below", 3)]),
    ("cache_evicted", &[Breaks("once", 3)]),
    ("cache_two_copies", &[Breaks("shut_is_shut", 3)]),
    ("cache_crash", &[Breaks("limited", 3)]),
    ("log_skipped", &[Breaks("none_skipped", 3)]),
    // Two are written, the first is forgotten, the second is handled.
    ("log_aged", &[Breaks("none_skipped", 4)]),
    ("log_aged_told", &[Holds, LoadBearing("forgotten unread", 4)]),
    ("clock_ahead_repair", &[Breaks("no_early_end", 3)]),
    // Paid in, looked, reported; looked at what was before, reported.
    ("older_read", &[Holds, LoadBearing("an answer from before", 5)]),
    ("older_read_between", &[Holds, LoadBearing("an answer from between", 6)]),
    ("delete_referenced", &[Breaks("no_dangling", 3)]),
    ("unwitnessed_step", &[Unseen("user[unlock] accepted")]),
    ("unwitnessed_refusal", &[Unseen("shut.quiet refuses")]),
    ("impossible_path", &[Unseen("protocol main")]),
    ("without_fresh", &[Holds, LoadBearing("opened twice", 3)]),
    ("without_exists", &[Holds, LoadBearing("never opened", 1)]),
    ("without_assignment", &[Holds, LoadBearing("epoch not advanced", 3)]),
    ("collection_full", &[Stuck("served", 3)]),
    ("half_transfer", &[Stuck("nothing_on_the_way", 1)]),
    ("regress_on_tick", &[Breaks("promise_holds", 6)]),
    ("two_names_one_record", &[Breaks("nothing_from_nothing", 1)]),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/planted")
}

fn check(name: &str) -> Result<Report, String> {
    let path = folder().join(format!("{name}.design"));
    let text = std::fs::read_to_string(&path).map_err(|error| format!("no text: {error}"))?;
    let compiled = design::compile(name, &text, &design::NoCatalog);
    let Some(design) = compiled.design.filter(|_| compiled.diagnostics.is_empty()) else {
        return Err(format!("it does not compile: {:?}", compiled.diagnostics));
    };
    model_checker::check(&design, &Options::default(), &mut |_| ())
        .map_err(|problem| problem.to_string())
}

fn violated<'r>(report: &'r Report, goal: &str) -> Result<&'r Trace, String> {
    let held = report.goal(goal).ok_or_else(|| format!("no goal `{goal}`"))?;
    match &held.verdict {
        Verdict::Violated(trace) => Ok(trace),
        other => Err(format!("`{goal}` is {}", name_of(other))),
    }
}

fn name_of(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Proved => "proved".into(),
        Verdict::Violated(trace) => format!("violated in {}", told(trace)),
        Verdict::Holds(bounds) => format!("holds within {}", bounds.join(", ")),
        Verdict::Unknown(why) => format!("not known: {why}"),
    }
}

fn told(trace: &Trace) -> String {
    let steps: Vec<String> = trace
        .steps
        .iter()
        .map(|step| match &step.fault {
            Some(fault) => format!("{} ({fault})", step.name),
            None => step.name.clone(),
        })
        .collect();
    format!("{} steps: {}, cycle {:?}", steps.len(), steps.join(", "), trace.cycle_start)
}

fn length(trace: &Trace, steps: usize, cycle: Option<usize>) -> Result<(), String> {
    if trace.steps.len() == steps && trace.cycle_start == cycle {
        return Ok(());
    }
    Err(format!("expected {steps} steps, cycle {cycle:?}; got {}", told(trace)))
}

fn holds(report: &Report, shows: &Shows) -> Result<(), String> {
    match shows {
        Breaks(goal, steps) | Stuck(goal, steps) => length(violated(report, goal)?, *steps, None),
        Loops(goal, steps, cycle) => length(violated(report, goal)?, *steps, Some(*cycle)),
        Holds => match report.goals.iter().find(|goal| goal.verdict != Verdict::Proved) {
            Some(goal) => Err(format!("`{}` is {}", goal.name, name_of(&goal.verdict))),
            None => Ok(()),
        },
        Unseen(what) => {
            if report.unwitnessed.iter().any(|seen| seen.contains(what)) {
                return Ok(());
            }
            Err(format!("`{what}` is not among {:?}", report.unwitnessed))
        }
        LoadBearing(title, _) | Redundant(title, _) | Vacuous(title) => {
            let failure = report.failure(title).ok_or_else(|| format!("no failure `{title}`"))?;
            match (shows, &failure.status) {
                (LoadBearing(_, steps), FailureStatus::LoadBearing(trace)) => {
                    length(trace, *steps, trace.cycle_start)
                }
                (Redundant(_, cover), FailureStatus::Redundant { covered_by })
                    if covered_by == cover =>
                {
                    Ok(())
                }
                (Vacuous(_), FailureStatus::Vacuous { .. }) => Ok(()),
                (_, other) => Err(format!("expected {shows:?}, got {other:?}")),
            }
        }
    }
}

#[test]
fn every_planted_bug_is_found_by_its_shortest_history() {
    let mut wrong = Vec::new();
    for (name, expected) in PLANTED {
        match check(name) {
            Err(problem) => wrong.push(format!("{name}: {problem}")),
            Ok(report) => wrong.extend(
                expected
                    .iter()
                    .filter_map(|shows| holds(&report, shows).err())
                    .map(|problem| format!("{name}: {problem}")),
            ),
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_design_with_a_bug_is_never_fine() {
    for (name, expected) in PLANTED {
        if expected.contains(&Holds) {
            continue;
        }
        let report = check(name).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert!(!report.ok(), "{name} is said to be fine");
    }
}

#[test]
fn the_table_and_the_folder_are_the_same() {
    let table: BTreeSet<String> = PLANTED.iter().map(|(name, _)| (*name).to_string()).collect();
    assert_eq!(table.len(), PLANTED.len(), "each stands once");
    let files = std::fs::read_dir(folder()).expect("the folder is there");
    let files: BTreeSet<String> = files
        .map(|file| file.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "design"))
        .map(|path| path.file_stem().expect("it has a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(table, files);
    let bugs = PLANTED.iter().filter(|(_, expected)| !expected.contains(&Holds)).count();
    assert!(bugs >= 30, "only {bugs} designs with a bug");
}

#[test]
fn a_copy_that_is_not_there_shows_no_value() {
    let report = check("cache_stale").expect("it is checked");
    let trace = violated(&report, "never_below").expect("it breaks");
    let copies: Vec<&str> = trace
        .initial
        .iter()
        .filter(|line| line.record.contains(" at "))
        .map(|line| line.value.as_str())
        .collect();
    assert_eq!(copies, ["absent"]);
    let filled: Vec<(&str, &str)> = trace.steps[0]
        .changes
        .iter()
        .filter(|change| change.record.contains(" at "))
        .map(|change| (change.before.as_str(), change.after.as_str()))
        .collect();
    assert_eq!(filled, [("absent", "present"), ("absent", "1")]);
}

#[test]
fn an_answer_from_an_older_state_is_told_as_such() {
    let report = check("older_read").expect("it is checked");
    let failure = report.failure("an answer from before").expect("it is claimed");
    let FailureStatus::LoadBearing(trace) = &failure.status else { panic!("{failure:?}") };
    let older: Vec<usize> = (0..trace.steps.len())
        .filter(|at| trace.steps[*at].fault.as_deref() == Some("older_state"))
        .collect();
    assert_eq!(older, [3]);
    assert_eq!(trace.steps[3].would_have_refused.as_deref(), Some("at_least of look"));
}

#[test]
fn a_retry_without_its_key_is_told_as_such() {
    let report = check("without_keyed").expect("it is checked");
    let failure = report.failure("charged twice by a retry").expect("it is claimed");
    let FailureStatus::LoadBearing(trace) = &failure.status else { panic!("{failure:?}") };
    let [first, again] = trace.steps.as_slice() else { panic!("{trace:?}") };
    assert_eq!(first.fault.as_deref(), Some("retry_without_key"));
    assert_eq!((first.name.as_str(), again.name.as_str()), ("spend", "spend"));
    assert_eq!(again.would_have_refused.as_deref(), Some("keyed of spend"));
    let told = model_checker::render::text(
        "without_keyed",
        &report,
        model_checker::render::Traces::All,
        model_checker::render::Paint::Plain,
    );
    for line in [
        // who spends remembers it, so the answer was heard
        "it is done, and the call comes again without its key",
        "here keyed of spend would have given the first answer again",
    ] {
        assert!(told.contains(line), "{line} in\n{told}");
    }
}

#[test]
fn a_key_that_nothing_tries_says_which_fault_is_missing() {
    let report = check("keyed_never_repeated").expect("it is checked");
    let failure = report.failure("charged twice by a retry").expect("it is claimed");
    let FailureStatus::Vacuous { why } = &failure.status else { panic!("{failure:?}") };
    assert!(why.contains("add `duplicate` to the faults"), "{why}");
}
