//! Sets, lists and maps, up to their bounds.

use crate::support;

use design::model::*;
use engine::{NULL, Outcome, Program, Scratch, Word};
use support::*;

const SET: u32 = 0;
const LIST: u32 = 1;
const MAP: u32 = 2;

fn bag() -> Type {
    Type::Ref(SubjectId(0))
}

fn of(id: u32) -> Expr {
    let ty = match id {
        SET => set_of(Type::Int, 3),
        LIST => list_of(Type::Int, 2),
        _ => map_of(Type::Int, Type::Int, 2),
    };
    attr(record(0, 0), id, ty)
}

/// The record after `body`, or why not: set at 0..4, list at 4..7, map at 7..12.
fn after(before: &[Word], body: Vec<StmtKind>, given: Word) -> Result<Vec<Word>, &'static str> {
    let mut design = design();
    design.subjects.push(subject(
        "Bag",
        &[("bag", Type::Text)],
        &[
            ("set", set_of(Type::Int, 3), None),
            ("list", list_of(Type::Int, 2), None),
            ("map", map_of(Type::Int, Type::Int, 2), None),
        ],
    ));
    let mut operation = step("change", &[("bag", bag(), false), ("n", Type::Int, false)]);
    local_of(&mut operation, Type::Int);
    design.operations.push(body.into_iter().fold(operation, OperationBuild::does));
    let program = Program::new(&design);
    let mut truth = MapTruth::default().with(0, 1, before);
    let mut scratch = Scratch::new();
    match engine::step(&program, &truth, &command(0, &[1, given]), &mut scratch) {
        Outcome::Done => {
            truth.commit(&scratch);
            Ok(truth.at(0, 1).unwrap().to_vec())
        }
        other => Err(outcome(other)),
    }
}

const EMPTY: [Word; 12] = [0; 12];
const FULL: [Word; 12] = [3, 2, 4, 6, 2, 8, 7, 2, 1, 10, 3, 30];

fn given() -> Expr {
    local(1, Type::Int)
}

#[test]
fn a_set_takes_and_gives_one_element() {
    let add = || vec![change(record(0, 0), SET, AssignOp::Add, given())];
    let take = || vec![change(record(0, 0), SET, AssignOp::Subtract, given())];
    assert_eq!(after(&EMPTY, add(), 5).unwrap()[..4], [1, 5, 0, 0]);
    assert_eq!(after(&FULL, add(), 4).unwrap(), FULL);
    assert_eq!(after(&FULL, add(), 5), Err("collection_full"));
    assert_eq!(after(&FULL, take(), 4).unwrap()[..4], [2, 2, 6, 0]);
    assert_eq!(after(&FULL, take(), 5).unwrap(), FULL);
}

#[test]
fn a_list_grows_and_is_read_by_number() {
    let push = || vec![change(record(0, 0), LIST, AssignOp::Add, given())];
    assert_eq!(after(&EMPTY, push(), 5).unwrap()[4..7], [1, 5, 0]);
    assert_eq!(after(&FULL, push(), 5), Err("collection_full"));
    let index = expr(
        ExprKind::Index { base: Box::new(of(LIST)), index: Box::new(given()) },
        optional(Type::Int),
    );
    let copy = || {
        vec![
            change(record(0, 0), SET, AssignOp::Subtract, int(2)),
            change(record(0, 0), SET, AssignOp::Add, index.clone()),
        ]
    };
    assert_eq!(after(&FULL, copy(), 1).unwrap()[..4], [3, 4, 6, 7]);
    assert_eq!(after(&FULL, copy(), 2), Err("null_value"));
    assert_eq!(after(&FULL, copy(), -1), Err("null_value"));
}

#[test]
fn a_map_has_one_value_under_a_key() {
    let element = |op, value| {
        let target = Target::Element { base: record(0, 0), attr: AttrId(MAP), key: given() };
        vec![StmtKind::Assign { target, op, value }]
    };
    assert_eq!(after(&FULL, element(AssignOp::Set, int(31)), 3).unwrap()[7..], [2, 1, 10, 3, 31]);
    assert_eq!(after(&FULL, element(AssignOp::Add, int(5)), 1).unwrap()[7..], [2, 1, 15, 3, 30]);
    assert_eq!(after(&FULL, element(AssignOp::Set, int(31)), 2), Err("collection_full"));
    assert_eq!(after(&EMPTY, element(AssignOp::Subtract, int(1)), 3), Err("null_value"));
    assert_eq!(after(&FULL, element(AssignOp::Add, int(Word::MAX)), 1), Err("overflow"));
    let remove = vec![change(record(0, 0), MAP, AssignOp::Subtract, given())];
    assert_eq!(after(&FULL, remove, 1).unwrap()[7..], [1, 3, 30, 0, 0]);
}

