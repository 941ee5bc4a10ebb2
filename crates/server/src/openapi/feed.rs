//! The feed of a design, and what it tells.

use design::model::{Design, SubjectId};
use serde_json::{Map, Value, json};

use super::common::{WITHOUT_BODY, answers, reference};
use super::{records, schema};
use gateway::Service;

/// What one event of the feed has for its `data`.
pub fn transition(service: &str, design: &Design) -> Value {
    let everything: Vec<SubjectId> = (0..design.subjects.len()).map(SubjectId::of).collect();
    let mut events: Vec<Value> = Vec::new();
    for event in &design.events {
        let fields: Map<String, Value> = event
            .fields
            .iter()
            .map(|(name, ty)| (name.clone(), schema::answered(design, ty)))
            .collect();
        let required: Vec<&String> = fields.keys().collect();
        let fields = json!({ "type": "object", "required": required, "properties": fields });
        events.push(json!({
            "type": "object",
            "required": ["event", "fields"],
            "properties": { "event": { "const": event.name }, "fields": fields },
        }));
    }
    let events = match events.len() {
        0 => json!({ "type": "array", "maxItems": 0, "items": {} }),
        _ => json!({ "type": "array", "items": { "oneOf": events } }),
    };
    json!({
        "type": "object",
        "description": "what happened at one revision, as far as the caller may see it. A transition of an earlier \
                        version of the design is told in the words of that version",
        "required": ["revision", "actor", "operation", "principal", "at", "changes", "events"],
        "properties": {
            "revision": { "type": "string" },
            "actor": { "type": "string" },
            "operation": { "type": "string" },
            "principal": { "type": "string", "description": "empty where it was somebody else" },
            "at": { "type": "string", "examples": ["2030-01-01T00:00:00Z"] },
            "changes": { "type": "array", "items": records::one_of(service, design, &everything),
                         "description": "records as they are after it; a truth of null: it is gone" },
            "events": events,
            "traceparent": { "type": "string" },
        },
    })
}

pub fn get(service: &Service) -> Value {
    let design = service.design();
    let subjects: Vec<&str> = design.subjects.iter().map(|s| s.name.as_str()).collect();
    let mut responses = answers(&WITHOUT_BODY);
    responses.insert("410".into(), reference("responses", "Gone"));
    let transition = reference("schemas", &format!("{}.transition", service.name));
    responses.insert(
        "200".into(),
        json!({
            "description": "server-sent events without end: `id` is the revision, `event` is \
                            `transition`, `data` is JSON as `x-event-data` has it",
            "content": { "text/event-stream": {
                "schema": { "type": "string" },
                "x-event-data": { "transition": transition },
            } },
        }),
    );
    json!({
        "tags": [service.name],
        "operationId": format!("{}_feed", service.name),
        "summary": "what happens, as it happens",
        "parameters": [
            { "name": "from", "in": "query", "schema": { "type": "string" },
              "description": "strictly after this revision; `start`, or `now` unless said" },
            { "name": "subject", "in": "query", "schema": { "enum": subjects } },
            { "name": "key", "in": "query", "description": "part by part, with a subject",
              "schema": { "type": "array", "items": { "type": "string" } } },
            { "name": "Last-Event-ID", "in": "header", "schema": { "type": "string" } },
        ],
        "responses": responses,
    })
}
