//! What a step does.

use super::*;
use crate::Span;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Block {
    pub statements: Vec<Stmt>,
    /// covers the braces
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StmtKind {
    /// `x := e`, `x += e`, `x -= e`; a whole record is `State := { a: 1, … }`
    Assign {
        target: Expr,
        op: AssignOp,
        value: Expr,
    },
    /// `let n = e`
    Let {
        name: Name,
        value: Expr,
    },
    /// `new S(key, …) { attr: e, … }`
    New {
        subject: Name,
        keys: Vec<Expr>,
        fields: Vec<FieldValue>,
    },
    /// `delete e`
    Delete {
        target: Expr,
    },
    /// `append LOG { attr: e, … }`; the log may be reached through a reference: `append p.Log { … }`
    Append {
        log: Expr,
        fields: Vec<FieldValue>,
    },
    /// `emit EVENT { … }`
    Emit {
        event: Name,
        fields: Vec<FieldValue>,
    },
    /// `send actor.operation(e, …)`, or `send each x in S of e where p: actor.operation(x, …)`
    Send {
        each: Option<Box<SendEach>>,
        actor: Name,
        operation: Name,
        args: Vec<Expr>,
    },
    /// `for x in e { … }`
    For {
        var: Name,
        domain: Domain,
        body: Block,
    },
    /// `if e { … } else { … }`; `else if` is a block that holds one `if`
    If {
        condition: Expr,
        then: Block,
        otherwise: Option<Block>,
    },
    Error,
}

/// `each x in Follower of author where online`: to whom something is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SendEach {
    pub var: Name,
    pub domain: Domain,
    pub filter: Option<Box<Expr>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AssignOp {
    Set,
    Add,
    Subtract,
}

/// `name: e`, or `name` alone, which means `name: name`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldValue {
    pub name: Name,
    pub value: Option<Expr>,
    pub span: Span,
}
