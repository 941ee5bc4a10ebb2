//! Claim, lease, fencing: the first worked design of the language.

use design::model::*;

use super::build::*;

pub const CLAIM: u32 = 0;
pub const RENEW: u32 = 1;
pub const COMMIT: u32 = 2;
pub const RELEASE: u32 = 3;
pub const RECLAIM: u32 = 4;

pub const OWNER: u32 = 0;
pub const EXPIRY: u32 = 1;
pub const EPOCH: u32 = 2;
pub const VALUE: u32 = 3;
pub const WRITTEN_BY: u32 = 4;

fn of(base: Expr, id: u32) -> Expr {
    let ty = match id {
        OWNER => optional(Type::Actor),
        EXPIRY => optional(Type::Time),
        VALUE => Type::Text,
        _ => Type::Int,
    };
    attr(base, id, ty)
}

fn resource() -> Expr {
    record(0, 0)
}

fn my_epoch() -> Expr {
    expr(ExprKind::Memory(MemoryUseId(0)), optional(Type::Int))
}

fn uses(read: bool, written: bool) -> Vec<MemoryUse> {
    let (actor, field) = (ActorId(0), MemoryId(0));
    vec![MemoryUse { actor, field, of: Some(LocalId(0)), read, written }]
}

fn fenced(name: &str, params: &[(&str, Type, bool)]) -> Operation {
    let mut operation = step(name, params);
    operation.memory = uses(true, false);
    operation.when("fenced", equal(of(resource(), EPOCH), my_epoch()))
}

pub fn lease() -> Design {
    let mut design = design();
    design.name = "Claim".into();
    design.actors = vec![actor("claimant"), actor("reaper")];
    design.actors[0].memory.push(Memory {
        name: "my_epoch".into(),
        ty: optional(Type::Int),
        of: Some(SubjectId(0)),
        span: span(),
    });
    let mut subject = subject(
        "Resource",
        &[("resource", Type::Text)],
        &[
            ("owner_id", optional(Type::Actor), None),
            ("expiry_at", optional(Type::Time), None),
            ("current", Type::Int, Some(Const::Int(0))),
            ("value", Type::Text, Some(Const::Text(String::new()))),
            ("written_by", Type::Int, Some(Const::Int(0))),
        ],
    );
    subject.implicit = true;
    design.subjects.push(subject);
    let key = ("resource", Type::Ref(SubjectId(0)), false);
    let ttl = ("ttl", Type::Duration, false);
    let expiry = || plus(now(), local(1, Type::Duration));
    let next = || change(resource(), EPOCH, AssignOp::Add, int(1));
    let free = or(vec![equal(of(resource(), OWNER), null()), less(of(resource(), EXPIRY), now())]);
    let mut claim = step("claim", &[key.clone(), ttl.clone()])
        .when("free", free)
        .does(assign(resource(), OWNER, me()))
        .does(assign(resource(), EXPIRY, expiry()))
        .does(next())
        .does(StmtKind::Assign {
            target: Target::Memory(MemoryUseId(0)),
            op: AssignOp::Set,
            value: of(resource(), EPOCH),
        });
    claim.memory = uses(false, true);
    let renew = fenced("renew", &[key.clone(), ttl]).does(assign(resource(), EXPIRY, expiry()));
    let commit = fenced("commit", &[key.clone(), ("value", Type::Text, false)])
        .does(assign(resource(), VALUE, local(1, Type::Text)))
        .does(assign(resource(), WRITTEN_BY, my_epoch()));
    let release = fenced("release", std::slice::from_ref(&key))
        .does(assign(resource(), OWNER, null()))
        .does(assign(resource(), EXPIRY, null()))
        .does(next());
    let mut reclaim = step("reclaim", &[key])
        .when(
            "expired",
            and(vec![differ(of(resource(), OWNER), null()), less(of(resource(), EXPIRY), now())]),
        )
        .does(assign(resource(), OWNER, null()))
        .does(next());
    reclaim.kind = OperationKind::Repair { after: None, every: None, batch: None };
    reclaim.actor = ActorId(1);
    design.operations = vec![claim, renew, commit, release, reclaim];
    let locals = || vec![Local { name: "r".into(), ty: Type::Ref(SubjectId(0)) }];
    let every = |body| quantified(true, 0, Domain::All(SubjectId(0)), body);
    for (name, id) in [("fenced_writes", WRITTEN_BY), ("epoch_advances", EPOCH)] {
        let body = every(at_least(of(resource(), id), old(of(resource(), id))));
        design.invariants.push(invariant(name, locals(), true, body));
    }
    let stays = every(or(vec![
        equal(of(resource(), OWNER), old(of(resource(), OWNER))),
        equal(old(of(resource(), OWNER)), null()),
        equal(of(resource(), OWNER), null()),
        less(old(of(resource(), EXPIRY)), now()),
    ]));
    design.invariants.push(invariant("no_steal", locals(), true, stays));
    let released = every(or(vec![
        equal(of(resource(), OWNER), null()),
        at_least(of(resource(), EXPIRY), now()),
    ]));
    design.recoveries.push(invariant("no_orphan", locals(), false, released));
    let clause = |operation: u32, clause: u32| Protection::Clause {
        operation: OperationId(operation),
        clause: ClauseRef::Named(clause),
    };
    for (title, protection, breaks) in [
        ("duplicate claim", clause(CLAIM, 0), Goal::Invariant(2)),
        ("stale holder acting after expiry", clause(COMMIT, 0), Goal::Invariant(0)),
        (
            "orphaned claim after crash",
            Protection::Repair { operation: OperationId(RECLAIM) },
            Goal::Recovery(0),
        ),
    ] {
        design.failures.push(Failure {
            title: title.into(),
            proofs: vec![FailureProof::Without {
                protections: vec![protection],
                breaks,
                in_depth: false,
                span: span(),
            }],
            span: span(),
        });
    }
    let path = |steps: &[(u32, Option<u32>)], outcome: &str, branches: Vec<Path>| Path {
        steps: steps
            .iter()
            .map(|(operation, refused)| PathStep {
                operation: OperationId(*operation),
                refused: refused.map(ClauseRef::Named),
                span: span(),
            })
            .collect(),
        outcome: Some(outcome.into()),
        branches,
        span: span(),
    };
    design.protocols = vec![
        Protocol {
            name: "main".into(),
            paths: vec![path(&[(CLAIM, None), (RENEW, None), (COMMIT, None)], "done", vec![])],
            span: span(),
        },
        Protocol {
            name: "repair".into(),
            paths: vec![path(
                &[(COMMIT, Some(0))],
                "retry",
                vec![path(&[(RECLAIM, None)], "requeue", vec![])],
            )],
            span: span(),
        },
    ];
    let refs = || Values::Refs(SubjectId(0));
    design.world = World {
        written: true,
        keys: vec![vec![Values::Opaque(2)]],
        actors: vec![2, 1],
        params: vec![
            vec![refs(), Values::Ticks(2)],
            vec![refs(), Values::Ticks(2)],
            vec![refs(), Values::Irrelevant],
            vec![refs()],
            vec![refs()],
        ],
        faults: [Fault::Crash, Fault::Pause, Fault::LostReply, Fault::Duplicate]
            .map(|fault| FaultSetting { fault, budget: None })
            .to_vec(),
        ..World::default()
    };
    design
}
