//! Steps, repairs, effects and reads: `actor[operation(parameters) {guard}] { effects }`.

use super::*;
use crate::Span;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperationItem {
    pub kind: OperationKind,
    pub rate: Option<Rate>,
    pub actor: Name,
    pub name: Name,
    pub params: Vec<Param>,
    pub guard: Vec<Clause>,
    pub body: OperationBody,
    /// from the actor to the closing bracket; of a handler, from the event to the end of its guard
    pub head: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperationKind {
    /// `keyed` after the head: a call must carry an idempotency key
    Step {
        keyed: bool,
    },
    /// `after 5s`, `every 30s`, `batch 100` after the head, in any order
    Repair {
        after: Option<Expr>,
        every: Option<Expr>,
        batch: Option<Expr>,
    },
    Effect,
    Read,
    /// `on Tickets.BookingConfirmed(…)`: what calls it; without a design, an event of this one. The actor is
    /// [`EVENT_ACTOR`], the name is made of the event.
    Event {
        of: Option<Name>,
        event: Name,
    },
}

/// The actor of every handler, which nobody declares.
pub const EVENT_ACTOR: &str = "event";

/// What the handler of an event is called: `on_booking_confirmed`, `on_tickets_booking_confirmed`.
pub fn handler_name(of: Option<&str>, event: &str) -> String {
    let mut name = String::from("on");
    for part in of.into_iter().chain([event]) {
        let letters: Vec<char> = part.chars().collect();
        for (at, letter) in letters.iter().enumerate() {
            let begins = at == 0 || letter.is_uppercase() && !letters[at - 1].is_uppercase();
            let word = begins && letters[at.saturating_sub(1)] != '_' || at == 0;
            if word {
                name.push('_');
            }
            name.extend(letter.to_lowercase());
        }
    }
    name
}

/// `limit 5 per 1m per me` after the head of a step or a read: how often one caller may call it
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rate {
    pub count: Expr,
    pub per: Expr,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperationBody {
    /// step, repair and handler: `{ statements }`
    Statements(Block),
    /// effect: `{ call … on ok(answer) { … } on refused { … } on unknown { … } }`
    Effect(EffectBody),
    /// read: `= expr`, and optionally `{ memory := … }`
    /// `= e`, `= View() paged`
    Read { result: Expr, paged: Option<Span>, memory: Block },
    /// nothing was written where a body belongs (a diagnostic says so)
    Missing,
}

/// `name: new Type from caller = default`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    pub name: Name,
    pub new: bool,
    pub ty: TypeExpr,
    /// `from caller` behind the type: where that stands
    pub from_caller: Option<Span>,
    pub default: Option<Expr>,
    /// in the place of a default: the server chooses the value
    pub generated: Option<Generated>,
    pub span: Span,
}

/// `new id`, `new key`, `new code(6)` after the `=` of a parameter
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generated {
    pub kind: Name,
    pub size: Option<Expr>,
    pub span: Span,
}

/// One named part of a guard. A guard that is one bare expression has one clause without a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause {
    pub name: Option<Name>,
    pub body: Expr,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EffectBody {
    /// `call POST "url" key e body { … }`; all parts are optional but the method
    pub call: Option<EffectCall>,
    pub sign: Option<EffectSign>,
    pub answers: Vec<AnswerHandler>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EffectCall {
    pub method: Name,
    pub url: Option<Text>,
    pub key: Option<Expr>,
    pub body: Option<Vec<FieldValue>>,
    pub span: Span,
}

/// `sign digest by key`: what the keystore on the other side is asked to sign, and with which of
/// its keys
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EffectSign {
    pub digest: Expr,
    pub key: Expr,
    pub span: Span,
}

/// `on ok(answer: T) { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnswerHandler {
    pub answer: AnswerKind,
    pub param: Option<AnswerParam>,
    pub body: Block,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AnswerKind {
    Ok,
    Refused,
    Unknown,
}

/// `ok(answer: text)`: the type may be left out, it is then `json`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnswerParam {
    pub name: Name,
    pub ty: Option<TypeExpr>,
}
