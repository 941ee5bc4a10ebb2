//! Several worlds in one report: where each goal was judged, and what is told of it.

use crate::support::text::{compiled, one_thread};
use design::model::Design;
use model_checker::{LargerOutcome, Report, check, larger, render};

const LOOM: &str = include_str!("verdicts/loom.design");

fn checked(design: &Design) -> Report {
    check(design, &one_thread(), &mut |_| ()).unwrap()
}

#[test]
fn each_goal_is_judged_where_it_belongs_and_the_verdict_says_so() {
    let report = checked(&compiled(LOOM));
    assert!(report.ok() && report.closed());
    assert_eq!(report.worlds.len(), 1);
    assert_eq!(report.worlds[0].goals, ["fenced"]);
    let golden = render::golden(&report);
    for line in [
        "world loom: 1; weaver: 1\n",
        "in two_hands for fenced\nworld loom: 1; weaver: 2\n",
        "goal counted: proved; 4 states\n",
        "goal fenced in two_hands: proved; 9 states\n",
    ] {
        assert!(golden.contains(line), "{line} in\n{golden}");
    }
    let json = render::json(&report);
    assert_eq!(json["worlds"][0]["name"], "two_hands");
    assert_eq!(json["worlds"][0]["explored"]["closed"], true);
    assert_eq!(json["goals"][0]["world"], serde_json::Value::Null);
    assert_eq!(json["goals"][1]["world"], "two_hands");
    assert_eq!(json["failures"][0]["world"], "two_hands");
    assert!(report.searches.iter().any(|search| search.name == "two_hands: as written"));
    let names = report.goals.iter().map(|goal| goal.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["counted", "fenced"], "in the order written");
}

#[test]
fn the_numbers_of_each_world_are_raised() {
    let wrong = LOOM.replace("LoomState.turn = my_turn", "my_turn present");
    let wrong = wrong.replace("weaver: 2", "weaver: 1");
    let design = compiled(&wrong);
    let report = checked(&design);
    let all = larger(&design, &report, &one_thread(), &mut |_| ());
    let of = |world: &str| all.iter().find(|one| one.world == world).map(|one| &one.outcome);
    assert_eq!(of("weaver: 2"), Some(&LargerOutcome::Same));
    let violated = LargerOutcome::Violated { goal: "fenced".into(), steps: 4 };
    assert_eq!(of("two_hands: weaver: 2"), Some(&violated));
}

/// A decimal counts in millionths: one larger means one whole, and bounds are told as they are written.
#[test]
fn the_bound_of_a_decimal_is_raised_by_one() {
    let text = "design Till
actor clerk
subject Till(till: text) { truth TillState { held: decimal = 0 } }
step clerk[pay(till: Till, sum: decimal)] { TillState.held += sum }
invariant small: all t in Till: t.held < 3.2
check { till: 1  clerk: 1  sum: {0.5}  TillState.held: 0..2.5 }
";
    let design = compiled(text);
    let report = checked(&design);
    assert!(
        render::golden(&report).contains("TillState.held: 0..2.5"),
        "{}",
        render::golden(&report)
    );
    let all = larger(&design, &report, &one_thread(), &mut |_| ());
    let raised = all.iter().find(|one| one.world == "TillState.held: 0..3.5");
    let violated = LargerOutcome::Violated { goal: "small".into(), steps: 7 };
    assert_eq!(raised.map(|one| &one.outcome), Some(&violated), "{all:?}");
}

#[test]
fn a_clause_that_one_world_needs_is_not_free() {
    let unnamed: String = LOOM
        .lines()
        .filter(|line| !line.starts_with("failure"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(checked(&compiled(&unnamed)).free, [], "`two_hands` needs the fence");
    let alone = unnamed.replace("weaver: 2", "weaver: 1");
    let free = checked(&compiled(&alone)).free;
    assert_eq!(free.len(), 1, "{free:?}");
    assert_eq!(free[0].clause, "weave.fenced");
}

#[test]
fn a_world_that_is_not_finite_is_named() {
    let endless = LOOM.replace("woven_by := my_turn", "woven_by := LoomState.woven_by * 2 + 1");
    let why = check(&compiled(&endless), &one_thread(), &mut |_| ()).unwrap_err().to_string();
    assert!(!why.contains("in the world"), "the default one has no name: {why}");
    let bounded = endless.replacen("weaver: 1 }", "weaver: 1  LoomState.woven_by: 0..3 }", 1);
    let why = check(&compiled(&bounded), &one_thread(), &mut |_| ()).unwrap_err().to_string();
    assert!(why.starts_with("in the world `two_hands`: no finite domain"), "{why}");
}
