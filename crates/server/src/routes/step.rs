//! `POST /v1/{design}/{actor}/{operation}`: one step or read.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, Response};
use runtime::Reply;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::app::App;
use crate::auth::{self, Caller};
use crate::body;
use crate::problem::Problem;
use crate::service::{Call, Service};

pub async fn post(
    app: &Arc<App>,
    service: &Service,
    call: &Call,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    let caller = auth::caller(app, headers)?;
    body::is_json(headers)?;
    let bytes = body::read(sent, app.limits()).await?;
    let reply = take(service, call, &caller, body::object(&bytes)?).await?;
    Ok(json(&Answer::of(&reply)))
}

/// Calls the runtime with one flat object of parameters and memory.
pub async fn take(
    service: &Service,
    call: &Call,
    caller: &Caller,
    fields: Map<String, Value>,
) -> Result<Reply, Problem> {
    let operation = service.operation(call);
    let actor = &service.design().actors[operation.actor.index()].name;
    if !caller.may_act_as(actor) {
        return Err(auth::wrong_role(actor));
    }
    let mut request = runtime::Request::new(actor, &operation.name, &caller.principal);
    for (name, value) in fields {
        let is_param = operation.params.iter().any(|param| param.name == name);
        if !is_param && call.memory.contains(&name) {
            request.memory.insert(name, value);
        } else {
            request.params.insert(name, value);
        }
    }
    let answer = service.runtime.call_async(&request).await;
    answer.map_err(|error| Problem::of_call(service, error))
}

/// Names what there is instead.
pub fn unknown(service: &Service, actor: &str, operation: &str) -> Problem {
    Problem::unknown(format!("`{}` has no step or read `{actor}/{operation}`", service.name))
}

/// What a step answers.
#[derive(Serialize)]
pub struct Answer<'a> {
    revision: &'a str,
    outcome: &'static str,
    memory: &'a Map<String, Value>,
    truth: &'a Value,
    result: &'a Value,
}

impl Answer<'_> {
    pub fn of(reply: &Reply) -> Answer<'_> {
        Answer {
            revision: &reply.revision,
            outcome: "done",
            memory: &reply.memory,
            truth: &reply.truth,
            result: &reply.result,
        }
    }
}

/// 200 with this as its body.
pub fn json(value: &impl Serialize) -> Response<Body> {
    let mut text = Vec::with_capacity(512);
    // writing to memory does not fail, and every map has texts for keys
    serde_json::to_writer(&mut text, value).expect("plain data");
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
