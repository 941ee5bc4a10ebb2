//! What a step does, in order; each statement sees what the earlier ones wrote.

use serde::{Deserialize, Serialize};
use syntax::Span;

use super::*;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Stmt {
    pub id: StmtId,
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum StmtKind {
    /// A whole-record assignment has become one of these for each attribute of the state, with
    /// all right-hand sides evaluated first (`Let` into fresh locals).
    Assign {
        target: Target,
        op: AssignOp,
        value: Expr,
    },
    Let {
        local: LocalId,
        value: Expr,
    },
    /// `new S(key, …) { … }`: refused if it is there already
    New {
        subject: SubjectId,
        keys: Vec<Expr>,
        fields: Vec<(AttrId, Expr)>,
    },
    Delete {
        target: Expr,
    },
    Append {
        base: Expr,
        log: StateId,
        fields: Vec<(AttrId, Expr)>,
    },
    Emit {
        event: EventId,
        fields: Vec<(String, Expr)>,
    },
    /// to an effect: through the outbox; to a step: a message
    Send {
        operation: OperationId,
        args: Vec<Expr>,
    },
    /// over the elements of a bounded collection, in their order
    For {
        local: LocalId,
        domain: Expr,
        body: Vec<Stmt>,
    },
    If {
        condition: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Target {
    /// an attribute of a truth, a cache or an ephemeral
    Attr {
        base: Expr,
        attr: AttrId,
    },
    /// one value of a map
    Element {
        base: Expr,
        attr: AttrId,
        key: Expr,
    },
    Memory(MemoryUseId),
}

/// On a set, `Add` and `Subtract` put in and take out one element; on a list, `Add` appends; on a
/// map, `Subtract` takes out a key. A collection beyond its bound is a refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum AssignOp {
    Set,
    Add,
    Subtract,
}
