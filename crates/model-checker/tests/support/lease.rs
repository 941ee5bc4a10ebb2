//! The lease that the engine's tests step through, with its failures, protocols and small world.

use design::model::*;

use super::build::*;
use super::engine_lease::{CLAIM, COMMIT, RECLAIM, RENEW};

pub fn lease() -> Design {
    let mut design = super::engine_lease::lease();
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
            vec![refs(), Values::Units(2, 2)],
            vec![refs(), Values::Units(2, 2)],
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
