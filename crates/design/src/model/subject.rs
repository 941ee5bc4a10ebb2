//! Actors with their memory, subjects with their truth.

use serde::{Deserialize, Serialize};
use syntax::Span;

use super::*;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Actor {
    pub name: String,
    /// `actor holder continues claimant`: same principals, same memory. Memory fields are those
    /// of the actor at the root of the chain; this actor's own are appended there.
    pub continues: Option<ActorId>,
    /// Never the same person as these. Symmetric, shared by all actors of a chain of `continues`, and
    /// in order; two actors that are not apart may be one person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<ActorId>,
    /// only at the root of a chain
    pub memory: Vec<Memory>,
    /// `actor world`, the environment; or `event`, for which handlers act
    pub is_world: bool,
    pub span: Span,
}

/// What an actor keeps between steps, once for each record of `of`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Memory {
    pub name: String,
    /// always optional: nothing is remembered at first and after a crash
    pub ty: Type,
    /// the subject it came from; none: kept once for the actor
    pub of: Option<SubjectId>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Subject {
    pub name: String,
    pub keys: Vec<Key>,
    /// the subject that the first key part refers to, if it is one: this is its child
    pub parent: Option<SubjectId>,
    /// which key part names the place where it lives
    pub place: Option<u32>,
    pub states: Vec<State>,
    /// of all states, in the order written
    pub attributes: Vec<Attribute>,
    /// counted over children, kept in the same commit as the child's change
    pub counters: Vec<Counter>,
    /// No step makes one: every key exists from the start, with its defaults.
    pub implicit: bool,
    pub span: Span,
}

/// An attribute that records can be asked for by.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'d> {
    pub state: &'d State,
    pub attribute: &'d Attribute,
    /// no other attribute and no part of the key has this name, and it says nothing else in an address
    pub alone: bool,
}

impl Asked<'_> {
    /// The name to ask by.
    pub fn name(&self) -> String {
        match self.alone {
            true => self.attribute.name.clone(),
            false => format!("{}.{}", self.state.name, self.attribute.name),
        }
    }
}

impl Subject {
    /// The attributes of truth that hold one value which is told.
    pub fn asked(&self) -> impl Iterator<Item = Asked<'_>> {
        self.attributes.iter().filter_map(|attribute| {
            let state = &self.states[attribute.state.index()];
            let ty = attribute.ty.required();
            let many = matches!(
                ty,
                Type::List { .. }
                    | Type::Set { .. }
                    | Type::Map { .. }
                    | Type::Struct(_)
                    | Type::Json
            );
            if state.kind != StateKind::Truth || many || ty.is_secret() {
                return None;
            }
            let name = &attribute.name;
            let alone = self.attributes.iter().filter(|other| other.name == *name).count() == 1
                && self.keys.iter().all(|part| part.name != *name)
                && !["limit", "after"].contains(&name.as_str());
            Some(Asked { state, attribute, alone })
        })
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Key {
    pub name: String,
    pub ty: Type,
    /// of an `int`: a record outside it is never made
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct State {
    pub kind: StateKind,
    pub name: String,
    /// a truth of a place that is set to its defaults when the place crashes
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub volatile: bool,
    pub attributes: Vec<AttrId>,
    pub visible: Vec<Visible>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum StateKind {
    Truth,
    /// attributes are those of an entry
    Log {
        retain: Retention,
    },
    /// one copy for each principal of this actor
    Cache {
        at: ActorId,
    },
    /// milliseconds
    Ephemeral {
        ttl: Option<i64>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Retention {
    Forever,
    Entries(u64),
    /// in milliseconds
    Age(i64),
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Attribute {
    pub name: String,
    pub ty: Type,
    /// a step that would write something outside it is refused
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    pub state: StateId,
    /// an optional attribute without one defaults to null; otherwise whoever makes the record
    /// gives a value (checked)
    pub default: Option<Const>,
    pub span: Span,
}

/// `visible to … where …`: local 0 is the record; `Me` is the reader.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Visible {
    pub to: Vec<ActorId>,
    pub condition: Option<Expr>,
    pub locals: Vec<Local>,
    pub span: Span,
}

/// Kept under a parent: how many children satisfy `filter`, or the sum of `value` over them.
/// Local 0 is the child; nothing else is mentioned but the child's own truth and constants.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Counter {
    pub child: SubjectId,
    pub filter: Option<Expr>,
    pub value: Option<Expr>,
    pub locals: Vec<Local>,
}
