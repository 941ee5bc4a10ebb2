//! `GET /`: the console for a browser, a short description for a program.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, VARY};
use axum::http::{HeaderMap, Response};
use gateway::Gateway;
use serde_json::{Value, json};
use server::problem::{OverHttp as _, not_allowed};

use crate::session;

pub async fn get(State(gateway): State<Arc<Gateway>>, headers: HeaderMap) -> Response<Body> {
    // every browser names it when it opens an address; `curl` and clients of an interface do not
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut response = match accepted.contains("text/html") {
        true => session::go("/console"),
        false => {
            let mut response = Response::new(Body::from(format!("{:#}\n", described(&gateway))));
            let media = HeaderValue::from_static("application/json");
            response.headers_mut().insert(CONTENT_TYPE, media);
            response
        }
    };
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
    response
}

pub async fn only_get() -> Response<Body> {
    not_allowed("GET, HEAD").into_response()
}

/// No more than `/openapi.json` says.
fn described(gateway: &Gateway) -> Value {
    let designs = gateway.services().map(|service| {
        json!({
            "name": service.name,
            "title": service.design().title,
            "path": format!("/v1/{}", service.name),
        })
    });
    json!({
        "name": "steadfast",
        "version": env!("CARGO_PKG_VERSION"),
        "designs": designs.collect::<Vec<_>>(),
        "openapi": "/openapi.json",
        "console": "/console",
        "health": "/healthz",
        "metrics": "/metrics",
    })
}
