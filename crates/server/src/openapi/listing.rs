//! The records of a subject, a page at a time.

use design::model::{Subject, SubjectId, Type};
use serde_json::{Value, json};

use super::common::{WITHOUT_BODY, answers, reference};
use super::{records, schema};
use crate::routes::{LIMIT_MAX, LIMIT_USUAL};
use gateway::Service;

/// Under which a page stands among the schemas.
pub fn name(service: &str, subject: &Subject) -> String {
    format!("{service}.{}.page", subject.name)
}

/// A page of records, each with the tag that `If-Match` takes.
pub fn page(service: &Service, id: SubjectId) -> Value {
    let design = service.design();
    let mut record = records::record(&service.name, design, id, false);
    record["properties"]["etag"] = json!({
        "type": "string", "description": "the tag of the record, for `If-Match`"
    });
    record["required"] = json!(["subject", "key", "truth", "etag"]);
    json!({
        "type": "object",
        "required": ["records", "next"],
        "properties": {
            "records": { "type": "array", "maxItems": LIMIT_MAX, "items": record },
            "next": { "type": ["string", "null"],
                "description": "where the next page begins: the `after` to ask with; null: this is the last. \
                                A page may have fewer records than its limit, or none, and go on" },
        },
    })
}

pub fn get(service: &Service, id: SubjectId) -> Value {
    let design = service.design();
    let subject = &design.subjects[id.index()];
    let of = |name: &str, description: String, schema: Value| json!({ "name": name, "in": "query", "required": false, "description": description, "schema": schema });
    let mut parameters = vec![
        of(
            "limit",
            format!("so many records at most; {LIMIT_USUAL} without it"),
            json!({ "type": "integer", "minimum": 1, "maximum": LIMIT_MAX }),
        ),
        of("after", "what `next` of the page before says".into(), json!({ "type": "string" })),
    ];
    for part in &subject.keys {
        let description = format!("only records whose key has this `{}`", part.name);
        parameters.push(of(&part.name, description, asked(service, &part.ty)));
    }
    for asked_by in subject.asked() {
        let attribute = asked_by.attribute;
        let description = format!("only records whose `{}` is this", attribute.name);
        parameters.push(of(&asked_by.name(), description, asked(service, &attribute.ty)));
    }
    let mut responses = answers(&WITHOUT_BODY);
    responses.insert(
        "200".into(),
        json!({
            "description": format!("records of `{}`, in the order of their keys", subject.name),
            "content": { "application/json": {
                "schema": reference("schemas", &name(&service.name, subject))
            } },
        }),
    );
    json!({
        "tags": [service.name],
        "operationId": format!("{}_list_{}", service.name, subject.name),
        "summary": format!("the records of `{}` that the caller may see", subject.name),
        "description": "There is no index behind it: records are looked at one after the other, ten thousand for one page. \
                        What is asked often, or of many records, is a view.",
        "parameters": parameters,
        "responses": responses,
    })
}

/// A value in an address. The key of a record is written part by part, with commas.
fn asked(service: &Service, ty: &Type) -> Value {
    match ty {
        Type::Optional(inner) => asked(service, inner),
        Type::Ref(_) => json!({ "type": "string" }),
        ty => schema::part(service.design(), ty),
    }
}
