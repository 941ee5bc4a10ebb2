//! `GET /v1/{design}/{Subject}/{key}/…`: the truth of one record.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::ETAG;
use axum::http::{HeaderMap, Response, StatusCode};
use serde_json::{Value, json};

use crate::app::App;
use crate::kinds;
use crate::{answer, auth, etag};
use gateway::{Problem, Service};

pub async fn get(
    app: &Arc<App>,
    service: &Service,
    subject: &str,
    key: &[&str],
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    let caller = auth::calling(app, headers)?;
    let viewer = caller.viewer(service);
    let parts: Vec<Value> = key.iter().map(|part| Value::from(*part)).collect();
    let found = service.runtime.get_as(subject, &parts, viewer.as_ref()).await;
    let found = found.map_err(|error| Problem::of_call(service, error))?;
    let Some(found) = found else {
        return Err(Problem::new(&kinds::ABSENT, format!("there is no such `{subject}`")));
    };
    let mut response = if etag::is_known(headers, found.version)? {
        let mut known = Response::new(Body::empty());
        *known.status_mut() = StatusCode::NOT_MODIFIED;
        known
    } else {
        let key = service.runtime.key(subject, &parts);
        let key = key.map_err(|error| Problem::of_call(service, error))?;
        answer::json(&json!({ "subject": subject, "key": key, "truth": found.truth }))
    };
    response.headers_mut().insert(ETAG, etag::tag(found.version));
    Ok(response)
}
