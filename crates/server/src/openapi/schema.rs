//! The JSON Schema of a type of the language: as it may be sent, and as it is answered.

use design::model::{Design, SubjectId, Type};
use serde_json::{Map, Value, json};

/// As many characters as a part of a key may have.
const KEY_CHARACTERS_MAX: u32 = 512;
/// The smallest whole number: the one below it stands for nothing.
const LEAST: i64 = -i64::MAX;

/// What may be sent. Numbers are taken as texts, too, so that a shell need not tell them apart.
pub fn sent(design: &Design, ty: &Type) -> Value {
    match ty {
        Type::Int => json!({
            "type": ["integer", "string"], "format": "int64",
            "minimum": LEAST, "maximum": i64::MAX, "pattern": "^(0|-?[1-9][0-9]{0,17})$",
        }),
        Type::Bool => json!({ "enum": [true, false, "true", "false"] }),
        Type::Decimal => json!({
            "type": ["string", "number"], "format": "decimal",
            "description": "exact, with at most six places; as a text, so that none is lost",
            "pattern": "^-?[0-9]{1,12}(\\.[0-9]{0,6})?$",
            "minimum": -999_999_999_999_i64, "maximum": 999_999_999_999_i64,
        }),
        Type::Time => json!({
            "type": ["string", "integer"],
            "description": "RFC 3339, or milliseconds since 1970",
        }),
        Type::Duration => json!({
            "type": ["string", "integer"],
            "description": "such as `10m` or `1500ms`, or a number of milliseconds",
            "pattern": "^[0-9]{1,9}(d|h|m|s|ms)$",
        }),
        Type::Ref(subject) => key(design, *subject, sent),
        Type::Optional(inner) => or_null(sent(design, inner)),
        Type::List { of, max } | Type::Set { of, max } => {
            json!({ "type": "array", "items": sent(design, of), "maxItems": max })
        }
        Type::Map { value, max, .. } => json!({
            "type": "object", "additionalProperties": sent(design, value), "maxProperties": max,
        }),
        other => answered(design, other),
    }
}

/// What is answered.
pub fn answered(design: &Design, ty: &Type) -> Value {
    match ty {
        Type::Int => json!({ "type": "integer", "format": "int64" }),
        Type::Bool => json!({ "type": "boolean" }),
        Type::Decimal => json!({
            "type": "string", "pattern": "^-?[0-9]+\\.[0-9]{2,6}$", "examples": ["12.50"],
        }),
        Type::Time => json!({ "type": "string", "examples": ["2030-01-01T00:00:00Z"] }),
        Type::Duration => json!({ "type": "string", "examples": ["10m"] }),
        Type::Json | Type::Rows(_) | Type::Null | Type::Error => json!({}),
        Type::Point => json!({
            "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2,
            "description": "longitude, latitude",
        }),
        Type::Enum(id) => json!({
            "type": "string", "enum": design.enumerations[id.index()].constants,
        }),
        Type::Ref(subject) => key(design, *subject, answered),
        Type::Optional(inner) => or_null(answered(design, inner)),
        Type::List { of, max } | Type::Set { of, max } => {
            json!({ "type": "array", "items": answered(design, of), "maxItems": max })
        }
        Type::Map { value, .. } => {
            json!({ "type": "object", "additionalProperties": answered(design, value) })
        }
        Type::Record(fields) => {
            let properties: Map<String, Value> =
                fields.iter().map(|(name, ty)| (name.clone(), answered(design, ty))).collect();
            json!({ "type": "object", "properties": properties })
        }
        Type::Actor => json!({ "type": "string", "description": "a principal" }),
        Type::Hash | Type::PublicKey => json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" }),
        Type::Signature => json!({ "type": "string", "pattern": "^[0-9a-f]{128}$" }),
        Type::Text | Type::Bytes | Type::Document | Type::Digest(_) | Type::Proof => {
            json!({ "type": "string" })
        }
    }
}

fn or_null(mut schema: Value) -> Value {
    if let Some(constants) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        constants.push(Value::Null);
    }
    match schema.get_mut("type") {
        Some(Value::String(one)) => {
            let both = json!([one.as_str(), "null"]);
            schema["type"] = both;
        }
        Some(Value::Array(several)) => several.push(json!("null")),
        _ => {}
    }
    schema
}

/// The names and types of the parts of a key, those of the records it refers to among them.
pub fn parts(design: &Design, subject: SubjectId) -> Vec<(String, Type)> {
    let mut all = Vec::new();
    for part in &design.subjects[subject.index()].keys {
        match part.ty {
            Type::Ref(other) => all.extend(parts(design, other)),
            ref ty => all.push((part.name.clone(), ty.clone())),
        }
    }
    // two records of one subject may stand in one key
    for at in 1..all.len() {
        if all[..at].iter().any(|(name, _)| *name == all[at].0) {
            all[at].0 = format!("{}_{}", all[at].0, at + 1);
        }
    }
    all
}

/// One part of a key as it may be sent.
pub fn part(design: &Design, ty: &Type) -> Value {
    bounded(sent(design, ty))
}

/// A text that is a part of a key is neither empty nor too long.
fn bounded(mut schema: Value) -> Value {
    if schema["type"] == "string" && schema.get("enum").is_none() {
        schema["minLength"] = json!(1);
        schema["maxLength"] = json!(KEY_CHARACTERS_MAX);
    }
    schema
}

/// A reference: the one part of the key, or the list of its parts.
fn key(design: &Design, subject: SubjectId, form: fn(&Design, &Type) -> Value) -> Value {
    let name = &design.subjects[subject.index()].name;
    let parts = parts(design, subject);
    let mut schema = match parts.as_slice() {
        [(_, ty)] => bounded(form(design, ty)),
        parts => json!({
            "type": "array",
            // `prefixItems` would say which part is which; too many clients and tools do not know it
            "items": {
                "anyOf": parts.iter().map(|(_, ty)| bounded(form(design, ty))).collect::<Vec<_>>(),
            },
            "minItems": parts.len(), "maxItems": parts.len(),
        }),
    };
    schema["description"] = json!(format!("the key of a `{name}`"));
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_left_out_may_be_null() {
        let design = design::compile(
            "d",
            "design D\nactor a\nsubject S(s: text, n: int) { truth T { at: S?, x: A | B = A } }\n\
             step a[go(s: S, x: int?) { free: T.at = null }] { T.at := s }\n",
            &design::NoCatalog,
        )
        .design
        .unwrap();
        let params = &design.operations[0].params;
        let reference = sent(&design, &params[0].ty);
        assert_eq!(reference["minItems"], 2);
        assert_eq!(reference["items"]["anyOf"][0]["type"], "string");
        let optional = sent(&design, &params[1].ty);
        assert_eq!(optional["type"], json!(["integer", "string", "null"]));
    }
}
