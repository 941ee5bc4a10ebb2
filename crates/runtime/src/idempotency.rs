//! Outcomes that are given again: stored in the same commit as what they tell of.

use std::ops::ControlFlow;

use engine::Word;
use engine::idempotency::Stored;
use serde_json::{Map, Value};
use store::{Decision, KeyRange};

use crate::bytes::{Damaged, Reader, put_bytes, put_signed};
use crate::keys::{self, DesignNumber, Space};
use crate::reply::CallError;
use crate::request::Request;
use crate::runtime::Runtime;

const FORM: u8 = 1;

/// The stored part of a reply; its revision is the version of the stored record.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub memory: Map<String, Value>,
    pub truth: Value,
    pub result: Value,
}

/// Scoped to the principal and the operation.
pub fn key(number: DesignNumber, request: &Request, idempotency_key: &str) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    for part in [&request.actor, &request.operation, &request.principal] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.update(idempotency_key.as_bytes());
    let mut out = Vec::with_capacity(19);
    keys::begin(&mut out, number, Space::Idempotency);
    out.extend_from_slice(&hasher.finalize().as_bytes()[..16]);
    out
}

/// What a second call must agree with.
pub fn payload(request: &Request) -> u128 {
    let mut hasher = blake3::Hasher::new();
    for part in [&request.params, &request.memory] {
        let mut text = String::new();
        canonical_object(part, &mut text);
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    u128::from_le_bytes(bytes)
}

/// One text for one value, whatever the order in which its fields were written.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(object) => canonical_object(object, out),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn canonical_object(object: &Map<String, Value>, out: &mut String) {
    let mut fields: Vec<_> = object.iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    out.push('{');
    for (name, value) in fields {
        out.push_str(&Value::String(name.clone()).to_string());
        out.push(':');
        canonical(value, out);
        out.push(',');
    }
    out.push('}');
}

pub fn put(stored: &Stored<Outcome>) -> Vec<u8> {
    let mut out = vec![FORM];
    out.extend_from_slice(&stored.payload.to_le_bytes());
    put_signed(&mut out, stored.at);
    put_bytes(&mut out, Value::Object(stored.answer.memory.clone()).to_string().as_bytes());
    put_bytes(&mut out, stored.answer.truth.to_string().as_bytes());
    put_bytes(&mut out, stored.answer.result.to_string().as_bytes());
    out
}

pub fn take(bytes: &[u8]) -> Result<Stored<Outcome>, Damaged> {
    let mut reader = Reader::new(bytes);
    if reader.byte()? != FORM {
        return Err(Damaged);
    }
    let payload = reader.take(16)?.try_into().map_err(|_| Damaged)?;
    let at: Word = reader.signed()?;
    let mut next = || -> Result<Value, Damaged> {
        serde_json::from_slice(reader.bytes()?).map_err(|_| Damaged)
    };
    let Value::Object(memory) = next()? else { return Err(Damaged) };
    let (truth, result) = (next()?, next()?);
    Ok(Stored {
        payload: u128::from_le_bytes(payload),
        answer: Outcome { memory, truth, result },
        at,
    })
}

/// Where the outcome stands by the time at which it is forgotten.
pub fn due_key(number: DesignNumber, expires_at: Word, key: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(32);
    let none = design::model::OperationId(0);
    keys::due(&mut out, number, Space::IdempotencyDue, expires_at, none, &key[3..]);
    out
}

impl Runtime {
    /// Forgets outcomes whose time is over, at most `limit` of them. Gives how many.
    pub fn forget_outcomes(&self, limit: usize) -> Result<usize, CallError> {
        let now = self.clock.now_ms();
        let mut forgotten = 0;
        self.transact(&mut |transaction| {
            let mut start = Vec::new();
            keys::begin(&mut start, self.schema.number, Space::IdempotencyDue);
            let mut over = Vec::new();
            transaction.scan(
                &KeyRange::prefix(start),
                false,
                &mut |key, _, _| match keys::read_due(key) {
                    Ok((at, _, tail)) if at <= now && over.len() < limit => {
                        let mut outcome = Vec::new();
                        keys::begin(&mut outcome, self.schema.number, Space::Idempotency);
                        outcome.extend_from_slice(tail);
                        over.push((key.to_vec(), outcome));
                        ControlFlow::Continue(())
                    }
                    _ => ControlFlow::Break(()),
                },
            );
            forgotten = over.len();
            for (due, outcome) in &over {
                transaction.delete(due);
                transaction.delete(outcome);
            }
            if over.is_empty() { Decision::Abandon } else { Decision::Commit }
        })?;
        Ok(forgotten)
    }
}
