//! A child is made only while its parent is there, however it is made.

use crate::support;

use design::model::*;
use engine::{Need, Outcome, Program, Reason, Scratch, Word};
use support::*;

const JOB: u32 = 0;
const TASK: u32 = 1;

fn job() -> Type {
    Type::Ref(SubjectId(JOB))
}

fn task() -> Type {
    Type::Ref(SubjectId(TASK))
}

fn new_task(job: u32, number: Expr) -> StmtKind {
    StmtKind::New { subject: SubjectId(TASK), keys: vec![record(job, JOB), number], fields: vec![] }
}

fn new_job(number: Expr) -> StmtKind {
    StmtKind::New { subject: SubjectId(JOB), keys: vec![number], fields: vec![] }
}

fn delete(local: u32, subject: u32) -> StmtKind {
    StmtKind::Delete { target: record(local, subject) }
}

/// Jobs and their tasks; no guard counts anything.
fn jobs(operation: Operation) -> Design {
    let mut design = design();
    let attributes = [("n", Type::Int, Some(Const::Int(0))), ("other", optional(job()), None)];
    design.subjects.push(subject("Job", &[("job", Type::Int)], &attributes));
    let keys = [("job", job()), ("task", Type::Int)];
    design.subjects.push(subject("Task", &keys, &[("n", Type::Int, Some(Const::Int(0)))]));
    design.operations.push(operation);
    design
}

/// Job 1 is there and refers to job 2, which is not.
fn truth() -> MapTruth {
    let mut truth = MapTruth::default().with(JOB, 1, &[0, 2]);
    truth.single.insert(SubjectId(JOB));
    truth
}

fn check(operation: Operation, params: &[Word], expected: &str) {
    let design = jobs(operation);
    assert_eq!(run(&design, &truth(), params), expected);
    let program = Program::new(&design);
    let quick = engine::refuses(&program, &truth(), &command(0, params), &mut Scratch::new());
    if let Some(refusal) = quick {
        assert_eq!(refusal.reason.name(), expected, "found quickly");
    }
}

#[test]
fn a_new_parameter_asks_for_its_parent() {
    let add = || step("add", &[("task", task(), true)]);
    check(add(), &[SPREAD + 5], "done");
    check(add(), &[2 * SPREAD + 5], "exists");
    let program = Program::new(&jobs(add()));
    let mut scratch = Scratch::new();
    let params = [2 * SPREAD + 5];
    let refused = engine::step(&program, &truth(), &command(0, &params), &mut scratch);
    let Outcome::Refused(refusal) = refused else { panic!("{refused:?}") };
    assert_eq!((refusal.reason, refusal.clause), (Reason::Exists(0), Some(ClauseRef::Exists)));
    assert_eq!(
        engine::refuses(&program, &truth(), &command(0, &params), &mut scratch),
        Some(refusal)
    );
}

#[test]
fn exists_of_a_parent_comes_before_fresh() {
    let mut truth = truth().with(TASK, 2 * SPREAD + 5, &[0]);
    let design = jobs(step("add", &[("task", task(), true)]));
    assert_eq!(run(&design, &truth, &[2 * SPREAD + 5]), "exists");
    truth.records.insert((SubjectId(JOB), 2), vec![0, engine::NULL]);
    assert_eq!(run(&design, &truth, &[2 * SPREAD + 5]), "fresh");
}

#[test]
fn the_statement_asks_for_the_parent_too() {
    let through = || {
        let other = attr(record(0, JOB), 1, optional(job()));
        let keys = vec![other, int(7)];
        step("add", &[("job", job(), false)]).does(StmtKind::New {
            subject: SubjectId(TASK),
            keys,
            fields: vec![],
        })
    };
    check(step("add", &[("job", job(), false)]).does(new_task(0, int(7))), &[1], "done");
    check(through(), &[1], "no_parent");
    let program = Program::new(&jobs(through()));
    let refused = engine::step(&program, &truth(), &command(0, &[1]), &mut Scratch::new());
    let Outcome::Refused(refusal) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal.clause, Some(ClauseRef::Exists));
}

#[test]
fn parent_and_child_may_be_made_by_one_step() {
    let both = || step("open", &[("task", task(), true), ("job", job(), true)]);
    check(both(), &[3 * SPREAD + 5, 3], "done");
    check(both(), &[4 * SPREAD + 5, 3], "exists");
    let open = || step("open", &[("job", job(), true)]);
    check(open().does(new_task(0, int(7))), &[3], "done");
    // an earlier statement, not a later one
    let ahead = |first: StmtKind, second| step("open", &[]).does(first).does(second);
    let keyed =
        StmtKind::New { subject: SubjectId(TASK), keys: vec![int(3), int(7)], fields: vec![] };
    check(ahead(new_job(int(3)), keyed.clone()), &[], "done");
    check(ahead(keyed, new_job(int(3))), &[], "no_parent");
}

