//! What happens by itself: repairs, calls to the world outside, messages.

use std::collections::BTreeMap;
use std::sync::Mutex;

use design::model::visit::looks_elsewhere;
use design::model::{OperationId, OperationKind};
use model_checker::sample::{Answered, Refusal, Value};
use runtime::{Clock, Delivered, Delivery, Fired, Outside, Worked, proofs};
use serde_json::{Map, Value as Json};

use crate::carrier::{Carried, Carrier, Stop, differs};
use crate::json::{hex, pair};

/// Gives one answer, and keeps what it was asked.
struct Says {
    answer: Delivered,
    asked: Mutex<Option<Delivery>>,
}

impl Outside for Says {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        *self.asked.lock().expect("nobody panicked") = Some(delivery.clone());
        self.answer.clone()
    }
}

fn unknown() -> Delivered {
    Delivered::Unknown { trouble: "no answer".into(), retry_after_ms: None }
}

impl Carrier {
    pub fn repair(&mut self, repair: OperationId, key: &[Value]) -> Carried {
        self.is_due(repair, key)?;
        match self.fire(repair, key)? {
            Fired::Done => Ok(()),
            Fired::SetAside => differs("the repair was set aside"),
            Fired::Moved | Fired::Idle(_) => {
                Err(Stop::NotDue(self.design.operations[repair.index()].name.clone(), None))
            }
        }
    }

    /// A repair whose guard holds stands in the index, and for now.
    fn is_due(&self, repair: OperationId, key: &[Value]) -> Carried {
        let operation = &self.design.operations[repair.index()];
        let Some(subject) = operation.params.first().and_then(|param| param.ty.subject()) else {
            return differs("a repair of no record");
        };
        let Some(key) = self.evidence.parts(&self.design, subject, key) else {
            return Err(Stop::LeftOut("an argument that cannot be told"));
        };
        let due = self.runtime.due(10_000).map_err(|error| Stop::Differs(error.to_string()))?;
        let name = &self.design.subjects[subject.index()].name;
        let entry = due
            .iter()
            .find(|due| due.repair == operation.name && due.subject == *name && due.key == key);
        let waits = match operation.kind {
            OperationKind::Repair { after, every, .. } => after.is_some() || every.is_some(),
            _ => false,
        };
        // something else may make it due
        let follows = operation.guard.iter().any(|it| looks_elsewhere(operation, &it.body));
        match entry {
            Some(entry) if entry.at <= self.clock.now_ms() + self.patience_ms => Ok(()),
            Some(_) if waits || follows => Ok(()),
            Some(entry) => Err(Stop::NotDue(operation.name.clone(), Some(entry.at))),
            None => {
                let held = store::block_on(self.runtime.get(name, &key)).expect("it can be read");
                match held {
                    Some(held) if held.version > 0 => {
                        Err(Stop::NotDue(operation.name.clone(), None))
                    }
                    _ => Err(Stop::LeftOut("a repair of a record that nothing has changed")),
                }
            }
        }
    }

    pub fn fire(&self, repair: OperationId, key: &[Value]) -> Result<Fired, Stop> {
        let operation = &self.design.operations[repair.index()];
        let subject = operation.params.first().and_then(|param| param.ty.subject());
        let key = subject.and_then(|subject| self.evidence.parts(&self.design, subject, key));
        let Some(key) = key else {
            return Err(Stop::LeftOut("an argument that cannot be told"));
        };
        let fired = self.runtime.fire_early(&operation.name, &key);
        fired.map_err(|error| Stop::Differs(error.to_string()))
    }

