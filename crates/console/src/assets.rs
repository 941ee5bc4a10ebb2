//! Style and script, from the binary itself.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH,
};
use axum::http::{Response, StatusCode};

use crate::shell;

const STYLE: &str = concat!(include_str!("assets/console.css"), include_str!("assets/studio.css"));
const SCRIPT: &str = concat!(include_str!("assets/console.js"), include_str!("assets/studio.js"));
const ICON: &str = include_str!("assets/icon.svg");

/// What drawings and reports are styled with elsewhere, held within their boxes here and given the
/// colours of the console.
fn drawn() -> String {
    format!(
        ".drawing {{\n{}\n}}\n.report {{\n{}{}\n}}\n{}",
        drawing::STYLE,
        model_checker::render::STYLE,
        drawing::lanes::STYLE,
        include_str!("assets/drawn.css")
    )
}

/// One of them by its name.
pub fn get(name: &str, headers: &HeaderMap) -> Option<Response<Body>> {
    let (kind, text) = match name {
        "console.css" => ("text/css; charset=utf-8", STYLE.to_string()),
        "drawn.css" => ("text/css; charset=utf-8", drawn()),
        "console.js" => ("text/javascript; charset=utf-8", SCRIPT.to_string()),
        "icon.svg" => ("image/svg+xml", ICON.to_string()),
        _ => return None,
    };
    let mut response = tagged(kind, text.into_bytes(), headers);
    shell::guarded(&mut response);
    Some(response)
}

/// What is asked for again only if it has changed.
pub fn tagged(kind: &'static str, bytes: Vec<u8>, request: &HeaderMap) -> Response<Body> {
    let tag = format!("\"{:016x}\"", hash(&bytes));
    let known = request.get(IF_NONE_MATCH).is_some_and(|given| given.as_bytes() == tag.as_bytes());
    let mut response = Response::new(if known { Body::empty() } else { Body::from(bytes) });
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

fn hash(bytes: &[u8]) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
    hasher.write(bytes);
    hasher.finish()
}