#[test]
fn a_larger_collection_does_not_fit() {
    let whole = |items: Vec<Expr>| {
        let max = items.len() as u32;
        vec![assign(record(0, 0), SET, expr(ExprKind::Set(items), set_of(Type::Int, max)))]
    };
    let fits = whole(vec![int(9), given(), int(1)]);
    assert_eq!(after(&FULL, fits, 4).unwrap()[..4], [3, 1, 4, 9]);
    assert_eq!(
        after(&FULL, whole(vec![int(9), given(), int(1), int(2)]), 4),
        Err("collection_full")
    );
    assert_eq!(after(&FULL, whole(vec![int(9), given(), int(1), int(4)]), 4).unwrap()[0], 3);
    let constant = expr(
        ExprKind::Literal(Const::Set(vec![Const::Int(3), Const::Int(1)])),
        set_of(Type::Int, 2),
    );
    assert_eq!(
        after(&FULL, vec![assign(record(0, 0), SET, constant)], 0).unwrap()[..4],
        [2, 1, 3, 0]
    );
}

#[test]
fn a_loop_runs_over_what_was_there_when_it_began() {
    let body = vec![
        stmt(change(record(0, 0), SET, AssignOp::Subtract, local(2, Type::Int))),
        stmt(StmtKind::If {
            condition: less(local(2, Type::Int), int(5)),
            then: vec![stmt(change(record(0, 0), LIST, AssignOp::Add, local(2, Type::Int)))],
            otherwise: vec![],
        }),
    ];
    let each = StmtKind::For { local: LocalId(2), domain: of(SET), body };
    let mut before = FULL;
    before[4..7].fill(0);
    let changed = after(&before, vec![each], 0).unwrap();
    assert_eq!(changed[..7], [0, 0, 0, 0, 2, 2, 4]);
}

fn holds_in(condition: Expr) -> bool {
    let then = vec![stmt(change(record(0, 0), SET, AssignOp::Subtract, int(2)))];
    let test = StmtKind::If { condition, then, otherwise: vec![] };
    after(&FULL, vec![test], 4).unwrap()[0] == 2
}

#[test]
fn collections_in_conditions() {
    let is_in = |item, collection: Expr| {
        let kind = ExprKind::In { item: Box::new(item), collection: Box::new(collection) };
        expr(kind, Type::Bool)
    };
    let size = |inner: Expr| expr(ExprKind::Size(Box::new(inner)), Type::Int);
    let literal = || expr(ExprKind::Set(vec![int(6), int(2), given()]), set_of(Type::Int, 3));
    assert!(holds_in(is_in(given(), of(SET))));
    assert!(!holds_in(is_in(int(5), of(SET))));
    assert!(holds_in(is_in(int(3), of(MAP))));
    assert!(!holds_in(is_in(int(30), of(MAP))));
    assert!(holds_in(is_in(given(), literal())));
    assert!(!holds_in(is_in(null(), literal())));
    assert!(holds_in(equal(size(of(MAP)), int(2))));
    assert!(holds_in(equal(of(SET), literal())));
    assert!(!holds_in(equal(of(SET), null())));
    let it = || local(2, Type::Int);
    let over = |id| Domain::Elements(of(id));
    assert!(holds_in(quantified(true, 2, over(SET), less(it(), int(7)))));
    assert!(!holds_in(quantified(true, 2, over(SET), less(it(), int(6)))));
    assert!(holds_in(quantified(false, 2, over(MAP), equal(it(), int(3)))));
    let big = Some(less(int(3), it()));
    assert!(holds_in(equal(aggregate(2, over(SET), big.clone(), None), int(2))));
    assert!(holds_in(equal(aggregate(2, over(SET), big, Some(it())), int(10))));
}

#[test]
fn a_set_that_is_null_has_nothing_to_look_into() {
    let mut before = FULL;
    before[0] = NULL;
    let size = expr(ExprKind::Size(Box::new(of(SET))), Type::Int);
    let test = StmtKind::If { condition: equal(size, int(0)), then: vec![], otherwise: vec![] };
    assert_eq!(after(&before, vec![test], 0), Err("null_value"));
    let add = vec![change(record(0, 0), SET, AssignOp::Add, given())];
    assert_eq!(after(&before, add, 0), Err("null_value"));
}
