//! A call as it comes in, and its arguments as the engine takes them.

use design::model::{Design, MemoryUse, Operation, OperationId, Type};
use engine::{NULL, Word};
use layout::{OutcomeKey, Pool};
use serde_json::{Map, Value};
use store::Surroundings;
use telemetry::Trace;

use super::chosen;
use super::idempotency::Payload;
use super::reply::CallError;
use crate::core::Schema;
use crate::secrets::{self, MAX_SECRET};
use crate::sight::Viewer;
use crate::values::{self, BadValue};

/// One call of one operation.
#[derive(Clone, Default)]
pub struct Request {
    pub actor: String,
    pub operation: String,
    pub params: Map<String, Value>,
    /// what the caller remembers, by the names that an earlier answer gave
    pub memory: Map<String, Value>,
    /// who calls
    pub principal: String,
    /// a second call under the same key is answered like the first
    pub idempotency_key: Option<String>,
    /// the answer need not tell the truth of what was changed
    pub brief: bool,
    /// whose eyes the answer is for; none: nothing is left out
    pub viewer: Option<Viewer>,
    /// a refusal tells what is legal instead
    pub legal: bool,
    /// only if the record that the step is about is as the caller saw it
    pub if_match: Option<IfMatch>,
    /// which request this is a part of; carried to whatever it causes
    pub trace: Option<Trace>,
}

/// Without the values that it was given: some may be secrets.
impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Request { actor, operation, principal, params, .. } = self;
        let names: Vec<&String> = params.keys().collect();
        write!(f, "{actor}[{operation}{names:?}] by {principal}")
    }
}

/// What a caller expects of the record that a step is about: the one that its first parameter of a
/// record's type refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IfMatch {
    /// there is one
    Exists,
    /// it has one of these versions
    Versions(Vec<u64>),
}

impl Request {
    pub fn new(actor: &str, operation: &str, principal: &str) -> Request {
        Request {
            actor: actor.into(),
            operation: operation.into(),
            principal: principal.into(),
            ..Request::default()
        }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Request {
        self.params.insert(name.into(), value.into());
        self
    }

    #[must_use]
    pub fn remembering(mut self, memory: Map<String, Value>) -> Request {
        self.memory = memory;
        self
    }

    /// Leaves the truth out of the answer, unless it is kept for an idempotency key anyway.
    #[must_use]
    pub fn brief(mut self) -> Request {
        self.brief = true;
        self
    }

    /// What the viewer may not see is left out of the answer and of a refusal.
    #[must_use]
    pub fn seen_by(mut self, viewer: Viewer) -> Request {
        self.viewer = Some(viewer);
        self
    }

    #[must_use]
    pub fn keyed(mut self, key: &str) -> Request {
        self.idempotency_key = Some(key.into());
        self
    }
}

/// The arguments of a call, with handles in the call's pool.
#[derive(Debug)]
pub struct Arguments {
    pub params: Vec<Word>,
    pub memory: Vec<Word>,
    pub me: Word,
    pub chosen: Chosen,
    /// the step takes a record from a view, and there is none
    pub none_left: bool,
}

/// What the server chose for a call, as its answers tell it.
#[derive(Default)]
pub struct Chosen {
    /// the first one: secrets in plain text
    pub first: Value,
    /// every other: of secrets that they were given already
    pub again: Value,
}

/// Never shows a secret.
impl std::fmt::Debug for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.again)
    }
}

/// A call whose arguments were read.
pub struct Asked<'a> {
    pub id: OperationId,
    pub request: &'a Request,
    pub arguments: &'a Arguments,
    /// where its outcome is kept, and what a second call must agree with
    pub idempotent: Option<(OutcomeKey, Payload)>,
    pub now: Word,
}

