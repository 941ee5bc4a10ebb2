//! What one operation mentions: the records it reaches, what it reads and writes of them, what its
//! guard tests. Nothing is judged here.

mod guard;
mod possible;
mod walk;

use std::collections::BTreeMap;

use design::model::*;

use crate::spell::Scope;

pub use design::model::visit::children;
pub use guard::{Test, TestKind};
pub use possible::{Verdict, possible};
pub use walk::place;

/// What is derived as one: a step, a repair, a read, or one answer to an effect.
#[derive(Clone, Copy)]
pub struct Unit<'a> {
    pub design: &'a Design,
    pub id: OperationId,
    pub operation: &'a Operation,
    pub answer: Option<Answered>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Answered {
    Ok,
    Refused,
    Unknown,
}

impl Answered {
    pub const ALL: [Answered; 3] = [Answered::Ok, Answered::Refused, Answered::Unknown];

    pub fn name(self) -> &'static str {
        match self {
            Answered::Ok => "ok",
            Answered::Refused => "refused",
            Answered::Unknown => "unknown",
        }
    }
}

impl<'a> Unit<'a> {
    pub fn scope(&self) -> Scope<'a> {
        Scope::of(self.design, self.operation)
    }

    pub fn body(&self) -> &'a [Stmt] {
        match (&self.operation.kind, self.answer) {
            (OperationKind::Effect(effect), Some(Answered::Ok)) => &effect.on_ok.body,
            (OperationKind::Effect(effect), Some(Answered::Refused)) => &effect.on_refused.body,
            (OperationKind::Effect(effect), Some(Answered::Unknown)) => &effect.on_unknown.body,
            _ => &self.operation.body,
        }
    }

    /// `buyer[hold]`, `network[authorize] on unknown`
    pub fn name(&self) -> String {
        let actor = &self.design.actors[self.operation.actor.index()].name;
        let answer = self.answer.map_or(String::new(), |answer| format!(" on {}", answer.name()));
        format!("{actor}[{}]{answer}", self.operation.name)
    }
}

/// A record that the operation reaches, by the path that leads to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub subject: SubjectId,
    /// as the language writes it: `seat`, `booking.seat`
    pub path: String,
    pub origin: Origin,
    /// what leads to it; of one that is made in the body, its key
    pub base: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// named by the caller
    Param,
    /// made by this call, under a key that the caller gives
    NewParam,
    /// made by a `new` in the body
    Made { in_loop: bool },
    /// found by following a reference
    Followed,
    /// found under a key that the step computes; `own`: who calls is a part of it
    Keyed { own: bool },
}

impl Place {
    pub fn is_made(&self) -> bool {
        matches!(self.origin, Origin::NewParam | Origin::Made { .. })
    }
}

pub struct Read {
    pub place: usize,
    pub of: ReadOf,
    pub in_guard: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadOf {
    Attr(AttrId),
    Log(StateId),
    LogEntries(StateId),
    Counter(CounterId),
    /// whether it is there
    Presence,
}

pub struct Write<'a> {
    pub place: usize,
    pub attr: AttrId,
    pub op: AssignOp,
    /// with the names that `let` gave replaced by what they stand for
    pub value: &'a Expr,
    /// conditions that lead to it
    pub when: Vec<(&'a Expr, bool)>,
}

pub struct Send<'a> {
    pub operation: OperationId,
    pub args: &'a [Expr],
    /// The key names a record that this call makes, so the entry cannot be there yet.
    pub fresh: bool,
}

#[derive(Default)]
pub struct Facts<'a> {
    pub places: Vec<Place>,
    pub reads: Vec<Read>,
    pub writes: Vec<Write<'a>>,
    pub deletes: Vec<usize>,
    pub appends: Vec<(usize, StateId)>,
    pub sends: Vec<Send<'a>>,
    pub emits: Vec<EventId>,
    pub views: Vec<ViewId>,
    pub blobs: Vec<BlobId>,
    /// fields of memory that are handed out, and from which attribute where that is plain
    pub hands: Vec<(MemoryUseId, Option<(usize, AttrId)>)>,
    pub tests: Vec<Test>,
    lets: BTreeMap<LocalId, &'a Expr>,
}

impl<'a> Facts<'a> {
    pub fn of(unit: &Unit<'a>) -> Facts<'a> {
        let mut facts = Facts::default();
        walk::run(unit, &mut facts);
        facts
    }

    /// What a local stands for, if a `let` gave it.
    pub fn resolve(&self, expr: &'a Expr) -> &'a Expr {
        match expr.kind {
            ExprKind::Local(local) => {
                self.lets.get(&local).map_or(expr, |value| self.resolve(value))
            }
            _ => expr,
        }
    }

    /// What a `let` gave to this local.
    pub fn let_of(&self, local: LocalId) -> Option<&'a Expr> {
        self.lets.get(&local).copied()
    }

    pub fn attribute<'d>(&self, design: &'d Design, place: usize, attr: AttrId) -> &'d Attribute {
        &design.subjects[self.places[place].subject.index()].attributes[attr.index()]
    }
}
