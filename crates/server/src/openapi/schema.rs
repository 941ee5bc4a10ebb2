//! The JSON Schema of a type of the language: as it may be sent, and as it is answered.

use design::model::{Currency, Design, Operation, Range, StructField, SubjectId, Type};
use serde_json::{Map, Value, json};

/// As many characters as a part of a key may have.
const KEY_CHARACTERS_MAX: u32 = 512;
/// As many characters as a secret may have.
const SECRET_CHARACTERS_MAX: usize = runtime::MAX_SECRET;
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
        Type::Money(currency) => in_currency(*currency, sent(design, &Type::Decimal)),
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
        Type::Struct(fields) => object(fields, |ty| sent(design, ty)),
        Type::Map { value, max, .. } => json!({
            "type": "object", "additionalProperties": sent(design, value), "maxProperties": max,
        }),
        other => answered(design, other),
    }
}

/// An amount says what it is an amount of.
fn in_currency(currency: Currency, mut decimal: Value) -> Value {
    decimal["description"] =
        json!(format!("an amount of {currency}: exact, with at most six places"));
    decimal["x-currency"] = json!(currency.to_string());
    decimal
}

/// What is answered.
pub fn answered(design: &Design, ty: &Type) -> Value {
    match ty {
        Type::Int => json!({ "type": "integer", "format": "int64" }),
        Type::Bool => json!({ "type": "boolean" }),
        Type::Money(currency) => in_currency(*currency, answered(design, &Type::Decimal)),
        Type::Decimal => json!({
            "type": "string", "pattern": "^-?[0-9]+\\.[0-9]{2,6}$", "examples": ["12.50"],
        }),
        Type::Time => json!({ "type": "string", "examples": ["2030-01-01T00:00:00Z"] }),
        Type::Duration => json!({ "type": "string", "examples": ["10m"] }),
        Type::Schedule => json!({
            "type": "string", "format": "schedule", "minLength": 1, "maxLength": 256,
            "examples": ["30 2 * * * in Europe/Berlin", "every 15m"],
            "description": "five fields of cron, or six with the second first, and `in` a time zone; or `every` and a length of time",
        }),
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
        Type::Struct(fields) => object(fields, |ty| answered(design, ty)),
        Type::Record(fields) => {
            let properties: Map<String, Value> =
                fields.iter().map(|(name, ty)| (name.clone(), answered(design, ty))).collect();
            let required: Vec<&String> = fields.iter().map(|(name, _)| name).collect();
            json!({ "type": "object", "required": required, "properties": properties })
        }
        Type::Actor => json!({ "type": "string", "description": "a principal" }),
        Type::Hash | Type::PublicKey => json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" }),
        Type::Signature => json!({ "type": "string", "pattern": "^[0-9a-f]{128}$" }),
        Type::Text | Type::Bytes | Type::Document | Type::Digest(_) | Type::Proof => {
            json!({ "type": "string" })
        }
        Type::Secret => json!({
            "type": "string", "format": "password", "writeOnly": true,
            "minLength": 1, "maxLength": SECRET_CHARACTERS_MAX,
            "description": "a secret: hashed when it comes in, and never told",
        }),
    }
}

/// One of the records of a list: these fields, and no others.
fn object(fields: &[StructField], schema: impl Fn(&Type) -> Value) -> Value {
    let property = |field: &StructField| {
        (field.name.clone(), ranged(schema(&field.ty), &field.ty, field.range))
    };
    let properties: Map<String, Value> = fields.iter().map(property).collect();
    let required = fields.iter().filter(|field| !field.ty.is_optional());
    let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
    json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    })
}

/// The schema of a value that lies in a range. A number sent as a text says nothing of its size, so
/// where there is a range it is a number.
pub fn ranged(mut schema: Value, ty: &Type, range: Option<Range>) -> Value {
    let Some(range) = range else { return schema };
    let quantity = ty.required();
    let (low, high) = match quantity {
        Type::Decimal | Type::Money(_) => {
            (json!(millionths(range.low)), json!(millionths(range.high)))
        }
        _ => (json!(range.low), json!(range.high)),
    };
    let text = schema["type"] == "string";
    if *quantity == Type::Int {
        let null = ty.is_optional();
        schema["type"] = if null { json!(["integer", "null"]) } else { json!("integer") };
        schema.as_object_mut().map(|fields| fields.remove("pattern"));
    }
    if !text {
        schema["minimum"] = low;
        schema["maximum"] = high;
    }
    if *quantity != Type::Int {
        let said = schema["description"].as_str().map(|said| format!("{said}; "));
        let said = said.unwrap_or_default();
        schema["description"] =
            json!(format!("{said}from {}", range.text(ty).replace("..", " to ")));
    }
    schema
}

