//! `POST /v1/admin/backup`, `GET /v1/admin/servers`, `GET /v1/{design}` and `PUT /v1/{design}`: what operators do.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, VARY};
use axum::http::{HeaderMap, Response};
use identity::Act;
use serde_json::{Value, json};

use crate::answer;
use crate::app::App;
use crate::auth;
use crate::body;
use crate::kinds;
use crate::path;
use crate::problem::Problem;
use gateway::{Admin, AdminError, Caller, Replacement, Service};

pub fn operator(app: &Arc<App>, headers: &HeaderMap) -> Result<Caller, Problem> {
    let caller = auth::calling(app, headers)?;
    gateway::operator(app, &caller, "this")?;
    Ok(caller)
}

/// The verdict on the text, in an answer that is the text.
const VERDICT: HeaderName = HeaderName::from_static("steadfast-verdict");

/// The text of a design, as it is served; for those who ask for JSON also what is known of it.
pub fn text(
    app: &Arc<App>,
    service: &Service,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    auth::calling(app, headers)?;
    let standing = service.standing();
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let mut response = if accepted.is_some_and(|accepted| accepted.contains("application/json")) {
        let design = service.design();
        answer::json(&json!({
            "name": service.name,
            "design": design.name,
            "title": design.title,
            "verdict": standing.to_json(),
            "text": service.text,
        }))
    } else {
        let mut response = Response::new(Body::from(service.text.clone()));
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("accept"));
    headers.insert(VERDICT, HeaderValue::from_static(standing.label()));
    Ok(response)
}

/// Copies the store into a directory of this machine: `{"to": "/an/empty/directory"}`.
pub async fn backup(
    app: &Arc<App>,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let caller = operator(app, headers)?;
    body::is_json(headers)?;
    let asked = gateway::object(&body::read(sent, app).await?)?;
    let _place = app.enter()?;
    let to = asked.get("to").and_then(Value::as_str).map(PathBuf::from);
    let Some(to) = to.filter(|to| to.is_absolute()) else {
        let detail =
            "`to` is the whole path of a directory that is empty, not there, or a backup of it";
        return Err(Problem::malformed(detail).pointer("/to"));
    };
    let admin = admin(app)?;
    let noted = Arc::clone(app);
    // also when the client does not wait: a copy that was made is written down
    let done = tokio::task::spawn_blocking(move || {
        let copied = admin.backup(&to)?;
        let of = json!({ "to": to.to_string_lossy() });
        let _ = noted.auditor.done(Act::StoreCopied, &caller.principal, of);
        Ok(copied)
    })
    .await;
    let copied = done.map_err(|_| Problem::broken())?.map_err(problem)?;
    Ok(answer::json(&copied))
}

/// Which servers share the store.
pub async fn servers(app: &Arc<App>, headers: &HeaderMap) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    operator(app, headers)?;
    let gateway = Arc::clone(&app.gateway);
    let seen = tokio::task::spawn_blocking(move || gateway.servers()).await;
    let seen = seen.map_err(|_| Problem::broken())??;
    Ok(answer::json(&seen.to_json()))
}

/// Puts another version of a design in the place of the one that is served. `?drop=…` names what
/// may be lost, `?unproved=true` takes a text that is violated.
pub async fn replace(
    app: &Arc<App>,
    service: &Arc<Service>,
    query: &str,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let caller = operator(app, headers)?;
    let text = body::read(sent, app).await?;
    let _place = app.enter()?;
    let text = String::from_utf8(text.to_vec())
        .map_err(|_| Problem::malformed("a design is a text in UTF-8"))?;
    let (mut drop, mut unproved) = (Vec::new(), false);
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("drop", name)) => drop.push(path::decoded(name)?),
            Some(("unproved", "true")) => unproved = true,
            Some(("unproved", "false")) => unproved = false,
            _ => {
                let known = "only `drop=NAME` and `unproved=true` can be asked for here";
                return Err(Problem::malformed(known));
            }
        }
    }
    let (admin, old) = (admin(app)?, Arc::clone(service));
    let gateway = Arc::clone(&app.gateway);
    // also when the client does not wait: a design is replaced or it is not
    let done = tokio::task::spawn_blocking(move || {
        let with = Replacement { text: &text, drop: &drop, unproved };
        let replaced = gateway.replace(admin.as_ref(), &old, &with, &caller.principal)?;
        Ok(json!({
            "outcome": "replaced",
            "design": old.name,
            "verdict": replaced.verdict,
            "version": replaced.version,
            "removed": replaced.removed,
        }))
    })
    .await;
    let said: Value = done.map_err(|_| Problem::broken())?.map_err(problem)?;
    Ok(answer::json(&said))
}

fn admin(app: &App) -> Result<Arc<dyn Admin>, Problem> {
    let found = app.settings.admin.as_ref().map(|admin| Arc::clone(&admin.0));
    found.ok_or_else(|| Problem::unknown("this server has no operator's side"))
}

fn problem(error: AdminError) -> Problem {
    match error {
        AdminError::Design(lines) => Problem::new(&kinds::NOT_A_DESIGN, lines.join("\n")),
        AdminError::Unsafe { detail, obstacles } => {
            Problem::new(&kinds::UNSAFE_CHANGE, detail).with("obstacles", obstacles)
        }
        AdminError::Unproved { detail, standing } => {
            Problem::new(&kinds::UNPROVED, detail).with("verdict", standing.to_json())
        }
        error @ (AdminError::NotStarted(_) | AdminError::Cannot(_)) => {
            Problem::new(&kinds::CANNOT, error.to_string())
        }
    }
}
