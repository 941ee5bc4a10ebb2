//! Every refusal, by name.

use crate::support;

use design::model::*;
use engine::{FAULTS, NULL, Outcome, Outside, Place, Program, Reason, Scratch, Word};
use support::*;

fn thing(attributes: &[(&str, Type, Option<Const>)]) -> Subject {
    subject("Thing", &[("thing", Type::Text)], attributes)
}

fn things(attributes: &[(&str, Type, Option<Const>)], operation: Operation) -> Design {
    let mut design = design();
    design.subjects.push(thing(attributes));
    design.operations.push(operation);
    design
}

fn reference() -> Type {
    Type::Ref(SubjectId(0))
}

/// `use_it(thing: Thing)` on a thing with `n: int` and `next: Thing?`.
fn on_thing() -> Operation {
    step("use_it", &[("thing", reference(), false)])
}

fn n(base: Expr) -> Expr {
    attr(base, 0, Type::Int)
}

fn next(base: Expr) -> Expr {
    attr(base, 1, optional(reference()))
}

type Attributes = [(&'static str, Type, Option<Const>); 2];

fn attributes() -> Attributes {
    [("n", Type::Int, Some(Const::Int(0))), ("next", optional(reference()), None)]
}

fn check(operation: Operation, truth: &MapTruth, params: &[Word], expected: &str) {
    assert_eq!(run(&things(&attributes(), operation), truth, params), expected);
}

fn five() -> MapTruth {
    MapTruth::default().with(0, 1, &[5, NULL]).with(0, 2, &[6, 1])
}

#[test]
fn a_clause_that_does_not_hold_is_named() {
    let operation = on_thing()
        .when("first", equal(n(record(0, 0)), int(5)))
        .when("second", less(n(record(0, 0)), int(5)));
    let program = Program::new(&things(&attributes(), operation));
    let refused = engine::step(&program, &five(), &command(0, &[1]), &mut Scratch::new());
    let Outcome::Refused(refusal) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal.reason, Reason::Clause(1));
    assert_eq!(refusal.clause, Some(ClauseRef::Named(1)));
}

#[test]
fn exists_comes_first_then_fresh_then_the_clauses() {
    let params = [("made", reference(), true), ("thing", reference(), false)];
    let operation = step("make", &params).when("never", truth_value(false));
    check(operation.clone(), &five(), &[1, 9], "exists");
    check(operation.clone(), &five(), &[1, 2], "fresh");
    check(operation.clone(), &five(), &[9, 2], "clause");
    let program = Program::new(&things(&attributes(), operation));
    let ask = |params: &[Word]| match engine::step(
        &program,
        &five(),
        &command(0, params),
        &mut Scratch::new(),
    ) {
        Outcome::Refused(refusal) => (refusal.reason, refusal.clause),
        other => panic!("{other:?}"),
    };
    assert_eq!(ask(&[1, 9]), (Reason::Exists(1), Some(ClauseRef::Exists)));
    assert_eq!(ask(&[1, 2]), (Reason::Fresh(0), Some(ClauseRef::Fresh)));
}

#[test]
fn a_reference_is_followed_or_refused_by_name() {
    let follow = on_thing().when("next", equal(n(next(record(0, 0))), int(5)));
    check(follow.clone(), &five(), &[2], "done");
    check(follow.clone(), &five(), &[1], "nothing");
    check(follow, &five().with(0, 3, &[0, 99]), &[3], "no_such_record");
    let write = on_thing().does(assign(next(record(0, 0)), 0, int(1)));
    check(write.clone(), &five(), &[1], "nothing");
    check(write, &five().with(0, 3, &[0, 99]), &[3], "no_such_record");
}

#[test]
fn a_record_that_was_deleted_is_not_read_again() {
    let delete = || on_thing().does(StmtKind::Delete { target: record(0, 0) });
    check(delete(), &five(), &[1], "done");
    check(delete().does(assign(record(0, 0), 0, int(1))), &five(), &[1], "deleted");
    let reads =
        StmtKind::If { condition: equal(n(record(0, 0)), int(5)), then: vec![], otherwise: vec![] };
    check(delete().does(reads), &five(), &[1], "deleted");
    check(delete().does(StmtKind::Delete { target: record(0, 0) }), &five(), &[1], "deleted");
}

#[test]
fn new_does_not_replace_what_is_there() {
    let make = |key| StmtKind::New {
        subject: SubjectId(0),
        keys: vec![text(key)],
        fields: vec![(AttrId(0), int(3))],
    };
    // "a" is handle 0
    check(on_thing().does(make("a")), &five(), &[1], "done");
    check(on_thing().does(make("a")), &five().with(0, 0, &[1, NULL]), &[1], "already_exists");
    check(on_thing().does(make("a")).does(make("a")), &five(), &[1], "already_exists");
}

#[test]
fn no_value_where_one_is_required() {
    let assigned = on_thing().does(assign(record(0, 0), 0, null()));
    check(assigned, &five(), &[1], "null_value");
    let added = on_thing().when("sum", equal(plus(n(record(0, 0)), null()), int(5)));
    check(added, &five(), &[1], "null_value");
    let condition = on_thing().when("flag", expr(ExprKind::Literal(Const::Null), Type::Bool));
    check(condition, &five(), &[1], "null_value");
    check(on_thing(), &five(), &[NULL], "null_value");
    let made = step("make", &[("made", reference(), true)]);
    let design = things(&[("n", Type::Int, None)], made.clone());
    assert_eq!(run(&design, &MapTruth::default(), &[1]), "null_value");
    let whole = things(&[("n", Type::Int, None)], made.does(assign(record(0, 0), 0, int(1))));
    assert_eq!(run(&whole, &MapTruth::default(), &[1]), "done");
}

#[test]
fn comparisons_with_null() {
    let far = |op| on_thing().when("c", compare(op, next(record(0, 0)), null()));
    check(far(CompareOp::Equal), &five(), &[1], "done");
    check(far(CompareOp::NotEqual), &five(), &[1], "clause");
    check(far(CompareOp::Less), &five(), &[1], "clause");
    check(far(CompareOp::GreaterEqual), &five(), &[1], "clause");
}

#[test]
fn arithmetic_at_its_ends() {
    let big = MapTruth::default().with(0, 1, &[Word::MAX, NULL]).with(0, 2, &[NULL + 1, NULL]);
    let computed = |op, right| {
        let sum = arithmetic(op, n(record(0, 0)), int(right), Type::Int);
        on_thing().when("c", differ(sum, int(0)))
    };
    check(computed(ArithmeticOp::Add, 1), &big, &[1], "overflow");
    check(computed(ArithmeticOp::Subtract, -1), &big, &[1], "overflow");
    check(computed(ArithmeticOp::Multiply, 2), &big, &[1], "overflow");
    check(computed(ArithmeticOp::Divide, 0), &big, &[1], "division_by_zero");
    check(computed(ArithmeticOp::Subtract, 1), &big, &[2], "overflow");
    let negated = expr(ExprKind::Negate(Box::new(n(record(0, 0)))), Type::Int);
    check(on_thing().when("c", differ(negated, int(0))), &big, &[2], "done");
    let counted = on_thing().does(change(record(0, 0), 0, AssignOp::Add, int(1)));
    check(counted, &big, &[1], "overflow");
    let down = on_thing().does(change(record(0, 0), 0, AssignOp::Subtract, int(1)));
    check(down, &big, &[2], "overflow");
}

#[test]
fn conditions_stop_at_the_first_that_decides() {
    let bad = || equal(n(next(record(0, 0))), int(5));
    let (yes, no) = (|| truth_value(true), || truth_value(false));
    let implies = |a, b| expr(ExprKind::Implies(Box::new(a), Box::new(b)), Type::Bool);
    let choose = |c, a, b| {
        let (condition, then, otherwise) = (Box::new(c), Box::new(a), Box::new(b));
        expr(ExprKind::If { condition, then, otherwise }, Type::Bool)
    };
    for (condition, expected) in [
        (or(vec![yes(), bad()]), "done"),
        (or(vec![bad(), yes()]), "nothing"),
        (and(vec![no(), bad()]), "clause"),
        (and(vec![bad(), no()]), "nothing"),
        (implies(no(), bad()), "done"),
        (choose(yes(), yes(), bad()), "done"),
        (choose(no(), yes(), bad()), "nothing"),
    ] {
        check(on_thing().when("c", condition), &five(), &[1], expected);
    }
}

#[test]
fn arguments_are_values_of_their_types() {
    let mut design = things(
        &attributes(),
        step(
            "give",
            &[
                ("flag", Type::Bool, false),
                ("kind", Type::Enum(EnumId(0)), false),
                ("set", set_of(Type::Int, 2), false),
                ("map", map_of(Type::Int, Type::Int, 1), false),
                ("maybe", optional(reference()), false),
            ],
        ),
    );
    let constants = vec!["A".into(), "B".into()];
    design.enumerations.push(Enumeration { name: "kind".into(), constants, span: span() });
    let give = |params: &[Word]| run(&design, &MapTruth::default(), params);
    assert_eq!(give(&[1, 1, 2, 3, 4, 1, 7, 8, NULL]), "done");
    assert_eq!(give(&[2, 1, 2, 3, 4, 1, 7, 8, NULL]), "out_of_range");
    assert_eq!(give(&[1, 2, 2, 3, 4, 1, 7, 8, NULL]), "out_of_range");
    assert_eq!(give(&[1, -1, 2, 3, 4, 1, 7, 8, NULL]), "out_of_range");
    assert_eq!(give(&[1, 1, 3, 3, 4, 1, 7, 8, NULL]), "out_of_range");
    assert_eq!(give(&[1, 1, 2, 4, 3, 1, 7, 8, NULL]), "out_of_range");
    assert_eq!(give(&[1, 1, 2, 3, 4, 2, 7, 8, NULL]), "out_of_range");
    assert_eq!(give(&[1, 1, NULL, 3, 4, 1, 7, 8, NULL]), "null_value");
    assert_eq!(give(&[1, 1]), "out_of_range");
    assert_eq!(give(&[1, 1, 2, 3, 4, 1, 7, 8, 5]), "exists");
}

#[test]
fn a_scan_in_a_guard_is_not_evaluated() {
    let mut operation = on_thing();
    let it = local_of(&mut operation, reference());
    let scan = quantified(true, it.0, Domain::All(SubjectId(0)), truth_value(true));
    check(operation.when("c", scan), &five(), &[1], "unsupported");
}

#[test]
fn every_reason_has_a_name_of_its_own() {
    let all = [
        Reason::Clause(0),
        Reason::Exists(0),
        Reason::Fresh(0),
        Reason::NoSuchRecord,
        Reason::Deleted,
        Reason::AlreadyExists,
        Reason::NoParent,
        Reason::EmptyKey,
        Reason::HasChildren,
        Reason::Nothing,
        Reason::NullValue,
        Reason::Overflow,
        Reason::DivisionByZero,
        Reason::CollectionFull,
        Reason::OutOfRange,
        Reason::Range(Outside { place: Place::Param(0), value: 0 }),
        Reason::EntryClosed,
        Reason::Unsupported,
    ];
    let names: std::collections::BTreeSet<&str> = all.iter().map(|reason| reason.name()).collect();
    assert_eq!(names.len(), all.len());
}

/// Clients know what may befall a step from this list.
#[test]
fn every_fault_is_in_the_list() {
    use Reason::*;
    let faults = [
        NoSuchRecord,
        Deleted,
        AlreadyExists,
        NoParent,
        EmptyKey,
        HasChildren,
        Nothing,
        NullValue,
        Overflow,
        DivisionByZero,
        CollectionFull,
        OutOfRange,
        Unsupported,
    ];
    assert_eq!(faults.map(Reason::name), FAULTS);
}
