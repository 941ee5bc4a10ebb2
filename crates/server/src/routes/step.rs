//! `POST /v1/{design}/{actor}/{operation}`: one step or read.

use std::sync::Arc;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, IF_MATCH};
use axum::http::{HeaderMap, Response};
use bytes::Bytes;
use hyper::body::Body;
use telemetry::Trace;

use crate::answer::Sent;
use crate::app::{App, Place};
use crate::auth::Caller;
use crate::calling::{self, Said, Terms};
use crate::patience::Patience;
use crate::problem::Problem;
use crate::service::{Call, Service};
use crate::{answer, auth, body, etag, idempotency, tracing};

/// Says that this answer was given before, for the same idempotency key.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The step that a path without anything unusual in it names. None: it is looked at more closely.
pub fn named<'a>(app: &'a App, path: &str) -> Option<(&'a Arc<Service>, &'a Call)> {
    let mut parts = path.strip_prefix("/v1/")?.split('/');
    let (design, actor, operation) = (parts.next()?, parts.next()?, parts.next()?);
    let plain = parts.next().is_none() && !path.contains('%') && path.len() <= PLAIN_BYTES_MAX;
    if !plain || actor == "views" || actor == "blobs" {
        return None;
    }
    let service = app.services().find(|service| service.name == design)?;
    let call = service.call(actor, operation)?;
    (!service.is_subject(actor)).then_some((service, call))
}

/// Longer paths are measured against the limit first.
const PLAIN_BYTES_MAX: usize = 256;

/// The headers that decide what becomes of a step. Nobody who reads a head need keep others.
pub const LOOKED_AT: [HeaderName; 8] = [
    CONTENT_TYPE,
    HOST,
    AUTHORIZATION,
    auth::AS,
    idempotency::HEADER,
    IF_MATCH,
    tracing::PARENT,
    tracing::STATE,
];

pub async fn post<B>(
    app: &Arc<App>,
    service: &Service,
    call: &Call,
    headers: &HeaderMap,
    sent: B,
    trace: Option<Trace>,
) -> Result<Response<Sent>, Problem>
where
    B: Body<Data = Bytes>,
{
    let asked = Asked::read(app, headers, trace)?;
    let bytes = body::read(sent, app.limits()).await?;
    let said = asked.answered(app, service, call, &bytes, Vec::new()).await?;
    let mut response = answer::json_text(said.text);
    if said.replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Who asks, and on which terms.
pub struct Asked {
    _place: Place,
    caller: Caller,
    terms: Terms,
}

impl Asked {
    pub fn read(app: &App, headers: &HeaderMap, trace: Option<Trace>) -> Result<Asked, Problem> {
        let place = app.enter()?;
        let caller = auth::caller(app, headers)?;
        body::is_json(headers)?;
        let idempotency_key = idempotency::key(headers)?;
        let terms = Terms { idempotency_key, if_match: etag::expected(headers)?, trace };
        Ok(Asked { _place: place, caller, terms })
    }

    /// Decides the step with this body, and waits until that may be told. The answer is made in `room`
    /// if there is any.
    pub async fn answered(
        self,
        app: &Arc<App>,
        mut service: &Service,
        mut call: &Call,
        body: &[u8],
        mut room: Vec<u8>,
    ) -> Result<Said, Problem> {
        let mut patience = Patience::default();
        let begun = loop {
            let room = std::mem::take(&mut room);
            match calling::begin_text(app, service, call, &self.caller, body, &self.terms, room) {
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
        begun.finish(service).await
    }
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
