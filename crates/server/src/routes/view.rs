//! `GET /v1/{design}/views/{View}?…`: a view, with the revision it reflects.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use runtime::{BadValue, ViewQuery};
use serde_json::Value;

use crate::app::App;
use crate::kinds;
use crate::{answer, auth, path};
use gateway::{Hint, Problem, Service};

/// Names that a view's own parameters cannot have, because they say how to read it.
const LIMIT: &str = "limit";
const AFTER: &str = "after";
const AROUND: &str = "around";
const AT_LEAST: &str = "at_least";

pub async fn get(
    app: &Arc<App>,
    service: &Arc<Service>,
    view: &str,
    query: &str,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let place = app.enter()?;
    let caller = auth::calling(app, headers)?;
    let viewer = caller.viewer(service);
    let mut asked = asked(view, query)?;
    // never from the address: nobody asks for the rows of another
    asked.me = Some(caller.principal.clone());
    wait_for(app, service, asked.at_least.as_deref()).await?;
    let patience = Duration::from_millis(app.limits().wait_ms_max);
    let reader = Arc::clone(service);
    // following the feed and sorting rows may take a while, and blocks
    let reading = tokio::task::spawn_blocking(move || {
        let answer = reader.runtime.view_as(&asked, viewer.as_ref());
        drop(place);
        answer
    });
    match tokio::time::timeout(patience, reading).await {
        Ok(Ok(Ok(answer))) => Ok(answer::json(&answer)),
        Ok(Ok(Err(error))) => Err(Problem::of_call(service, error)),
        Ok(Err(_)) => Err(Problem::broken()),
        Err(_) => Err(late(app)),
    }
}

/// Waits without a thread, which a revision that never comes would hold for good.
pub async fn wait_for(app: &App, service: &Service, revision: Option<&str>) -> Result<(), Problem> {
    let Some(revision) = revision else { return Ok(()) };
    let patience = Duration::from_millis(app.limits().wait_ms_max);
    let reached = tokio::time::timeout(patience, service.runtime.reached(revision)).await;
    let reached = reached.map_err(|_| late(app))?;
    reached.map_err(|error| Problem::of_call(service, error))
}

fn late(app: &App) -> Problem {
    let wait_ms = app.limits().wait_ms_max;
    let detail = format!("it was waited for {wait_ms} ms; ask again, or for an older revision");
    Problem::new(&kinds::NOT_REACHED, detail).hint(Hint::AgainAfter(1))
}

pub fn asked(view: &str, query: &str) -> Result<ViewQuery, Problem> {
    let mut asked = ViewQuery { view: view.to_string(), ..ViewQuery::default() };
    for (name, value) in path::query(query)? {
        match name.as_str() {
            LIMIT => match value.parse() {
                Ok(limit) if limit > 0 => asked.limit = Some(limit),
                _ => {
                    let bad = BadValue {
                        pointer: format!("/{LIMIT}"),
                        message: format!("expected a whole number from 1, found `{value}`"),
                    };
                    return Err(Problem::misfit(&bad));
                }
            },
            AFTER => asked.after = Some(value),
            AROUND => asked.around = Some(value.split(',').map(Value::from).collect()),
            AT_LEAST => asked.at_least = Some(value),
            _ => {
                asked.params.insert(name, value.into());
            }
        }
    }
    Ok(asked)
}
