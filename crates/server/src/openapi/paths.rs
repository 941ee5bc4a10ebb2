//! The paths of one design.

use design::model::{
    Attribute, Clause, Design, ExprKind, NONE_LEFT, Operation, OperationId, OperationKind,
    SubjectId, Type, View, ViewForm,
};
use serde_json::{Map, Value, json};

use super::common::{answers, key, reference};
use super::{schema, search};
use crate::sample;
use gateway::{Call, Service};

pub fn add(service: &Service, paths: &mut Map<String, Value>, schemas: &mut Map<String, Value>) {
    let design = service.design();
    let name = &service.name;
    for (actor, operation, call) in service.calls() {
        if !is_served(design, service.operation(call)) {
            continue;
        }
        let path = format!("/v1/{name}/{actor}/{operation}");
        paths.insert(path, json!({ "post": step(service, actor, call) }));
    }
    for (at, subject) in design.subjects.iter().enumerate() {
        let truth = format!("{name}.{}", subject.name);
        schemas.insert(truth.clone(), truth_schema(design, SubjectId::of(at)));
        let parts = schema::parts(design, SubjectId::of(at));
        let path: String = parts.iter().map(|part| format!("/{{{}}}", part.name)).collect();
        let path = format!("/v1/{name}/{}{path}", subject.name);
        paths.insert(path, json!({ "get": truth_get(service, &subject.name, &truth, &parts) }));
    }
    for view in &design.views {
        if !is_searched(view)
            || matches!(view.form, ViewForm::Search { .. }) && service.runtime.searches()
        {
            let path = format!("/v1/{name}/views/{}", view.name);
            let whole = view_get(service, view);
            paths
                .insert(format!("{path}/live"), json!({ "get": view_live(service, view, &whole) }));
            paths.insert(path, json!({ "get": whole }));
        }
    }
    paths.insert(format!("/v1/{name}/feed"), json!({ "get": feed_get(service) }));
    if !design.blobs.is_empty() {
        paths.insert(format!("/v1/{name}/blobs"), json!({ "post": blob_post(service) }));
        paths.insert(format!("/v1/{name}/blobs/{{digest}}"), json!({ "get": blob_get(service) }));
    }
    paths.insert(format!("/v1/{name}/batch"), json!({ "post": batch_post(service) }));
}

/// Is it asked for more than its parameters? A read has no place for that.
fn is_searched(view: &View) -> bool {
    matches!(view.form, ViewForm::Search { .. } | ViewForm::Near { from: None, .. })
}

/// A read of a view that is not served is not served, either.
fn is_served(design: &Design, operation: &Operation) -> bool {
    let OperationKind::Read { result } = &operation.kind else { return true };
    let mut served = true;
    design::model::visit::each(result, &mut |part| {
        if let ExprKind::View { view, .. } = &part.kind {
            served &= !is_searched(&design.views[view.index()]);
        }
    });
    served
}

