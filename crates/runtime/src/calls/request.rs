//! A call as it comes in, and its arguments as the engine takes them.

use design::model::{Design, MemoryUse, Operation, OperationId};
use engine::{NULL, Word};
use layout::Pool;
use serde_json::{Map, Value};
use telemetry::Trace;

use crate::core::Schema;
use crate::sight::Viewer;
use crate::values::{self, BadValue};

/// One call of one operation.
#[derive(Clone, Debug, Default)]
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
#[derive(Debug, Default)]
pub struct Arguments {
    pub params: Vec<Word>,
    pub memory: Vec<Word>,
    pub me: Word,
}

impl Arguments {
    /// Forgets everything but its room.
    pub fn clear(&mut self) {
        self.params.clear();
        self.memory.clear();
        self.me = NULL;
    }
}

pub fn arguments(
    schema: &Schema,
    id: OperationId,
    request: &Request,
    pool: &mut Pool,
    into: &mut Arguments,
) -> Result<(), BadValue> {
    let operation = &schema.design.operations[id.index()];
    let Arguments { params, memory, me } = into;
    let mut given = 0;
    for (at, param) in operation.params.iter().enumerate() {
        match request.params.get(&param.name) {
            Some(value) => {
                given += 1;
                let first = params.len();
                values::read(&schema.design, &param.ty, value, pool, params)
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
                    return Err(at_field("params", &param.name, BadValue::new("", message)));
                }
            },
        }
    }
    if given < request.params.len() {
        no_other(operation, &request.params)?;
    }
    for used in &operation.memory {
        let field = &schema.design.actors[used.actor.index()].memory[used.field.index()];
        let name = memory_name(&schema.design, operation, used);
        match request.memory.get(&name) {
            Some(value) if used.read => {
                values::read(&schema.design, &field.ty, value, pool, memory)
                    .map_err(|bad| at_field("memory", &name, bad))?;
            }
            _ => memory.push(NULL),
        }
    }
    *me = pool.text(request.principal.as_bytes());
    Ok(())
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
    let field = &design.actors[used.actor.index()].memory[used.field.index()].name;
    let several = operation
        .memory
        .iter()
        .filter(|other| other.actor == used.actor && other.field == used.field)
        .count()
        > 1;
    match used.of {
        Some(local) if several => {
            format!("{}.{field}", operation.locals[local.index()].name)
        }
        _ => field.clone(),
    }
}

fn at_field(part: &str, name: &str, bad: BadValue) -> BadValue {
    let name = name.replace('~', "~0").replace('/', "~1");
    BadValue { pointer: format!("/{part}/{name}{}", bad.pointer), message: bad.message }
}
