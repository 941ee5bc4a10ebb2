//! Records of a design, as they are answered.

use design::model::{Attribute, Design, StateKind, SubjectId};
use serde_json::{Map, Value, json};

use super::common::reference;
use super::schema;

pub fn truth_name(service: &str, design: &Design, id: SubjectId) -> String {
    format!("{service}.{}.truth", design.subjects[id.index()].name)
}

pub fn changed_name(service: &str, design: &Design, id: SubjectId) -> String {
    format!("{service}.{}.now", design.subjects[id.index()].name)
}

/// The truth of a record, state by state. A state that the caller may not see is left out; of one that is seen nothing
/// is, but for secrets, which nobody is told.
pub fn truth(design: &Design, id: SubjectId) -> Value {
    let subject = &design.subjects[id.index()];
    let mut states = Map::new();
    for state in &subject.states {
        let fields: Map<String, Value> = match state.kind {
            StateKind::Log { .. } => {
                let offset = || json!({ "type": "integer" });
                Map::from_iter([("start".into(), offset()), ("end".into(), offset())])
            }
            StateKind::Truth => {
                let attributes = state.attributes.iter().map(|at| &subject.attributes[at.index()]);
                let told =
                    |a: &Attribute| schema::ranged(schema::answered(design, &a.ty), &a.ty, a.range);
                let told_of = attributes.filter(|a| !a.ty.is_secret());
                told_of.map(|a| (a.name.clone(), told(a))).collect()
            }
            // neither is stored with the record
            StateKind::Cache { .. } | StateKind::Ephemeral { .. } => continue,
        };
        if state.attributes.is_empty() && !matches!(state.kind, StateKind::Log { .. }) {
            continue;
        }
        let required: Vec<&String> = fields.keys().collect();
        let state_of = json!({ "type": "object", "required": required, "properties": fields });
        states.insert(state.name.clone(), state_of);
    }
    json!({ "type": "object", "properties": states })
}

/// One record. `may_be_gone`: its truth is null where the step deleted it, or where there is none.
pub fn record(service: &str, design: &Design, id: SubjectId, may_be_gone: bool) -> Value {
    let truth = reference("schemas", &truth_name(service, design, id));
    let truth = match may_be_gone {
        false => truth,
        true => {
            json!({ "anyOf": [truth, { "type": "null" }], "description": "null: there is none" })
        }
    };
    json!({
        "type": "object",
        "required": ["subject", "key", "truth"],
        "properties": {
            "subject": { "const": design.subjects[id.index()].name },
            "key": key(design, id),
            "truth": truth,
        },
    })
}

/// The key of a record, part by part.
pub fn key(design: &Design, id: SubjectId) -> Value {
    let parts = schema::parts(design, id);
    let count = parts.len();
    let mut forms: Vec<Value> = Vec::new();
    for part in &parts {
        let form = schema::answered(design, &part.ty);
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    // `prefixItems` would say which part is which; too many clients and tools do not know it
    let items = match forms.len() {
        1 => forms.remove(0),
        _ => json!({ "anyOf": forms }),
    };
    json!({ "type": "array", "items": items, "minItems": count, "maxItems": count })
}

/// A record of one of these subjects.
pub fn one_of(service: &str, design: &Design, subjects: &[SubjectId]) -> Value {
    let named = |id: &SubjectId| reference("schemas", &changed_name(service, design, *id));
    match subjects {
        [] => reference("schemas", "Record"),
        [only] => named(only),
        several => json!({ "oneOf": several.iter().map(named).collect::<Vec<_>>() }),
    }
}
