//! Parts and multiples of durations are exact; sums, parts and multiples of distances in time are never called proved.

use crate::support::text::{proved, report, violated};
use model_checker::Verdict;

fn design(guard: &str, goal: &str) -> String {
    format!(
        "design Parts
actor p
subject T(t: text) {{ truth S {{ a: time?, b: time?, ttl: duration = 10s, hit: bool = false }} }}
step p[first(t: T) {{ none: S.a = null }}] {{ S.a := now }}
step p[second(t: T, ttl: duration) {{ none: S.b = null  begun: S.a present }}] {{
    S.b := now
    S.ttl := ttl
}}
step p[hit(t: T) {{ {guard} }}] {{ S.hit := true }}
invariant goal: all s in T: {goal}
check {{ t: 1  p: 1  ttl: {{10s, 20s}} }}
"
    )
}

#[track_caller]
fn is_violated(guard: &str) {
    let text = design(guard, "not s.hit");
    assert!(!violated(&report(&text), "goal").steps.is_empty(), "{text}");
}

#[track_caller]
fn is_proved(guard: &str, goal: &str) {
    proved(&report(&design(guard, goal)), "goal");
}

#[track_caller]
fn is_not_proved(guard: &str) {
    let report = report(&design(guard, "not s.hit"));
    let verdict = &report.goal("goal").expect("it is there").verdict;
    assert!(!matches!(verdict, Verdict::Proved), "{guard}: {verdict:?}");
}

#[test]
fn a_part_of_a_duration_is_exact() {
    // between five seconds and ten
    is_violated("old: S.a + 10s / 2 < now  young: now < S.a + 10s");
    is_violated("old: now - S.a > 10s / 2  young: now - S.a < 10s");
    is_violated("old: S.a + S.ttl / 2 < now  young: now < S.a + S.ttl");
    is_proved("old: S.a + 10s / 2 < now", "not s.hit or s.a + 5s < now");
    is_proved("old: S.a + S.ttl / 2 < now  long: S.ttl = 20s", "not s.hit or s.a + 10s < now");
    is_violated("old: S.a + (10s + 20s) / 2 < now  young: now < S.a + 20s");
}

#[test]
fn a_multiple_of_a_duration_is_exact() {
    is_violated("old: S.a + 10s * 3 < now");
    is_proved("old: S.a + 10s * 3 < now", "not s.hit or s.a + 20s < now");
}

/// What is bound and then kept.
#[test]
fn what_is_bound_is_looked_at_where_it_is_kept() {
    let text = "design Kept
actor p
subject T(t: text) { truth S { a: time?, b: time?, hit: bool = false } }
step p[first(t: T) { none: S.a = null }] { S.a := now }
step p[second(t: T) { begun: S.a present }] {
    let due = now + (now - S.a) / 2
    S.b := due
}
invariant goal: all s in T: s.b = null or s.b >= s.a
check { t: 1  p: 1 }
";
    let verdict = report(text).goal("goal").expect("it is there").verdict.clone();
    assert!(matches!(verdict, Verdict::Holds(_)), "{verdict:?}");
}

#[test]
fn sums_parts_and_multiples_of_distances_are_told() {
    // each of these can happen
    is_not_proved("long: (now - S.a) + (now - S.b) > 10s  young: now - S.a < 10s");
    is_not_proved("half: (now - S.a) / 2 > 10s");
    is_not_proved("half: (now - S.a) / 2 > 3s  young: now - S.a < 10s");
    is_not_proved("twice: (now - S.a) * 2 > 10s  young: now - S.a < 10s");
    is_not_proved("than: now - S.a > (now - S.b) * 2");
    is_not_proved("than: now - S.a > now - S.b  old: S.b + 30s < now");
    is_not_proved("shifted: S.a + (now - S.b) < now  young: S.b + 10s > now");
    is_not_proved("third: S.a + S.ttl / 3 < now  young: now < S.a + 4s");
}
