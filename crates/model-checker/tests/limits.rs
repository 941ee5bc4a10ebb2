//! What is not explored is said, and never called proved.

use crate::support::text::compiled;
use model_checker::{FailureStatus, Options, Verdict, check};

#[test]
fn an_answer_from_an_older_state_that_nobody_remembers_breaks_nothing() {
    let design = compiled(
        "design D
         actor a
         subject S(s: text) { truth T { n: A | B = A } }
         step a[go(s: S) { ready: T.n = A }] { T.n := B }
         read a[look(s: S)] = T
         invariant fine: all s in S: s.n = A or s.n = B
         failure \"stale read\" { without at_least of look breaks fine in depth }
         check { s: 1 }",
    );
    let report = check(&design, &Options::default(), &mut |_| {}).unwrap();
    assert!(matches!(report.failures[0].status, FailureStatus::Redundant { .. }), "{report:?}");
}

#[test]
fn a_world_without_a_beginning_is_not_proved() {
    let design = compiled(
        "design D
         actor a
         subject S(s: text) { truth T { n: int = 0, next: int = 1 } }
         step a[go(s: S)] { T.n := T.next  T.next += 1 }
         invariant small: all s in S: s.n < 3
         check { s: 1  T.next: 1..5 }",
    );
    let why = check(&design, &Options::default(), &mut |_| {}).unwrap_err().to_string();
    assert!(why.starts_with("`T.n: 1..5` starts outside of the bounds"), "{why}");
}

/// However long ago: their order is kept.
#[test]
fn times_that_are_compared_with_each_other_are_told_apart_for_ever() {
    let report = |condition: &str| {
        let design = compiled(&format!(
            "design D
             actor a
             subject S(s: text) {{ truth T {{ from: time?, to: time? }} }}
             step a[begin(s: S)] {{ T.from := now }}
             step a[finish(s: S) {{ begun: T.from <= now }}] {{ T.to := now }}
             invariant order: all s in S: {condition}
             check {{ s: 1 }}"
        ));
        check(&design, &Options::default(), &mut |_| {}).unwrap()
    };
    let verdict = |condition: &str| report(condition).goals[0].verdict.clone();
    assert_eq!(verdict("s.to = null or s.to <= now"), Verdict::Proved);
    assert_eq!(
        verdict("s.to = null or s.from = null or s.to <= now or s.from <= s.to"),
        Verdict::Proved
    );
    // Begun again long after it was finished.
    let broken = verdict("s.to = null or s.from <= s.to");
    assert!(matches!(broken, Verdict::Violated(_)), "{broken:?}");
}

#[test]
fn recovery_beyond_the_memory_budget_is_unknown() {
    let design = compiled(
        "design D
         actor a
         actor r
         subject S(s: text) { truth T { n: int = 0, m: int = 0 } }
         step a[up(s: S) { room: T.n < 60 }] { T.n += 1 }
         step a[over(s: S) { room: T.m < 60 }] { T.m += 1 }
         repair r[down(s: S) { some: T.n > 0 }] { T.n -= 1 }
         recovers empty: all s in S: s.n = 0
         check { s: 1  T.n: 0..60  T.m: 0..60 }",
    );
    let verdict = |max_memory| {
        let options = Options { max_memory, slices: false, ..Options::default() };
        let report = check(&design, &options, &mut |_| {}).unwrap();
        report.goals[0].verdict.clone()
    };
    assert!(matches!(verdict(1 << 30), Verdict::Proved));
    let whole = Options { slices: false, ..Options::default() };
    // between too little for the states and enough for all lies what is too little for the graph
    let base = check(&design, &whole, &mut |_| {}).unwrap().base.bytes as usize;
    let said: Vec<String> = (0..40)
        .map(|more| match verdict(base + more * 49_152) {
            Verdict::Unknown(why) => why,
            other => format!("{other:?}"),
        })
        .collect();
    assert!(said.iter().any(|why| why.contains("graph of recovery")), "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("Proved"));
}

#[test]
fn a_step_of_another_record_that_breaks_a_goal_is_told() {
    let design = compiled(
        "design D
         actor a
         subject S(s: text) { truth T { n: int = 0 } }
         step a[up(s: S) { room: T.n < 2 }] { T.n += 1 }
         invariant moves: all s in S: s.n != old(s.n) or s.n = 0
         check { s: 2  T.n: 0..2 }",
    );
    let report = check(&design, &Options::default(), &mut |_| {}).unwrap();
    let Verdict::Violated(trace) = &report.goals[0].verdict else { panic!("{report:?}") };
    let records: Vec<&str> = trace.steps.iter().map(|step| step.params[0].1.as_str()).collect();
    assert_eq!(records.len(), 2, "{trace:?}");
    assert_ne!(records[0], records[1]);
}

/// No verdict depends on it, since a message may take as long as it likes; the transitions do.
#[test]
fn nothing_is_delivered_across_a_partition() {
    let explored = |faults: &str| {
        let design = compiled(&format!(
            "design D
             actor a
             subject N(n: text) at n {{ truth T {{ sent: bool = false, got: bool = false }} }}
             step a[talk(n: N, other: N) {{ once: not n.T.sent  far: n != other }}] {{
                 n.T.sent := true
                 send a.hear(other)
             }}
             step a[hear(n: N)] {{ T.got := true }}
             invariant fine: all n in N: n.got or not n.got
             check {{ n: 2 {faults} }}"
        ));
        let options = Options { symmetry: false, free: false, threads: 1, ..Options::default() };
        check(&design, &options, &mut |_| {}).unwrap().base
    };
    let (whole, parted) = (explored(""), explored("faults: partition"));
    assert_eq!(parted.states, 2 * whole.states, "each state, cut off and not");
    // It is cut off, it heals, and all that is no delivery happens in both.
    let deliveries = 2 * (whole.transitions + whole.states) - parted.transitions;
    // Each place's message is on its way in three states: the other's is not sent, on its way, or heard.
    assert_eq!(deliveries, 6, "{whole:?} {parted:?}");
}
