//! `GET /v1/{design}/aside` lists the entries that were set aside because they could not be worked on;
//! `POST /v1/{design}/aside/{id}/retry` puts one back in its queue, `…/discard` throws it away.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use gateway::Service;
use runtime::{Aside, time};
use serde_json::{Value, json};

use super::admin::operator;
use crate::app::App;
use crate::problem::Problem;
use crate::{answer, body};

/// So many are listed.
const LISTED: usize = 1_000;

pub async fn list(
    app: &Arc<App>,
    service: &Arc<Service>,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    operator(app, headers)?;
    let asked = Arc::clone(service);
    let listed = tokio::task::spawn_blocking(move || asked.runtime.set_aside(LISTED)).await;
    let listed = listed.map_err(|_| Problem::broken())?;
    let listed = listed.map_err(|error| Problem::of_call(service, error))?;
    let entries: Vec<Value> = listed.iter().map(to_json).collect();
    Ok(answer::json(&json!({ "entries": entries })))
}

fn to_json(aside: &Aside) -> Value {
    json!({
        "id": aside.id,
        "space": aside.space,
        "key": aside.key,
        "operation": aside.operation,
        "reason": aside.reason,
        "at": time::write_time(aside.at),
        "can_go_back": aside.can_go_back,
    })
}

pub async fn resolve(
    app: &Arc<App>,
    service: &Arc<Service>,
    (id, what): (&str, &str),
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    let caller = operator(app, headers)?;
    // a page of another origin cannot say this of what it sends
    body::is_json(headers)?;
    let (gateway, service) = (Arc::clone(&app.gateway), Arc::clone(service));
    let (asked, retries) = (id.to_string(), what == "retry");
    let resolved = tokio::task::spawn_blocking(move || match retries {
        true => gateway.try_again(&service, &asked, &caller.principal),
        false => gateway.discard(&service, &asked, &caller.principal),
    });
    resolved.await.map_err(|_| Problem::broken())??;
    let outcome = if retries { "in its queue again" } else { "discarded" };
    Ok(answer::json(&json!({ "outcome": outcome, "id": id })))
}