fn millionths(value: i64) -> f64 {
    value as f64 / 1_000_000.0
}

pub fn or_null(mut schema: Value) -> Value {
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

/// What the server chooses for a step. A secret is told by the first answer alone: an answer that is given
/// again for an idempotency key has null there, and names it under `already_given`.
pub fn chosen(design: &Design, operation: &Operation) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for param in operation.params.iter().filter(|param| param.generated.is_some()) {
        let schema = match param.ty {
            Type::Secret => json!({
                "type": ["string", "null"], "format": "password",
                "description": "told once; null where it was given already",
            }),
            Type::Ref(_) if param.generated.as_ref().is_some_and(|it| it.next().is_some()) => {
                let mut schema = answered(design, &param.ty);
                schema["description"] = json!("the record that was taken");
                schema
            }
            _ => json!({ "type": "string", "description": "chosen by the server" }),
        };
        properties.insert(param.name.clone(), schema);
        required.push(param.name.clone());
    }
    if properties.is_empty() {
        return json!({ "type": "null" });
    }
    if operation.has_secrets() {
        let names = json!({
            "type": "array", "items": { "type": "string" },
            "description": "the secrets that an earlier answer to this idempotency key gave",
        });
        properties.insert("already_given".into(), names);
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// One part of a key.
pub struct Part {
    pub name: String,
    pub ty: Type,
    pub range: Option<Range>,
}

/// The parts of a key, those of the records it refers to among them.
pub fn parts(design: &Design, subject: SubjectId) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for part in &design.subjects[subject.index()].keys {
        match part.ty {
            Type::Ref(other) => all.extend(parts(design, other)),
            ref ty => {
                all.push(Part { name: part.name.clone(), ty: ty.clone(), range: part.range });
            }
        }
    }
    // two records of one subject may stand in one key
    for at in 1..all.len() {
        if all[..at].iter().any(|part| part.name == all[at].name) {
            all[at].name = format!("{}_{}", all[at].name, at + 1);
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
    let of_part = |part: &Part| bounded(ranged(form(design, &part.ty), &part.ty, part.range));
    let mut schema = match parts.as_slice() {
        [only] => of_part(only),
        parts => json!({
            "type": "array",
            // `prefixItems` would say which part is which; too many clients and tools do not know it
            "items": { "anyOf": parts.iter().map(of_part).collect::<Vec<_>>() },
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

    #[test]
    fn ranges_are_told() {
        let design = design::compile(
            "d",
            "design D\nactor a\nsubject S(s: int 1..9) { truth T { n: int 1..64 = 4 } }\n\
             step a[go(s: S, n: int 1..64, d: duration 1s..10m?, m: decimal 0..9.50, o: int 0..3?)] {\n\
             T.n := n }\n",
            &design::NoCatalog,
        );
        let design = design.design.unwrap();
        let told: Vec<Value> = design.operations[0]
            .params
            .iter()
            .map(|param| ranged(sent(&design, &param.ty), &param.ty, param.range))
            .collect();
        let ends = |schema: &Value| (schema["minimum"].clone(), schema["maximum"].clone());
        assert_eq!(ends(&told[0]), (json!(1), json!(9)));
        assert_eq!((&told[1]["type"], ends(&told[1])), (&json!("integer"), (json!(1), json!(64))));
        assert!(told[1].get("pattern").is_none());
        assert_eq!(ends(&told[2]), (json!(1_000), json!(600_000)));
        let said = told[2]["description"].as_str().unwrap();
        assert!(said.ends_with("; from 1s to 10m"), "{said}");
        assert_eq!(ends(&told[3]), (json!(0.0), json!(9.5)));
        assert_eq!(told[4]["type"], json!(["integer", "null"]));
    }
}
