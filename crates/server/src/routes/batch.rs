//! `POST /v1/{design}/batch`: many steps, one answer each, in order. They are begun one after the
//! other and become durable together; each is carried out or refused on its own.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::step;
use crate::app::App;
use crate::auth::Caller;
use crate::calling::{self, Answer, Begun, Terms};
use crate::patience::Patience;
use crate::problem::Problem;
use crate::service::Service;
use crate::{answer, auth, body, idempotency};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch {
    steps: Vec<Step>,
}

/// One step of a batch or of a socket.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub actor: String,
    pub operation: String,
    /// one flat object of parameters and memory
    #[serde(default)]
    pub params: Map<String, Value>,
    #[serde(default)]
    pub idempotency_key: Option<String>,
}

pub async fn post(
    app: &Arc<App>,
    mut service: &Arc<Service>,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    let caller = auth::caller(app, headers)?;
    body::is_json(headers)?;
    let bytes = body::read(sent, app.limits()).await?;
    let mut steps = steps(&bytes)?;
    let steps_max = app.limits().batch_steps_max;
    if steps.len() > steps_max {
        return Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            "the request is too large",
            format!("a batch has at most {steps_max} steps"),
        ));
    }
    let mut begun = Vec::with_capacity(steps.len());
    let mut patience = Patience::default();
    'served: loop {
        for step in steps {
            match begin(app, service, &caller, step) {
                Err(problem) if patience.with(&problem).await => {
                    // this step and those after it are for the new version
                    service = app.service(&service.name)?;
                    steps = self::steps(&bytes)?;
                    steps.drain(..begun.len());
                    continue 'served;
                }
                begun_or_not => begun.push(begun_or_not),
            }
        }
        break;
    }
    let mut text = Vec::with_capacity(256 * begun.len() + 16);
    text.extend_from_slice(b"{\"answers\":[");
    for (at, begun) in begun.into_iter().enumerate() {
        text.extend_from_slice(if at > 0 { b",{" } else { b"{" });
        tell(service, begun, &mut text).await;
        text.push(b'}');
    }
    text.extend_from_slice(b"]}");
    Ok(answer::of_type("application/json", text))
}

fn steps(bytes: &[u8]) -> Result<Vec<Step>, Problem> {
    let batch: Result<Batch, _> = serde_json::from_slice(bytes);
    batch.map(|batch| batch.steps).map_err(|error| {
        let detail =
            format!("a batch is {{\"steps\": [{{\"actor\", \"operation\", …}}]}}: {error}");
        Problem::malformed(detail).pointer("")
    })
}

/// Decides one step.
pub fn begin(
    app: &Arc<App>,
    service: &Service,
    caller: &Caller,
    step: Step,
) -> Result<Begun, Problem> {
    let call = service
        .call(&step.actor, &step.operation)
        .ok_or_else(|| step::unknown(service, &step.actor, &step.operation))?;
    let idempotency_key = step.idempotency_key.as_deref().map(idempotency::checked).transpose()?;
    let terms = Terms { idempotency_key, ..Terms::default() };
    calling::begin(app, service, call, caller, step.params, terms)
}

/// Writes `"status":…,"body":…` once it may be told.
pub async fn tell(service: &Service, begun: Result<Begun, Problem>, out: &mut Vec<u8>) {
    let outcome = match begun {
        Ok(begun) => begun.finish(service).await,
        Err(problem) => Err(problem),
    };
    match outcome {
        Ok(reply) => {
            out.extend_from_slice(b"\"status\":200,\"body\":");
            // writing to memory does not fail, and every map has texts for keys
            serde_json::to_writer(&mut *out, &Answer::of(&reply)).expect("plain data");
        }
        Err(problem) => tell_problem(&problem, out),
    }
}

/// The same of a problem.
pub fn tell_problem(problem: &Problem, out: &mut Vec<u8>) {
    let text = format!("\"status\":{},\"body\":{}", problem.status.as_u16(), problem.to_json());
    out.extend_from_slice(text.as_bytes());
}
