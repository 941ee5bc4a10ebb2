//! A call of a step or a read, by whatever door it came: begun at once, answered when it is durable.

use std::sync::Arc;
use std::time::Instant;

use runtime::{CallError, IfMatch, Reply, Request};
use serde::Serialize;
use serde_json::{Map, Value};
use store::Ticket;

use crate::app::App;
use crate::auth::{self, Caller, Memory};
use crate::idempotency::Held;
use crate::metrics::Histogram;
use crate::problem::Problem;
use crate::service::{Call, Service};

/// What comes with a call besides its parameters.
#[derive(Clone, Default)]
pub struct Terms {
    pub idempotency_key: Option<String>,
    pub if_match: Option<IfMatch>,
}

/// A call that was decided; its answer may be told when it is durable.
pub struct Begun {
    ticket: Ticket,
    answer: Result<Reply, CallError>,
    started: Instant,
    latency: Arc<Histogram>,
    /// the idempotency key is taken until the answer is known
    held: Option<Held>,
    /// where what it hands out belongs; none: it hands out nothing
    memory: Option<(Arc<App>, Memory)>,
    principal: String,
}

/// The call that a flat object of parameters and memory stands for. The console thinks calls through
/// with it as well, so whatever is to be checked or opened before the runtime is asked belongs here.
pub fn asked(
    app: &App,
    service: &Service,
    call: &Call,
    caller: &Caller,
    fields: Map<String, Value>,
) -> Result<(Request, Option<Memory>), Problem> {
    let operation = service.operation(call);
    let actor = &service.design().actors[operation.actor.index()].name;
    auth::may_act(app, service, caller, actor)?;
    let mut request = Request::new(actor, &operation.name, &caller.principal);
    if call.memory.is_empty() {
        request.params = fields;
    } else {
        for (name, value) in fields {
            let is_param = operation.params.iter().any(|param| param.name == name);
            if !is_param && call.memory.contains(&name) {
                request.memory.insert(name, value);
            } else {
                request.params.insert(name, value);
            }
        }
    }
    let memory = match operation.memory.is_empty() {
        // what this step does not look at is no mistake
        true => {
            request.memory.clear();
            None
        }
        false => Some(auth::unseal(app, service, caller, &mut request)?),
    };
    request.viewer = caller.viewer(service);
    Ok((request, memory))
}

/// Decides the call, with one flat object of parameters and memory.
pub fn begin(
    app: &Arc<App>,
    service: &Service,
    call: &Call,
    caller: &Caller,
    fields: Map<String, Value>,
    terms: Terms,
) -> Result<Begun, Problem> {
    let started = Instant::now();
    let (mut request, memory) = asked(app, service, call, caller, fields)?;
    let held = match &terms.idempotency_key {
        None => None,
        Some(key) => {
            let Request { actor, operation, principal, .. } = &request;
            let scope = [&service.name, actor, operation, principal, key];
            Some(app.under_way.take(scope.map(String::as_str))?)
        }
    };
    let memory = memory.map(|memory| (Arc::clone(app), memory));
    request.idempotency_key = terms.idempotency_key;
    request.if_match = terms.if_match;
    request.legal = true;
    match service.runtime.begin(&request) {
        Ok((ticket, answer)) => {
            let latency = Arc::clone(&call.latency);
            let principal = caller.principal.clone();
            Ok(Begun { ticket, answer, started, latency, held, memory, principal })
        }
        Err(error) => Err(Problem::of_call(service, error)),
    }
}

impl Begun {
    /// What to tell, once it may be told.
    pub async fn finish(self, service: &Service) -> Result<Reply, Problem> {
        let durable = self.ticket.durable().await;
        drop(self.held);
        self.latency.record(self.started.elapsed());
        durable.map_err(Problem::of_store)?;
        let mut reply = self.answer.map_err(|error| Problem::of_call(service, error))?;
        if let Some((app, memory)) = &self.memory {
            memory.seal(app, service, &self.principal, &mut reply.memory)?;
        }
        Ok(reply)
    }
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
