//! `GET /v1/{design}/{Subject}/{key}/…`: the truth of one record.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use serde_json::{Value, json};

use super::step;
use crate::app::App;
use crate::auth;
use crate::problem::Problem;
use crate::service::Service;

pub async fn get(
    app: &Arc<App>,
    service: &Service,
    subject: &str,
    key: &[&str],
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    auth::caller(app, headers)?;
    let parts: Vec<Value> = key.iter().map(|part| Value::from(*part)).collect();
    let found = service.runtime.get(subject, &parts).await;
    let found = found.map_err(|error| Problem::of_call(service, error))?;
    let Some(found) = found else {
        return Err(Problem::unknown(format!("there is no such `{subject}`")));
    };
    Ok(step::json(&json!({ "subject": subject, "key": parts, "truth": found.truth })))
}
