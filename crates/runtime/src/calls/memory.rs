//! Where the memory of a call belongs, in bytes that are the same whoever writes them.

use layout::Pool;
use layout::key::put_parts;
use serde_json::{Map, Value};

use super::request::memory_name;
use crate::core::Runtime;
use crate::values;

/// One field of an actor's memory that an operation reads or hands out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryPlace {
    /// under which the call and its answer have it
    pub name: String,
    /// the actor at the root of the chain
    pub actor: String,
    /// empty: it belongs to the actor alone
    pub subject: String,
    /// the key of the record it belongs to
    pub key: Vec<u8>,
    pub field: String,
    /// actor, subject and field as earlier versions called them
    pub former: Vec<(String, String, String)>,
    pub read: bool,
    pub written: bool,
}

impl Runtime {
    /// The memory of an operation that is called with these parameters. What belongs to a record
    /// that the parameters do not name is left out: the call itself says what is wrong with them.
    pub fn memory_places(
        &self,
        actor: &str,
        operation: &str,
        params: &Map<String, Value>,
    ) -> Vec<MemoryPlace> {
        let schema = &*self.schema;
        let Some(id) = schema.operation(actor, operation) else { return Vec::new() };
        let operation = &schema.design.operations[id.index()];
        let mut places = Vec::with_capacity(operation.memory.len());
        for used in &operation.memory {
            let owner = &schema.design.actors[used.actor.index()];
            let mut place = MemoryPlace {
                name: memory_name(&schema.design, operation, used),
                actor: owner.name.clone(),
                subject: String::new(),
                key: Vec::new(),
                field: owner.memory[used.field.index()].name.clone(),
                former: Vec::new(),
                read: used.read,
                written: used.written,
            };
            if let Some(local) = used.of {
                let Some(param) = operation.params.iter().find(|param| param.local == local) else {
                    continue;
                };
                let design::model::Type::Ref(subject) = param.ty.required() else { continue };
                let mut pool = Pool::new(schema.program.texts());
                let mut words = Vec::new();
                let given = params.get(&param.name).map(|value| {
                    values::read(&schema.design, &param.ty, value, &mut pool, &mut words)
                });
                let (Some(Ok(())), [key]) = (given, &words[..]) else { continue };
                put_parts(&mut place.key, &schema.design, *subject, *key, &pool);
                place.subject = schema.design.subjects[subject.index()].name.clone();
            }
            let subject = used.of.and_then(|_| schema.subject(&place.subject));
            let subject = subject.map(|id| (id, place.subject.as_str()));
            let now = (place.actor.as_str(), place.field.as_str());
            place.former = self.former.memory((used.actor, used.field), now, subject);
            places.push(place);
        }
        places
    }
}
