//! Claim, lease, fencing.

mod support;

use design::model::Fault;
use model_checker::{FailureStatus, Options, Verdict};
use support::{checked, faults, lease};

#[test]
fn the_lease_is_proved_and_every_failure_is_load_bearing() {
    let options = Options { threads: 1, symmetry: false, failures: false, recovery: false, max_states: 3_000_000, ..Options::default() };
    let mut design = lease();
    design.world.keys = vec![vec![design::model::Values::Opaque(1)]];
    let report = checked(&design, &options);
    println!("{:#?}", report.world);
    println!("{:#?}", report.base);
    for goal in &report.goals {
        assert_eq!(goal.verdict, Verdict::Proved, "{}", goal.name);
    }
    for failure in &report.failures {
        println!("{} {:?}", failure.claim, failure.arm);
        let FailureStatus::LoadBearing(trace) = &failure.status else {
            panic!("{}: {:?}", failure.title, failure.status);
        };
        for step in &trace.steps {
            println!("  {:?} {:?}", step.principal, step);
        }
        println!("  {:?} {}", trace.cycle_start, trace.ending);
    }
    println!("{:#?}", report.witnesses);
    assert!(report.unwitnessed.is_empty(), "{:?}", report.unwitnessed);
    assert!(report.ok());
}
