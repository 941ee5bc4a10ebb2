//! Statements see what the earlier ones wrote; two names may be one record.

use crate::support;

use design::model::*;
use engine::{Change, NULL, Need, Outcome, Program, Scratch, Word};
use support::*;

fn account() -> Subject {
    subject("Account", &[("account", Type::Text)], &[("money", Type::Int, Some(Const::Int(0)))])
}

fn money(id: u32) -> Expr {
    attr(record(id, 0), 0, Type::Int)
}

fn reference() -> Type {
    Type::Ref(SubjectId(0))
}

/// `move(from: Account, to: Account, n: int)`
fn transfer() -> Design {
    let mut design = design();
    design.subjects.push(account());
    let amount = || local(2, Type::Int);
    design.operations.push(
        step(
            "move",
            &[("from", reference(), false), ("to", reference(), false), ("n", Type::Int, false)],
        )
        .when("covered", at_least(money(0), amount()))
        .does(change(record(0, 0), 0, AssignOp::Subtract, amount()))
        .does(change(record(1, 0), 0, AssignOp::Add, amount())),
    );
    design
}

fn accounts() -> MapTruth {
    MapTruth::default().with(0, 1, &[10]).with(0, 2, &[5])
}

#[test]
fn two_parameters_may_be_one_record() {
    let program = Program::new(&transfer());
    let mut truth = accounts();
    let mut scratch = Scratch::new();
    assert_eq!(
        engine::step(&program, &truth, &command(0, &[1, 2, 3]), &mut scratch),
        Outcome::Done
    );
    assert_eq!(scratch.writes().count(), 2);
    truth.commit(&scratch);
    assert_eq!((truth.at(0, 1), truth.at(0, 2)), (Some(&[7][..]), Some(&[8][..])));
    // to itself: nothing is lost, nothing is gained, so nothing is written
    assert_eq!(
        engine::step(&program, &truth, &command(0, &[1, 1, 3]), &mut scratch),
        Outcome::Done
    );
    assert_eq!(scratch.writes().count(), 0);
    assert_eq!(scratch.reads().count(), 1);
}

#[test]
fn everything_that_the_parameters_name_is_asked_for_at_once() {
    let program = Program::new(&transfer());
    let mut truth = accounts();
    truth.unknown.extend([(SubjectId(0), 1), (SubjectId(0), 2)]);
    let mut scratch = Scratch::new();
    assert_eq!(
        engine::step(&program, &truth, &command(0, &[1, 2, 3]), &mut scratch),
        Outcome::Need
    );
    let need = |key| Need::Record { subject: SubjectId(0), key };
    assert_eq!(scratch.needs(), [need(1), need(2)]);
    truth.unknown.clear();
    assert_eq!(
        engine::step(&program, &truth, &command(0, &[1, 2, 3]), &mut scratch),
        Outcome::Done
    );
    assert_eq!(scratch.needs(), []);
}

#[test]
fn a_later_read_that_is_newer_begins_the_step_again() {
    let mut design = design();
    design.subjects.push(subject(
        "Node",
        &[("node", Type::Text)],
        &[("next", optional(reference()), None), ("seen_at", optional(Type::Time), None)],
    ));
    let next = attr(record(0, 0), 0, optional(reference()));
    design.operations.push(
        step("see", &[("node", reference(), false)])
            .does(assign(record(0, 0), 1, now()))
            .does(assign(next, 1, now())),
    );
    let program = Program::new(&design);
    let mut truth = MapTruth::default().with(0, 1, &[2, NULL]).with(0, 2, &[NULL, NULL]);
    truth.times.insert((SubjectId(0), 2), 500);
    let mut scratch = Scratch::new();
    assert_eq!(engine::step(&program, &truth, &command(0, &[1]), &mut scratch), Outcome::Done);
    assert_eq!(scratch.now(), 500);
    truth.commit(&scratch);
    assert_eq!(truth.at(0, 1), Some(&[2, 500][..]));
    assert_eq!(truth.at(0, 2), Some(&[NULL, 500][..]));
}

