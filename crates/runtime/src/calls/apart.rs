//! Actors that are never the same person: what a principal has acted as is remembered, in the commit
//! of its first step, and binds it from then on.
//!
//! Reads and refused steps bind nobody. An actor that is apart from no other costs nothing.

use design::model::{ActorId, Design, OperationId, OperationKind};
use engine::Word;
use layout::{ActedKey, put_signed};
use serde_json::Value;
use store::Transaction;

use super::idempotency::hash16;
use super::reply::{CallError, Refused};
use crate::core::{Plan, Schema};

/// What the step of a principal has to write down, once it is accepted.
pub struct Bond(Option<Vec<u8>>);

impl Bond {
    pub fn keep(self, now: Word, plan: &mut Plan) {
        if let Some(key) = self.0 {
            plan.put_with(&key, |out| put_signed(out, now));
        }
    }
}

/// May this principal take this step, after what it has acted as? Looked at in the transaction of the
/// step, so that of two at the same time one is first.
pub fn check(
    schema: &Schema,
    id: OperationId,
    principal: &[u8],
    transaction: &dyn Transaction,
) -> Result<Bond, CallError> {
    let design = &schema.design;
    let operation = &design.operations[id.index()];
    let actor = &design.actors[operation.actor.index()];
    if actor.apart.is_empty() || !matches!(operation.kind, OperationKind::Step { .. }) {
        return Ok(Bond(None));
    }
    for other in &actor.apart {
        let other = &design.actors[other.index()];
        if other.continues.is_some() {
            continue; // a chain is remembered under its root
        }
        if transaction.get(&key(schema, principal, &other.name)).is_some() {
            let person = String::from_utf8_lossy(principal);
            let why = format!(
                "`{person}` has acted as `{}`, and `{}` is never the same person; somebody else has \
                 to take this step",
                other.name, actor.name
            );
            return Err(CallError::Refused(Box::new(Refused {
                actor: actor.name.clone(),
                operation: operation.name.clone(),
                clause: "apart".into(),
                reason: "apart",
                truth: Value::Array(Vec::new()),
                prevents: Vec::new(),
                legal: Vec::new(),
                why: Some(why),
                of_taken: false,
            })));
        }
    }
    let own = key(schema, principal, &design.actors[root(design, operation.actor).index()].name);
    Ok(Bond(transaction.get(&own).is_none().then_some(own)))
}

/// Who is bound, then as which actor.
fn key(schema: &Schema, principal: &[u8], actor: &str) -> Vec<u8> {
    ActedKey { design: schema.number, principal: hash16(&blake3::hash(principal)), actor }
        .to_bytes()
}

fn root(design: &Design, mut actor: ActorId) -> ActorId {
    while let Some(before) = design.actors[actor.index()].continues {
        actor = before;
    }
    actor
}
