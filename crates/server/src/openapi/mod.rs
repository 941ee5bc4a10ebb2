//! `GET /openapi.json`: OpenAPI 3.1 of the designs that are served.

mod common;
mod feed;
mod listing;
mod paths;
mod records;
mod schema;
mod search;
mod views;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::problem::OverHttp as _;
use crate::{answer, auth};
use gateway::Service;

/// To whoever may ask for anything else.
pub async fn get(State(app): State<Arc<App>>, headers: HeaderMap) -> Response<Body> {
    match auth::calling(&app, &headers) {
        Ok(_) => answer::of_type("application/json", app.described.of(app.services().collect())),
        Err(problem) => problem.into_response(),
    }
}

/// The document as it was last told. Making it takes a thousand times longer than sending it.
#[derive(Default)]
pub struct Described(Mutex<Option<Told>>);

struct Told {
    /// what it describes; a version that is gone does not come again at the same place while this is kept
    of: Vec<Weak<Service>>,
    text: Bytes,
}

impl Described {
    fn of(&self, services: Vec<Arc<Service>>) -> Bytes {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            |of: &[Weak<Service>]| of.iter().map(Weak::as_ptr).eq(services.iter().map(Arc::as_ptr));
        match &*told {
            Some(told) if same(&told.of) => told.text.clone(),
            _ => {
                let text = Bytes::from(document(&services).to_string());
                let of = services.iter().map(Arc::downgrade).collect();
                *told = Some(Told { of, text: text.clone() });
                text
            }
        }
    }
}

/// The whole document.
pub fn document(services: &[Arc<Service>]) -> Value {
    let mut paths = common::paths();
    let mut schemas = common::schemas();
    let mut webhooks = Map::new();
    let mut tags = Vec::new();
    for service in services {
        let design = service.design();
        tags.push(json!({ "name": service.name, "description": design.title }));
        paths::add(service, &mut paths, &mut schemas);
        for event in &design.events {
            let fields: Map<String, Value> = event
                .fields
                .iter()
                .map(|(name, ty)| (name.clone(), schema::answered(design, ty)))
                .collect();
            let name = format!("{}.{}", service.name, event.name);
            webhooks.insert(name.clone(), webhook(&service.name, &event.name, &name, fields));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Steadfast",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Steps, truth, views and feeds of the designs that are served here. \
                            Whatever goes wrong is told as RFC 9457 has it.",
        },
        "tags": tags,
        "paths": paths,
        "webhooks": webhooks,
        "components": { "schemas": schemas, "responses": common::responses(),
                        "parameters": common::parameters() },
    })
}

/// An event as it is sent out: a CloudEvent, signed as Standard Webhooks has it.
fn webhook(design: &str, event: &str, name: &str, fields: Map<String, Value>) -> Value {
    let data = json!({ "type": "object", "properties": fields });
    json!({
        "post": {
            "tags": [design],
            "operationId": format!("event_{design}_{event}"),
            "summary": format!("`{event}` was emitted"),
            "requestBody": {
                "required": true,
                "content": { "application/cloudevents+json": { "schema": {
                    "type": "object",
                    "required": ["specversion", "id", "source", "type"],
                    "properties": {
                        "specversion": { "const": "1.0" },
                        "id": { "type": "string" },
                        "source": { "type": "string" },
                        "type": { "type": "string", "examples": [name] },
                        "data": data,
                    },
                } } },
            },
            "responses": { "2XX": { "description": "received; it is not sent again" } },
        },
    })
}
