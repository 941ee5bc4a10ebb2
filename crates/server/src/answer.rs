//! Plain answers.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use serde::Serialize;

/// 200 with this as its body.
pub fn json(value: &impl Serialize) -> Response<Body> {
    let mut text = Vec::with_capacity(512);
    // writing to memory does not fail, and every map has texts for keys
    serde_json::to_writer(&mut text, value).expect("plain data");
    of_type("application/json", text)
}

pub fn of_type(media: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}
