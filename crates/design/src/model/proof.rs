//! What is to be shown.

use serde::{Deserialize, Serialize};
use syntax::Span;

use super::*;

/// Holds in every reachable state; with `old` in it, of every transition. Also the goal of a
/// `recovers`, which has no `old`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Invariant {
    pub name: String,
    pub body: Expr,
    pub locals: Vec<Local>,
    pub uses_old: bool,
    /// the built-in family it was written with
    pub family: Option<String>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Protocol {
    pub name: String,
    pub paths: Vec<Path>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Path {
    pub steps: Vec<PathStep>,
    pub outcome: Option<String>,
    pub branches: Vec<Path>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PathStep {
    pub operation: OperationId,
    /// the clause by which it is refused here
    pub refused: Option<ClauseRef>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum ClauseRef {
    Exists,
    Fresh,
    /// into `Operation::guard`
    Named(u32),
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Failure {
    pub title: String,
    pub proofs: Vec<FailureProof>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum FailureProof {
    Without {
        /// taken away together
        protections: Vec<Protection>,
        breaks: Goal,
        /// defence in depth: `redundant` is the expected verdict
        in_depth: bool,
        span: Span,
    },
    /// shown already, when this was compiled
    Compiler {
        code: String,
        span: Span,
    },
    Measured {
        value: Expr,
        locals: Vec<Local>,
        above: Const,
        span: Span,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum Goal {
    /// into `Design::invariants`
    Invariant(u32),
    /// into `Design::recoveries`
    Recovery(u32),
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Protection {
    Clause {
        operation: OperationId,
        clause: ClauseRef,
    },
    Repair {
        operation: OperationId,
    },
    /// these statements are left out
    Assignment {
        operation: OperationId,
        statements: Vec<StmtId>,
    },
    /// the effects that this step sends are called right away, outside its commit: a crash
    /// between the two loses the call
    Outbox {
        operation: OperationId,
    },
    /// each attempt is a new call to the world
    Key {
        operation: OperationId,
    },
    /// the read may be answered from any older state
    AtLeast {
        operation: OperationId,
    },
}

/// `defence commit.once "…"`: the clause is kept although nothing in the small world needs it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Defence {
    pub operation: OperationId,
    pub clause: ClauseRef,
    pub reason: String,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hotspot {
    pub title: String,
    pub on: HotspotOn,
    pub mitigate: Vec<String>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum HotspotOn {
    Subject(SubjectId),
    State(SubjectId, StateId),
    Attribute(SubjectId, AttrId),
    View(ViewId),
    Operation(OperationId),
}
