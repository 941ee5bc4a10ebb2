//! What all designs have in common.

use serde_json::{Map, Value, json};

/// Every request with a body may come to these.
pub const WITH_BODY: [(&str, &str); 9] = [
    ("400", "Malformed"),
    ("401", "Unauthorized"),
    ("403", "Forbidden"),
    ("408", "Slow"),
    ("413", "TooLarge"),
    ("415", "NotJson"),
    ("422", "Misfit"),
    ("429", "Busy"),
    ("503", "Unavailable"),
];

/// And every request without one to these.
pub const WITHOUT_BODY: [(&str, &str); 8] = [
    ("400", "Malformed"),
    ("401", "Unauthorized"),
    ("403", "Forbidden"),
    ("404", "Unknown"),
    ("413", "TooLarge"),
    ("422", "Misfit"),
    ("429", "Busy"),
    ("503", "Unavailable"),
];

/// Paths that belong to no design.
pub fn paths() -> Map<String, Value> {
    let plain = |id: &str, summary: &str, media: &str, ready: bool| {
        let mut responses = json!({
            "200": { "description": summary, "content": { media: {} } },
        });
        if ready {
            responses["503"] = reference("responses", "Unavailable");
        }
        json!({ "get": { "operationId": id, "summary": summary, "responses": responses } })
    };
    Map::from_iter([
        ("/healthz".into(), plain("healthz", "the process answers", "text/plain", false)),
        ("/readyz".into(), plain("readyz", "steps are taken", "text/plain", true)),
        ("/metrics".into(), plain("metrics", "Prometheus text", "text/plain", false)),
        ("/openapi.json".into(), plain("openapi", "this document", "application/json", false)),
    ])
}

pub fn schemas() -> Map<String, Value> {
    let record = json!({
        "type": "object",
        "required": ["subject", "key", "truth"],
        "properties": {
            "subject": { "type": "string" },
            "key": key(),
            "truth": { "type": ["object", "null"], "description": "null: there is none" },
        },
    });
    let problem = json!({
        "type": "object",
        "required": ["type", "title", "status"],
        "properties": {
            "type": { "type": "string", "format": "uri-reference" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "pointer": { "type": "string", "description": "the field of the body, as RFC 6901 has it" },
        },
    });
    let under_way = json!({
        "type": "object",
        "required": ["type", "title", "status"],
        "description": "the first request under this idempotency key is not answered yet",
        "properties": {
            "type": { "const": "/problems/key-under-way" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "trace": { "type": "string" },
        },
    });
    let legal = json!({
        "type": "object",
        "required": ["actor", "operation", "params"],
        "properties": {
            "actor": { "type": "string" },
            "operation": { "type": "string" },
            "params": { "type": "object", "description": "what is known already" },
        },
    });
    let batch = json!({
        "type": "object",
        "required": ["steps"],
        "additionalProperties": false,
        "properties": { "steps": { "type": "array", "maxItems": 1000, "items": {
            "type": "object",
            "required": ["actor", "operation"],
            "additionalProperties": false,
            "properties": {
                "actor": { "type": "string" },
                "operation": { "type": "string" },
                "params": { "type": "object", "description": "parameters and memory" },
                "idempotency_key": { "type": ["string", "null"] },
            },
        } } },
    });
    let answers = json!({
        "type": "object",
        "required": ["answers"],
        "properties": { "answers": { "type": "array", "items": {
            "type": "object",
            "required": ["status", "body"],
            "properties": {
                "status": { "type": "integer" },
                "body": { "type": "object", "description": "as the step alone would be answered" },
            },
        } } },
    });
    Map::from_iter([
        ("Record".into(), record),
        ("Problem".into(), problem),
        ("KeyUnderWay".into(), under_way),
        ("Legal".into(), legal),
        ("Batch".into(), batch),
        ("Answers".into(), answers),
    ])
}

/// Problems that many requests share, by the name under which they are referred to.
const PROBLEMS: [(&str, &str); 13] = [
    ("Malformed", "malformed: no JSON, or a key, a tag or a path that cannot be read"),
    ("Unauthorized", "no token, or one that does not hold"),
    ("Forbidden", "the caller has another role"),
    ("Unknown", "there is no such thing"),
    ("Slow", "the body did not come in time"),
    ("Changed", "the record is not as `If-Match` expects it"),
    ("TooLarge", "the request is too large"),
    ("NotJson", "the request does not say that its body is JSON"),
    ("Misfit", "a value does not fit; `pointer` says which"),
    ("Gone", "the feed no longer goes back this far"),
    ("Busy", "the server is busy: come again after `Retry-After` seconds"),
    ("Unavailable", "the store takes nothing now, or the server is stopping"),
    ("Method", "the method does not apply here"),
];

pub fn responses() -> Map<String, Value> {
    let mut all = Map::new();
    for (name, description) in PROBLEMS {
        let mut response = json!({
            "description": description,
            "content": { "application/problem+json": { "schema": reference("schemas", "Problem") } },
        });
        if name == "Busy" {
            response["headers"] = json!({ "Retry-After": { "schema": { "type": "string" } } });
        }
        all.insert(name.into(), response);
    }
    all
}

pub fn parameters() -> Map<String, Value> {
    let header = |name: &str, schema: Value, description: &str| json!({ "name": name, "in": "header", "schema": schema, "description": description });
    let key = json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" });
    let tags = json!({ "type": "string", "pattern": "^(\\*|(W/)?\"[!#-~]*\")$" });
    Map::from_iter([
        (
            "IdempotencyKey".into(),
            header("Idempotency-Key", key, "the same request again is answered the same"),
        ),
        (
            "IfMatch".into(),
            header(
                "If-Match",
                tags.clone(),
                "only if the record that the first reference names has this tag",
            ),
        ),
        ("IfNoneMatch".into(), header("If-None-Match", tags, "304 if it still has this tag")),
    ])
}

/// A key, part by part. Generators want to be told what is in an array, even if it is anything.
pub fn key() -> Value {
    json!({ "type": "array", "items": {} })
}

/// The responses that these statuses stand for.
pub fn answers(statuses: &[(&str, &str)]) -> Map<String, Value> {
    statuses.iter().map(|(code, name)| (code.to_string(), reference("responses", name))).collect()
}

pub fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}
