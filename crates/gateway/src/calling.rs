//! What a call asks for: which operation, by whom, with which parameters, on which terms.

use design::model::{Operation, OperationKind};
use runtime::{IfMatch, Request};
use serde_json::{Map, Value};
use telemetry::Trace;

use crate::access::{self, Caller, Memory};
use crate::gateway::Gateway;
use crate::problem::Problem;
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
    pub(crate) fn are_plain(&self) -> bool {
        self.idempotency_key.is_none() && self.if_match.is_none()
    }
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

/// One step as a message names it: of a batch, or of a connection that carries many.
pub struct Step<'a> {
    pub actor: &'a str,
    pub operation: &'a str,
    /// a text of one flat object of parameters and memory
    pub params: &'a [u8],
    pub idempotency_key: Option<&'a str>,
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
fn run_by(operation: &Operation) -> &'static str {
    match operation.kind {
        OperationKind::Repair { .. } => {
            "it is a repair, which the server runs by itself once its guard holds"
        }
        OperationKind::Effect(_) => {
            "it is an effect, which the server carries out for the step that asked for it"
        }
        OperationKind::Step { .. } | OperationKind::Read { .. } => {
            "another operation sends it as a message, or it belongs to the world outside"
        }
    }
}
