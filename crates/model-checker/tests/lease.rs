//! Claim, lease, fencing.

use crate::support;

use design::model::{Fault, Values};
use model_checker::{FailureStatus, Options, Report, Verdict};
use support::{checked, faults, lease};

/// What symmetry, threads and the like must not change.
fn verdicts(report: &Report) -> Vec<String> {
    let goals = report.goals.iter().map(|goal| {
        let verdict = match &goal.verdict {
            Verdict::Proved => "proved".into(),
            Verdict::Violated(trace) => format!("violated in {}", trace.steps.len()),
            Verdict::Holds(bounds) => bounds.join(", "),
            Verdict::Unknown(why) => why.clone(),
        };
        format!("{}: {verdict}", goal.name)
    });
    let failures = report.failures.iter().map(|failure| {
        let status = match &failure.status {
            FailureStatus::LoadBearing(_) => "load-bearing".into(),
            other => format!("{other:?}"),
        };
        format!("{}: {status}", failure.title)
    });
    goals.chain(failures).chain(report.unwitnessed.iter().cloned()).collect()
}

#[test]
fn the_lease_is_proved_and_every_failure_is_load_bearing() {
    let report = checked(&lease(), &Options::default());
    println!("{:#?}\n{:#?}", report.world, report.base);
    for failure in &report.failures {
        println!("{} {:?}", failure.claim, failure.arm);
        if let FailureStatus::LoadBearing(trace) = &failure.status {
            for step in &trace.steps {
                println!(
                    "  {:?} {} {:?} {} {:?} {:?} changes {:?} would {:?}",
                    step.kind,
                    step.actor,
                    step.principal,
                    step.name,
                    step.params,
                    step.fault,
                    step.changes,
                    step.would_have_refused
                );
            }
            println!("  {:?} {}", trace.cycle_start, trace.ending);
        }
    }
    println!("{:#?}", report.witnesses);
    assert!(report.ok(), "{:#?}", verdicts(&report));
}

#[test]
fn symmetry_changes_no_verdict() {
    let mut design = lease();
    design.world.keys = vec![vec![Values::Opaque(2)]];
    let options = Options { faults: Some(faults(&[Fault::LostReply])), ..Options::default() };
    let with = checked(&design, &options);
    let without = checked(&design, &Options { symmetry: false, ..options });
    println!("{} and {} states", with.base.states, without.base.states);
    assert_eq!(verdicts(&with), verdicts(&without));
    assert!(with.base.states < without.base.states);
}
