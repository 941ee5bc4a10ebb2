//! The reference checker agrees: the design as a module of TLA+, translated by `explain` from the design
//! alone, has as many states for TLC as for the checker, and every invariant and every failure has the same
//! verdict. Without symmetry and ranks, with times in steps of a part of a unit.
//!
//! `cargo xtask tlc` asks about all of the list, and names of designs about these.

#[path = "tlc/compare.rs"]
mod compare;
#[path = "tlc/tool.rs"]
mod tool;

use compare::{checked, compare, compare_with, design};
use model_checker::Verdict;

/// In the test command; they cover a kind of thing each.
const FEW: &[&str] =
    &["seats", "lease", "payment", "gossip", "kitchen", "one_person", "beyond", "old_read"];

/// All that are asked about by `cargo xtask tlc`.
const MORE: &[&str] = &[
    "apart",
    "meeting",
    "two_persons",
    "two_phase",
    "literal",
    "transfer",
    "collections",
    "threads",
    "window",
    "hold",
    "disk",
    "flood",
    "aba",
    "collection_full",
    "counter_drift",
    "crash_forgets",
    "delete_referenced",
    "duplicate_keyed",
    "duplicate_spend",
    "effect_key_missing",
    "fair_repair",
    "half_transfer",
    "late_after_release",
    "lease_boundary",
    "log_skipped",
    "lost_reply",
    "lost_update",
    "message_doubled",
    "message_lost",
    "message_lost_value",
    "message_reordered",
    "off_by_one",
    "orphan",
    "outbox_missing",
    "partition_heals",
    "reconcile_missing",
    "recovery_loops",
    "redundant_guard",
    "regress_on_tick",
    "renew_unfenced",
    "split_brain",
    "stale_after_pause",
    "starvation",
    "two_names_one_record",
    "undoing_repairs",
    "unknown_is_failure",
    "use_after_cancel",
    "vacuous_guard",
    "vacuous_invariant",
    "without_assignment",
    "without_keyed",
    "without_exists",
    "without_fresh",
    "write_skew",
];

fn asked() -> Vec<String> {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match std::env::var("STEADFAST_TLC").unwrap_or_default().as_str() {
        "" => list(FEW),
        "all" => list(&[FEW, MORE].concat()),
        names => list(&names.split(',').collect::<Vec<_>>()),
    }
}

#[test]
fn tlc_finds_the_same_states_and_the_same_verdicts() {
    let mut wrong = Vec::new();
    for name in asked() {
        match design(&name).and_then(|design| compare(&name, &design)) {
            Ok(line) => println!("{name}: {line}"),
            Err(problem) => {
                println!("{name}: {problem}");
                wrong.push(format!("{name}: {problem}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_wrong_translation_and_a_wrong_checker_are_noticed() {
    let right = design("two_persons").unwrap();
    let report = checked(&right).unwrap();
    // a translation that loses a clause
    let mut other = right.clone();
    other.operations[1].guard.pop();
    let says = |problem: String, what: &str| assert!(problem.contains(what), "{problem}");
    says(compare_with("noticed", &other, &report).unwrap_err(), "four_eyes");
    // a translation that loses a principal
    let mut other = right.clone();
    other.world.actors[0] = 1;
    says(compare_with("noticed", &other, &report).unwrap_err(), "states");
    // a checker that overlooks a state, and one that overlooks that a goal breaks
    let mut wrong = report.clone();
    wrong.base.states -= 1;
    says(compare_with("noticed", &right, &wrong).unwrap_err(), "99 states");
    let broken = design("one_person").unwrap();
    let mut wrong = checked(&broken).unwrap();
    wrong.goals[0].verdict = Verdict::Proved;
    let problem = compare_with("noticed", &broken, &wrong).unwrap_err();
    says(problem, "holds here, violated with TLC");
}