#[test]
fn a_parent_is_not_deleted_under_a_child_that_the_step_makes() {
    let step = || step("swap", &[("job", job(), false)]);
    check(step().does(new_task(0, int(7))).does(delete(0, JOB)), &[1], "has_children");
    check(step().does(delete(0, JOB)).does(new_task(0, int(7))), &[1], "no_parent");
}

#[test]
fn a_parent_that_no_step_makes_is_always_there() {
    let mut design = jobs(step("add", &[("task", task(), true)]));
    design.subjects[0].implicit = true;
    assert_eq!(run(&design, &truth(), &[2 * SPREAD + 5]), "done");
    let mut unknown = truth();
    unknown.unknown.insert((SubjectId(JOB), 2));
    assert_eq!(run(&design, &unknown, &[2 * SPREAD + 5]), "done", "it is not even read");
}

/// What the commit has to check: the parent is among the reads, and is not written.
#[test]
fn the_parent_is_read_and_not_written() {
    for operation in [
        step("add", &[("task", task(), true)]),
        step("add", &[]).does(StmtKind::New {
            subject: SubjectId(TASK),
            keys: vec![int(1), int(5)],
            fields: vec![],
        }),
    ] {
        let params: &[Word] = if operation.params.is_empty() { &[] } else { &[SPREAD + 5] };
        let program = Program::new(&jobs(operation));
        let mut scratch = Scratch::new();
        let mut ignorant = truth();
        ignorant.unknown.insert((SubjectId(JOB), 1));
        let asked = engine::step(&program, &ignorant, &command(0, params), &mut scratch);
        assert_eq!(asked, Outcome::Need);
        let parent = Need::Record { subject: SubjectId(JOB), key: 1 };
        assert_eq!(scratch.needs(), [parent]);
        let done = engine::step(&program, &truth(), &command(0, params), &mut scratch);
        assert_eq!(done, Outcome::Done);
        assert!(scratch.reads().any(|read| (read.subject, read.key) == (SubjectId(JOB), 1)));
        let written: Vec<(SubjectId, Word)> =
            scratch.writes().map(|write| (write.subject, write.key)).collect();
        assert_eq!(written, [(SubjectId(TASK), SPREAD + 5)]);
    }
}

#[test]
fn without_exists_a_child_is_made_without_its_parent() {
    let gone = [Protection::Clause { operation: OperationId(0), clause: ClauseRef::Exists }];
    let through =
        StmtKind::New { subject: SubjectId(TASK), keys: vec![int(2), int(5)], fields: vec![] };
    let steps = [
        (step("add", &[("task", task(), true)]), vec![2 * SPREAD + 5]),
        (step("add", &[]).does(through), vec![]),
    ];
    for (operation, params) in steps {
        let program = Program::without(&jobs(operation), &gone);
        let done = engine::step(&program, &truth(), &command(0, &params), &mut Scratch::new());
        assert_eq!(done, Outcome::Done);
    }
}

#[test]
fn a_key_with_an_empty_part_makes_no_record() {
    let mut design = design();
    design.subjects.push(subject("Topic", &[("topic", Type::Text)], &[]));
    let keys = [("topic", Type::Ref(SubjectId(0))), ("post", Type::Text)];
    design.subjects.push(subject("Post", &keys, &[]));
    design.subjects[0].implicit = true;
    let post = |name: Expr| StmtKind::New {
        subject: SubjectId(1),
        keys: vec![record(0, 0), name],
        fields: vec![],
    };
    design.operations = vec![
        step("say", &[("topic", Type::Ref(SubjectId(0)), false)]).does(post(text("hello"))),
        step("hush", &[("topic", Type::Ref(SubjectId(0)), false)]).does(post(text(""))),
        step("add", &[("post", Type::Ref(SubjectId(1)), true)]),
    ];
    let program = Program::new(&design);
    let empty = program.texts().iter().position(String::is_empty).expect("always known") as Word;
    let mut truth = MapTruth::default();
    truth.single.insert(SubjectId(0));
    let named = 500;
    let ask = |operation, params: &[Word]| {
        outcome(engine::step(&program, &truth, &command(operation, params), &mut Scratch::new()))
    };
    assert_eq!(ask(0, &[named]), "done");
    assert_eq!(ask(0, &[empty]), "empty_key", "a part of the parent's key");
    assert_eq!(ask(1, &[named]), "empty_key");
    assert_eq!(ask(2, &[named * SPREAD + 7]), "done");
    assert_eq!(ask(2, &[named * SPREAD + empty]), "empty_key");
}
