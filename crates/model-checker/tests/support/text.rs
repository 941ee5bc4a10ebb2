//! Designs from their text, and what a report says of them.

use design::model::Design;
use model_checker::{FailureStatus, Options, Report, Trace, Verdict, check};

/// A text that must be right.
pub fn compiled(text: &str) -> Design {
    let compiled = design::compile("text", text, &design::NoCatalog);
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|held| held.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    compiled.design.expect("a text without errors is a design")
}

/// One thread, so that a trace is the same in every run.
pub fn one_thread() -> Options {
    Options { threads: 1, ..Options::default() }
}

pub fn report(text: &str) -> Report {
    check(&compiled(text), &one_thread(), &mut |_| ()).expect("it has a world")
}

pub fn violated<'a>(report: &'a Report, goal: &str) -> &'a Trace {
    match &report.goal(goal).expect("it is there").verdict {
        Verdict::Violated(trace) => trace,
        other => panic!("{goal}: {other:?}"),
    }
}

pub fn holds(report: &Report, goal: &str) {
    let verdict = &report.goal(goal).expect("it is there").verdict;
    assert!(matches!(verdict, Verdict::Proved | Verdict::Holds(_)), "{goal}: {verdict:?}");
}

pub fn proved(report: &Report, goal: &str) {
    let verdict = &report.goal(goal).expect("it is there").verdict;
    assert!(matches!(verdict, Verdict::Proved), "{goal}: {verdict:?}");
}

/// The trace of a failure that happens once its clause is removed.
pub fn load_bearing<'a>(report: &'a Report, title: &str) -> &'a Trace {
    match &report.failure(title).expect("it is there").status {
        FailureStatus::LoadBearing(trace) => trace,
        other => panic!("{title}: {other:?}"),
    }
}
