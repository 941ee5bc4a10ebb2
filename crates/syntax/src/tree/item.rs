//! What stands at the top level of a file.

use super::*;
use crate::Span;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    pub kind: ItemKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ItemKind {
    /// `design NAME "title"`
    Design {
        name: Name,
        title: Option<Text>,
    },
    /// `archetype ID NAME "title"`
    Archetype {
        id: Name,
        name: Name,
        title: Option<Text>,
    },
    /// `family …`, `ownership …`, `trust …`, `input …`, `output …`, `decorates …`:
    /// one or more words or texts, divided by commas; `lease-backed` is one word
    Header {
        property: HeaderProperty,
        values: Vec<HeaderValue>,
    },
    /// `use A08 as Ticket { … }`
    Use(UseItem),
    /// `from "3f9a2c7104be" { … }`
    From(FromItem),
    Actor(ActorItem),
    Subject(SubjectItem),
    /// `blob NAME`: content addressed by its hash; the name is the type of a digest
    Blob {
        name: Name,
    },
    /// `define p(a: T, …) = expr`
    Define(DefineItem),
    /// `step`, `repair`, `effect` and `read`
    Operation(Box<OperationItem>),
    View(Box<ViewItem>),
    Protocol(ProtocolItem),
    /// `invariant n: expr`
    Invariant {
        name: Name,
        body: Expr,
    },
    /// `recovers n: expr`
    Recovers {
        name: Name,
        body: Expr,
    },
    /// `leads_to n: all x in D: p => q by step, step`: `p => q` is [`BinaryOp::LeadsTo`]
    LeadsTo {
        name: Name,
        body: Expr,
        by: Vec<Name>,
    },
    Failure(FailureItem),
    Defence(DefenceItem),
    Hotspot(HotspotItem),
    Check(CheckItem),
    /// `test "…" { … }`
    Test(TestItem),
    /// Something that could not be read; its text is kept as it is by the formatter.
    Error,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum HeaderProperty {
    Family,
    Ownership,
    Trust,
    Input,
    Output,
    Decorates,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeaderValue {
    Word(Name),
    Text(Text),
}

/// `actor holder continues claimant { my_epoch: int? of Resource }`,
/// `actor approver apart from author, payer`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActorItem {
    pub name: Name,
    pub continues: Option<Name>,
    /// who is never the same person
    pub apart: Vec<Name>,
    pub memory: Vec<MemoryField>,
}

/// `my_epoch: int? of Resource`: what an actor keeps between steps, for each subject it came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryField {
    pub name: Name,
    pub ty: TypeExpr,
    pub of: Option<Name>,
}

/// `subject S(key: type, …) at node { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubjectItem {
    pub name: Name,
    pub keys: Vec<KeyField>,
    /// the key part that names the place where this state lives
    pub at: Option<Name>,
    pub states: Vec<StateItem>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyField {
    pub name: Name,
    pub ty: TypeExpr,
}

/// `truth N { … }`, `log N { … }`, `cache N at ACTOR { … }`, `ephemeral N { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateItem {
    pub kind: StateKind,
    pub name: Name,
    pub attributes: Vec<Attribute>,
    pub visible: Vec<Visible>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StateKind {
    Truth,
    /// `volatile N { … }`: truth of a place, lost when the place crashes
    Volatile,
    /// `log N { … } retain 7d` or `retain 1000` (entries)
    Log {
        retain: Option<Expr>,
    },
    /// `cache N at ACTOR { … }`
    Cache {
        at: Name,
    },
    /// `ephemeral N ttl 30s { … }`
    Ephemeral {
        ttl: Option<Expr>,
    },
}

/// `name: type = default`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    pub name: Name,
    pub ty: TypeExpr,
    pub default: Option<Expr>,
    pub span: Span,
}

/// `visible to a, b where condition`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Visible {
    pub to: Vec<Name>,
    pub condition: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefineItem {
    pub name: Name,
    pub params: Vec<Param>,
    pub body: Expr,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeExpr {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeKind {
    /// `int`, `text`, `actor`, a subject's or a blob's name; what it means is for `design` to say
    Named(Name),
    /// `money(EUR)`
    Money(Name),
    /// `A | B | C`
    Enumeration(Vec<Name>),
    /// `int 1..64`: both ends included
    Ranged(Box<TypeExpr>, Expr, Expr),
    /// `T?`
    Optional(Box<TypeExpr>),
    /// `list T max 8`
    List(Box<TypeExpr>, Option<Expr>),
    /// `set T max 8`
    Set(Box<TypeExpr>, Option<Expr>),
    /// `map K V max 8`
    Map(Box<TypeExpr>, Box<TypeExpr>, Option<Expr>),
    /// `{ sku: text, qty: int 1..99 }`: what a list holds
    Record(Vec<(Name, TypeExpr)>),
    /// `any of Runnable(queue)`: a record that the server takes from a view; of a parameter
    AnyOf(Name, Vec<Name>),
    Error,
}
