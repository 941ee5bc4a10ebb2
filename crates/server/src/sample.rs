//! Values that would do: for a first command to type, and for examples.

use design::model::{Design, Operation, OperationKind, Range, SubjectId, Type, quantity_text};
use serde_json::{Map, Value, json};

/// A value of this type. `name` makes texts and keys readable.
pub fn value(design: &Design, ty: &Type, name: &str) -> Value {
    match ty {
        Type::Int => json!(1),
        Type::Bool => json!(true),
        Type::Decimal | Type::Money(_) => json!("12.50"),
        Type::Time => json!("2030-01-01T00:00:00Z"),
        Type::Duration => json!("10m"),
        Type::Schedule => json!("30 2 * * * in Europe/Berlin"),
        Type::Json => json!({}),
        Type::Point => json!([8.54, 47.37]),
        Type::Hash | Type::PublicKey => json!("0f".repeat(32)),
        Type::Signature => json!("0f".repeat(64)),
        Type::Enum(id) => json!(design.enumerations[id.index()].constants.first()),
        Type::Ref(subject) => {
            let mut parts = Vec::new();
            key(design, *subject, name, &mut parts);
            if parts.len() == 1 { parts.remove(0) } else { Value::Array(parts) }
        }
        Type::Optional(inner) => value(design, inner, name),
        Type::List { of, .. } | Type::Set { of, .. } => json!([value(design, of, name)]),
        Type::Map { key, value: inner, .. } => {
            let key = match value(design, key, name) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            json!({ key: value(design, inner, name) })
        }
        Type::Struct(fields) => {
            let fields = fields.iter().map(|field| {
                let value = within(design, &field.ty, field.range, &field.name);
                (field.name.clone(), value)
            });
            Value::Object(fields.collect())
        }
        Type::Record(fields) => {
            let fields = fields.iter().map(|(name, ty)| (name.clone(), value(design, ty, name)));
            Value::Object(fields.collect())
        }
        _ => json!(format!("{name}1")),
    }
}

/// The same within a range.
fn within(design: &Design, ty: &Type, range: Option<Range>, name: &str) -> Value {
    let Some(range) = range else { return value(design, ty, name) };
    let usual = match ty.required() {
        Type::Decimal | Type::Money(_) => 12_500_000,
        Type::Duration => 600_000,
        _ => 1,
    };
    let usual = usual.clamp(range.low, range.high);
    match ty.required() {
        Type::Int => json!(usual),
        ty => json!(quantity_text(ty, usual)),
    }
}

fn key(design: &Design, subject: SubjectId, name: &str, parts: &mut Vec<Value>) {
    for part in &design.subjects[subject.index()].keys {
        match part.ty {
            Type::Ref(other) => key(design, other, &part.name, parts),
            ref ty => parts.push(within(design, ty, part.range, name)),
        }
    }
}

/// The parameters that have no default.
pub fn params(design: &Design, operation: &Operation) -> Map<String, Value> {
    let needed = operation
        .params
        .iter()
        .filter(|param| param.default.is_none() && param.generated.is_none());
    needed
        .map(|param| {
            let sample = within(design, &param.ty, param.range, &param.name);
            (param.name.clone(), sample)
        })
        .collect()
}

/// A step that can be called when nothing is there yet, if the design has one.
pub fn first_step(design: &Design) -> Option<&Operation> {
    design.operations.iter().find(|operation| {
        matches!(operation.kind, OperationKind::Step { .. })
            && !design.actors[operation.actor.index()].is_world
            && operation.params.iter().all(|param| match param.ty {
                Type::Ref(subject) => param.new || design.subjects[subject.index()].implicit,
                _ => true,
            })
    })
}
