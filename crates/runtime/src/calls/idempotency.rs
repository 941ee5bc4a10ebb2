//! Outcomes that are given again: stored in the same commit as what they tell of.

use std::ops::ControlFlow;

use design::model::OperationId;
use engine::idempotency::Stored;
use layout::{DesignNumber, KeptOutcome, OutcomeDueKey, OutcomeKey, Space, Wrong};
use serde_json::{Map, Value};
use store::{Decision, KeyRange};

use super::reply::CallError;
use super::request::Request;
use crate::aside::{Trouble, move_aside};
use crate::core::{Runtime, Schema, operations_left};
use crate::secrets::SecretTrouble;

/// The stored part of a reply; its revision is the version of the stored record.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub memory: Map<String, Value>,
    pub truth: Value,
    pub result: Value,
}

/// Scoped to the principal and the operation.
pub fn key(number: DesignNumber, request: &Request, idempotency_key: &str) -> OutcomeKey {
    key_of(number, [&request.actor, &request.operation, &request.principal], idempotency_key)
}

/// Of the actor, the operation and the principal.
pub fn key_of(number: DesignNumber, of: [&String; 3], idempotency_key: &str) -> OutcomeKey {
    let mut hasher = blake3::Hasher::new();
    for part in of {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.update(idempotency_key.as_bytes());
    OutcomeKey { design: number, hash: hash16(&hasher.finalize()) }
}

/// As much of a hash as keys have.
pub fn hash16(hash: &blake3::Hash) -> [u8; 16] {
    let [hash, _] = hash.as_bytes().as_chunks::<16>().0 else {
        unreachable!("a hash has 32 bytes");
    };
    *hash
}

/// What a second call must agree with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payload {
    /// what is kept
    newest: u128,
    /// the same under keys that were the newest earlier
    older: Vec<u128>,
}

impl Payload {
    /// Of a call that is given a secret it is made with a key: a plain hash of a short secret is found by trying.
    pub fn of(schema: &Schema, id: OperationId, request: &Request) -> Result<Payload, CallError> {
        let mut message = Vec::new();
        for part in [&request.params, &request.memory] {
            let mut text = String::new();
            canonical_object(part, &mut text);
            message.extend_from_slice(&(text.len() as u64).to_le_bytes());
            message.extend_from_slice(text.as_bytes());
        }
        if !schema.design.operations[id.index()].has_secrets() {
            let newest = u128::from_le_bytes(hash16(&blake3::hash(&message)));
            return Ok(Payload { newest, older: Vec::new() });
        }
        let secrets = schema.secrets.as_ref().ok_or(SecretTrouble::NoKeys)?;
        let mut all = secrets.fingerprints(&message)?.into_iter().map(u128::from_le_bytes);
        let newest = all.next().ok_or(SecretTrouble::NoKeys)?;
        Ok(Payload { newest, older: all.collect() })
    }

    pub fn newest(&self) -> u128 {
        self.newest
    }

    /// In the form to be held against what was kept.
    pub fn beside(&self, kept: u128) -> u128 {
        if self.older.contains(&kept) { kept } else { self.newest }
    }
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
    let Outcome { memory, truth, result } = &stored.answer;
    let memory = Value::Object(memory.clone()).to_string();
    let (truth, result) = (truth.to_string(), result.to_string());
    let kept = KeptOutcome {
        payload: stored.payload,
        at: stored.at,
        memory: memory.as_bytes(),
        truth: truth.as_bytes(),
        result: result.as_bytes(),
    };
    kept.to_bytes()
}

pub fn take(bytes: &[u8]) -> Result<Stored<Outcome>, Wrong> {
    let kept = KeptOutcome::take(bytes)?;
    let json = |text: &[u8]| serde_json::from_slice(text).map_err(|_| Wrong::NotJson);
    let Value::Object(memory) = json(kept.memory)? else { return Err(Wrong::NotJson) };
    let answer = Outcome { memory, truth: json(kept.truth)?, result: json(kept.result)? };
    Ok(Stored { payload: kept.payload, answer, at: kept.at })
}

impl Runtime {
    /// Forgets outcomes whose time is over, at most `limit` of them. Gives how many. Entries that cannot
    /// be read are set aside, since nobody knows when their time is over.
    pub fn forget_outcomes(&self, limit: usize) -> Result<usize, CallError> {
        // each is two keys: the outcome, and when it is forgotten
        let most = (operations_left(self.store.as_ref()) / 2).max(1);
        let mut forgotten = 0;
        while forgotten < limit {
            let some = self.forget_some_outcomes(most.min(limit - forgotten))?;
            forgotten += some;
            if some < most {
                break;
            }
        }
        Ok(forgotten)
    }

    fn forget_some_outcomes(&self, limit: usize) -> Result<usize, CallError> {
        let now = self.clock.now_ms();
        let mut forgotten = 0;
        let mut moved = Vec::new();
        self.transact(&mut |transaction| {
            let start = Space::IdempotencyDue.prefix(self.schema.number).to_vec();
            let (mut over, mut damaged) = (Vec::new(), Vec::new());
            transaction.scan(&KeyRange::prefix(start), false, &mut |key, _, _| {
                if over.len() + damaged.len() >= limit {
                    return ControlFlow::Break(());
                }
                match OutcomeDueKey::parse(key) {
                    Ok(due) if due.at <= now => over.push((key.to_vec(), due.outcome.to_bytes())),
                    Ok(_) => return ControlFlow::Break(()),
                    Err(wrong) => damaged.push(wrong),
                }
                ControlFlow::Continue(())
            });
            forgotten = over.len();
            for (due, outcome) in &over {
                transaction.delete(due);
                transaction.delete(outcome);
            }
            moved.clear();
            for wrong in damaged {
                let keys = [wrong.bytes().to_vec()];
                let trouble = Trouble::Damaged(Box::new(wrong));
                moved.extend(move_aside(self.schema.number, &keys, &trouble, now, transaction));
            }
            if over.is_empty() && moved.is_empty() { Decision::Abandon } else { Decision::Commit }
        })?;
        moved.iter().for_each(|moved| self.tell_moved(moved));
        Ok(forgotten)
    }
}
