//! Every duration that can be waited for counts: those that are computed, bound by `let`, or given to a `define`, too.

use crate::support::text::{holds, report, violated};

fn design(define: &str, late: &str, goal: &str) -> String {
    let size = if late.starts_with(", n") { "n: 1..3" } else { "" };
    format!(
        "design Waits
actor p
subject T(t: text) {{ truth S {{ at: time?, n: int = 0, late: bool = false }} }}
{define}
step p[start(t: T) {{ first: S.at = null }}] {{ S.at := now }}
step p[more(t: T) {{ room: S.n < 3 }}] {{ S.n += 1 }}
step p[late(t: T{late}
invariant goal: all s in T: {goal}
check {{ t: 1  p: 1  S.n: 0..3  {size} }}
"
    )
}

/// It can be late, and never is within twenty seconds.
#[track_caller]
fn waits_for_thirty_seconds(define: &str, late: &str) {
    let late = design(define, late, "not s.late");
    assert!(!violated(&report(&late), "goal").steps.is_empty(), "{late}");
    let later = late.replace(
        "goal: all s in T: not s.late",
        "goal: all s in T: not s.late or s.at + 20s < now",
    );
    holds(&report(&later), "goal");
}

#[test]
fn a_duration_times_a_number() {
    waits_for_thirty_seconds(
        "",
        ") { due: S.at + 10s * S.n < now  all: S.n = 3 }] { S.late := true }",
    );
    waits_for_thirty_seconds(
        "",
        ") { due: now - S.at > S.n * 10s  all: S.n = 3 }] { S.late := true }",
    );
    waits_for_thirty_seconds(
        "",
        ", n: int) { due: S.at + 10s * n < now  all: n = 3 }] { S.late := true }",
    );
    waits_for_thirty_seconds(
        "",
        ") { due: S.at + 10s * (S.n - 1 + 1) < now  all: S.n = 3 }] { S.late := true }",
    );
}

#[test]
fn what_is_bound_or_given_to_a_define() {
    waits_for_thirty_seconds(
        "define past(at: time, n: int) = at + 10s * n < now",
        ") { due: past(S.at, S.n)  all: S.n = 3 }] { S.late := true }",
    );
    waits_for_thirty_seconds(
        "define past(at: time) = at < now",
        ") { due: past(S.at + 30s)  all: S.n = 3 }] { S.late := true }",
    );
    waits_for_thirty_seconds(
        "define past(at: time, by: duration) = at + by < now",
        ") { due: past(S.at, 10s * 3)  all: S.n = 3 }] { S.late := true }",
    );
    waits_for_thirty_seconds(
        "",
        ") { begun: S.at present }] {
    let due = S.at + 10s * 3
    if due < now { S.late := true }
}",
    );
}

#[test]
fn what_is_late_is_set_so_far_ahead() {
    let text = "design Ahead
actor p
subject T(t: text) { truth S { due: time?, n: int = 0, met: bool = false } }
step p[start(t: T) { first: S.due = null }] { S.due := now + 10s * S.n }
step p[more(t: T) { room: S.n < 3 }] { S.n += 1 }
step p[meet(t: T) { far: S.due > now + 20s }] { S.met := true }
invariant goal: all s in T: not s.met
check { t: 1  p: 1  S.n: 0..3 }
";
    assert_eq!(violated(&report(text), "goal").steps.len(), 5);
}
