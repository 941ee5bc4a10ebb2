//! Expressions.

use super::*;
use crate::Span;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExprKind {
    Null,
    Bool(bool),
    /// digits as written, underscores removed; the value is for `design` to judge
    Int(String),
    /// `1.50`
    Decimal(String),
    Text(String),
    /// `10m`: the number and the unit (`ms`, `s`, `m`, `h`, `d`)
    Duration {
        number: String,
        unit: DurationUnit,
    },
    Now,
    Me,
    /// a word: a parameter, an attribute, a state, a constant of an enumeration, a subject …
    Name(Name),
    /// `e.name`
    Field {
        base: Box<Expr>,
        name: Name,
    },
    /// `e[index]`
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// `f(e, …)`: a built-in function, a `define`, a view, an invariant family
    Call {
        function: Name,
        args: Vec<Expr>,
    },
    /// `old(e)`
    Old(Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    /// `a and b and c`: flat, at least two
    And(Vec<Expr>),
    /// `a or b or c`: flat, at least two
    Or(Vec<Expr>),
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `e round half_even to 2`
    Round {
        of: Box<Expr>,
        mode: Name,
        digits: Box<Expr>,
    },
    /// `e present`, `e absent`
    Presence {
        of: Box<Expr>,
        present: bool,
    },
    /// `if c then a else b`
    If {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// `let n = e in body`
    Let {
        name: Name,
        value: Box<Expr>,
        body: Box<Expr>,
    },
    /// `all x in D where p: q`, `any x in D where p: q`
    Quantifier {
        kind: QuantifierKind,
        var: Name,
        domain: Domain,
        filter: Option<Box<Expr>>,
        body: Box<Expr>,
    },
    /// `count(D where p)`, `count(x in D where p)`, `sum(e of D where p)`, `sum(e of x in D where p)`
    Aggregate {
        kind: AggregateKind,
        value: Option<Box<Expr>>,
        var: Option<Name>,
        domain: Domain,
        filter: Option<Box<Expr>>,
    },
    /// `{a, b}`
    Set(Vec<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{ a: 1, b }`: a record; `{}` is an empty record and also an empty set
    Record(Vec<FieldValue>),
    Error,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum DurationUnit {
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum BinaryOp {
    /// `p => q`, in a `leads_to` alone
    LeadsTo,
    Implies,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum QuantifierKind {
    All,
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AggregateKind {
    Count,
    Sum,
}

/// What a quantifier, an aggregate or a `for` ranges over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Domain {
    /// a subject's name, a collection, `world.effect`
    pub of_what: Box<Expr>,
    /// `Task of stage`: the children of one parent
    pub parent: Option<Box<Expr>>,
}
