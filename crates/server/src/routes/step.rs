//! `POST /v1/{design}/{actor}/{operation}`: one step or read.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::HeaderValue;
use axum::http::{HeaderMap, Response};

use crate::app::App;
use crate::calling::{self, Answer, Terms};
use crate::patience::Patience;
use crate::problem::Problem;
use crate::service::{Call, Service};
use crate::{answer, auth, body, etag, idempotency};

/// Says that this answer was given before, for the same idempotency key.
const REPLAYED: &str = "idempotency-replayed";

pub async fn post<'a>(
    app: &'a Arc<App>,
    mut service: &'a Service,
    mut call: &'a Call,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    let caller = auth::caller(app, headers)?;
    body::is_json(headers)?;
    let terms =
        Terms { idempotency_key: idempotency::key(headers)?, if_match: etag::expected(headers)? };
    let bytes = body::read(sent, app.limits()).await?;
    let mut patience = Patience::default();
    let begun = loop {
        let fields = body::object(&bytes)?;
        match calling::begin(app, service, call, &caller, fields, terms.clone()) {
            Err(problem) if patience.with(&problem).await => {
                let operation = service.operation(call);
                let actor = &service.design().actors[operation.actor.index()].name;
                service = app.service(&service.name)?;
                let found = service.call(actor, &operation.name);
                call = found.ok_or_else(|| unknown(service, actor, &operation.name))?;
            }
            begun => break begun?,
        }
    };
    let reply = begun.finish(service).await?;
    let mut response = answer::json(&Answer::of(&reply));
    if reply.replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Names what there is instead.
pub fn unknown(service: &Service, actor: &str, operation: &str) -> Problem {
    let design = service.design();
    let known = design.actors.iter().position(|known| known.name == actor);
    let Some(known) = known else {
        let subjects = design.subjects.iter().map(|subject| &*subject.name);
        let names = design.actors.iter().map(|actor| &*actor.name).chain(subjects);
        let instead = design::instead(actor, names);
        let message = format!("`{}` has no actor or subject `{actor}`; {instead}", service.name);
        return Problem::unknown(message);
    };
    let callable = design
        .operations
        .iter()
        .filter(|operation| operation.actor.index() == known && service.is_callable(operation));
    let instead = design::instead(operation, callable.map(|operation| &*operation.name));
    Problem::unknown(format!("`{actor}` has no step or read `{operation}`; {instead}"))
}
