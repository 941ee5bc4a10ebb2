//! What a caller remembers from one call to the next, for callers in this process.

use std::collections::BTreeMap;

use design::model::{Design, MemoryUse, Operation};
use serde_json::{Map, Value};

use super::request::memory_name;

/// The memory of one principal, by field and record.
#[derive(Clone, Debug, Default)]
pub struct Remembered(BTreeMap<String, Value>);

impl Remembered {
    /// What goes with a call of these parameters.
    pub fn given(
        &self,
        design: &Design,
        operation: &Operation,
        params: &Map<String, Value>,
    ) -> Map<String, Value> {
        let read = operation.memory.iter().filter(|used| used.read);
        read.filter_map(|used| {
            let value = self.0.get(&place(design, operation, used, params))?;
            Some((memory_name(design, operation, used), value.clone()))
        })
        .collect()
    }

    /// Keeps what the answer to it handed out.
    pub fn keep(
        &mut self,
        design: &Design,
        operation: &Operation,
        params: &Map<String, Value>,
        handed_out: &Map<String, Value>,
    ) {
        for used in &operation.memory {
            if let Some(value) = handed_out.get(&memory_name(design, operation, used)) {
                self.0.insert(place(design, operation, used, params), value.clone());
            }
        }
    }

    pub fn forget(&mut self) {
        self.0.clear();
    }
}

/// Which field of an actor, of which record.
fn place(
    design: &Design,
    operation: &Operation,
    used: &MemoryUse,
    params: &Map<String, Value>,
) -> String {
    let field = &design.actors[used.actor.index()].memory[used.field.index()].name;
    let record = used.of.and_then(|local| params.get(&operation.locals[local.index()].name));
    format!("{} {field} {}", used.actor.index(), record.unwrap_or(&Value::Null))
}
