//! What a caller is told.

use design::model::{
    AttrId, ClauseRef, Design, FailureProof, Operation, OperationId, Protection, Range, SubjectId,
    Type, quantity_text,
};
use engine::{Outside, Place, Reason, Refusal};
use layout::{Damaged, Pool};
use serde_json::{Map, Value, json};

use super::taken;
use crate::core::{Records, Schema, Skewed};
use crate::feed;
use crate::secrets::SecretTrouble;
use crate::sight::Mask;
use crate::values::{self, BadValue};

/// A call that was carried out, and is durable.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reply {
    /// where it stands in the feed
    pub revision: String,
    /// what the caller is to remember
    pub memory: Map<String, Value>,
    /// the records it changed, as they are now
    pub truth: Value,
    /// of a read; of a step what the server chose for it
    pub result: Value,
    /// given again for the same idempotency key
    pub replayed: bool,
}

impl Reply {
    pub fn to_json(&self) -> Value {
        json!({
            "revision": self.revision,
            "outcome": "done",
            "memory": self.memory,
            "truth": self.truth,
            "result": self.result,
        })
    }
}

/// Why a call was not carried out. Nothing was changed, unless the store does not know.
#[derive(Clone, PartialEq, Debug)]
pub enum CallError {
    /// no such operation
    Unknown(String),
    /// an argument is not what the operation takes
    Bad(BadValue),
    Refused(Box<Refused>),
    /// the idempotency key was used with other arguments
    OtherPayload,
    /// the operation asks for an idempotency key
    KeyNeeded,
    /// the record is not as the caller expects it
    Precondition,
    Store(store::Error),
    /// the viewer may not see what the answer would be made of
    Hidden(String),
    /// another version of the design is served now; nothing was done
    Replaced,
    /// the clock of this server is too far from that of the store; nothing was done
    Skewed(Skewed),
    /// what is stored does not read as what this design stores
    Damaged(Box<Damaged>),
    /// something that is needed was never fetched from a store far away
    NotFetched,
    /// a secret can be neither stored nor compared; nothing was done
    Secret(SecretTrouble),
}

impl CallError {
    /// Where the feed begins, if what was asked for lies before it.
    pub fn floor(&self) -> Option<String> {
        match self {
            CallError::Store(store::Error::BelowFloor(floor)) => Some(floor.to_string()),
            _ => None,
        }
    }
}

impl From<store::Error> for CallError {
    fn from(error: store::Error) -> CallError {
        CallError::Store(error)
    }
}

impl From<BadValue> for CallError {
    fn from(bad: BadValue) -> CallError {
        CallError::Bad(bad)
    }
}

impl From<SecretTrouble> for CallError {
    fn from(trouble: SecretTrouble) -> CallError {
        CallError::Secret(trouble)
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CallError::Unknown(what) => write!(f, "{what}"),
            CallError::Bad(bad) => write!(f, "{}: {}", bad.pointer, bad.message),
            CallError::Refused(refused) => {
                write!(f, "`{}` was refused by `{}`", refused.operation, refused.clause)?;
                refused.why.iter().try_for_each(|why| write!(f, ": {why}"))
            }
            CallError::OtherPayload => {
                write!(f, "this idempotency key was used with other arguments")
            }
            CallError::KeyNeeded => write!(f, "this operation asks for an idempotency key"),
            CallError::Precondition => write!(f, "the record is not as it was expected"),
            CallError::Store(error) => write!(f, "{error}"),
            CallError::Hidden(what) => write!(f, "{what}"),
            CallError::Replaced => write!(f, "another version of this design is served now"),
            CallError::Skewed(skewed) => write!(f, "{skewed}"),
            CallError::Damaged(damaged) => write!(f, "{damaged}"),
            CallError::NotFetched => write!(f, "the store did not give what the call needs"),
            CallError::Secret(trouble) => write!(f, "{trouble}"),
        }
    }
}

impl std::error::Error for CallError {}

/// A refusal, explained.
#[derive(Clone, PartialEq, Debug)]
pub struct Refused {
    pub actor: String,
    pub operation: String,
    /// the name of the clause, or of what else stood in the way
    pub clause: String,
    /// the clause as it is written, if there is one
    pub reason: &'static str,
    /// the records it looked at
    pub truth: Value,
    /// the failures that this clause prevents
    pub prevents: Vec<String>,
    /// the steps that could be taken instead, if the caller asked for them
    pub legal: Vec<Value>,
    /// of a clause that is not written in the design: what stands in the way, and what to do; of one that the
    /// design adds to what it uses: to what
    pub why: Option<String>,
    /// it rests on the record that the server took from a view: another one may be taken instead
    pub of_taken: bool,
}

