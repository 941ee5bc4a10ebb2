//! Which of the three pillars of trust hold, by what the design itself shows.

use design::model::*;
use serde::Serialize;

use crate::derive::units;
use crate::facts::{Facts, Origin, TestKind};

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Trust {
    pub identity: Pillar,
    pub authenticated_channel: Pillar,
    pub signed_versioned_state: Pillar,
    /// what the header adds in its own words
    pub specialised: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Pillar {
    /// shown by the structure
    pub shown: bool,
    /// claimed by the header
    pub stated: bool,
    pub because: String,
}

const PILLARS: [&str; 3] = ["identity", "authenticated_channel", "signed_versioned_state"];

pub fn of(design: &Design) -> Trust {
    let stated = |name: &str| design.header.trust.iter().any(|word| word == name);
    let pillar = |name: &str, because: Option<String>, otherwise: &str| Pillar {
        shown: because.is_some(),
        stated: stated(name),
        because: because.unwrap_or_else(|| otherwise.to_owned()),
    };
    Trust {
        identity: pillar("identity", identity(design), "roles alone: no step looks at who calls"),
        authenticated_channel: pillar(
            "authenticated_channel",
            channel(design),
            "nothing leaves the service: only its own front door needs one",
        ),
        signed_versioned_state: pillar(
            "signed_versioned_state",
            signed(design),
            "callers carry nothing that would have to be believed",
        ),
        specialised: design
            .header
            .trust
            .iter()
            .filter(|word| !PILLARS.contains(&word.as_str()))
            .cloned()
            .collect(),
    }
}

/// Who calls matters: it is compared, stored, or remembered for.
fn identity(design: &Design) -> Option<String> {
    units(design).iter().find_map(|unit| {
        let facts = Facts::of(unit);
        let test = facts.tests.iter().find(|test| test.kind == TestKind::Me);
        let write = facts.writes.iter().find(|write| matches!(write.value.kind, ExprKind::Me));
        if let Some(test) = test {
            let attribute = facts.attribute(design, test.place, test.attr);
            return Some(format!(
                "`{}` compares the caller with `{}`",
                unit.name(),
                attribute.name
            ));
        }
        let own = facts.places.iter().find(|place| place.origin == Origin::Keyed { own: true });
        if let Some(place) = own {
            return Some(format!("`{}` finds `{}` by who calls", unit.name(), place.path));
        }
        let write = write?;
        let attribute = facts.attribute(design, write.place, write.attr);
        Some(format!("`{}` stores the caller in `{}`", unit.name(), attribute.name))
    })
}

fn channel(design: &Design) -> Option<String> {
    let effect = design.operations.iter().find_map(|op| match &op.kind {
        OperationKind::Effect(effect) => Some((op, effect)),
        _ => None,
    });
    if let Some((op, effect)) = effect {
        return Some(format!(
            "`{}` calls {} {} and believes the answer",
            op.name, effect.method, effect.url
        ));
    }
    let placed = design.subjects.iter().find(|subject| subject.place.is_some())?;
    Some(format!("messages travel between the places of `{}`", placed.name))
}

fn signed(design: &Design) -> Option<String> {
    for actor in &design.actors {
        if let Some(field) = actor.memory.first() {
            return Some(format!(
                "`{}` travels with `{}` as a signed token, bound to its subject and principal",
                field.name, actor.name
            ));
        }
    }
    let blob = design.blobs.first()?;
    Some(format!("`{}` is named by the hash of its content", blob.name))
}
