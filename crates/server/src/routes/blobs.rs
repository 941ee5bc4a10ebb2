//! `POST /v1/{design}/blobs` and `GET /v1/{design}/blobs/{digest}`: content that truth refers to by its
//! digest.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, Response};
use serde_json::json;

use crate::app::App;
use crate::kinds;
use crate::{answer, auth, body};
use gateway::{Problem, Service};
use identity::now_s;

/// What content is sent and given as. A page of another origin cannot send that unasked.
const MEDIA: &str = "application/octet-stream";

/// Stores the body, and answers with the digest under which a step may refer to it.
pub async fn post(
    app: &Arc<App>,
    service: &Service,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let caller = auth::caller(app, headers)?;
    has_blobs(service)?;
    app.may_bring(service, &caller)?;
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !given.is_some_and(|given| given.trim().eq_ignore_ascii_case(MEDIA)) {
        return Err(Problem::new(
            &kinds::NOT_CONTENT,
            format!("send it with `Content-Type: {MEDIA}`"),
        ));
    }
    let content = body::read_up_to(sent, app.limits().blob_bytes_max, app).await?;
    let _place = app.enter()?;
    app.count_upload(&caller, content.len(), now_s())?;
    let stored = service.runtime.put_blob(&content).await;
    let digest = stored.map_err(|error| Problem::of_call(service, error))?;
    Ok(answer::json(&json!({ "digest": digest, "bytes": content.len() })))
}

/// The content, to whoever knows its digest.
pub async fn get(
    app: &Arc<App>,
    service: &Service,
    digest: &str,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    let caller = auth::caller(app, headers)?;
    has_blobs(service)?;
    app.may_take(service, &caller)?;
    let found = service.runtime.get_blob(digest).await;
    let found = found.map_err(|error| Problem::of_call(service, error))?;
    let Some(content) = found else {
        return Err(Problem::unknown(format!("no content is stored under `{digest}`")));
    };
    let mut response = answer::of_type(MEDIA, content);
    // it cannot change, and whoever has no token shall not find it on the way
    let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
    response.headers_mut().insert(CACHE_CONTROL, forever);
    Ok(response)
}

fn has_blobs(service: &Service) -> Result<(), Problem> {
    match service.design().blobs.is_empty() {
        true => Err(Problem::unknown(format!("`{}` has no blobs", service.name))),
        false => Ok(()),
    }
}
