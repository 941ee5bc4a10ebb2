//! Goals over whole worlds: absence, `old`, children, and the world outside.

use crate::support;

use design::model::*;
use engine::{NULL, Program, Scratch, Word, holds};
use support::*;

fn task() -> Type {
    Type::Ref(SubjectId(0))
}

/// Stage 0, task 1; `pay(task)` is an effect.
fn world(locals: &[Type], uses_old: bool, body: Expr) -> Design {
    let mut design = design();
    design.subjects.push(subject("Stage", &[("stage", Type::Text)], &[("n", Type::Int, None)]));
    design.subjects.push(subject(
        "Task",
        &[("stage", task()), ("task", Type::Int)],
        &[("n", optional(Type::Int), None), ("at", optional(Type::Time), None)],
    ));
    let mut pay = step("pay", &[("task", Type::Ref(SubjectId(1)), false), ("n", Type::Int, false)]);
    pay.kind = OperationKind::Effect(Box::new(Effect {
        method: String::new(),
        url: String::new(),
        key: vec![],
        body: vec![],
        sign: None,
        on_ok: Answer::default(),
        on_refused: Answer::default(),
        on_unknown: Answer::default(),
    }));
    design.operations.push(pay);
    let locals = locals.iter().map(|ty| Local { name: "x".into(), ty: ty.clone() }).collect();
    design.invariants.push(invariant("it", locals, uses_old, body));
    design
}

fn truth() -> MapTruth {
    let mut truth = MapTruth::default().with(0, 1, &[10]).with(1, SPREAD + 1, &[4, 90]).with(
        1,
        SPREAD + 2,
        &[NULL, NULL],
    );
    truth.keys.insert(SubjectId(0), vec![1, 2]);
    truth.keys.insert(SubjectId(1), vec![SPREAD + 1, SPREAD + 2, 2 * SPREAD + 1]);
    truth.done.insert(OperationId(0), vec![vec![SPREAD + 1, 5], vec![SPREAD + 2, 6]]);
    truth.now = 100;
    truth
}

fn check(locals: &[Type], body: Expr) -> Result<bool, &'static str> {
    check_from(locals, body, None, &truth())
}

fn check_from(
    locals: &[Type],
    body: Expr,
    old: Option<&MapTruth>,
    now: &MapTruth,
) -> Result<bool, &'static str> {
    let program = Program::new(&world(locals, old.is_some(), body));
    holds(&program, Goal::Invariant(0), now, old, &mut Scratch::new())
        .map_err(|refusal| refusal.reason.name())
}

const TASK: Type = Type::Ref(SubjectId(1));

fn n(base: Expr) -> Expr {
    attr(base, 0, optional(Type::Int))
}

fn at(base: Expr) -> Expr {
    attr(base, 1, optional(Type::Time))
}

#[test]
fn quantifiers_range_over_records_that_are_there() {
    let every = |body| quantified(true, 0, Domain::All(SubjectId(1)), body);
    let exists = expr(ExprKind::Exists { base: Box::new(record(0, 1)), cache: None }, Type::Bool);
    assert_eq!(check(&[TASK], every(exists)), Ok(true));
    let count = |filter| aggregate(0, Domain::All(SubjectId(1)), filter, None);
    assert_eq!(check(&[TASK], equal(count(None), int(2))), Ok(true));
    assert_eq!(check(&[TASK], equal(count(Some(less(n(record(0, 1)), int(9)))), int(1))), Ok(true));
    let children = |stage: Word| {
        let parent = expr(ExprKind::Literal(Const::Int(stage)), task());
        aggregate(0, Domain::Children { child: SubjectId(1), parent }, None, None)
    };
    assert_eq!(check(&[TASK], equal(children(1), int(2))), Ok(true));
    assert_eq!(check(&[TASK], equal(children(2), int(0))), Ok(true));
}

#[test]
fn what_is_not_there_is_null() {
    let nowhere = || expr(ExprKind::Literal(Const::Int(77)), TASK);
    assert_eq!(check(&[], equal(n(nowhere()), null())), Ok(true));
    assert_eq!(check(&[], equal(n(expr(ExprKind::Literal(Const::Null), TASK)), null())), Ok(true));
    assert_eq!(check(&[], less(n(nowhere()), int(1))), Ok(false));
    assert_eq!(check(&[], equal(plus(n(nowhere()), int(1)), null())), Ok(true));
    let sum = aggregate(0, Domain::All(SubjectId(1)), None, Some(n(record(0, 1))));
    assert_eq!(check(&[TASK], equal(sum, int(4))), Ok(true));
    assert_eq!(check(&[], not(attr(nowhere(), 0, Type::Bool))), Ok(true));
}

