//! What a `search` view is asked, and answers.

use design::model::{Design, Type, View};
use serde_json::{Value, json};

/// What it is asked.
pub fn parameters(design: &Design, view: &View, parameters: &mut Vec<Value>) {
    let words = "words that all must be there, `\"phrases\"`, `prefix*`, `attribute:word`, and \
                 `-word` for what must not be there";
    let attributes = &design.subjects[view.subject.index()].attributes;
    let is_counted = |ty: &Type| matches!(ty.required(), Type::Text | Type::Enum(_) | Type::Bool);
    let counted = attributes.iter().filter(|attribute| is_counted(&attribute.ty));
    let names: Vec<&str> = counted.map(|attribute| attribute.name.as_str()).collect();
    let optional =
        |name: &str, schema: Value| json!({ "name": name, "in": "query", "schema": schema });
    parameters.push(json!({
        "name": "q", "in": "query", "required": true, "description": words,
        "schema": { "type": "string", "minLength": 1, "maxLength": 1000 },
    }));
    parameters.push(json!({
        "name": "facet", "in": "query", "style": "form", "explode": false,
        "description": "attributes that all hits are counted by",
        "schema": { "type": "array", "maxItems": 8, "items": { "enum": names } },
    }));
    parameters.push(optional("limit", json!({ "type": "integer", "minimum": 1, "maximum": 1000 })));
    parameters.push(optional("after", json!({ "type": "string" })));
}

/// What a hit has besides its key and its truth.
pub fn row(row: &mut Value) {
    row["properties"]["score"] =
        json!({ "type": "number", "description": "where the caller sees every row" });
    row["properties"]["highlights"] = json!({
        "type": "object", "additionalProperties": { "type": "string" },
        "description": "by attribute: a piece of its text as HTML, with what was found in `<mark>`",
    });
    row["required"] = json!(["key", "truth", "highlights"]);
}

/// What it answers besides rows.
pub fn answer(properties: &mut Value) {
    properties["facets"] = json!({
        "type": "object",
        "additionalProperties": { "type": "array", "items": {
            "type": "object", "required": ["value", "count"],
            "properties": { "value": { "type": "string" }, "count": { "type": "integer" } },
        } },
    });
}
