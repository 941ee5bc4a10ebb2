//! Typed expressions.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use syntax::Span;

use super::*;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

/// A named slot: a parameter, a `let`, the variable of a quantifier.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Local {
    pub name: String,
    pub ty: Type,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ExprKind {
    Literal(Const),
    Local(LocalId),
    /// what the caller remembers
    Memory(MemoryUseId),
    Me,
    Now,
    /// An attribute of a truth or a cache of the record that `base` refers to. In a cache it is
    /// the copy of the principal that acts.
    Attr {
        base: Box<Expr>,
        attr: AttrId,
    },
    /// a part of the key of the record that `base` refers to
    KeyPart {
        base: Box<Expr>,
        part: u32,
    },
    /// the record with this key; null if a part is null, an empty text, or outside its range
    Keyed {
        subject: SubjectId,
        #[serde(deserialize_with = "one_or_several")]
        key: Vec<Expr>,
    },
    /// the offset after the last entry of a log
    LogEnd {
        base: Box<Expr>,
        log: StateId,
    },
    /// the offset of the first entry still kept
    LogStart {
        base: Box<Expr>,
        log: StateId,
    },
    /// entries `from` up to `limit` of them; only as the result of a read
    LogSlice {
        base: Box<Expr>,
        log: StateId,
        from: Box<Expr>,
        limit: Box<Expr>,
    },
    /// is there a record (or, for a cache state, a copy)?
    Exists {
        base: Box<Expr>,
        cache: Option<StateId>,
    },
    /// is the content of this digest in the store?
    Stored(Box<Expr>),
    /// the digest of these values
    Hash(Vec<Expr>),
    /// did the holder of `key` sign this digest?
    Verified {
        signature: Box<Expr>,
        key: Box<Expr>,
        over: Box<Expr>,
    },
    /// does `proof` lead from `leaf` to `root`, by digests of two digests each?
    Included {
        leaf: Box<Expr>,
        root: Box<Expr>,
        proof: Box<Expr>,
    },
    IsNull(Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    /// `=` and `!=` take any two of one type, null among them. `<` and its kin are false when a
    /// side is null.
    Compare {
        op: CompareOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// membership in a set, a list, or among a map's keys
    In {
        item: Box<Expr>,
        collection: Box<Expr>,
    },
    /// The types of both sides say which arithmetic it is: int, decimal, time ± duration,
    /// time - time, duration ± duration, duration * int, duration / int, duration / duration.
    Arithmetic {
        op: ArithmeticOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// the first instant of a schedule after this one; null if there is none. Only in statements.
    NextOf {
        schedule: Box<Expr>,
        after: Box<Expr>,
    },
    Min(Vec<Expr>),
    Max(Vec<Expr>),
    If {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    Let {
        local: LocalId,
        value: Box<Expr>,
        body: Box<Expr>,
    },
    Quantifier {
        all: bool,
        local: LocalId,
        domain: Box<Domain>,
        filter: Option<Box<Expr>>,
        body: Box<Expr>,
    },
    /// how many, or with `value` the sum
    Aggregate {
        local: LocalId,
        domain: Box<Domain>,
        filter: Option<Box<Expr>>,
        value: Option<Box<Expr>>,
    },
    /// a counter kept under the record that `base` refers to: what a quantifier over children
    /// becomes in a guard or an effect
    Counter {
        base: Box<Expr>,
        counter: CounterId,
    },
    /// a parameter of the effect call or the message that `local` ranges over (`world.EFFECT`,
    /// `messages of STEP`, `outbox of EFFECT`)
    WorldArg {
        local: LocalId,
        param: u32,
    },
    /// what a principal remembers as this actor, which is the root of its chain; of a memory that is
    /// kept for each record: of that one. Only in goals.
    Remembered {
        principal: Box<Expr>,
        actor: ActorId,
        field: MemoryId,
        of: Option<Box<Expr>>,
    },
    /// the value before this transition; only in invariants
    Old(Box<Expr>),
    Set(Vec<Expr>),
    List(Vec<Expr>),
    /// the element of a list (from 0), or the value under a map's key; null if there is none
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// how many elements
    Size(Box<Expr>),
    /// a field of one of the records of a list, which is a local
    Field {
        base: Box<Expr>,
        field: u32,
    },
    /// in results, events and bodies of calls; or one of the records of a list, whose fields stand in
    /// the order declared
    Record(Vec<(String, Expr)>),
    /// only as the result of a read
    View {
        view: ViewId,
        args: Vec<Expr>,
    },
    /// reported already
    Error,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Domain {
    /// every record of a subject; not in guards
    All(SubjectId),
    /// the children of one record
    Children { child: SubjectId, parent: Expr },
    /// the elements of a set or a list, the keys of a map
    Elements(Expr),
    /// what the world outside has done for this effect; only in goals
    World(OperationId),
    /// every principal that may act as this actor; only in goals
    Principals(ActorId),
    /// the messages under way to this step; only in goals
    Messages(OperationId),
    /// the open entries of the outbox for this effect; only in goals
    Outbox(OperationId),
}

impl Domain {
    /// The operation whose parameters a variable over this has.
    pub fn rows_of(&self) -> Option<OperationId> {
        match self {
            Domain::World(operation) | Domain::Messages(operation) | Domain::Outbox(operation) => {
                Some(*operation)
            }
            Domain::All(_)
            | Domain::Children { .. }
            | Domain::Elements(_)
            | Domain::Principals(_) => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum ArithmeticOp {
    Add,
    Subtract,
    Multiply,
    /// rounds towards zero
    Divide,
    /// of numbers of which one is a decimal: the exact product, rounded once
    MultiplyRounded(Rounding),
    /// the exact quotient, rounded once
    DivideRounded(Rounding),
    /// `split(left, n, k, digits)`: one of n nearly equal parts of a decimal, which are the whole together; `right` is a
    /// `Place`
    Part {
        digits: u8,
    },
    /// the k-th (`right`) of n (`left`) in one number, as a `Part` takes it; refused unless 1 <= k <= n
    Place,
}

/// `round half_even to 2`
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Rounding {
    pub mode: RoundingMode,
    /// decimal places, 0 to 6
    pub digits: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum RoundingMode {
    /// to the nearest; what lies in the middle, to the even digit
    HalfEven,
    /// to the nearest; what lies in the middle, away from zero
    HalfUp,
    /// towards zero
    Down,
    /// away from zero
    Up,
}

impl RoundingMode {
    pub const ALL: [(RoundingMode, &'static str); 4] = [
        (RoundingMode::HalfEven, "half_even"),
        (RoundingMode::HalfUp, "half_up"),
        (RoundingMode::Down, "down"),
        (RoundingMode::Up, "up"),
    ];

    pub fn named(name: &str) -> Option<RoundingMode> {
        RoundingMode::ALL.iter().find(|(_, held)| *held == name).map(|(mode, _)| *mode)
    }

    pub fn name(self) -> &'static str {
        RoundingMode::ALL.iter().find(|(held, _)| *held == self).map_or("", |(_, name)| name)
    }
}

/// A key had one part before, and stood there by itself.
fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Expr>, D::Error> {
    let key = serde_json::Value::deserialize(from)?;
    let parts = match &key {
        serde_json::Value::Array(_) => Vec::deserialize(&key),
        _ => Expr::deserialize(&key).map(|part| vec![part]),
    };
    parts.map_err(D::Error::custom)
}
