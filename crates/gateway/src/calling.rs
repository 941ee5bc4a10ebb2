//! A call of a step or a read, by whatever door it came: begun at once, answered when it is durable.

use std::sync::Arc;
use std::time::Instant;

use design::model::{Operation, OperationKind};
use runtime::{CallError, IfMatch, Reply, Request, TextCall};
use serde::Serialize;
use serde_json::{Map, Value};
use store::Ticket;
use telemetry::Trace;

use crate::access::{self, Caller, Memory};
use crate::gateway::Gateway;
use crate::idempotency::{self, Held};
use crate::latency::Histogram;
use crate::patience::Patience;
use crate::problem::{Hint, Problem};
use crate::rates::Left;
use crate::service::{Call, Service};

/// What comes with a call besides its parameters.
#[derive(Clone, Default)]
pub struct Terms {
    pub idempotency_key: Option<String>,
    pub if_match: Option<IfMatch>,
    /// which request it is a part of
    pub trace: Option<Trace>,
}

impl Terms {
    fn are_plain(&self) -> bool {
        self.idempotency_key.is_none() && self.if_match.is_none()
    }
}

/// A call that was decided; its answer may be told when it is durable.
pub struct Begun {
    ticket: Ticket,
    answer: Result<Told, CallError>,
    started: Instant,
    latency: Arc<Histogram>,
    /// the idempotency key is taken until the answer is known
    held: Option<Held>,
    /// where what it hands out belongs; none: it hands out nothing
    memory: Option<(Arc<Gateway>, Memory)>,
    principal: String,
    /// none: nothing limits it
    left: Option<Left>,
}

/// An answer that waits until it may be told.
enum Told {
    Reply(Box<Reply>),
    /// in JSON
    Text(Vec<u8>),
}

/// An answer in JSON.
pub struct Said {
    pub text: Vec<u8>,
    /// it was given before, for the same idempotency key
    pub replayed: bool,
    /// how the caller stands with its limit; none: there is none
    pub left: Option<Left>,
}

/// The call that a flat object of parameters and memory stands for. The console thinks calls through
/// with it as well, so whatever is to be checked or opened before the runtime is asked belongs here.
pub fn asked(
    gateway: &Gateway,
    service: &Service,
    call: &Call,
    caller: &Caller,
    fields: Map<String, Value>,
) -> Result<(Request, Option<Memory>), Problem> {
    let operation = service.operation(call);
    let actor = &service.design().actors[operation.actor.index()].name;
    access::may_act(gateway, service, caller, actor)?;
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
        false => Some(access::unseal(gateway, service, caller, &mut request)?),
    };
    request.viewer = caller.viewer(service);
    Ok((request, memory))
}

/// Decides the call, with one flat object of parameters and memory.
pub fn begin(
    gateway: &Arc<Gateway>,
    service: &Service,
    call: &Call,
    caller: &Caller,
    fields: Map<String, Value>,
    terms: Terms,
) -> Result<Begun, Problem> {
    let started = Instant::now();
    let (mut request, memory) = asked(gateway, service, call, caller, fields)?;
    let left = admitted(service, call, caller)?;
    let held = match &terms.idempotency_key {
        None => None,
        Some(key) => {
            let Request { actor, operation, principal, .. } = &request;
            let scope = [&service.name, actor, operation, principal, key];
            Some(gateway.under_way.take(scope.map(String::as_str))?)
        }
    };
    let memory = memory.map(|memory| (Arc::clone(gateway), memory));
    request.idempotency_key = terms.idempotency_key;
    request.if_match = terms.if_match;
    request.trace = terms.trace;
    request.legal = true;
    match service.runtime.begin(&request) {
        Ok((ticket, answer)) => {
            let answer = answer.map(|reply| Told::Reply(Box::new(reply)));
            let latency = Arc::clone(&call.latency);
            let principal = caller.principal.clone();
            Ok(Begun { ticket, answer, started, latency, held, memory, principal, left })
        }
        Err(error) => Err(Problem::of_call(service, error)),
    }
}

/// Decides the call whose parameters and memory are a text of one flat object. The answer may be written
/// into `room`, which need not be empty.
pub fn begin_text(
    gateway: &Arc<Gateway>,
    service: &Service,
    call: &Call,
    caller: &Caller,
    object: &[u8],
    terms: &Terms,
    mut room: Vec<u8>,
) -> Result<Begun, Problem> {
    room.clear();
    if terms.are_plain()
        && let Some(begun) = begin_plain(service, call, caller, object, terms.trace.as_ref(), room)
    {
        return begun;
    }
    begin(gateway, service, call, caller, self::object(object)?, terms.clone())
}

