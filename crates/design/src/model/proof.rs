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

/// `leads_to n: all x in D where f: p => q by step, step`: whenever `f` and `p` hold of an `x`, `q` comes to
/// hold of that same `x`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LeadsTo {
    /// Its body is `all x in D where f: p implies q`, with any number of `all`; [`LeadsTo::parts`] takes it
    /// apart.
    pub goal: Invariant,
    /// steps and reads of clients that are owed
    pub by: Vec<OperationId>,
}

/// What a `leads_to` is made of.
#[derive(Clone, PartialEq, Debug)]
pub struct LeadsToParts<'a> {
    /// outermost first
    pub ranges: Vec<LeadsToRange<'a>>,
    pub from: &'a Expr,
    pub to: &'a Expr,
}

/// `all x in D where f`, over records or principals
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LeadsToRange<'a> {
    pub local: LocalId,
    pub domain: &'a Domain,
    pub filter: Option<&'a Expr>,
}

impl LeadsTo {
    /// None: it has no `=>`. The compiler makes no such goal; of a slice, it is one that is not judged there.
    pub fn parts(&self) -> Option<LeadsToParts<'_>> {
        let mut ranges = Vec::new();
        let mut body = &self.goal.body;
        while let ExprKind::Quantifier { all: true, local, domain, filter, body: inner } =
            &body.kind
        {
            ranges.push(LeadsToRange { local: *local, domain, filter: filter.as_deref() });
            body = inner;
        }
        let ExprKind::Implies(from, to) = &body.kind else { return None };
        Some(LeadsToParts { ranges, from, to })
    }
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
    /// into `Design::leads`
    LeadsTo(u32),
}

impl Goal {
    /// Is it a goal about whole histories, judged under fairness, rather than about states and transitions?
    pub fn needs_fairness(self) -> bool {
        matches!(self, Goal::Recovery(_) | Goal::LeadsTo(_))
    }
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
    /// a repetition of the call is done as a new one, without an idempotency key
    Keyed {
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