#[test]
fn delete_and_new_of_one_key_is_a_replacement() {
    let mut design = design();
    design.subjects.push(account());
    design.operations.push(
        step("reset", &[("account", reference(), false)])
            .does(StmtKind::Delete { target: record(0, 0) })
            .does(StmtKind::New {
                subject: SubjectId(0),
                keys: vec![expr(
                    ExprKind::KeyPart { base: Box::new(record(0, 0)), part: 1 },
                    Type::Text,
                )],
                fields: vec![(AttrId(0), int(7))],
            }),
    );
    let program = Program::new(&design);
    let truth = accounts();
    let mut scratch = Scratch::new();
    assert_eq!(engine::step(&program, &truth, &command(0, &[1]), &mut scratch), Outcome::Done);
    let writes: Vec<_> = scratch.writes().map(|write| write.change).collect();
    assert_eq!(writes, [Change::Put(&[7])]);
}

#[test]
fn an_implicit_record_is_written_at_its_first_change() {
    let mut design = transfer();
    design.subjects[0].implicit = true;
    design.subjects[0].attributes[0].default = Some(Const::Int(3));
    let program = Program::new(&design);
    let mut truth = MapTruth::default();
    let mut scratch = Scratch::new();
    assert_eq!(
        engine::step(&program, &truth, &command(0, &[1, 2, 3]), &mut scratch),
        Outcome::Done
    );
    assert!(scratch.writes().all(|write| write.before.is_none()));
    truth.commit(&scratch);
    assert_eq!((truth.at(0, 1), truth.at(0, 2)), (Some(&[0][..]), Some(&[6][..])));
}

fn opened(
    protections: &[Protection],
    truth: &MapTruth,
) -> Result<Vec<(Word, Vec<Word>)>, &'static str> {
    let mut design = design();
    design.subjects.push(subject(
        "Account",
        &[("account", Type::Text)],
        &[("money", Type::Int, None), ("notes", Type::Int, Some(Const::Int(4)))],
    ));
    design.operations.push(
        step("open", &[("made", reference(), true), ("by", reference(), false)])
            .does(assign(record(0, 0), 0, int(1)))
            .does(change(record(1, 0), 1, AssignOp::Add, int(1))),
    );
    let program = Program::without(&design, protections);
    let mut scratch = Scratch::new();
    match engine::step(&program, truth, &command(0, &[8, 9]), &mut scratch) {
        Outcome::Done => Ok(scratch
            .writes()
            .map(|write| match write.change {
                Change::Put(words) => (write.key, words.to_vec()),
                Change::Delete => (write.key, vec![]),
            })
            .collect()),
        other => Err(outcome(other)),
    }
}

#[test]
fn protections_taken_away() {
    let operation = OperationId(0);
    let clause = |clause| Protection::Clause { operation, clause };
    let both = MapTruth::default().with(0, 8, &[5, 5]).with(0, 9, &[6, 6]);
    assert_eq!(opened(&[], &both), Err("fresh"));
    assert_eq!(opened(&[], &MapTruth::default()), Err("exists"));
    // replaced, not changed
    assert_eq!(
        opened(&[clause(ClauseRef::Fresh)], &both),
        Ok(vec![(9, vec![6, 7]), (8, vec![1, 4])])
    );
    // reads as its defaults
    assert_eq!(
        opened(&[clause(ClauseRef::Exists)], &MapTruth::default()),
        Ok(vec![(9, vec![NULL, 5]), (8, vec![1, 4])])
    );
    let first = Protection::Assignment { operation, statements: vec![StmtId(0)] };
    let nine = MapTruth::default().with(0, 9, &[6, 6]);
    assert_eq!(opened(&[first], &nine), Ok(vec![(9, vec![6, 7]), (8, vec![NULL, 4])]));
}

#[test]
fn the_caller_learns_of_protections_that_are_its_own_matter() {
    let design = transfer();
    let operation = OperationId(0);
    let all = [
        Protection::Repair { operation },
        Protection::Outbox { operation },
        Protection::Key { operation },
        Protection::AtLeast { operation },
        Protection::Keyed { operation },
    ];
    let whole = Program::new(&design);
    let program = Program::without(&design, &all);
    let asked: [fn(&Program, OperationId) -> bool; 5] = [
        Program::repair_removed,
        Program::outbox_removed,
        Program::key_removed,
        Program::at_least_removed,
        Program::keyed_removed,
    ];
    for ask in asked {
        assert!(ask(&program, operation));
        assert!(!ask(&whole, operation));
    }
}
