//! Two-phase commit: one transaction manager, so many resource managers.

use design::model::*;

use super::build::*;

const TM: u32 = 0;
const RM: u32 = 1;

// of the transaction manager
const STATUS: u32 = 0;
const MSG_COMMIT: u32 = 1;
const MSG_ABORT: u32 = 2;
// of a resource manager
const RM_STATUS: u32 = 0;
const TM_PREPARED: u32 = 1;
const MSG_PREPARED: u32 = 2;

const INIT: u32 = 0;
const TM_COMMITTED: u32 = 1;
const TM_ABORTED: u32 = 2;
const WORKING: u32 = 0;
const PREPARED: u32 = 1;
const COMMITTED: u32 = 2;
const ABORTED: u32 = 3;

fn constant(id: u32, at: u32) -> Expr {
    expr(ExprKind::Literal(Const::Enum(EnumId(id), at)), Type::Enum(EnumId(id)))
}

fn tm() -> Expr {
    expr(ExprKind::KeyPart { base: Box::new(record(0, RM)), part: 0 }, Type::Ref(SubjectId(TM)))
}

fn flag(base: Expr, id: u32) -> Expr {
    attr(base, id, Type::Bool)
}

fn raise(base: Expr, id: u32) -> StmtKind {
    assign(base, id, truth_value(true))
}

pub fn two_phase_commit(participants: u32) -> Design {
    let mut design = design();
    design.name = "TwoPhaseCommit".into();
    design.actors = vec![actor("tm"), actor("rm")];
    let enumeration = |name: &str, constants: &[&str]| Enumeration {
        name: name.into(),
        constants: constants.iter().map(|c| (*c).to_string()).collect(),
        span: span(),
    };
    design.enumerations = vec![
        enumeration("Tm.status", &["INIT", "COMMITTED", "ABORTED"]),
        enumeration("Rm.status", &["WORKING", "PREPARED", "COMMITTED", "ABORTED"]),
    ];
    design.blobs = vec![];
    let no = || Some(Const::Bool(false));
    let mut manager = subject(
        "Tm",
        &[("tm", Type::Text)],
        &[
            ("status", Type::Enum(EnumId(0)), Some(Const::Enum(EnumId(0), INIT))),
            ("msg_commit", Type::Bool, no()),
            ("msg_abort", Type::Bool, no()),
        ],
    );
    manager.implicit = true;
    manager.counters = vec![
        Counter { child: SubjectId(RM), filter: None, value: None, locals: vec![] },
        Counter {
            child: SubjectId(RM),
            filter: Some(flag(record(0, RM), TM_PREPARED)),
            value: None,
            locals: vec![Local { name: "it".into(), ty: Type::Ref(SubjectId(RM)) }],
        },
    ];
    let mut resource = subject(
        "Rm",
        &[("tm", Type::Ref(SubjectId(TM))), ("rm", Type::Text)],
        &[
            ("status", Type::Enum(EnumId(1)), Some(Const::Enum(EnumId(1), WORKING))),
            ("tm_prepared", Type::Bool, no()),
            ("msg_prepared", Type::Bool, no()),
        ],
    );
    resource.implicit = true;
    design.subjects = vec![manager, resource];
    let rm_status = |base: Expr| attr(base, RM_STATUS, Type::Enum(EnumId(1)));
    let tm_status = |base: Expr| attr(base, STATUS, Type::Enum(EnumId(0)));
    let init = |base: Expr| equal(tm_status(base), constant(0, INIT));
    let working = || equal(rm_status(record(0, RM)), constant(1, WORKING));
    let is = |at: u32| assign(record(0, RM), RM_STATUS, constant(1, at));
    let of_rm = |name: &str| step(name, &[("rm", Type::Ref(SubjectId(RM)), false)]);
    let of_tm = |name: &str| step(name, &[("tm", Type::Ref(SubjectId(TM)), false)]);
    let counter = |at: u32| {
        expr(ExprKind::Counter { base: Box::new(record(0, TM)), counter: CounterId(at) }, Type::Int)
    };
    let mut operations = vec![
        of_tm("tm_commit")
            .when("init", init(record(0, TM)))
            .when("all_prepared", equal(counter(1), counter(0)))
            .does(assign(record(0, TM), STATUS, constant(0, TM_COMMITTED)))
            .does(raise(record(0, TM), MSG_COMMIT)),
        of_tm("tm_abort")
            .when("init", init(record(0, TM)))
            .does(assign(record(0, TM), STATUS, constant(0, TM_ABORTED)))
            .does(raise(record(0, TM), MSG_ABORT)),
        of_rm("tm_rcv_prepared")
            .when("init", init(tm()))
            .when("sent", flag(record(0, RM), MSG_PREPARED))
            .does(raise(record(0, RM), TM_PREPARED)),
        of_rm("rm_prepare")
            .when("working", working())
            .does(is(PREPARED))
            .does(raise(record(0, RM), MSG_PREPARED)),
        of_rm("rm_choose_abort").when("working", working()).does(is(ABORTED)),
        of_rm("rm_rcv_commit").when("sent", flag(tm(), MSG_COMMIT)).does(is(COMMITTED)),
        of_rm("rm_rcv_abort").when("sent", flag(tm(), MSG_ABORT)).does(is(ABORTED)),
    ];
    for operation in &mut operations[2..] {
        operation.actor = ActorId(1);
    }
    design.operations = operations;
    let reference = || Local { name: "r".into(), ty: Type::Ref(SubjectId(RM)) };
    let is = |id: u32, at: u32| equal(rm_status(record(id, RM)), constant(1, at));
    let every = |id: u32, body| quantified(true, id, Domain::All(SubjectId(RM)), body);
    let apart = not(and(vec![is(0, ABORTED), is(1, COMMITTED)]));
    design.invariants = vec![invariant(
        "consistent",
        vec![reference(), reference()],
        false,
        every(0, every(1, apart)),
    )];
    design.world = World {
        written: true,
        keys: vec![
            vec![Values::Opaque(1)],
            vec![Values::Refs(SubjectId(TM)), Values::Opaque(participants)],
        ],
        actors: vec![1, 1],
        params: design
            .operations
            .iter()
            .map(|operation| {
                let subject = operation.params[0].ty.subject().expect("a reference");
                vec![Values::Refs(subject)]
            })
            .collect(),
        ..World::default()
    };
    design
}
