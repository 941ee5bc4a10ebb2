//! What is authoritative, what is derived from it, and who acts.

use design::model::*;
use serde::Serialize;

use crate::derive::Derivation;
use crate::spell::{constant, duration};
use crate::types::Types;

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TruthState {
    pub state: String,
    /// `Seat(seat: text)`
    pub subject: String,
    pub kind: &'static str,
    /// `status: AVAILABLE | HELD | SOLD = AVAILABLE`
    pub attributes: Vec<String>,
    pub written_by: Vec<String>,
    pub guards: Vec<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Derived {
    pub name: String,
    pub kind: &'static str,
    pub text: String,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Actor {
    pub name: String,
    /// `caller`, `engine` for whoever only repairs, `world` for whoever answers from outside
    pub role: &'static str,
    pub continues: Option<String>,
    /// who is never the same person
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
    pub memory: Vec<String>,
    pub operations: Vec<String>,
}

pub fn truth(design: &Design, operations: &[Derivation]) -> Vec<TruthState> {
    let mut list = Vec::new();
    for subject in &design.subjects {
        for state in &subject.states {
            let kind = match state.kind {
                StateKind::Truth if state.volatile => "volatile truth",
                StateKind::Truth => "truth",
                StateKind::Log { .. } => "log",
                StateKind::Cache { .. } | StateKind::Ephemeral { .. } => continue,
            };
            let names = |wanted: &dyn Fn(&crate::derive::Touch) -> bool| {
                operations
                    .iter()
                    .filter(|d| d.touches.iter().any(|t| t.state == state.name && wanted(t)))
                    .map(|d| d.name.clone())
                    .collect::<Vec<String>>()
            };
            list.push(TruthState {
                state: state.name.clone(),
                subject: key_of(design, subject),
                kind,
                attributes: attributes(design, subject, state),
                written_by: names(&|touch| touch.written),
                guards: names(&|touch| touch.read_in_guard),
            });
        }
    }
    list
}

pub fn key_of(design: &Design, subject: &Subject) -> String {
    let types = Types { design };
    let keys: Vec<String> = subject
        .keys
        .iter()
        .map(|key| format!("{}: {}", key.name, types.ranged(&key.ty, key.range)))
        .collect();
    let place =
        subject.place.map_or(String::new(), |p| format!(" at {}", subject.keys[p as usize].name));
    format!("{}({}){place}", subject.name, keys.join(", "))
}

fn attributes(design: &Design, subject: &Subject, state: &State) -> Vec<String> {
    let types = Types { design };
    state
        .attributes
        .iter()
        .map(|attr| {
            let attribute = &subject.attributes[attr.index()];
            let default = match &attribute.default {
                Some(value) if *value != Const::Null => format!(" = {}", constant(design, value)),
                _ => String::new(),
            };
            let ty = types.ranged(&attribute.ty, attribute.range);
            format!("{}: {ty}{default}", attribute.name)
        })
        .collect()
}

pub fn derived(design: &Design) -> Vec<Derived> {
    let mut list = Vec::new();
    for subject in &design.subjects {
        for state in &subject.states {
            let (kind, text) = match state.kind {
                StateKind::Cache { at } => (
                    "cache",
                    format!(
                        "a copy with each {}, lost or stale at any moment",
                        design.actors[at.index()].name
                    ),
                ),
                StateKind::Ephemeral { ttl: Some(ttl) } => {
                    ("ephemeral", format!("soft state, gone after {}", duration(ttl)))
                }
                StateKind::Ephemeral { ttl: None } => ("ephemeral", "soft state".to_owned()),
                _ => continue,
            };
            list.push(Derived { name: state.name.clone(), kind, text });
        }
    }
    for view in &design.views {
        let subject = &design.subjects[view.subject.index()].name;
        let word = match view.form {
            ViewForm::Count => "count of",
            ViewForm::Sum { .. } => "sum over",
            ViewForm::Extreme { greatest: true, .. } => "greatest over",
            ViewForm::Extreme { greatest: false, .. } => "least over",
            ViewForm::Average { .. } => "average over",
            ViewForm::List { .. } => "sorted list of",
            ViewForm::Rank { .. } => "ranking of",
            ViewForm::Search { .. } => "search over",
            ViewForm::Near { .. } => "nearest",
            ViewForm::Window { .. } => "windows over",
        };
        let named = |asked: bool| {
            let params = view.params.iter();
            let params = params.filter(move |param| view.form.is_asked(param.local) == asked);
            params.map(|param| param.name.as_str())
        };
        let mut params: Vec<&str> = named(false).collect();
        let caller = view.caller.as_ref().map(|it| design.actors[it.actor.index()].name.as_str());
        params.extend(caller);
        let by = if params.is_empty() {
            String::new()
        } else {
            format!(" for each {}", params.join(", "))
        };
        let from: String = named(true).map(|name| format!(" to any `{name}`")).collect();
        let shown: Vec<&str> = view.with.iter().map(|column| column.name.as_str()).collect();
        let with = match shown.is_empty() {
            true => String::new(),
            false => format!(" with {}, looked up when a row is read", shown.join(", ")),
        };
        let own = if caller.is_some() { ", each for its own rows alone" } else { "" };
        let text = format!("{word} {subject}{from}{by}{own}{with}, rebuilt from the feed");
        list.push(Derived { name: view.name.clone(), kind: "view", text });
    }
    list
}

pub fn actors(design: &Design) -> Vec<Actor> {
    let types = Types { design };
    let mut list = Vec::new();
    for (index, actor) in design.actors.iter().enumerate() {
        let own: Vec<&Operation> =
            design.operations.iter().filter(|op| op.actor.index() == index).collect();
        let all = |is: &dyn Fn(&Operation) -> bool| !own.is_empty() && own.iter().all(|op| is(op));
        let role = if actor.is_world && [EVENT_ACTOR, EACH_ACTOR].contains(&&*actor.name) {
            "engine"
        } else if actor.is_world || all(&|op| matches!(op.kind, OperationKind::Effect(_))) {
            "world"
        } else if all(&|op| matches!(op.kind, OperationKind::Repair { .. })) {
            "engine"
        } else {
            "caller"
        };
        let memory = actor.memory.iter().map(|field| {
            let of = field
                .of
                .map_or(String::new(), |s| format!(" of {}", design.subjects[s.index()].name));
            format!("{}: {}{of}", field.name, types.text(&field.ty))
        });
        list.push(Actor {
            name: actor.name.clone(),
            role,
            continues: actor.continues.map(|other| design.actors[other.index()].name.clone()),
            apart: actor.apart.iter().map(|id| design.actors[id.index()].name.clone()).collect(),
            memory: memory.collect(),
            operations: own.iter().map(|op| op.name.clone()).collect(),
        });
    }
    list
}