    /// Has one entry of the outbox delivered, and gives what the world was asked.
    fn tried(
        &self,
        operation: OperationId,
        params: &[Value],
        (answer, again): (Delivered, bool),
    ) -> Result<Option<Delivery>, Stop> {
        let name = &self.design.operations[operation.index()].name;
        let params = self.params(operation, params)?;
        let outside = Says { answer, asked: Mutex::default() };
        let chosen = |known: &str, args: &Map<String, Json>| known == name && *args == params;
        let worked = match again {
            false => self.runtime.deliver_chosen(&outside, &chosen),
            true => self.runtime.deliver_and_keep(&outside, &chosen),
        };
        match worked {
            Ok(Worked::Tried) => Ok(outside.asked.into_inner().expect("nobody panicked")),
            Ok(Worked::SetAside) => differs(format!("`{name}` {params:?} was set aside")),
            Ok(Worked::Idle(_)) => differs(format!("`{name}` {params:?} is not in the outbox")),
            Err(error) => differs(error.to_string()),
        }
    }

    pub fn attempt(
        &mut self,
        effect: OperationId,
        params: &[Value],
        signs: Option<(u32, u32)>,
    ) -> Carried {
        let asked = self.tried(effect, params, (unknown(), false))?;
        if let Some(asked) = &asked {
            let message = self.message(effect, params)?;
            self.reached.insert(message, asked.key.clone());
        }
        if let (Some(signs), Some(asked)) = (signs, asked) {
            let field = |name: &str| asked.body[name].as_str().unwrap_or_default().to_owned();
            let digest = proofs::bytes_of::<32>(field("digest").as_bytes()).unwrap_or_default();
            // without a key it may say anything
            let name = self.evidence.holder(&field("public_key")).unwrap_or_default();
            let signature = hex(pair(&name).sign(&digest).as_ref());
            self.evidence.signatures.insert(signs, signature);
        }
        Ok(())
    }

    pub fn answer(
        &mut self,
        effect: OperationId,
        params: &[Value],
        kind: Answered,
        value: &Value,
    ) -> Carried {
        let operation = &self.design.operations[effect.index()];
        let OperationKind::Effect(declared) = &operation.kind else {
            return differs("no effect");
        };
        let answer = match kind {
            Answered::Ok => {
                let ty = declared.on_ok.param.map(|local| &operation.locals[local.index()].ty);
                let value = match ty {
                    Some(ty) => self.evidence.json(&self.design, ty, value),
                    None => Some(Json::Null),
                };
                Delivered::Ok(value.unwrap_or(Json::Null))
            }
            Answered::Refused => Delivered::Refused(Json::Null),
            Answered::Unknown => {
                // the first attempt may have been made before
                let asked = self.tried(effect, params, (unknown(), false))?;
                if asked.is_some_and(|asked| asked.attempt > 0) {
                    return Ok(());
                }
                unknown()
            }
        };
        self.tried(effect, params, (answer, false)).map(|_| ())
    }

    pub fn deliver(
        &mut self,
        operation: OperationId,
        params: &[Value],
        refused: Option<&Refusal>,
        again: bool,
    ) -> Carried {
        let before = self.counted(operation);
        self.tried(operation, params, (unknown(), again))?;
        let after = self.counted(operation);
        match refused {
            None if after.0 == before.0 + 1 => Ok(()),
            Some(refusal) => {
                let of = |counted: &BTreeMap<String, u64>| {
                    counted.get(&refusal.clause).copied().unwrap_or_default()
                };
                match of(&after.1) == of(&before.1) + 1 {
                    true => Ok(()),
                    false => {
                        differs(format!("is refused by `{}`, and here {after:?}", refusal.clause))
                    }
                }
            }
            None => {
                let more = |(clause, count): &(&String, &u64)| {
                    before.1.get(*clause).copied().unwrap_or_default() < **count
                };
                match after.1.iter().find(more) {
                    Some((clause, _)) => Err(Stop::Refused(clause.clone())),
                    None => differs(format!("is accepted, and here {after:?}")),
                }
            }
        }
    }

    fn counted(&self, operation: OperationId) -> (u64, BTreeMap<String, u64>) {
        let mut all = self.runtime.counters().all();
        let (_, done, refused) = all.swap_remove(operation.index());
        (done, refused)
    }
}