pub fn arguments(
    schema: &Schema,
    id: OperationId,
    request: &Request,
    surroundings: &dyn Surroundings,
    pool: &mut Pool,
) -> Result<Arguments, CallError> {
    let operation = &schema.design.operations[id.index()];
    pool.given_mut().operation = Some(id);
    let mut params = Vec::with_capacity(operation.params.len());
    let mut chosen = Vec::new();
    let mut given = 0;
    for (at, param) in operation.params.iter().enumerate() {
        if let Some(generated) = &param.generated {
            if request.params.contains_key(&param.name) {
                let message = format!("`{}` is chosen by the server; leave it out", param.name);
                return Err(at_field("params", &param.name, BadValue::new("", message)).into());
            }
            let Some(text) = chosen::choose(generated, surroundings) else {
                // what is taken from a view is known when it is proposed
                params.push(NULL);
                continue;
            };
            params.push(match &param.ty {
                Type::Secret => secrets::take_given(schema, surroundings, text.as_bytes(), pool)?,
                Type::Ref(subject) => {
                    let part = pool.text(text.as_bytes());
                    pool.key(*subject, &[part])
                }
                _ => pool.text(text.as_bytes()),
            });
            chosen.push((param.name.clone(), text, param.ty == Type::Secret));
            continue;
        }
        match request.params.get(&param.name) {
            Some(Value::Null) if param.ty.is_secret() && param.ty.is_optional() => {
                given += 1;
                params.push(NULL);
            }
            Some(value) if param.ty.is_secret() => {
                given += 1;
                let plain = secret_text(value);
                let plain = plain.map_err(|bad| at_field("params", &param.name, bad))?;
                params.push(secrets::take_given(schema, surroundings, plain, pool)?);
            }
            Some(value) => {
                given += 1;
                let first = params.len();
                values::read(&schema.design, &param.ty, value, pool, &mut params)
                    .and_then(|()| values::within(&param.ty, param.range, params[first]))
                    .map_err(|bad| at_field("params", &param.name, bad))?;
            }
            None => match schema.program.param_default(id, at) {
                Some(words) => params.extend_from_slice(words),
                None if param.ty.is_optional() => params.push(NULL),
                None => {
                    // perhaps it was only misspelled
                    no_other(operation, &request.params)?;
                    let message = format!("`{}` is missing", param.name);
                    return Err(at_field("params", &param.name, BadValue::new("", message)).into());
                }
            },
        }
    }
    if given < request.params.len() {
        no_other(operation, &request.params)?;
    }
    let mut memory = Vec::with_capacity(operation.memory.len());
    for used in &operation.memory {
        let field = &schema.design.actors[used.actor.index()].memory[used.field.index()];
        let name = memory_name(&schema.design, operation, used);
        match request.memory.get(&name) {
            Some(value) if used.read => {
                values::read(&schema.design, &field.ty, value, pool, &mut memory)
                    .map_err(|bad| at_field("memory", &name, bad))?;
            }
            _ => memory.push(NULL),
        }
    }
    let me = pool.text(request.principal.as_bytes());
    Ok(Arguments { params, memory, me, chosen: Chosen::of(chosen), none_left: false })
}

impl Chosen {
    /// This record was taken from a view; every answer tells it.
    pub fn take(&mut self, name: &str, key: &Value) {
        for told in [&mut self.first, &mut self.again] {
            if !told.is_object() {
                *told = Value::Object(Map::new());
            }
            told[name] = key.clone();
        }
    }

    /// Each with its name, and whether it is a secret.
    fn of(chosen: Vec<(String, String, bool)>) -> Chosen {
        if chosen.is_empty() {
            return Chosen::default();
        }
        let (mut first, mut again, mut given) = (Map::new(), Map::new(), Vec::new());
        for (name, text, secret) in chosen {
            let told_again = if secret { Value::Null } else { text.clone().into() };
            again.insert(name.clone(), told_again);
            first.insert(name.clone(), text.into());
            given.extend(secret.then_some(Value::String(name)));
        }
        if !given.is_empty() {
            again.insert(ALREADY_GIVEN.into(), given.into());
        }
        Chosen { first: first.into(), again: again.into() }
    }
}

/// Beside what the server chose, in an answer that is given again: the secrets that are not.
pub const ALREADY_GIVEN: &str = "already_given";

/// What is wrong with a secret is told without it.
fn secret_text(value: &Value) -> Result<&[u8], BadValue> {
    let Value::String(text) = value else {
        return Err(BadValue::new("", "expected a secret, which is a text"));
    };
    match text.len() {
        0 => Err(BadValue::new("", "a secret is not empty")),
        1..=MAX_SECRET => Ok(text.as_bytes()),
        _ => Err(BadValue::new("", format!("a secret has at most {MAX_SECRET} bytes"))),
    }
}

/// Nothing is given that the operation does not take.
fn no_other(operation: &Operation, given: &Map<String, Value>) -> Result<(), BadValue> {
    for name in given.keys() {
        if !operation.params.iter().any(|param| param.name == *name) {
            let known: Vec<&str> = operation.params.iter().map(|p| p.name.as_str()).collect();
            let message = format!(
                "`{}` takes no `{name}`; its parameters are {}",
                operation.name,
                if known.is_empty() { "none".to_string() } else { known.join(", ") }
            );
            return Err(at_field("params", name, BadValue::new("", message)));
        }
    }
    Ok(())
}

/// `my_epoch`, or `victim.my_epoch` where the operation has it of several records.
pub fn memory_name(design: &Design, operation: &Operation, used: &MemoryUse) -> String {
    operation.memory_name(design, used)
}

fn at_field(part: &str, name: &str, bad: BadValue) -> BadValue {
    let name = name.replace('~', "~0").replace('/', "~1");
    BadValue { pointer: format!("/{part}/{name}{}", bad.pointer), message: bad.message }
}