/// Every request with a body may come to these.
const WITH_BODY: [(&str, &str); 9] = [
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
const WITHOUT_BODY: [(&str, &str); 8] = [
    ("400", "Malformed"),
    ("401", "Unauthorized"),
    ("403", "Forbidden"),
    ("404", "Unknown"),
    ("413", "TooLarge"),
    ("422", "Misfit"),
    ("429", "Busy"),
    ("503", "Unavailable"),
];

fn step(service: &Service, actor: &str, call: &Call) -> Value {
    let design = service.design();
    let operation = service.operation(call);
    let (is_step, keyed) = match operation.kind {
        OperationKind::Step { keyed } => (true, keyed),
        _ => (false, false),
    };
    let result = match &operation.kind {
        OperationKind::Read { result } => schema::answered(design, &result.ty),
        _ => schema::chosen(design, operation),
    };
    let mut responses = answers(&WITH_BODY);
    responses.insert("200".into(), done(result));
    responses.insert("409".into(), refused(service, operation));
    let mut parameters = Vec::new();
    if is_step {
        responses.insert("412".into(), reference("responses", "Changed"));
        let mut key = reference("parameters", "IdempotencyKey");
        if keyed {
            key = json!({
                "name": "Idempotency-Key", "in": "header", "required": true,
                "schema": { "type": "string", "minLength": 1, "maxLength": 255,
                            "pattern": "^[!-~]+$" },
            });
        }
        parameters.push(key);
        parameters.push(reference("parameters", "IfMatch"));
    }
    let mut said = json!({
        "tags": [service.name],
        "operationId": format!("{}_{actor}_{}", service.name, operation.name),
        "summary": format!("`{actor}[{}]`", operation.name),
        "parameters": parameters,
        "requestBody": {
            "required": true,
            "content": { "application/json": {
                "schema": fields(design, operation, call),
                "example": sample::params(design, operation),
            } },
        },
        "responses": responses,
    });
    let id = design.operations.iter().position(|held| held.name == operation.name);
    if let Some(used) = id.and_then(|at| design.used_for(OperationId::of(at))) {
        said["description"] = json!(format!("from {}", used.told()));
    }
    said
}

/// One flat object of parameters and memory.
fn fields(design: &Design, operation: &Operation, call: &Call) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for name in &call.memory {
        let memory = json!({
            "type": "string",
            "description": "what an earlier answer said to remember, unchanged",
        });
        properties.insert(name.clone(), memory);
    }
    // what the server chooses is not sent
    for param in operation.params.iter().filter(|param| param.generated.is_none()) {
        let mut schema = schema::ranged(schema::sent(design, &param.ty), &param.ty, param.range);
        if param.new {
            schema["description"] = json!("a key that is not taken yet");
        }
        if param.from_caller {
            schema["description"] =
                json!("a time that the caller claims; it is not the server's clock");
        }
        properties.insert(param.name.clone(), schema);
        if param.default.is_none() && !param.ty.is_optional() {
            required.push(param.name.clone());
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn done(result: Value) -> Value {
    json!({
        "description": "carried out, and durable",
        "content": { "application/json": { "schema": {
            "type": "object",
            "required": ["revision", "outcome", "memory", "truth", "result"],
            "properties": {
                "revision": { "type": "string", "description": "where it stands in the feed" },
                "outcome": { "const": "done" },
                "memory": { "type": "object",
                            "description": "to be remembered, and sent with later steps" },
                "truth": { "type": "array", "items": reference("schemas", "Record"),
                           "description": "the records it changed, as they are now" },
                "result": result,
            },
        } } },
    })
}

/// The refusals that the design speaks of, each with the failures it prevents.
fn refused(service: &Service, operation: &Operation) -> Value {
    let clauses: Vec<&Clause> = operation.guard.iter().collect();
    let mut examples = Map::new();
    for clause in &clauses {
        examples.insert(
            clause.name.clone(),
            json!({ "value": {
                "type": format!("/problems/{}/{}/{}", service.name, operation.name, clause.name),
                "title": format!("`{}` is refused by `{}`", operation.name, clause.name),
                "status": 409,
                "detail": format!("the guard `{}` does not hold now", clause.name),
                "guard": clause.name,
                "truth": [], "legal": [], "prevents": [],
            } }),
        );
    }
    let mut names: Vec<String> = clauses.iter().map(|c| format!("`{}`", c.name)).collect();
    names.extend(implicit(service.design(), operation).map(|name| format!("`{name}`")));
    let guards = if names.is_empty() { "its records".to_string() } else { names.join(", ") };
    let mut content = json!({ "schema": reference("schemas", "Refusal") });
    if !examples.is_empty() {
        content["examples"] = Value::Object(examples);
    }
    json!({
        "description": format!("refused by {guards}, or the same idempotency key is under way"),
        "content": { "application/problem+json": content },
    })
}

/// Clauses that are not written in a guard, as far as this step may be refused by them.
fn implicit(design: &Design, operation: &Operation) -> impl Iterator<Item = &'static str> {
    let is_step = matches!(operation.kind, OperationKind::Step { .. });
    let apart = is_step && !design.actors[operation.actor.index()].apart.is_empty();
    let mut attributes = design.subjects.iter().flat_map(|subject| &subject.attributes);
    let range = is_step && attributes.any(|held| held.range.is_some() || held.ty.has_ranges());
    let taken = operation.takes().is_some().then_some(NONE_LEFT);
    [apart.then_some("apart"), range.then_some("range"), taken].into_iter().flatten()
}

fn truth_schema(design: &Design, id: SubjectId) -> Value {
    let subject = &design.subjects[id.index()];
    let mut states = Map::new();
    for state in &subject.states {
        let log = matches!(state.kind, design::model::StateKind::Log { .. });
        let fields: Map<String, Value> = if log {
            let offset = || json!({ "type": "integer" });
            Map::from_iter([("start".into(), offset()), ("end".into(), offset())])
        } else {
            let attributes = state.attributes.iter().map(|at| &subject.attributes[at.index()]);
            let told =
                |a: &Attribute| schema::ranged(schema::answered(design, &a.ty), &a.ty, a.range);
            let told_of = attributes.filter(|a| !a.ty.is_secret());
            told_of.map(|a| (a.name.clone(), told(a))).collect()
        };
        states.insert(state.name.clone(), json!({ "type": "object", "properties": fields }));
    }
    json!({
        "type": "object",
        "required": ["subject", "key", "truth"],
        "properties": {
            "subject": { "const": subject.name },
            "key": key(),
            "truth": { "type": "object", "properties": states },
        },
    })
}

fn truth_get(service: &Service, subject: &str, truth: &str, parts: &[schema::Part]) -> Value {
    let design = service.design();
    let mut parameters: Vec<Value> = parts
        .iter()
        .map(|part| {
            let schema = schema::ranged(schema::part(design, &part.ty), &part.ty, part.range);
            json!({ "name": part.name, "in": "path", "required": true, "schema": schema })
        })
        .collect();
    parameters.push(reference("parameters", "IfNoneMatch"));
    let mut responses = answers(&WITHOUT_BODY);
    let etag = json!({ "ETag": { "schema": { "type": "string" } } });
    responses.insert(
        "200".into(),
        json!({
            "description": format!("the truth of one `{subject}`"),
            "headers": etag,
            "content": { "application/json": { "schema": reference("schemas", truth) } },
        }),
    );
    let known = "it still has the tag of `If-None-Match`";
    responses.insert("304".into(), json!({ "description": known, "headers": etag }));
    json!({
        "tags": [service.name],
        "operationId": format!("{}_get_{subject}", service.name),
        "summary": format!("the truth of one `{subject}`"),
        "parameters": parameters,
        "responses": responses,
    })
}

fn view_get(service: &Service, view: &View) -> Value {
    let design = service.design();
    let query = |name: &str, required: bool, schema: Value| json!({ "name": name, "in": "query", "required": required, "schema": schema });
    let mut parameters: Vec<Value> = view
        .params
        .iter()
        .map(|param| {
            let mut told = query(&param.name, true, schema::part(design, &param.ty));
            if param.ty == Type::Point {
                // `8.54,47.37`
                told["style"] = json!("form");
                told["explode"] = json!(false);
            }
            told
        })
        .collect();
    parameters.push(query("at_least", false, json!({ "type": "string" })));
    let mut properties = json!({ "revision": { "type": "string" } });
    match view.form {
        ViewForm::List { .. } | ViewForm::Rank { .. } | ViewForm::Near { .. } => {
            let limit = json!({ "type": "integer", "minimum": 1, "maximum": 1000 });
            parameters.push(query("limit", false, limit));
            parameters.push(query("after", false, json!({ "type": "string" })));
            let mut row = json!({
                "type": "object", "required": ["key", "truth"],
                "properties": { "key": key(), "truth": { "type": "object" },
                                "rank": { "type": "integer" } },
            });
            if matches!(view.form, ViewForm::Near { .. }) {
                let mut within = query(
                    "within",
                    false,
                    json!({ "type": "string", "examples": ["500m", "2.5km"] }),
                );
                within["description"] =
                    json!("only rows that are not farther; the view's own limit holds as well");
                parameters.push(within);
                row["properties"]["distance_m"] = json!({
                    "type": "number", "description": "metres along a great circle",
                });
            }
            if !view.with.is_empty() {
                let shown = view.with.iter().map(|column| {
                    (
                        column.name.clone(),
                        schema::or_null(schema::answered(design, column.value.ty.required())),
                    )
                });
                row["properties"]["with"] = json!({
                    "type": "object",
                    "description": "attributes of records that the row refers to; null where there is \
                                    none, left out where the caller may not see them",
                    "properties": shown.collect::<Map<String, Value>>(),
                });
            }
            properties["rows"] = json!({ "type": "array", "items": row });
            properties["next"] = json!({ "type": ["string", "null"] });
            if !matches!(view.form, ViewForm::Near { .. }) {
                properties["total"] = json!({ "type": "integer" });
            }
        }
        ViewForm::Search { .. } => search::add(design, view, &mut parameters, &mut properties),
        ViewForm::Count => properties["count"] = json!({ "type": "integer" }),
        ViewForm::Sum { .. } => properties["sum"] = json!({ "type": ["integer", "string"] }),
        ViewForm::Extreme { greatest, ref value } => {
            let name = if greatest { "max" } else { "min" };
            properties[name] = schema::or_null(schema::answered(design, value.ty.required()));
        }
        ViewForm::Average { .. } => {
            properties["avg"] =
                schema::or_null(schema::answered(design, &design::model::Type::Decimal));
        }
        _ => {}
    }
    let summary = match &view.caller {
        None => format!("the view `{}`", view.name),
        Some(caller) => {
            let of = &design.actors[caller.actor.index()].name;
            format!("the view `{}`: rows of the caller, who is a `{of}`", view.name)
        }
    };
    let mut responses = answers(&WITHOUT_BODY);
    responses.insert(
        "200".into(),
        json!({
            "description": "the view, and the revision it reflects",
            "content": { "application/json": { "schema": {
                "type": "object", "required": ["revision"], "properties": properties,
            } } },
        }),
    );
    json!({
        "tags": [service.name],
        "operationId": format!("{}_view_{}", service.name, view.name),
        "summary": summary,
        "parameters": parameters,
        "responses": responses,
    })
}

/// The same parameters, except where a page begins.
fn view_live(service: &Service, view: &View, whole: &Value) -> Value {
    let mut parameters: Vec<Value> = whole["parameters"].as_array().cloned().unwrap_or_default();
    parameters.retain(|param| param["name"] != "after");
    parameters.push(json!({
        "name": "Last-Event-ID", "in": "header", "schema": { "type": "string" },
        "description": "what was told last: nothing earlier is told",
    }));
    let mut responses = answers(&WITHOUT_BODY);
    responses.insert(
        "200".into(),
        json!({
            "description": "server-sent events without end: first `snapshot`, whose `data` is the view; \
                            then, of rows, `change` with the keys that are `gone` and the rows to `put` \
                            `at` their places, and of anything else another `snapshot`; `id` is the revision",
            "content": { "text/event-stream": { "schema": { "type": "string" } } },
        }),
    );
    json!({
        "tags": [service.name],
        "operationId": format!("{}_live_{}", service.name, view.name),
        "summary": format!("{}, as it is and as it changes", whole["summary"].as_str().unwrap_or_default()),
        "parameters": parameters,
        "responses": responses,
    })
}

fn feed_get(service: &Service) -> Value {
    let subjects: Vec<&str> = service.design().subjects.iter().map(|s| s.name.as_str()).collect();
    let mut responses = answers(&WITHOUT_BODY);
    responses.insert("410".into(), reference("responses", "Gone"));
    responses.insert(
        "200".into(),
        json!({
            "description": "server-sent events without end: `id` is the revision, `event` is \
                            `transition`, `data` is JSON",
            "content": { "text/event-stream": { "schema": { "type": "string" } } },
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

fn batch_post(service: &Service) -> Value {
    let mut responses = answers(&WITH_BODY);
    let content = json!({ "application/json": { "schema": reference("schemas", "Answers") } });
    let description = "one answer for each step, in order";
    responses.insert("200".into(), json!({ "description": description, "content": content }));
    json!({
        "tags": [service.name],
        "operationId": format!("{}_batch", service.name),
        "summary": "many steps at once; each is carried out or refused on its own",
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": reference("schemas", "Batch") } },
        },
        "responses": responses,
    })
}

fn blob_post(service: &Service) -> Value {
    let mut responses = answers(&WITH_BODY);
    let schema = json!({
        "type": "object", "required": ["digest", "bytes"],
        "properties": { "digest": { "type": "string" }, "bytes": { "type": "integer" } },
    });
    let content = json!({ "application/json": { "schema": schema } });
    let description = "stored, and durable; steps may refer to it by its digest";
    responses.insert("200".into(), json!({ "description": description, "content": content }));
    json!({
        "tags": [service.name],
        "operationId": format!("{}_blob_upload", service.name),
        "summary": "stores content",
        "requestBody": { "required": true, "content": content_of_any_kind() },
        "responses": responses,
    })
}

fn blob_get(service: &Service) -> Value {
    let mut responses = answers(&WITHOUT_BODY);
    let content = content_of_any_kind();
    responses.insert("200".into(), json!({ "description": "the content", "content": content }));
    json!({
        "tags": [service.name],
        "operationId": format!("{}_blob", service.name),
        "summary": "the content of a digest",
        "parameters": [
            { "name": "digest", "in": "path", "required": true, "schema": { "type": "string" } },
        ],
        "responses": responses,
    })
}

fn content_of_any_kind() -> Value {
    json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } })
}
