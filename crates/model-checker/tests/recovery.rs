//! Recovery is fair and sound.

use crate::support;

use design::model::*;
use model_checker::{Report, Verdict};
use support::build::OperationBuild as _;
use support::{checked, plain, support_repair};

/// One thing with a number, and repairs that move it: (from, to). The goal is 2. There it
/// begins, and the first step moves it to 0: no repair is owed to what nothing has changed.
fn moves(repairs: &[(u32, u32)]) -> Report {
    moves_from(2, repairs)
}

fn moves_from(begins: u32, repairs: &[(u32, u32)]) -> Report {
    let mut design = support::design();
    design.actors = vec![support::actor("world"), support::actor("mender")];
    design.actors[0].is_world = true;
    design.blobs = vec![];
    design.enumerations = vec![Enumeration {
        name: "Thing.at".into(),
        constants: ["ZERO", "ONE", "TWO"].map(String::from).to_vec(),
        span: support::span(),
    }];
    let ty = Type::Enum(EnumId(0));
    let constant = |at: u32| {
        support::expr(ExprKind::Literal(Const::Enum(EnumId(0), at)), Type::Enum(EnumId(0)))
    };
    let default = Some(Const::Enum(EnumId(0), begins));
    let mut subject =
        support::subject("Thing", &[("thing", Type::Text)], &[("at", ty.clone(), default)]);
    subject.implicit = true;
    design.subjects = vec![subject];
    let at = || support::attr(support::record(0, 0), 0, ty.clone());
    design.operations.push(
        support::step("push", &[("thing", Type::Ref(SubjectId(0)), false)])
            .when("there", support::equal(at(), constant(2)))
            .does(support::assign(support::record(0, 0), 0, constant(0))),
    );
    for (number, (from, to)) in repairs.iter().enumerate() {
        let name = format!("move_{number}");
        design.operations.push(support_repair(
            &name,
            support::equal(at(), constant(*from)),
            vec![support::assign(support::record(0, 0), 0, constant(*to))],
        ));
    }
    let locals = vec![Local { name: "t".into(), ty: Type::Ref(SubjectId(0)) }];
    let body =
        support::quantified(true, 0, Domain::All(SubjectId(0)), support::equal(at(), constant(2)));
    design.recoveries = vec![support::invariant("arrives", locals, false, body)];
    design.world = World {
        written: true,
        keys: vec![vec![Values::Opaque(1)]],
        actors: vec![1, 1],
        params: design.operations.iter().map(|_| vec![Values::Refs(SubjectId(0))]).collect(),
        ..World::default()
    };
    checked(&design, &plain())
}

fn cycle_of(report: &Report) -> Option<(usize, Option<usize>)> {
    match &report.goals[0].verdict {
        Verdict::Violated(trace) => Some((trace.steps.len(), trace.cycle_start)),
        _ => None,
    }
}

#[test]
fn a_repair_that_arrives_recovers() {
    assert_eq!(moves(&[(0, 1), (1, 2)]).goals[0].verdict, Verdict::Proved);
}

#[test]
fn repairs_that_undo_each_other_go_round_for_ever() {
    assert_eq!(cycle_of(&moves(&[(0, 1), (1, 0)])), Some((3, Some(1))));
}

#[test]
fn a_repair_that_is_always_due_runs_eventually() {
    let report = moves(&[(0, 1), (1, 0), (0, 2), (1, 2)]);
    // Each way out is closed again by the move back: neither is due all the time.
    assert_eq!(cycle_of(&report), Some((3, Some(1))));
}

#[test]
fn nothing_happens_at_a_dead_end() {
    let report = moves(&[(0, 1)]);
    assert_eq!(cycle_of(&report), Some((2, None)));
}

/// Nothing looks for repairs among records that were never written: there is no end of them.
#[test]
fn no_repair_is_owed_to_a_record_that_nothing_has_changed() {
    assert_eq!(cycle_of(&moves_from(0, &[(0, 2)])), Some((0, None)));
}
