//! Times in sets, lists and maps get older like those in places of their own.

use crate::support::text::{proved, report, violated};

fn design(truth: &str, steps: &str, goal: &str, check: &str) -> String {
    format!(
        "design Times
actor p
subject T(t: text) {{ truth S {{ {truth} }} }}
{steps}
invariant goal: all s in T: {goal}
check {{ t: 1  p: 1 {check} }}
"
    )
}

#[track_caller]
fn is_violated(text: &str, steps: usize) {
    assert_eq!(violated(&report(text), "goal").steps.len(), steps, "{text}");
}

#[track_caller]
fn is_proved(text: &str) {
    proved(&report(text), "goal");
}

#[test]
fn two_times_fit_into_a_set() {
    let add = "step p[add(t: T)] { S.l += now }";
    let text = |size: u32, check: &str| {
        design("l: set time max 3 = {}", add, &format!("size(s.l) < {size}"), check)
    };
    // it is added to, time passes, it is added to
    is_violated(&text(2, ""), 3);
    is_violated(&text(3, ""), 5);
    is_proved(&text(4, ""));
    // in fixed steps, too
    is_violated(&text(2, "time: 2"), 3);
}

#[test]
fn what_is_in_a_list_becomes_late() {
    let steps = "step p[add(t: T) { room: size(S.l) < 2 }] { S.l += now }
step p[late(t: T) { old: any at in S.l: at + 10s < now }] { S.late := true }";
    let truth = |kind: &str| format!("l: {kind} time max 2 = {{}}, late: bool = false");
    for kind in ["list", "set"] {
        let text = design(&truth(kind), steps, "not s.late", "");
        // added; just after; ten seconds; just after; late
        is_violated(&text, 5);
    }
    // what is set to be later than now never comes to be late at once
    let steps = "step p[add(t: T) { room: size(S.l) < 2 }] { S.l += now + 10s }
step p[late(t: T) { old: any at in S.l: now < at }] { S.late := true }
step p[on_time(t: T) { old: any at in S.l: at = now }] { S.met := true }";
    let truth = "l: list time max 2 = [], late: bool = false, met: bool = false";
    is_violated(&design(truth, steps, "not s.met", ""), 4);
}

#[test]
fn values_and_keys_of_maps_get_older() {
    let steps = "step p[put(t: T, k: int)] { S.m[k] := now }
step p[late(t: T, k: int) { old: S.m[k] + 10s < now }] { S.late := true }";
    let truth = "m: map int time max 2 = {}, late: bool = false";
    is_violated(&design(truth, steps, "not s.late", "k: 1..1"), 5);
    let steps = "step p[put(t: T) { room: size(S.m) < 2 }] { S.m[now] := 1 }";
    let truth = "m: map time int max 2 = {}";
    is_violated(&design(truth, steps, "size(s.m) < 2", ""), 3);
}

/// However long ago they are.
#[test]
fn old_times_stay_different() {
    let steps = "step p[first(t: T) { begins: S.first = null }] {
    S.first := now
    S.l += now
}
step p[second(t: T) { room: size(S.l) = 1 and not S.dropped }] { S.l += now }
step p[drop(t: T) { both: size(S.l) = 2  later: S.until < now }] {
    S.l -= S.first
    S.dropped := true
}
step p[wait(t: T) { both: size(S.l) = 2  once: S.until = null }] { S.until := now + 10s }";
    let truth = "l: set time max 2 = {}, first: time?, until: time?, dropped: bool = false";
    is_proved(&design(truth, steps, "not s.dropped or size(s.l) = 1", ""));
    is_violated(&design(truth, steps, "not s.dropped", ""), 8);
    is_proved(&design(truth, steps, "not s.dropped or not s.first in s.l", ""));
}

#[test]
fn times_that_are_put_in_apart_are_apart() {
    let steps = "step p[add(t: T) { apart: all at in S.l: at + 10s <= now }] { S.l += now }";
    let apart =
        |n: u32| format!("all a in s.l: all b in s.l: a = b or a + {n}s <= b or b + {n}s <= a");
    let truth = "l: set time max 3 = {}";
    is_proved(&design(truth, steps, &apart(10), ""));
    // ten, just after, just after that
    is_violated(&design(truth, steps, &apart(20), ""), 4);
}
