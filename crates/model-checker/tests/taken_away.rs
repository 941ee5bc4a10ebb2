//! A clause that is taken away: the goal that breaks first, or that nothing does.

use design::model::{Design, Protection};
use model_checker::{TakenAway, taken_away};

use crate::support::text::{compiled, one_thread};

const DESKS: &str = include_str!("../../console/src/assets/example.design");

fn without(design: &Design, clause: &str) -> TakenAway {
    let named = |(name, protection): (String, Protection)| (name == clause).then_some(protection);
    let protection = design.clauses().into_iter().find_map(named).expect("there is such a clause");
    taken_away(design, &[protection], &one_thread(), &mut |_| ()).expect("it can be explored")
}

#[test]
fn the_goal_that_breaks_is_named_with_the_step_that_would_have_been_refused() {
    let answer = without(&compiled(DESKS), "hold.free");
    let TakenAway::Breaks { goal, trace } = answer else { panic!("{answer:?}") };
    assert_eq!(goal, "one_stay");
    let would = trace.steps.iter().filter_map(|step| step.would_have_refused.as_deref());
    assert!(would.eq(["hold.free"]), "{trace:?}");
}

#[test]
fn what_no_goal_needs_breaks_nothing() {
    let answer = without(&compiled(DESKS), "book.yours");
    assert!(matches!(answer, TakenAway::Nothing { .. }), "{answer:?}");
}

#[test]
fn a_budget_that_runs_out_is_no_answer() {
    let design = compiled(DESKS);
    let (_, yours) = design.clauses().into_iter().find(|(name, _)| name == "book.yours").unwrap();
    let options = model_checker::Options { max_states: 5, ..one_thread() };
    let answer = taken_away(&design, &[yours], &options, &mut |_| ()).expect("it can be explored");
    assert!(matches!(answer, TakenAway::Unknown(_)), "{answer:?}");
}
