//! A world that is too large ends with `unknown`, within its budget.

use crate::support;

use model_checker::{Options, Verdict};
use support::{checked, plain, two_phase_commit};

#[test]
fn too_many_states_are_unknown() {
    let options = Options { max_states: 20_000, ..plain() };
    let report = checked(&two_phase_commit(7), &options);
    assert!(matches!(report.goals[0].verdict, Verdict::Unknown(_)));
    assert!(report.unknown() && !report.ok() && !report.base.closed);
}

#[test]
fn memory_stays_within_its_budget() {
    let options = Options { max_memory: 4 << 20, ..plain() };
    let report = checked(&two_phase_commit(7), &options);
    assert!(report.unknown());
    assert!(report.base.bytes <= 4 << 20, "{} bytes", report.base.bytes);
    assert!(report.base.states > 10_000, "{} states", report.base.states);
}
