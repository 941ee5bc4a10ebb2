//! The body of a request, read within its limits.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;
use serde_json::{Map, Value};

use crate::config::Limits;
use crate::problem::Problem;

/// All of it, in time and no larger than it may be.
pub async fn read(body: Body, limits: &Limits) -> Result<Bytes, Problem> {
    read_up_to(body, limits.body_bytes_max, limits).await
}

pub async fn read_up_to(body: Body, bytes_max: usize, limits: &Limits) -> Result<Bytes, Problem> {
    // a body that says its length is not waited for when it is too large
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(Problem::too_large("the body", bytes_max));
    }
    let limited = Limited::new(body, bytes_max);
    let collected =
        tokio::time::timeout(Duration::from_millis(limits.body_ms_max), limited.collect());
    match collected.await {
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "slow-body",
            "the body did not come in time",
            format!("a body has at most {} ms to arrive", limits.body_ms_max),
        )),
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Problem::too_large("the body", bytes_max))
        }
        Ok(Err(_)) => Err(Problem::malformed("the body broke off")),
    }
}

/// Bodies are JSON and say so: a page of another origin cannot send that unasked.
pub fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let essence = given.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "not-json",
        "the body is not said to be JSON",
        "send it with `Content-Type: application/json`",
    ))
}

/// One flat object.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Problem::malformed("the body is one JSON object").pointer("")),
        Err(error) => Err(Problem::malformed(format!("the body is no JSON: {error}"))),
    }
}
