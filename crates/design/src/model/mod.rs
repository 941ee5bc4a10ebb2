//! A design that makes sense: names resolved, types checked, guards split into named clauses.
//!
//! Plain data with spans. Everything refers to everything else by number (`SubjectId`,
//! `OperationId`, …: an index into the design's list), so the form is easy to walk, to compare
//! and to write as JSON.

mod currency;
mod earlier;
mod expr;
mod ids;
mod operation;
mod presence;
mod proof;
mod range;
pub(crate) mod spell;
mod stmt;
mod subject;
mod test;
mod ty;
mod view;
pub mod visit;
mod weaken;
mod world;
mod worlds;

pub use currency::*;
pub use earlier::*;
pub use expr::*;
pub use ids::*;
pub use operation::*;
pub use proof::*;
pub use range::*;
pub use stmt::*;
pub use subject::*;
pub use test::*;
pub use ty::*;
pub use view::*;
pub use world::*;
pub use worlds::*;

use serde::{Deserialize, Serialize};
pub use syntax::Span;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Design {
    pub kind: DesignKind,
    pub name: String,
    pub title: String,
    pub header: Header,
    pub uses: Vec<Use>,
    /// how truth of earlier versions follows to this one
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
    pub actors: Vec<Actor>,
    pub enumerations: Vec<Enumeration>,
    pub blobs: Vec<Blob>,
    pub subjects: Vec<Subject>,
    pub events: Vec<Event>,
    pub operations: Vec<Operation>,
    pub views: Vec<View>,
    /// Named predicates, kept for explaining: each use is already replaced by its body.
    pub defines: Vec<Define>,
    pub protocols: Vec<Protocol>,
    pub invariants: Vec<Invariant>,
    pub recoveries: Vec<Invariant>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads: Vec<LeadsTo>,
    pub failures: Vec<Failure>,
    /// clauses that are kept although nothing in the small world needs them
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defences: Vec<Defence>,
    pub hotspots: Vec<Hotspot>,
    /// the default world
    pub world: World,
    /// worlds of their own for some goals
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worlds: Vec<NamedWorld>,
    pub span: Span,
}

impl Design {
    /// The goals of every kind: invariants, then what recovers, then what leads to something. Of a
    /// `leads_to`, as `p implies q`.
    pub fn goals(&self) -> impl Iterator<Item = &Invariant> {
        let leads = self.leads.iter().map(|held| &held.goal);
        self.invariants.iter().chain(&self.recoveries).chain(leads)
    }

    pub fn goals_mut(&mut self) -> impl Iterator<Item = &mut Invariant> {
        let leads = self.leads.iter_mut().map(|held| &mut held.goal);
        self.invariants.iter_mut().chain(&mut self.recoveries).chain(leads)
    }

    /// The archetype to whose operation the design itself adds this clause.
    pub fn added_to(&self, operation: &str, clause: &str) -> Option<&Use> {
        let added = |held: &String| {
            held.split_once('.').is_some_and(|(step, name)| step == operation && name == clause)
        };
        self.uses.iter().find(|used| used.added.iter().any(added))
    }

    /// The archetype that an operation comes from.
    pub fn used_for(&self, operation: OperationId) -> Option<&Use> {
        self.uses.iter().find(|used| used.operations.contains(&operation))
    }

    pub fn goal(&self, goal: Goal) -> &Invariant {
        match goal {
            Goal::Invariant(at) => &self.invariants[at as usize],
            Goal::Recovery(at) => &self.recoveries[at as usize],
            Goal::LeadsTo(at) => &self.leads[at as usize].goal,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum DesignKind {
    Design,
    Archetype { id: String },
}

/// What an archetype says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Header {
    pub family: Vec<String>,
    pub ownership: Vec<String>,
    pub trust: Vec<String>,
    pub input: Vec<String>,
    pub output: Vec<String>,
    pub decorates: Vec<String>,
}

/// `use A08 as Ticket { … }`: whose parts stand in the design, under their names there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Use {
    pub archetype: String,
    pub noun: String,
    /// goals, protocols and worlds of it are called `scope.name`
    #[serde(default)]
    pub scope: String,
    /// operations that nobody may call, and which are not in the design
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// clauses that the design adds to its operations, as `step.clause`
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// the operations of the design that come from it
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<ViewId>,
    pub span: Span,
}

impl Use {
    /// `A08 as Seat`
    pub fn told(&self) -> String {
        format!("{} as {}", self.archetype, self.noun)
    }
}

/// `without goal seat.sold_stays_sold because "…"`
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    pub goal: String,
    pub because: String,
}

/// Content addressed by its hash.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Blob {
    pub name: String,
    pub span: Span,
}

/// An event that steps emit; all emitters agree on the fields.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    pub name: String,
    pub fields: Vec<(String, Type)>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Define {
    pub name: String,
    pub params: Vec<(String, Type)>,
    pub ty: Type,
    pub span: Span,
}

/// A type as a text would say it, without bounds.
pub fn type_text(ty: &Type, design: &Design) -> String {
    spell::spell(ty, design)
}
