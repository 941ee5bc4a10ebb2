//! The next instant of a schedule is, to the checker, any later time up to a bound, or none: no calendar is looked at.

use crate::support::text::report;
use model_checker::{Report, render};

/// The first design of docs/language/calendar.md.
fn nightly() -> String {
    let page = include_str!("../../../docs/language/calendar.md");
    let (_, rest) = page.split_once("```design\n").expect("a design");
    rest.split_once("```").expect("it ends").0.to_owned()
}

#[track_caller]
fn says(report: &Report, part: &str) {
    let told = render::golden(report);
    assert!(told.contains(part), "`{part}` is not in\n{told}");
}

const PLAN: &str = "design Plan
actor owner
actor clock
subject Job(job: text) {
    truth PlanState { plan: schedule = \"0 3 * * *\", due: time?, before: time? }
}
step owner[plan(job: Job, plan: schedule) { idle: PlanState.due = null }] {
    PlanState.plan := plan
    PlanState.before := null
    PlanState.due := next(plan, now)
}
repair clock[run(job: Job) { due: PlanState.due <= now }] {
    PlanState.before := PlanState.due
    PlanState.due := next(PlanState.plan, PlanState.due)
}
GOAL
check { job: 1  owner: 1 SIZE }
";

fn plan(goal: &str, size: &str) -> Report {
    report(&PLAN.replace("GOAL", goal).replace("SIZE", size))
}

#[test]
fn a_job_that_runs_by_the_calendar_holds_within_what_was_taken_for_it() {
    let report = report(&nightly());
    assert!(report.ok(), "{}", render::golden(&report));
    says(&report, "schedules: `next` is 10m to 20m later, in whole units, or null");
    assert!(!report.bounds().is_empty(), "it is never proved");
}

#[test]
fn what_comes_next_comes_later() {
    let report = plan(
        "invariant later: all j in Job: j.before = old(j.before) or j.before = null or j.due = null or j.due > j.before",
        "",
    );
    assert!(report.ok(), "{}", render::golden(&report));
    let report = plan(
        "invariant late: all j in Job: j.before = old(j.before) or j.before = null or j.due = null or j.due > now",
        "",
    );
    // what was missed is made up for, so the next one may be past, too
    assert!(!report.ok(), "{}", render::golden(&report));
}

#[test]
fn there_may_be_none_and_the_distance_is_not_always_the_same() {
    let report = plan("invariant goes_on: all j in Job: old(j.due) = null or j.due != null", "");
    assert!(!report.ok(), "{}", render::golden(&report));
    let equal = "invariant equal: all j in Job: j.before = old(j.before) or j.before = null or j.due = null or old(j.before) = null \
                 or j.due - j.before = j.before - old(j.before)";
    assert!(!plan(equal, "").ok());
    let report = plan(equal, "schedules: 1");
    assert!(report.ok(), "{}", render::golden(&report));
    says(&report, "schedules: `next` is 1 unit later, or null");
}

#[test]
fn the_bound_is_that_of_check_and_of_nothing_else() {
    let goal = "invariant near: all j in Job: j.due = null or j.due <= now + 10m + 10m";
    let report = plan(goal, "");
    assert!(report.ok(), "{}", render::golden(&report));
    assert!(!plan(goal, "schedules: 3").ok());
}
