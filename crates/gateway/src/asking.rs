//! Calls of one caller, by whatever door they came: read, decided in a group with what others ask at the
//! same time, answered when they are durable.

use std::sync::Arc;
use std::time::Instant;

use runtime::{Answering, CallError, Calls, Reply, Request, TextCall, Told};
use serde::Serialize;
use serde_json::{Map, Value};
use telemetry::Trace;

use crate::access::{Caller, Memory};
use crate::calling::{Step, Terms, asked, object, unknown};
use crate::gateway::Gateway;
use crate::idempotency::{self, Held};
use crate::patience::Patience;
use crate::problem::Problem;
use crate::service::{Call, Service};

/// Calls to one service that are decided one after the other, and answered together.
pub struct Asking<'s> {
    gateway: &'s Arc<Gateway>,
    service: &'s Service,
    calls: Calls<'s>,
    started: Instant,
}

/// A call on its way; its answer may be told when it is durable.
pub struct Begun<'s> {
    gateway: &'s Arc<Gateway>,
    service: &'s Service,
    call: &'s Call,
    started: Instant,
    /// the idempotency key is taken until the answer is known
    held: Option<Held>,
    /// where what it hands out belongs, and to whom; none: it hands out nothing
    memory: Option<(Memory, String)>,
}

/// An answer in JSON.
pub struct Said {
    pub text: Vec<u8>,
    /// it was given before, for the same idempotency key
    pub replayed: bool,
}

/// Room for the answer of most steps.
const ANSWER_BYTES: usize = 384;

impl<'s> Asking<'s> {
    /// No calls yet.
    pub fn new(gateway: &'s Arc<Gateway>, service: &'s Service) -> Asking<'s> {
        Asking { gateway, service, calls: service.runtime.calls(), started: Instant::now() }
    }

    pub fn service(&self) -> &'s Service {
        self.service
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds a call whose parameters and memory are a text of one flat object. The answer may be written
    /// into `room`, which need not be empty. What is wrong with it is told at once, and nothing is added.
    pub fn text(
        &mut self,
        call: &'s Call,
        caller: &Caller,
        text: &[u8],
        terms: &Terms,
        room: Vec<u8>,
    ) -> Result<Begun<'s>, Problem> {
        let plain = terms.are_plain();
        match plain.then(|| self.plain(call, caller, text, terms.trace.as_ref(), room)).flatten() {
            Some(begun) => Ok(begun),
            None => self.fields(call, caller, object(text)?, terms.clone()),
        }
    }

    /// The short way of what is asked for most: a step with plain parameters. None: it is not that, and
    /// nothing was added.
    fn plain(
        &mut self,
        call: &'s Call,
        caller: &Caller,
        object: &[u8],
        trace: Option<&Trace>,
        mut text: Vec<u8>,
    ) -> Option<Begun<'s>> {
        let service = self.service;
        let viewer = caller.viewer(service);
        if let Some(viewer) = &viewer {
            let actor = &service.design().actors[service.operation(call).actor.index()].name;
            // whoever may not is told so on the long way
            if service.runtime.allows(viewer, actor) != Some(true) {
                return None;
            }
        }
        let (principal, viewer) = (&caller.principal, viewer.as_ref());
        let asked = TextCall { operation: call.id, params: object, principal, viewer, trace };
        text.clear();
        text.reserve(ANSWER_BYTES);
        if !self.calls.text(&asked, &mut text) {
            return None;
        }
        let Asking { gateway, service, started, .. } = *self;
        Some(Begun { gateway, service, call, started, held: None, memory: None })
    }

    /// Adds a call with one flat object of parameters and memory.
    pub fn fields(
        &mut self,
        call: &'s Call,
        caller: &Caller,
        fields: Map<String, Value>,
        terms: Terms,
    ) -> Result<Begun<'s>, Problem> {
        let Asking { gateway, service, started, .. } = *self;
        let (mut request, memory) = asked(gateway, service, call, caller, fields)?;
        let held = match &terms.idempotency_key {
            None => None,
            Some(key) => {
                let Request { actor, operation, principal, .. } = &request;
                let scope = [&service.name, actor, operation, principal, key];
                Some(gateway.under_way.take(scope.map(String::as_str))?)
            }
        };
        request.idempotency_key = terms.idempotency_key;
        request.if_match = terms.if_match;
        request.trace = terms.trace;
        request.legal = true;
        let added = self.calls.request(&request);
        added.map_err(|error| Problem::of_call(service, error))?;
        let memory = memory.map(|memory| (memory, caller.principal.clone()));
        Ok(Begun { gateway, service, call, started, held, memory })
    }

    /// Adds a step that a message names.
    pub fn step(
        &mut self,
        caller: &Caller,
        step: &Step<'_>,
        trace: Option<Trace>,
        room: Vec<u8>,
    ) -> Result<Begun<'s>, Problem> {
        let call = self.service.call(step.actor, step.operation);
        let call = call.ok_or_else(|| unknown(self.service, step.actor, step.operation))?;
        let idempotency_key = step.idempotency_key.map(idempotency::checked).transpose()?;
        let terms = Terms { idempotency_key, trace, ..Terms::default() };
        self.text(call, caller, step.params, &terms, room)
    }

    /// Ready when all of them are durable.
    pub fn answered(self) -> Answering<'s> {
        self.calls.answered()
    }
}

