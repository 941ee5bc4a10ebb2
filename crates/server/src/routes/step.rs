//! `POST /v1/{design}/{actor}/{operation}`: one step or read.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::HeaderValue;
use axum::http::{HeaderMap, Response};

use crate::app::App;
use crate::calling::{self, Answer, Terms};
use crate::problem::Problem;
use crate::service::{Call, Service};
use crate::{answer, auth, body, etag, idempotency};

/// Says that this answer was given before, for the same idempotency key.
const REPLAYED: &str = "idempotency-replayed";

pub async fn post(
    app: &Arc<App>,
    service: &Service,
    call: &Call,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    let caller = auth::caller(app, headers)?;
    body::is_json(headers)?;
    let terms =
        Terms { idempotency_key: idempotency::key(headers)?, if_match: etag::expected(headers)? };
    let bytes = body::read(sent, app.limits()).await?;
    let begun = calling::begin(app, service, call, &caller, body::object(&bytes)?, terms)?;
    let reply = begun.finish(service).await?;
    let mut response = answer::json(&Answer::of(&reply));
    if reply.replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Names what there is instead.
pub fn unknown(service: &Service, actor: &str, operation: &str) -> Problem {
    Problem::unknown(format!("`{}` has no step or read `{actor}/{operation}`", service.name))
}