/// The short way of what is asked for most: a step with plain parameters. None: it is not that, and
/// nothing was done.
fn begin_plain(
    service: &Service,
    call: &Call,
    caller: &Caller,
    object: &[u8],
    trace: Option<&Trace>,
    mut text: Vec<u8>,
) -> Option<Result<Begun, Problem>> {
    let started = Instant::now();
    let actor = &service.design().actors[service.operation(call).actor.index()].name;
    // whoever may not is told so on the long way
    if !caller.may_act_as(service, actor) {
        return None;
    }
    // and so is whoever calls what is limited
    if call.rates.is_some() {
        return None;
    }
    let viewer = caller.viewer(service);
    let principal = &caller.principal;
    let (operation, viewer) = (call.id, viewer.as_ref());
    let asked = TextCall { operation, params: object, principal, viewer, trace };
    text.reserve(ANSWER_BYTES);
    let begun = service.runtime.begin_text(&asked, &mut text)?;
    Some(match begun {
        Ok((ticket, answer)) => Ok(Begun {
            ticket,
            answer: answer.map(|()| Told::Text(text)),
            started,
            latency: Arc::clone(&call.latency),
            held: None,
            memory: None,
            principal: String::new(),
            left: None,
        }),
        Err(error) => Err(Problem::of_call(service, error)),
    })
}

/// Counts the call of a step that is limited. Whatever becomes of it counts: who guesses is limited, too.
fn admitted(service: &Service, call: &Call, caller: &Caller) -> Result<Option<Left>, Problem> {
    let Some(rates) = &call.rates else { return Ok(None) };
    match rates.take(&caller.principal, service.runtime.now_ms()) {
        Ok(left) => Ok(Some(left)),
        Err(left) => Err(Problem::too_often(left)),
    }
}

/// One step as a message names it: of a batch, or of a connection that carries many.
pub struct Step<'a> {
    pub actor: &'a str,
    pub operation: &'a str,
    /// a text of one flat object of parameters and memory
    pub params: &'a [u8],
    pub idempotency_key: Option<&'a str>,
}

/// Decides a step that a message names.
pub fn begin_step(
    gateway: &Arc<Gateway>,
    service: &Service,
    caller: &Caller,
    step: &Step<'_>,
    trace: Option<Trace>,
    room: Vec<u8>,
) -> Result<Begun, Problem> {
    let call = service
        .call(step.actor, step.operation)
        .ok_or_else(|| unknown(service, step.actor, step.operation))?;
    let idempotency_key = step.idempotency_key.map(idempotency::checked).transpose()?;
    let terms = Terms { idempotency_key, trace, ..Terms::default() };
    begin_text(gateway, service, call, caller, step.params, &terms, room)
}