pub fn refused(
    schema: &Schema,
    id: OperationId,
    refusal: &Refusal,
    seen: &Records,
    masks: &[Mask],
    pool: &Pool,
) -> Refused {
    let operation = &schema.design.operations[id.index()];
    Refused {
        actor: schema.design.actors[operation.actor.index()].name.clone(),
        operation: operation.name.clone(),
        clause: clause_name(operation, refusal),
        reason: refusal.reason.name(),
        truth: records(schema, seen, masks, pool),
        prevents: refusal.clause.map(|clause| prevents(schema, id, clause)).unwrap_or_default(),
        legal: Vec::new(),
        why: match refusal.reason {
            Reason::Range(outside) => Some(outside_text(&schema.design, operation, outside)),
            Reason::Clause(at) => added_text(&schema.design, operation, at),
            _ => None,
        },
        of_taken: taken::rests_on_taken(operation, refusal),
    }
}

/// Of a clause that the design adds to an operation of an archetype: which design that is.
fn added_text(design: &Design, operation: &Operation, at: u32) -> Option<String> {
    let clause = operation.guard.get(at as usize)?;
    let used = design.added_to(&operation.name, &clause.name)?;
    Some(format!(
        "the guard `{}` does not hold now; the design `{}` adds it to `{}`, used as `{}`",
        clause.name, design.name, used.archetype, used.noun
    ))
}

/// Names what would lie outside its range, the range and the value.
fn outside_text(design: &Design, operation: &Operation, outside: Outside) -> String {
    let of_param = |operation: &Operation, at: u32| {
        let param = &operation.params[at as usize];
        (param.name.clone(), param.ty.clone(), param.range)
    };
    let in_list = |(name, ty, _): (String, Type, Option<Range>), index: u32, at: u32| {
        let field = &ty.fields().unwrap_or(&[])[at as usize];
        (format!("{name}[{index}].{}", field.name), field.ty.required().clone(), field.range)
    };
    let of_attribute = |subject: SubjectId, attr: AttrId| {
        let subject = &design.subjects[subject.index()];
        let attribute = &subject.attributes[attr.index()];
        let state = &subject.states[attribute.state.index()].name;
        let name = format!("{}.{state}.{}", subject.name, attribute.name);
        (name, attribute.ty.clone(), attribute.range)
    };
    let of_sent = |operation: OperationId, param: u32| {
        let sent = &design.operations[operation.index()];
        let (name, ty, range) = of_param(sent, param);
        (format!("{}.{name}", sent.name), ty, range)
    };
    let (name, ty, range) = match outside.place {
        Place::InParam { param, index, field } => in_list(of_param(operation, param), index, field),
        Place::InSent { operation, param, index, field } => {
            in_list(of_sent(operation, param), index, field)
        }
        Place::InAttribute { subject, attr, index, field } => {
            in_list(of_attribute(subject, attr), index, field)
        }
        Place::Param(at) => of_param(operation, at),
        Place::Sent { operation, param } => of_sent(operation, param),
        Place::Key { subject, part } => {
            let subject = &design.subjects[subject.index()];
            let key = &subject.keys[part as usize];
            (format!("{}.{}", subject.name, key.name), key.ty.clone(), key.range)
        }
        Place::Attribute { subject, attr } => of_attribute(subject, attr),
    };
    let range = range.map_or_else(String::new, |range| range.text(&ty));
    let value = quantity_text(&ty, outside.value);
    format!("`{name}` would be {value}, and it takes {range}; nothing was changed")
}

pub fn clause_name(operation: &Operation, refusal: &Refusal) -> String {
    match (refusal.reason, refusal.clause) {
        (Reason::Clause(at), _) => {
            operation.guard.get(at as usize).map_or_else(String::new, |clause| clause.name.clone())
        }
        (reason, Some(ClauseRef::Named(at))) => {
            let clause = operation.guard.get(at as usize).map_or("", |clause| &clause.name);
            format!("{clause}.{}", reason.name())
        }
        (reason, _) => reason.name().to_string(),
    }
}

fn prevents(schema: &Schema, operation: OperationId, clause: ClauseRef) -> Vec<String> {
    let wanted = Protection::Clause { operation, clause };
    schema
        .design
        .failures
        .iter()
        .filter(|failure| {
            failure.proofs.iter().any(|proof| {
                matches!(proof, FailureProof::Without { protections, .. } if protections.contains(&wanted))
            })
        })
        .map(|failure| failure.title.clone())
        .collect()
}

/// Records as `[{ "subject", "key", "truth" }]`, with what each mask shows of them; no masks:
/// everything.
pub fn records(schema: &Schema, seen: &Records, masks: &[Mask], pool: &Pool) -> Value {
    let mask = |at: usize| masks.get(at).unwrap_or(&Mask::Everything);
    let list = seen
        .iter()
        .enumerate()
        .filter(|(at, _)| *mask(*at) != Mask::Nothing)
        .map(|(at, record)| {
            let mut key = Vec::new();
            values::write_key(&schema.design, record.subject, record.key, pool, &mut key);
            let truth = record
                .words
                .map(|words| feed::seen_json(schema, record.subject, words, pool, mask(at)));
            json!({
                "subject": schema.design.subjects[record.subject.index()].name,
                "key": key,
                "truth": truth,
            })
        })
        .collect();
    Value::Array(list)
}