impl Begun<'_> {
    fn told(self, answer: Result<Told, CallError>, now: Instant) -> Result<Told, Problem> {
        drop(self.held);
        self.call.latency.record(now.duration_since(self.started));
        let mut told = answer.map_err(|error| Problem::of_call(self.service, error))?;
        if let (Some((memory, principal)), Told::Reply(reply)) = (&self.memory, &mut told) {
            memory.seal(self.gateway, self.service, principal, &mut reply.memory)?;
        }
        Ok(told)
    }

    /// What became of it in JSON, when it may be told.
    pub fn said(self, answer: Result<Told, CallError>, now: Instant) -> Result<Said, Problem> {
        Ok(match self.told(answer, now)? {
            Told::Text(text) => Said { text, replayed: false },
            Told::Reply(reply) => {
                let mut text = Vec::with_capacity(ANSWER_BYTES);
                // writing to memory does not fail, and every map has texts for keys
                serde_json::to_writer(&mut text, &Answer::of(&reply)).expect("plain data");
                Said { text, replayed: reply.replayed }
            }
        })
    }
}

/// Makes a call, and waits until its answer may be told. A version that is replaced meanwhile is waited
/// for. The answer is made in `room` if there is any.
pub async fn answered(
    gateway: &Arc<Gateway>,
    mut service: &Service,
    mut call: &Call,
    caller: &Caller,
    object: &[u8],
    terms: &Terms,
    mut room: Vec<u8>,
) -> Result<Said, Problem> {
    let mut patience = Patience::default();
    loop {
        let mut asking = Asking::new(gateway, service);
        let begun = asking.text(call, caller, object, terms, std::mem::take(&mut room))?;
        let answer = asking.answered().await.take(0);
        match begun.said(answer, Instant::now()) {
            Err(problem) if patience.with(&problem).await => {
                let operation = service.operation(call);
                let actor = &service.design().actors[operation.actor.index()].name;
                service = gateway.service(&service.name)?;
                let found = service.call(actor, &operation.name);
                call = found.ok_or_else(|| unknown(service, actor, &operation.name))?;
            }
            said => return said,
        }
    }
}

/// Makes a call with one flat object of parameters and memory, and waits until its answer may be told.
pub async fn reply(
    gateway: &Arc<Gateway>,
    service: &Service,
    call: &Call,
    caller: &Caller,
    fields: Map<String, Value>,
    terms: Terms,
) -> Result<Reply, Problem> {
    let mut asking = Asking::new(gateway, service);
    let begun = asking.fields(call, caller, fields, terms)?;
    let answer = asking.answered().await.take(0);
    match begun.told(answer, Instant::now())? {
        Told::Reply(reply) => Ok(reply),
        Told::Text(_) => Err(Problem::broken()),
    }
}

/// Makes many calls one after the other, and waits until all answers may be told; each is carried out or
/// refused on its own. A version that is replaced meanwhile is waited for.
pub async fn answered_batch(
    gateway: &Arc<Gateway>,
    mut service: &Service,
    caller: &Caller,
    steps: &[Step<'_>],
    trace: Option<&Trace>,
) -> Result<Vec<Result<Said, Problem>>, Problem> {
    let mut said: Vec<Result<Said, Problem>> = Vec::with_capacity(steps.len());
    let mut patience = Patience::default();
    loop {
        let mut asking = Asking::new(gateway, service);
        let rest = &steps[said.len()..];
        let begun: Vec<Result<Begun<'_>, Problem>> =
            rest.iter().map(|step| asking.step(caller, step, trace.cloned(), Vec::new())).collect();
        let mut answers = asking.answered().await;
        let (mut at, now) = (0, Instant::now());
        for begun in begun {
            said.push(begun.and_then(|begun| {
                at += 1;
                begun.said(answers.take(at - 1), now)
            }));
        }
        // from the first on that met a version which is replaced, all are for the new one
        let replaced = |said: &Result<Said, Problem>| {
            said.as_ref().is_err_and(|problem| problem.is(&crate::kinds::REPLACED))
        };
        let Some(first) = said.iter().position(replaced) else { return Ok(said) };
        let Err(problem) = &said[first] else { return Ok(said) };
        if !patience.with(problem).await {
            return Ok(said);
        }
        said.truncate(first);
        service = gateway.service(&service.name)?;
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