/// Decides many steps one after the other; each is carried out or refused on its own. Gives also the
/// version of the service that the last of them met.
pub async fn begin_batch(
    gateway: &Arc<Gateway>,
    service: &Arc<Service>,
    caller: &Caller,
    steps: &[Step<'_>],
    trace: Option<&Trace>,
) -> Result<(Arc<Service>, Vec<Result<Begun, Problem>>), Problem> {
    let mut service = Arc::clone(service);
    let mut begun = Vec::with_capacity(steps.len());
    let mut patience = Patience::default();
    for step in steps {
        begun.push(loop {
            match begin_step(gateway, &service, caller, step, trace.cloned(), Vec::new()) {
                // this step and those after it are for the new version
                Err(problem) if patience.with(&problem).await => {
                    service = gateway.service(&service.name)?;
                }
                decided => break decided,
            }
        });
    }
    Ok((service, begun))
}

/// Decides a call, and waits until its answer may be told. A version that is replaced meanwhile is
/// waited for. The answer is made in `room` if there is any.
pub async fn answered(
    gateway: &Arc<Gateway>,
    service: &Arc<Service>,
    call: &Arc<Call>,
    caller: &Caller,
    object: &[u8],
    terms: &Terms,
    mut room: Vec<u8>,
) -> Result<Said, Problem> {
    let (mut service, mut call) = (Arc::clone(service), Arc::clone(call));
    let mut patience = Patience::default();
    let begun = loop {
        let room = std::mem::take(&mut room);
        match begin_text(gateway, &service, &call, caller, object, terms, room) {
            Err(problem) if patience.with(&problem).await => {
                let operation = service.operation(&call);
                let actor = &service.design().actors[operation.actor.index()].name;
                let newer = gateway.service(&service.name)?;
                let found = newer.call(actor, &operation.name).cloned();
                call = found.ok_or_else(|| unknown(&newer, actor, &operation.name))?;
                service = newer;
            }
            begun => break begun?,
        }
    };
    begun.finish(&service).await
}

/// One flat object.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Problem::malformed("the body is one JSON object").pointer("")),
        Err(error) => Err(Problem::malformed(format!("the body is no JSON: {error}"))),
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
    let mut of_actor =
        design.operations.iter().filter(|operation| operation.actor.index() == known);
    if let Some(internal) = of_actor.clone().find(|known| known.name == operation) {
        return Problem::unknown(format!("nobody calls `{operation}`: {}", run_by(internal)));
    }
    if !of_actor.any(|operation| service.is_callable(operation)) {
        return Problem::unknown(format!("`{actor}` has no step or read that can be called"));
    }
    let callable = design
        .operations
        .iter()
        .filter(|operation| operation.actor.index() == known && service.is_callable(operation));
    let instead = design::instead(operation, callable.map(|operation| &*operation.name));
    Problem::unknown(format!("`{actor}` has no step or read `{operation}`; {instead}"))
}

/// Who runs an operation that callers do not.
fn run_by(operation: &Operation) -> String {
    if let Some(hears) = &operation.hears {
        return format!("the server calls it for each event `{}` that was emitted", hears.told());
    }
    if operation.each.is_some() {
        return "the server calls it for each record of a set, when its turn has come".into();
    }
    let who = match operation.kind {
        OperationKind::Repair { .. } => {
            "it is a repair, which the server runs by itself once its guard holds"
        }
        OperationKind::Effect(_) => {
            "it is an effect, which the server carries out for the step that asked for it"
        }
        OperationKind::Step { .. } | OperationKind::Read { .. } => {
            "another operation sends it as a message, or it belongs to the world outside"
        }
    };
    who.into()
}

/// Room for the answer of most steps.
const ANSWER_BYTES: usize = 384;

impl Begun {
    /// What to tell, once it may be told.
    async fn told(self, service: &Service) -> Result<Told, Problem> {
        let durable = self.ticket.durable().await;
        drop(self.held);
        self.latency.record(self.started.elapsed());
        durable.map_err(Problem::of_store)?;
        let mut told = self.answer.map_err(|error| Problem::of_call(service, error))?;
        if let (Some((gateway, memory)), Told::Reply(reply)) = (&self.memory, &mut told) {
            memory.seal(gateway, service, &self.principal, reply)?;
        }
        Ok(told)
    }

    /// The answer in JSON, once it may be told.
    pub async fn finish(self, service: &Service) -> Result<Said, Problem> {
        let left = self.left;
        let told = self.told(service).await.map_err(|problem| match left {
            Some(left) => problem.hint(Hint::Rate(left)),
            None => problem,
        });
        Ok(match told? {
            Told::Text(text) => Said { text, replayed: false, left },
            Told::Reply(reply) => {
                let mut text = Vec::with_capacity(ANSWER_BYTES);
                // writing to memory does not fail, and every map has texts for keys
                serde_json::to_writer(&mut text, &Answer::of(&reply)).expect("plain data");
                Said { text, replayed: reply.replayed, left }
            }
        })
    }

    /// The answer of what was begun with fields, once it may be told.
    pub async fn reply(self, service: &Service) -> Result<Reply, Problem> {
        match self.told(service).await? {
            Told::Reply(reply) => Ok(*reply),
            Told::Text(_) => Err(Problem::broken()),
        }
    }
}

/// What a step answers.
#[derive(Serialize)]
struct Answer<'a> {
    revision: &'a str,
    outcome: &'static str,
    memory: &'a Map<String, Value>,
    truth: &'a Value,
    result: &'a Value,
}

impl Answer<'_> {
    fn of(reply: &Reply) -> Answer<'_> {
        Answer {
            revision: &reply.revision,
            outcome: "done",
            memory: &reply.memory,
            truth: &reply.truth,
            result: &reply.result,
        }
    }
}
