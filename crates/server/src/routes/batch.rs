//! `POST /v1/{design}/batch`: many steps, one answer each, in order. They are begun one after the
//! other and become durable together; each is carried out or refused on its own.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{HeaderMap, Response};
use bytes::Bytes;
use hyper::body::Body;
use serde::Deserialize;
use serde_json::value::RawValue;
use telemetry::Trace;

use crate::answer::Sent;
use crate::app::App;
use crate::kinds;
use crate::problem::{OverHttp as _, Problem};
use crate::{answer, auth, body};
use gateway::{Begun, Service};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch<'a> {
    #[serde(borrow)]
    steps: Vec<Step<'a>>,
}

/// One step of a batch or of a socket.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step<'a> {
    #[serde(borrow)]
    pub actor: Cow<'a, str>,
    #[serde(borrow)]
    pub operation: Cow<'a, str>,
    #[serde(borrow, default)]
    pub params: Params<'a>,
    #[serde(borrow, default)]
    pub idempotency_key: Option<Cow<'a, str>>,
}

impl Step<'_> {
    pub fn asked(&self) -> gateway::Step<'_> {
        gateway::Step {
            actor: &self.actor,
            operation: &self.operation,
            params: self.params.0,
            idempotency_key: self.idempotency_key.as_deref(),
        }
    }
}

/// One flat object of parameters and memory, as it came.
#[derive(Clone, Copy)]
pub struct Params<'a>(&'a [u8]);

impl Default for Params<'_> {
    fn default() -> Self {
        Params(b"{}")
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Params<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(text)?.get();
        match raw.starts_with('{') {
            true => Ok(Params(raw.as_bytes())),
            false => Err(serde::de::Error::custom("`params` is an object")),
        }
    }
}

pub async fn post<'a, B>(
    app: &'a Arc<App>,
    service: &'a Arc<Service>,
    headers: &HeaderMap,
    sent: B,
    trace: Option<&Trace>,
) -> Result<Response<Sent>, Problem>
where
    B: Body<Data = Bytes>,
{
    let caller = auth::calling(app, headers)?;
    body::is_json(headers)?;
    let bytes = body::read(sent, app).await?;
    let _place = app.enter()?;
    let steps = steps(app, &bytes)?;
    let steps: Vec<gateway::Step<'_>> = steps.iter().map(Step::asked).collect();
    // all are decided before one of them is waited for
    let (service, begun) =
        gateway::begin_batch(&app.gateway, service, &caller, &steps, trace).await?;
    let mut text = Vec::with_capacity(320 * begun.len() + 16);
    let mut rooms = Vec::with_capacity(begun.len());
    text.extend_from_slice(b"{\"answers\":[");
    for (at, begun) in begun.into_iter().enumerate() {
        text.extend_from_slice(if at > 0 { b",{" } else { b"{" });
        tell(&service, begun, &mut text, &mut rooms).await;
        text.push(b'}');
    }
    text.extend_from_slice(b"]}");
    Ok(answer::json_text(text))
}

fn steps<'a>(app: &App, bytes: &'a [u8]) -> Result<Vec<Step<'a>>, Problem> {
    let batch: Batch<'a> = serde_json::from_slice(bytes).map_err(|error| {
        let detail =
            format!("a batch is {{\"steps\": [{{\"actor\", \"operation\", …}}]}}: {error}");
        Problem::malformed(detail).pointer("")
    })?;
    let steps_max = app.limits().batch_steps_max;
    if batch.steps.len() > steps_max {
        let detail = format!("a batch has at most {steps_max} steps");
        return Err(Problem::new(&kinds::TOO_LARGE, detail));
    }
    Ok(batch.steps)
}

/// Writes `"status":…,"body":…` once it may be told. Gives the problem, if it is one. The room in which
/// the answer was made goes to the others.
pub async fn tell(
    service: &Service,
    begun: Result<Begun, Problem>,
    out: &mut Vec<u8>,
    rooms: &mut Vec<Vec<u8>>,
) -> Option<Problem> {
    let outcome = match begun {
        Ok(begun) => begun.finish(service).await,
        Err(problem) => Err(problem),
    };
    match outcome {
        Ok(said) => {
            out.extend_from_slice(b"\"status\":200,\"body\":");
            out.extend_from_slice(&said.text);
            rooms.push(said.text);
            None
        }
        Err(problem) => Some(tell_problem(problem, out)),
    }
}

/// The same of a problem.
pub fn tell_problem(problem: Problem, out: &mut Vec<u8>) -> Problem {
    let text = format!("\"status\":{},\"body\":{}", problem.status().as_u16(), problem.to_json());
    out.extend_from_slice(text.as_bytes());
    problem
}
