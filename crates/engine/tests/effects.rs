//! What a step does besides changing truth: calls, messages, logs, caches, answers.

use crate::support;

use design::model::*;
use engine::{AnswerKind, Command, NULL, Outcome, Program, Query, Scratch, Shape, Word};
use support::*;

fn charge() -> Type {
    Type::Ref(SubjectId(0))
}

fn status() -> Type {
    Type::Int
}

/// A charge with a status and an order; `pay` sends `authorize`, whose key is the order.
fn payment() -> Design {
    let mut design = design();
    let mut subject = subject(
        "Charge",
        &[("charge", Type::Text)],
        &[("status", status(), Some(Const::Int(0))), ("order", Type::Text, None)],
    );
    state(
        &mut subject,
        "History",
        StateKind::Log { retain: Retention::Entries(2) },
        &[("what", Type::Int, None), ("note", optional(Type::Text), None)],
    );
    state(
        &mut subject,
        "Copy",
        StateKind::Cache { at: ActorId(0) },
        &[("seen", Type::Int, Some(Const::Int(-1))), ("extra", optional(Type::Int), None)],
    );
    state(
        &mut subject,
        "Cursor",
        StateKind::Ephemeral { ttl: Some(1_000) },
        &[("at", set_of(Type::Int, 2), None)],
    );
    design.subjects.push(subject);
    design.events.push(Event {
        name: "Paid".into(),
        fields: vec![
            ("charge".into(), charge()),
            ("tags".into(), set_of(Type::Int, 3)),
            ("at".into(), Type::Time),
        ],
        span: span(),
    });
    let order = || attr(record(0, 0), 1, Type::Text);
    let state_of = || attr(record(0, 0), 0, status());
    let pay = step("pay", &[("charge", charge(), false), ("n", Type::Int, false)])
        .does(assign(record(0, 0), 0, int(1)))
        .does(StmtKind::Send {
            operation: OperationId(1),
            args: vec![record(0, 0), local(1, Type::Int)],
        })
        .does(StmtKind::Send { operation: OperationId(2), args: vec![record(0, 0)] })
        .does(StmtKind::Emit {
            event: EventId(0),
            fields: vec![
                ("at".into(), now()),
                (
                    "tags".into(),
                    expr(ExprKind::Set(vec![int(9), int(4), int(9)]), set_of(Type::Int, 3)),
                ),
                ("charge".into(), record(0, 0)),
            ],
        })
        .does(StmtKind::Append {
            base: record(0, 0),
            log: StateId(1),
            fields: vec![(AttrId(2), local(1, Type::Int))],
        })
        .does(assign(record(0, 0), 4, state_of()))
        .does(assign(record(0, 0), 6, expr(ExprKind::Set(vec![int(3)]), set_of(Type::Int, 1))));
    let mut authorize = step("authorize", &[("charge", charge(), false), ("n", Type::Int, false)])
        .when("waiting", equal(state_of(), int(1)));
    let answer = local_of(&mut authorize, optional(Type::Int));
    let handler = |value| Answer {
        param: Some(answer),
        range: None,
        body: vec![stmt(assign(record(0, 0), 0, value))],
        written: true,
    };
    authorize.kind = OperationKind::Effect(Box::new(Effect {
        method: "POST".into(),
        url: "/authorize".into(),
        key: vec![order(), local(1, Type::Int)],
        body: vec![("status".into(), state_of()), ("n".into(), local(1, Type::Int))],
        sign: None,
        on_ok: handler(local(answer.0, optional(Type::Int))),
        on_refused: handler(int(8)),
        on_unknown: handler(int(9)),
    }));
    let notice = step("notice", &[("charge", charge(), false)]);
    let mut history = step("history", &[("charge", charge(), false)]).when(
        "there",
        at_least(
            expr(ExprKind::LogEnd { base: Box::new(record(0, 0)), log: StateId(1) }, Type::Int),
            int(0),
        ),
    );
    let slice = ExprKind::LogSlice {
        base: Box::new(record(0, 0)),
        log: StateId(1),
        from: Box::new(int(3)),
        limit: Box::new(int(10)),
    };
    let fields = vec![
        ("status".to_owned(), state_of()),
        ("entries".to_owned(), expr(slice, list_of(Type::Int, 50))),
        (
            "all".to_owned(),
            expr(ExprKind::View { view: ViewId(0), args: vec![order()] }, Type::Rows(ViewId(0))),
        ),
        ("when".to_owned(), now()),
    ];
    let ty =
        Type::Record(fields.iter().map(|(name, field)| (name.clone(), field.ty.clone())).collect());
    history.kind = OperationKind::Read { result: expr(ExprKind::Record(fields), ty) };
    history.memory = vec![MemoryUse {
        actor: ActorId(0),
        field: MemoryId(0),
        of: Some(LocalId(0)),
        read: false,
        written: true,
    }];
    let history = history.does(StmtKind::Assign {
        target: Target::Memory(MemoryUseId(0)),
        op: AssignOp::Set,
        value: state_of(),
    });
    design.operations = vec![pay, authorize, notice, history];
    design
}

/// status, order, the log's start and end
fn truth(status: Word) -> MapTruth {
    MapTruth::default().with(0, 7, &[status, 70, 4, 6])
}

