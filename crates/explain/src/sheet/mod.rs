//! The sheet of a design: what a team would otherwise write about it by hand.

mod boxes;
mod failures;
mod hotspots;
mod ownership;
mod protocols;
mod sight;
mod trust;
mod truth;

use design::model::{Design, DesignKind, Invariant, LeadsTo};
use serde::Serialize;

use crate::derive::{Derivation, derive};
use crate::draw::{Machine, machines};
use crate::hot::{HotKey, hot_keys};
use crate::spell::Scope;

pub use boxes::Box;
pub use failures::Failure;
pub use hotspots::{Hotspot, way_out};
pub use ownership::Ownership;
pub use protocols::{Protocol, clause_name};
pub use sight::Sight;
pub use trust::Trust;
pub use truth::{Actor, Derived, TruthState};

/// The JSON form is this, with `format` first. A new field may come; none changes its meaning.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sheet {
    pub format: &'static str,
    pub name: String,
    /// of an archetype
    pub id: Option<String>,
    pub title: String,
    pub family: Vec<String>,
    pub truth: Vec<TruthState>,
    /// what can be lost or rebuilt
    pub derived: Vec<Derived>,
    pub actors: Vec<Actor>,
    /// who sees what
    pub sight: Vec<Sight>,
    pub ownership: Ownership,
    pub operations: Vec<Derivation>,
    /// of each enumerated attribute
    pub machines: Vec<Machine>,
    pub protocols: Vec<Protocol>,
    pub invariants: Vec<Goal>,
    pub recovers: Vec<Goal>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leads_to: Vec<Goal>,
    pub failures: Vec<Failure>,
    pub hotspots: Vec<Hotspot>,
    pub hot_keys: Vec<HotKey>,
    pub trust: Trust,
    pub connections: Connections,
    pub boxes: Vec<Box>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Goal {
    pub name: String,
    pub text: String,
    /// the built-in family it was written with
    pub family: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Connections {
    pub input: Vec<String>,
    pub output: Vec<String>,
    pub decorates: Vec<String>,
    /// the archetypes it is made from, with the nouns they were given
    pub uses: Vec<String>,
    /// events that call something: `Tickets.BookingConfirmed`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hears: Vec<String>,
}

pub const FORMAT: &str = "steadfast-explain/1";

pub fn sheet(design: &Design) -> Sheet {
    let operations = derive(design);
    let goals = |list: &[Invariant]| list.iter().map(|goal| of_goal(design, goal)).collect();
    Sheet {
        format: FORMAT,
        name: design.name.clone(),
        id: match &design.kind {
            DesignKind::Archetype { id } => Some(id.clone()),
            DesignKind::Design => None,
        },
        title: design.title.clone(),
        family: design.header.family.clone(),
        truth: truth::truth(design, &operations),
        derived: truth::derived(design),
        actors: truth::actors(design),
        sight: sight::of(design),
        ownership: ownership::of(design),
        machines: machines(design),
        protocols: protocols::of(design),
        invariants: goals(&design.invariants),
        recovers: goals(&design.recoveries),
        leads_to: design.leads.iter().map(|held| leads_to(design, held)).collect(),
        failures: failures::of(design, &operations),
        hotspots: hotspots::of(design),
        hot_keys: hot_keys(design, &operations),
        trust: trust::of(design),
        connections: Connections {
            input: design.header.input.clone(),
            output: design.header.output.clone(),
            decorates: design.header.decorates.clone(),
            uses: design.uses.iter().map(|u| format!("{} as {}", u.archetype, u.noun)).collect(),
            hears: design
                .operations
                .iter()
                .filter_map(|operation| operation.hears.as_ref())
                .map(|hears| hears.told())
                .collect(),
        },
        boxes: boxes::of(design),
        operations,
    }
}

fn of_goal(design: &Design, goal: &Invariant) -> Goal {
    Goal {
        name: goal.name.clone(),
        text: Scope::plain(design, &goal.locals).text(&goal.body),
        family: goal.family.clone(),
    }
}

impl Sheet {
    /// For programs: stable and versioned.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// As it is written: `p => q`, where the model has `p implies q`.
fn leads_to(design: &Design, held: &LeadsTo) -> Goal {
    let scope = Scope::plain(design, &held.goal.locals);
    let mut text = scope.text(&held.goal.body);
    if let Some(parts) = held.parts() {
        let (from, to) = (scope.text(parts.from), scope.text(parts.to));
        if let Some(before) = text.strip_suffix(&format!("{from} implies {to}")) {
            text = format!("{before}{from} => {to}");
        }
    }
    if !held.by.is_empty() {
        let steps = held.by.iter().map(|id| design.operations[id.index()].name.as_str());
        text.push_str(&format!(" by {}", steps.collect::<Vec<_>>().join(", ")));
    }
    Goal { name: held.goal.name.clone(), text, family: None }
}