#[test]
fn an_overflow_is_an_error() {
    let over = arithmetic(ArithmeticOp::Divide, int(1), int(0), Type::Int);
    assert_eq!(check(&[], equal(over, int(0))), Err("division_by_zero"));
}

#[test]
fn old_is_how_it_was() {
    let mut before = truth();
    before.records.remove(&(SubjectId(1), SPREAD + 2));
    before.records.insert((SubjectId(1), SPREAD + 1), vec![3, 95]);
    before.done.insert(OperationId(0), vec![vec![SPREAD + 1, 5]]);
    before.now = 60;
    let after = truth();
    let first = || expr(ExprKind::Literal(Const::Int(SPREAD + 1)), TASK);
    let second = || expr(ExprKind::Literal(Const::Int(SPREAD + 2)), TASK);
    let ask = |body| check_from(&[TASK, TASK], body, Some(&before), &after);
    assert_eq!(ask(equal(n(first()), int(4))), Ok(true));
    assert_eq!(ask(equal(old(n(first())), int(3))), Ok(true));
    assert_eq!(ask(equal(old(n(second())), null())), Ok(true));
    let exists = || expr(ExprKind::Exists { base: Box::new(second()), cache: None }, Type::Bool);
    assert_eq!(ask(and(vec![exists(), not(old(exists()))])), Ok(true));
    // the clock too
    assert_eq!(ask(less(at(first()), now())), Ok(true));
    assert_eq!(ask(old(less(at(first()), now()))), Ok(false));
    assert_eq!(ask(less(old(at(first())), now())), Ok(true));
    let rows = || aggregate(0, Domain::World(OperationId(0)), None, None);
    assert_eq!(ask(equal(rows(), plus(old(rows()), int(1)))), Ok(true));
    let count = || aggregate(0, Domain::All(SubjectId(1)), None, None);
    assert_eq!(ask(equal(old(count()), int(1))), Ok(true));
    let every = quantified(
        true,
        0,
        Domain::All(SubjectId(1)),
        or(vec![
            equal(old(n(record(0, 1))), null()),
            at_least(n(record(0, 1)), old(n(record(0, 1)))),
        ]),
    );
    assert_eq!(ask(every), Ok(true));
}

#[test]
fn a_goal_with_old_holds_of_the_first_state() {
    let program = Program::new(&world(&[], true, old(truth_value(false))));
    let held = holds(&program, Goal::Invariant(0), &truth(), None, &mut Scratch::new());
    assert_eq!(held, Ok(true));
}

#[test]
fn what_the_world_outside_has_done_is_counted() {
    let arg = |param, ty| expr(ExprKind::WorldArg { local: LocalId(1), param }, ty);
    let paid = |filter| aggregate(1, Domain::World(OperationId(0)), Some(filter), None);
    let once = |limit| {
        let mine = equal(arg(0, TASK), record(0, 1));
        quantified(true, 0, Domain::All(SubjectId(1)), less(paid(mine), int(limit)))
    };
    assert_eq!(check(&[TASK, Type::Int], once(2)), Ok(true));
    assert_eq!(check(&[TASK, Type::Int], once(1)), Ok(false));
    let large = paid(less(int(5), arg(1, Type::Int)));
    assert_eq!(check(&[TASK, Type::Int], equal(large, int(1))), Ok(true));
    // a row of the world before keeps its arguments
    let both = quantified(
        true,
        1,
        Domain::World(OperationId(0)),
        equal(old(arg(1, Type::Int)), arg(1, Type::Int)),
    );
    let mut before = truth();
    before.done.clear();
    assert_eq!(check_from(&[TASK, Type::Int], both, Some(&before), &truth()), Ok(true));
}

#[test]
fn an_implicit_subject_has_all_its_keys() {
    let every = quantified(
        true,
        0,
        Domain::All(SubjectId(0)),
        equal(attr(record(0, 0), 0, Type::Int), int(10)),
    );
    let mut design = world(&[task()], false, every);
    let ask = |design: &Design| {
        let program = Program::new(design);
        holds(&program, Goal::Invariant(0), &truth(), None, &mut Scratch::new()).unwrap()
    };
    assert!(ask(&design));
    design.subjects[0].implicit = true;
    design.subjects[0].attributes[0].default = Some(Const::Int(0));
    assert!(!ask(&design));
    design.subjects[0].attributes[0].default = Some(Const::Int(10));
    assert!(ask(&design));
}