#[test]
fn a_step_sends_emits_appends_and_keeps_copies() {
    let program = Program::new(&payment());
    let mut scratch = Scratch::new();
    let mut truth = truth(0);
    assert_eq!(engine::step(&program, &truth, &command(0, &[7, 5]), &mut scratch), Outcome::Done);
    let sends: Vec<_> =
        scratch.sends().map(|send| (send.operation.0, send.key, send.args)).collect();
    assert_eq!(sends, [(1, &[70, 5][..], &[7, 5][..]), (2, &[][..], &[7][..])]);
    let emits: Vec<_> = scratch.emits().map(|emit| emit.words).collect();
    assert_eq!(emits, [&[7, 2, 4, 9, 0, 100]]);
    let Shape::Record(fields) = program.event(EventId(0)) else { panic!() };
    let Shape::Value { field, .. } = &fields[2].1 else { panic!() };
    assert_eq!(field.offset, 5);
    let appends: Vec<_> =
        scratch.appends().map(|append| (append.log.0, append.offset, append.words)).collect();
    assert_eq!(appends, [(1, 6, &[5, NULL][..])]);
    let copies: Vec<_> =
        scratch.cache_writes().map(|write| (write.principal, write.words)).collect();
    assert_eq!(copies, [(1, &[1, NULL][..])]);
    let soft: Vec<_> =
        scratch.ephemeral_writes().map(|write| (write.attr.0, write.words)).collect();
    assert_eq!(soft, [(6, &[1, 3, 0][..])]);
    truth.commit(&scratch);
    assert_eq!(truth.at(0, 7), Some(&[1, 70, 5, 7][..]));
}

fn answered(kind: AnswerKind, word: Word, truth: &mut MapTruth) -> &'static str {
    let program = Program::new(&payment());
    let mut scratch = Scratch::new();
    let command = Command { answer: Some((kind, word)), ..command(1, &[7, 5]) };
    let ended = engine::step(&program, truth, &command, &mut scratch);
    if ended == Outcome::Done {
        truth.commit(&scratch);
    }
    outcome(ended)
}

#[test]
fn the_answer_selects_the_handler() {
    for (kind, expected) in
        [(AnswerKind::Ok, 33), (AnswerKind::Refused, 8), (AnswerKind::Unknown, 9)]
    {
        let mut truth = truth(1);
        assert_eq!(answered(kind, 33, &mut truth), "done");
        assert_eq!(truth.at(0, 7).unwrap()[0], expected);
    }
    assert_eq!(answered(AnswerKind::Ok, 33, &mut truth(2)), "clause");
    assert_eq!(answered(AnswerKind::Ok, NULL, &mut truth(1)), "null_value");
}

#[test]
fn the_call_is_rendered_with_its_key() {
    let program = Program::new(&payment());
    let mut scratch = Scratch::new();
    let called = engine::call(&program, &truth(2), &command(1, &[7, 5]), &mut scratch);
    assert_eq!(called, Outcome::Done);
    assert_eq!(scratch.result(), [2, 5]);
    assert_eq!(scratch.sends().next().unwrap().key, [70, 5]);
}

#[test]
fn a_read_answers_and_hands_out_memory() {
    let program = Program::new(&payment());
    let mut scratch = Scratch::new();
    let command = Command { memory: &[NULL], ..command(3, &[7]) };
    assert_eq!(engine::step(&program, &truth(2), &command, &mut scratch), Outcome::Done);
    assert_eq!(scratch.result(), [2, 0, 1, 100]);
    let log = Query::Log { subject: SubjectId(0), key: 7, log: StateId(1), from: 3, limit: 10 };
    assert_eq!(scratch.query(0), Some(log));
    assert_eq!(scratch.query(1), Some(Query::View { view: ViewId(0), args: &[70] }));
    assert_eq!(scratch.query(2), None);
    assert_eq!(scratch.memory().collect::<Vec<_>>(), [(MemoryUseId(0), 2)]);
    assert_eq!(scratch.writes().count(), 0);
    let Some(Shape::Record(fields)) = program.result(OperationId(3)) else { panic!() };
    assert!(matches!(fields[1].1, Shape::Query { offset: 1, .. }));
}

#[test]
fn a_copy_is_the_principals_own() {
    let mut design = payment();
    let seen = attr(record(0, 0), 4, Type::Int);
    let copy = expr(
        ExprKind::Exists { base: Box::new(record(0, 0)), cache: Some(StateId(2)) },
        Type::Bool,
    );
    design.operations = vec![
        step("look", &[("charge", charge(), false)]).when("seen", equal(seen, int(5))),
        step("has", &[("charge", charge(), false)]).when("copy", copy),
    ];
    let program = Program::new(&design);
    let mut truth = truth(0);
    truth.caches.insert((SubjectId(0), StateId(2), 7, 1), vec![5, NULL]);
    let ask = |operation, me| {
        let command = Command { me, ..command(operation, &[7]) };
        outcome(engine::step(&program, &truth, &command, &mut Scratch::new()))
    };
    assert_eq!(ask(0, 1), "done");
    assert_eq!(ask(0, 2), "no_such_record");
    assert_eq!(ask(1, 1), "done");
    assert_eq!(ask(1, 2), "clause");
}

#[test]
fn stored_content_is_asked_for() {
    let mut design = payment();
    let digest = local(1, Type::Digest(BlobId(0)));
    let stored = expr(ExprKind::Stored(Box::new(digest)), Type::Bool);
    design.operations = vec![
        step("put", &[("charge", charge(), false), ("digest", Type::Digest(BlobId(0)), false)])
            .when("durable", stored),
    ];
    let mut truth = truth(0);
    assert_eq!(run(&design, &truth, &[7, 44]), "need");
    truth.stored.insert(44, false);
    assert_eq!(run(&design, &truth, &[7, 44]), "clause");
    truth.stored.insert(44, true);
    assert_eq!(run(&design, &truth, &[7, 44]), "done");
}
