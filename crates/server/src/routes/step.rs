//! `POST /v1/{design}/{actor}/{operation}`: one step or read.

use std::sync::Arc;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, IF_MATCH};
use axum::http::{HeaderMap, Response};
use bytes::Bytes;
use hyper::body::Body;
use telemetry::Trace;

use crate::answer::Sent;
use crate::app::App;
use crate::{answer, auth, body, etag, idempotency, problem, traced};
use gateway::{Call, Caller, Problem, Said, Service, Terms};

/// Says that this answer was given before, for the same idempotency key.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The step that a path without anything unusual in it names. None: it is looked at more closely.
pub fn named(app: &App, path: &str) -> Option<(Arc<Service>, Arc<Call>)> {
    let mut parts = path.strip_prefix("/v1/")?.split('/');
    let (design, actor, operation) = (parts.next()?, parts.next()?, parts.next()?);
    let plain = parts.next().is_none() && !path.contains('%') && path.len() <= PLAIN_BYTES_MAX;
    if !plain || actor == "views" || actor == "blobs" {
        return None;
    }
    let service = app.find(design)?;
    let call = Arc::clone(service.call(actor, operation)?);
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
    traced::PARENT,
    traced::STATE,
];

pub async fn post<B>(
    app: &Arc<App>,
    service: &Arc<Service>,
    call: &Arc<Call>,
    headers: &HeaderMap,
    sent: B,
    trace: Option<Trace>,
) -> Result<Response<Sent>, Problem>
where
    B: Body<Data = Bytes>,
{
    let asked = Asked::read(app, headers, trace)?;
    let bytes = body::read(sent, app).await?;
    let said = asked.answered(app, service, call, &bytes, Vec::new()).await?;
    let mut response = answer::json_text(said.text);
    if said.replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    for (name, value) in said.left.iter().flat_map(problem::rate) {
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// Who asks, and on which terms.
pub struct Asked {
    caller: Caller,
    terms: Terms,
}

impl Asked {
    pub fn read(app: &App, headers: &HeaderMap, trace: Option<Trace>) -> Result<Asked, Problem> {
        let caller = auth::calling(app, headers)?;
        body::is_json(headers)?;
        let idempotency_key = idempotency::key(headers)?;
        let terms = Terms { idempotency_key, if_match: etag::expected(headers)?, trace };
        Ok(Asked { caller, terms })
    }

    /// Decides the step with this body, and waits until that may be told. The answer is made in `room`
    /// if there is any. It takes a place among the requests only now: whoever sends slowly takes none.
    pub async fn answered(
        self,
        app: &Arc<App>,
        service: &Arc<Service>,
        call: &Arc<Call>,
        body: &[u8],
        room: Vec<u8>,
    ) -> Result<Said, Problem> {
        let _place = app.enter()?;
        gateway::answered(&app.gateway, service, call, &self.caller, body, &self.terms, room).await
    }
}
