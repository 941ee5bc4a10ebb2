//! What a walk is told that is in no feed: answers of reads, the world outside, callers that forget, the time.

use design::model::ActorId;
use engine::{NULL, Word};
use serde_json::{Map, Value};

use super::walk::Walk;
use super::world::Memory;
use crate::calls::{Request, memory_name};
use crate::values::{self, BadValue};

impl Walk {
    /// A read is in no feed: whoever heard its answer says so, right after the transition that it saw last.
    pub fn heard(&mut self, read: &Request, memory: &Map<String, Value>) -> Result<(), BadValue> {
        let schema = &self.schema;
        let Some(id) = schema.operation(&read.actor, &read.operation) else { return Ok(()) };
        let operation = &schema.design.operations[id.index()];
        let mut pool = self.lasting.borrow_mut();
        let me = pool.text(read.principal.as_bytes());
        self.world.go_on();
        self.world.met(operation.actor, me);
        for used in operation.memory.iter().filter(|used| used.written) {
            let name = memory_name(&schema.design, operation, used);
            let Some(value) = memory.get(&name) else { continue };
            let mut words = Vec::new();
            let of = used
                .of
                .and_then(|local| operation.params.iter().find(|param| param.local == local));
            let of = match of {
                Some(param) => {
                    let given = read.params.get(&param.name).unwrap_or(&Value::Null);
                    values::read(&schema.design, &param.ty, given, &mut pool, &mut words)?;
                    words.pop().unwrap_or(NULL)
                }
                None => NULL,
            };
            let ty = &schema.design.actors[used.actor.index()].memory[used.field.index()].ty;
            words.clear();
            values::read(&schema.design, ty, value, &mut pool, &mut words)?;
            let place = Memory { principal: me, actor: used.actor, field: used.field, of };
            self.world.remember(place, words[0]);
        }
        Ok(())
    }

    /// The world outside has carried out the call that it knows by this key.
    pub fn outside_did(&mut self, key: &str) {
        self.world.go_on();
        if let Some((effect, params)) = self.asked_outside.get(key) {
            self.world.did(*effect, params.clone());
        }
    }

    /// A caller has forgotten all that it remembered.
    pub fn forgot(&mut self, principal: &str) {
        let me = self.lasting.borrow_mut().text(principal.as_bytes());
        self.world.go_on();
        self.world.forget(me);
    }

    /// So late it is now.
    pub fn now(&mut self, ms: Word) {
        self.world.begin(ms);
    }

    /// A principal that may act, whether or not it has.
    pub fn know(&mut self, actor: ActorId, principal: &str) {
        let me = self.lasting.borrow_mut().text(principal.as_bytes());
        self.world.met(actor, me);
    }
}
