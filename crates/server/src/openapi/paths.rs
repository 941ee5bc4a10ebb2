//! The paths of one design.

use design::model::{Design, Operation, OperationId, SubjectId, View, ViewForm};
use interface::refusals;
use serde_json::{Map, Value, json};

use super::common::{WITH_BODY, WITHOUT_BODY, answers, reference};
use super::records::{self, truth_name};
use super::{feed, listing, schema, views};
use crate::sample;
use gateway::{Call, Service};

pub fn add(service: &Service, paths: &mut Map<String, Value>, schemas: &mut Map<String, Value>) {
    let design = service.design();
    let name = &service.name;
    for call in interface::calls(design) {
        let (actor, operation) = (call.actor, &call.operation.name);
        // whatever may be called is known to the service
        let Some(known) = service.call(actor, operation) else { continue };
        let path = format!("/v1/{name}/{actor}/{operation}");
        paths.insert(path, json!({ "post": step(service, &call, known) }));
    }
    for (at, subject) in design.subjects.iter().enumerate() {
        let id = SubjectId::of(at);
        let record = format!("{name}.{}", subject.name);
        schemas.insert(truth_name(name, design, id), records::truth(design, id));
        schemas.insert(record.clone(), records::record(name, design, id, false));
        schemas.insert(
            records::changed_name(name, design, id),
            records::record(name, design, id, true),
        );
        let parts = schema::parts(design, id);
        let path: String = parts.iter().map(|part| format!("/{{{}}}", part.name)).collect();
        let path = format!("/v1/{name}/{}{path}", subject.name);
        paths.insert(path, json!({ "get": truth_get(service, &subject.name, &record, &parts) }));
        schemas.insert(listing::name(name, subject), listing::page(service, id));
        let path = format!("/v1/{name}/{}", subject.name);
        paths.insert(path, json!({ "get": listing::get(service, id) }));
    }
    for view in &design.views {
        if is_served(service, view) {
            let path = format!("/v1/{name}/views/{}", view.name);
            let whole = views::get(service, view);
            schemas.insert(views::name(name, view), views::answer(name, design, view));
            paths.insert(
                format!("{path}/live"),
                json!({ "get": views::live(service, view, &whole) }),
            );
            paths.insert(path, json!({ "get": whole }));
        }
    }
    schemas.insert(format!("{name}.transition"), feed::transition(name, design));
    paths.insert(format!("/v1/{name}/feed"), json!({ "get": feed::get(service) }));
    if !design.blobs.is_empty() {
        paths.insert(format!("/v1/{name}/blobs"), json!({ "post": blob_post(service) }));
        paths.insert(format!("/v1/{name}/blobs/{{digest}}"), json!({ "get": blob_get(service) }));
    }
    paths.insert(format!("/v1/{name}/batch"), json!({ "post": batch_post(service) }));
}

/// Is this view answered here? Not if it needs what this build does not have.
fn is_served(service: &Service, view: &View) -> bool {
    match view.form {
        ViewForm::Search { .. } => service.runtime.searches(),
        ViewForm::Near { from, .. } => from.is_some(),
        _ => true,
    }
}

fn step(service: &Service, of: &interface::Call<'_>, call: &Call) -> Value {
    let design = service.design();
    let (actor, operation) = (of.actor, of.operation);
    let mut responses = answers(&WITH_BODY);
    responses.insert("200".into(), done(service, of));
    responses.insert("409".into(), refused(service, operation));
    let mut parameters = Vec::new();
    if of.is_step {
        responses.insert("412".into(), reference("responses", "Changed"));
        let mut key = reference("parameters", "IdempotencyKey");
        if of.is_keyed {
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
    if let Some(used) = design.used_for(OperationId::of(of.id.index())) {
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

fn done(service: &Service, of: &interface::Call<'_>) -> Value {
    let (design, operation) = (service.design(), of.operation);
    let memory: Map<String, Value> = interface::handed_out(design, operation)
        .into_iter()
        .filter(|handed| handed.written)
        .map(|handed| (handed.name, json!({ "type": ["string", "null"] })))
        .collect();
    let result = match &operation.kind {
        design::model::OperationKind::Read { result } => {
            views::result(&service.name, design, result)
        }
        _ => schema::chosen(design, operation),
    };
    let mut truth = json!({
        "type": "array",
        "description": "the records it changed, as they are now; those that the caller may not see are left out",
    });
    let changed = interface::changed(design, operation);
    if changed.is_empty() {
        truth["maxItems"] = json!(0);
        truth["items"] = reference("schemas", "Record");
    } else {
        truth["items"] = records::one_of(&service.name, design, &changed);
    }
    json!({
        "description": "carried out, and durable",
        "content": { "application/json": { "schema": {
            "type": "object",
            "required": ["revision", "outcome", "memory", "truth", "result"],
            "properties": {
                "revision": { "type": "string", "description": "where it stands in the feed" },
                "outcome": { "const": "done" },
                "memory": { "type": "object", "properties": memory, "additionalProperties": false,
                            "description": "to be remembered, and sent with later steps" },
                "truth": truth,
                "result": result,
            },
        } } },
    })
}

/// The refusals that the design speaks of, each with the failures it prevents.
fn refused(service: &Service, operation: &Operation) -> Value {
    let design = service.design();
    let refusals = refusals(design, operation);
    let mut examples = Map::new();
    for clause in &refusals.clauses {
        examples.insert(
            clause.clone(),
            json!({ "value": {
                "type": format!("/problems/{}/{}/{clause}", service.name, operation.name),
                "title": format!("`{}` is refused by `{clause}`", operation.name),
                "status": 409,
                "detail": format!("the guard `{clause}` does not hold now"),
                "guard": clause,
                "truth": [], "legal": [], "prevents": [],
            } }),
        );
    }
    let names: Vec<&str> = refusals.names().collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let guards = if quoted.is_empty() { "its records".to_string() } else { quoted.join(", ") };
    let faults = format!("^([^./]+\\.)?({})$", interface::FAULTS.join("|"));
    let fault = json!({
        "type": "string", "pattern": faults,
        "description": "what may befall any step, alone or behind the clause in which it occurred",
    });
    let mut guard = vec![fault];
    if !names.is_empty() {
        guard.insert(0, json!({ "type": "string", "enum": names }));
    }
    let everything: Vec<SubjectId> = (0..design.subjects.len()).map(SubjectId::of).collect();
    let refusal = json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "guard", "truth", "legal", "prevents"],
        "properties": {
            "type": { "type": "string", "format": "uri-reference" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "guard": { "anyOf": guard, "description": "the clause that does not hold" },
            "truth": { "type": "array", "description": "the records it looked at",
                       "items": records::one_of(&service.name, design, &everything) },
            "legal": { "type": "array", "items": reference("schemas", "Legal"),
                       "description": "what the caller could do instead" },
            "prevents": { "type": "array", "items": { "type": "string" },
                          "description": "the failures that this guard is there for" },
            "trace": { "type": "string" },
        },
    });
    let mut content =
        json!({ "schema": { "oneOf": [refusal, reference("schemas", "KeyUnderWay")] } });
    if !examples.is_empty() {
        content["examples"] = Value::Object(examples);
    }
    json!({
        "description": format!("refused by {guards}, or the same idempotency key is under way"),
        "content": { "application/problem+json": content },
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
