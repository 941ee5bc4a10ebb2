//! What the tests share.

#![allow(dead_code, unused_imports, reason = "each test takes what it needs")]

#[path = "../../../engine/tests/support/build.rs"]
pub mod build;
pub mod commit;
#[path = "../../../engine/tests/support/lease.rs"]
pub mod engine_lease;
pub mod lease;
pub mod text;

pub use build::*;
pub use commit::two_phase_commit;
pub use lease::lease;

use design::model::{Design, Fault, FaultSetting};
use model_checker::{Options, Report, check};

/// Without faults, symmetry or ranks; one thread.
pub fn plain() -> Options {
    Options {
        symmetry: false,
        normalise: false,
        faults: Some(vec![]),
        threads: 1,
        ..Options::default()
    }
}

pub fn checked(design: &Design, options: &Options) -> Report {
    check(design, options, &mut |_| {}).expect("the small world is finite")
}

pub fn faults(list: &[Fault]) -> Vec<FaultSetting> {
    list.iter().map(|fault| FaultSetting { fault: *fault, budget: None }).collect()
}

/// A repair of actor 1 on subject 0.
pub fn support_repair(
    name: &str,
    guard: design::model::Expr,
    body: Vec<design::model::StmtKind>,
) -> design::model::Operation {
    use design::model::{ActorId, OperationKind, SubjectId, Type};
    let mut operation = step(name, &[("thing", Type::Ref(SubjectId(0)), false)]).when("due", guard);
    for kind in body {
        operation = operation.does(kind);
    }
    operation.kind = OperationKind::Repair { after: None, every: None, batch: None };
    operation.actor = ActorId(1);
    operation
}
