//! Steps, repairs, effects, reads.

use serde::{Deserialize, Serialize};
use syntax::Span;
pub use syntax::tree::{EVENT_ACTOR, handler_name};

use super::*;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Operation {
    pub kind: OperationKind,
    pub actor: ActorId,
    pub name: String,
    pub params: Vec<Param>,
    /// parameters first, in order
    pub locals: Vec<Local>,
    /// tried in order, after the implicit `exists` (every parameter that refers to a record that
    /// is not `new`, and the parent of every `new` one, unless its subject is implicit) and `fresh`
    /// (every `new` parameter)
    pub guard: Vec<Clause>,
    /// of a step or a repair; of a read, the memory it hands out; of an effect, nothing
    pub body: Vec<Stmt>,
    /// what of the caller's memory is mentioned; an argument of the call
    pub memory: Vec<MemoryUse>,
    /// how often one caller may call it. Kept by the server alone, from its start on: no guard, and no
    /// part of what is checked
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// the event that calls it, and nobody else: a step of the actor `event`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hears: Option<Hears>,
    /// what the outbox does for each record of a set: a step of the actor `outbox`, which nobody wrote
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Box<Each>>,
    pub span: Span,
    pub head: Span,
}

/// `on Tickets.BookingConfirmed(…)`. The first parameter is the key: events that agree in it come in the order in which they
/// were emitted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hears {
    /// none: this one
    pub design: Option<String>,
    pub event: String,
}

impl Hears {
    /// `Tickets.BookingConfirmed`, as it is written.
    pub fn told(&self) -> String {
        match &self.design {
            Some(design) => format!("{design}.{}", self.event),
            None => self.event.clone(),
        }
    }
}

/// Whoever pages through a set of records acts for this actor.
pub const EACH_ACTOR: &str = "outbox";

/// `send each x in S of p where …: actor.effect(x, …)`. The first parameter is the record of the set, the second the
/// one that it belongs to, the others are what was sent along. A send to it gives no record: it is for all of them.
/// `where` upon truth is its guard.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Each {
    /// what sends
    pub by: OperationId,
    /// `where online`, of soft state: looked at when it is the record's turn. Nothing may rest on it: to the checker it
    /// is true or not
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft: Option<AttrId>,
}

/// `limit 5 per 1m per me`
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rate {
    pub count: u32,
    /// milliseconds
    pub per: i64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum OperationKind {
    /// called from outside (or by a message)
    Step {
        /// a call must carry an idempotency key
        keyed: bool,
    },
    /// run by the engine whenever its guard holds; exactly one parameter, a reference
    Repair {
        /// milliseconds
        after: Option<i64>,
        every: Option<i64>,
        batch: Option<u32>,
    },
    Effect(Box<Effect>),
    Read {
        result: Expr,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    pub ty: Type,
    /// a call with an argument outside it is never taken
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    pub new: bool,
    /// a time that its caller claims, and not one of the engine's clock
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_caller: bool,
    pub default: Option<Const>,
    /// the server chooses the value, and no caller gives it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<Generated>,
    pub local: LocalId,
    pub span: Span,
}

/// What the server chooses when a step is called.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum Generated {
    /// `new id`: a text that nobody has had before, by all that chance can promise
    Id,
    /// `new key`: a secret that nobody can guess
    Key,
    /// `new code(6)`: a secret of so many decimal digits
    Code(u32),
    /// `any of Runnable(queue)`: the first row of a list whose record the guard takes
    Next(Next),
}

/// Where a record is taken from. The rows are proposed one after the other; truth decides.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Next {
    pub view: ViewId,
    /// for each parameter of the view: the parameter of the step that is given for it
    pub args: Vec<LocalId>,
}

/// The refusal of a step for which no row is left that could be taken.
pub const NONE_LEFT: &str = "none_left";

impl Generated {
    pub fn next(&self) -> Option<&Next> {
        match self {
            Generated::Next(next) => Some(next),
            _ => None,
        }
    }
}

impl Next {
    /// `Runnable(queue)`, in the operation that takes.
    pub fn text(&self, design: &Design, operation: &Operation) -> String {
        let view = &design.views[self.view.index()].name;
        let args: Vec<&str> =
            self.args.iter().map(|local| &*operation.locals[local.index()].name).collect();
        if args.is_empty() { view.clone() } else { format!("{view}({})", args.join(", ")) }
    }
}

impl Param {
    /// As the type of the parameter is written, if it is taken from a view; else what stands behind the type.
    pub fn chosen_text(&self, design: &Design, operation: &Operation) -> Option<String> {
        Some(match self.generated.as_ref()? {
            Generated::Id => "new id".into(),
            Generated::Key => "new key".into(),
            Generated::Code(digits) => format!("new code({digits})"),
            Generated::Next(next) => format!("any of {}", next.text(design, operation)),
        })
    }
}

impl Operation {
    /// Does a caller give it a secret, or get one from it?
    pub fn has_secrets(&self) -> bool {
        self.params.iter().any(|param| param.ty.is_secret())
    }

    /// The parameter whose record the server takes from a view, and where it takes it from.
    pub fn takes(&self) -> Option<(&Param, &Next)> {
        self.params.iter().find_map(|param| Some((param, param.generated.as_ref()?.next()?)))
    }

    /// What an entry of the outbox carries: the arguments, but for the record of a set, which has its turn later.
    pub fn carried(&self) -> &[Param] {
        &self.params[usize::from(self.each.is_some())..]
    }

    /// Under which name a call and its answer have one field of the caller's memory. A field that the operation uses of
    /// several records has the name of the parameter before its own.
    pub fn memory_name(&self, design: &Design, used: &MemoryUse) -> String {
        let field = &design.actors[used.actor.index()].memory[used.field.index()].name;
        let same = |other: &&MemoryUse| other.actor == used.actor && other.field == used.field;
        match used.of {
            Some(local) if self.memory.iter().filter(same).count() > 1 => {
                format!("{}.{field}", self.locals[local.index()].name)
            }
            _ => field.clone(),
        }
    }

    /// Does the server choose something for a call of it?
    pub fn is_given(&self) -> bool {
        self.params.iter().any(|param| param.generated.is_some())
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Clause {
    pub name: String,
    pub body: Expr,
    pub span: Span,
}

/// One field of the actor's memory, for one of the step's records.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MemoryUse {
    /// the actor at the root of the chain, who has the field
    pub actor: ActorId,
    pub field: MemoryId,
    /// the parameter whose record it belongs to
    pub of: Option<LocalId>,
    pub read: bool,
    pub written: bool,
}

/// A call to the world outside, under a key that the world decides at most once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Effect {
    pub method: String,
    pub url: String,
    /// all parameters, if none is written
    pub key: Vec<Expr>,
    pub body: Vec<(String, Expr)>,
    /// the other side is a keystore: what it signs, and with which of its keys
    pub sign: Option<Sign>,
    pub on_ok: Answer,
    pub on_refused: Answer,
    pub on_unknown: Answer,
}

/// `sign digest by key`: what is answered is a signature of this, or it is `unknown`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sign {
    pub digest: Expr,
    pub key: Expr,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// where the world's answer is bound
    pub param: Option<LocalId>,
    /// an answer outside it is bound as null, like one of another type
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    pub body: Vec<Stmt>,
    /// was it written, or is it empty because it was left out?
    pub written: bool,
}
