//! Two-phase commit: how many states there are is known.

use crate::support;

use model_checker::{Options, Verdict};
use support::{checked, plain, two_phase_commit};

#[test]
fn counts_are_the_known_ones() {
    for (participants, states) in [(3, 288), (5, 8_832), (7, 296_448)] {
        let report = checked(&two_phase_commit(participants), &plain());
        assert_eq!(report.base.states, states, "{participants} participants");
        assert_eq!(report.goal("consistent").map(|goal| &goal.verdict), Some(&Verdict::Proved));
    }
}

#[test]
fn threads_change_nothing() {
    let one = checked(&two_phase_commit(6), &plain());
    for threads in [2, 3, 8] {
        let many = checked(&two_phase_commit(6), &Options { threads, ..plain() });
        assert_eq!(many.base.states, one.base.states);
        assert_eq!(many.base.transitions, one.base.transitions);
        assert_eq!(many.base.depth, one.base.depth);
    }
}
