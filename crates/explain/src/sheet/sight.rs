//! Who sees what: stated with `visible to`, or derived from who reads it; secrets are seen by nobody.

use design::mentions::{readers, readers_of};
use design::model::{Design, StateId, StateKind, SubjectId};
use serde::Serialize;

use crate::spell::Scope;

/// One state, and who is told of it. Operators, whose tokens have all roles, see everything but secrets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sight {
    pub subject: String,
    pub state: String,
    /// it is said with `visible to`
    pub stated: bool,
    pub to: Vec<Sees>,
    /// attributes that are never told to anybody
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sees {
    pub actor: String,
    /// only where this holds
    #[serde(rename = "where")]
    pub condition: Option<String>,
}

pub fn of(design: &Design) -> Vec<Sight> {
    let readers = readers(design);
    let actor = |id: design::model::ActorId| design.actors[id.index()].name.clone();
    let mut all = Vec::new();
    for (at, subject) in design.subjects.iter().enumerate() {
        for (number, state) in subject.states.iter().enumerate() {
            let soft = match state.kind {
                // a copy is the business of whoever keeps it
                StateKind::Cache { .. } => continue,
                StateKind::Ephemeral { .. } => true,
                StateKind::Truth | StateKind::Log { .. } => false,
            };
            let stated = !state.visible.is_empty();
            let to = if stated {
                let rules = state.visible.iter().flat_map(|rule| {
                    let condition = rule.condition.as_ref();
                    let text = condition.map(|it| Scope::plain(design, &rule.locals).text(it));
                    rule.to
                        .iter()
                        .map(move |id| Sees { actor: actor(*id), condition: text.clone() })
                });
                rules.collect()
            } else {
                let place = (SubjectId::of(at), StateId::of(number));
                let found = readers_of(&readers, place, soft).into_iter();
                found.map(|id| Sees { actor: actor(id), condition: None }).collect()
            };
            let attributes = state.attributes.iter().map(|id| &subject.attributes[id.index()]);
            let secrets = attributes.filter(|it| it.ty.is_secret()).map(|it| it.name.clone());
            all.push(Sight {
                subject: subject.name.clone(),
                state: state.name.clone(),
                stated,
                to,
                secrets: secrets.collect(),
            });
        }
    }
    all
}

impl Sight {
    /// Who, in words.
    pub fn text(&self) -> String {
        if self.to.is_empty() {
            return "operators alone".into();
        }
        let who = self.to.iter().map(|sees| match &sees.condition {
            Some(condition) => format!("`{}` where `{condition}`", sees.actor),
            None => format!("`{}`", sees.actor),
        });
        who.collect::<Vec<_>>().join(", ")
    }
}
