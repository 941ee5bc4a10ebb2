//! What is to be shown of a design: protocols, failures, hotspots, and the small world to check.

use super::*;
use crate::Span;

/// `protocol main { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProtocolItem {
    pub name: Name,
    pub paths: Vec<Path>,
}

/// `a[x] -> b[y] => outcome |-> c[z] => outcome`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    pub steps: Vec<PathStep>,
    pub outcome: Option<Name>,
    /// each began with `|->`
    pub branches: Vec<Path>,
    pub span: Span,
}

/// `actor[operation {guard}] refused CLAUSE`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathStep {
    pub actor: Name,
    pub operation: Name,
    /// the guard restated; it must be what the step says
    pub guard: Vec<Clause>,
    pub refused: Option<Name>,
    pub span: Span,
}

/// `failure "…" { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailureItem {
    pub title: Text,
    pub proofs: Vec<FailureProof>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailureProof {
    pub kind: FailureProofKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailureProofKind {
    /// `without T, T breaks NAME in depth`
    Without {
        targets: Vec<WithoutTarget>,
        breaks: Name,
        in_depth: bool,
    },
    /// `refused by compiler CODE { items }`: these items, added to the design, must not compile
    Compiler {
        code: Name,
        items: Vec<Item>,
    },
    /// `measured by e above n`
    Measured {
        value: Expr,
        above: Expr,
    },
    Error,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WithoutTarget {
    pub kind: WithoutKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WithoutKind {
    /// `commit.fenced`, and the implicit `commit.fresh` and `commit.exists`
    Clause { operation: Name, clause: Name },
    /// `repair reclaim`
    Repair { name: Name },
    /// `assignment claim.OwnerEpoch.current` (the target as written in the step)
    Assignment { operation: Name, target: Expr },
    /// `outbox of STEP`
    Outbox { operation: Name },
    /// `key of EFFECT`
    Key { operation: Name },
    /// `at_least of READ`
    AtLeast { operation: Name },
    /// `keyed of STEP`
    Keyed { operation: Name },
}

/// `defence commit.once "…"`: a clause that is kept although nothing in the small world needs it
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefenceItem {
    pub operation: Name,
    pub clause: Name,
    pub reason: Text,
}

/// `hotspot "…" on Seat { mitigate shard, "…" }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HotspotItem {
    pub title: Text,
    pub on: Expr,
    pub mitigate: Vec<HeaderValue>,
}

/// `check { … }`, or `check NAME for GOAL, GOAL { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckItem {
    /// none: the default world
    pub named: Option<CheckName>,
    pub entries: Vec<CheckEntry>,
}

/// `races for one_winner, in_time`: a world of its own for some goals
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckName {
    pub name: Name,
    pub goals: Vec<Name>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckEntry {
    pub key: CheckKey,
    pub value: CheckValue,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckKey {
    /// `seat`, `faults`, `OwnerEpoch.current`
    Name(Vec<Name>),
    /// `10m`: how many ticks this duration becomes
    Duration(Expr),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckValue {
    /// `2`: so many of them; for a duration, so many ticks
    Number(Expr),
    /// `0..3`: both ends included
    Range(Expr, Expr),
    /// `{1, 5}` or `{A, B}`
    Values(Vec<Expr>),
    /// `crash, pause 2, lost_reply`, each with an optional budget; `symmetry: off`
    Words(Vec<(Name, Option<Expr>)>),
    Error,
}
