//! Soft state: kept in memory until its time to live is over, never part of a commit.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use layout::Pool;
use layout::key::put_parts;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::reply::CallError;
use crate::core::Runtime;
use crate::sight::Viewer;
use crate::values;

/// What has no `ttl` of its own lives so long.
pub const TTL_MS: i64 = 30_000;
/// So many are kept; beyond, those that end first go first.
const MOST: usize = 100_000;

#[derive(Debug, Default)]
pub struct Ephemerals {
    state: Mutex<FxHashMap<(String, Vec<u8>), Kept>>,
}

#[derive(Debug)]
struct Kept {
    fields: Map<String, Value>,
    until: i64,
}

impl Ephemerals {
    /// Sets one value of a state of a record.
    pub fn set(&self, state: &str, record: &[u8], name: &str, value: Value, now: i64, ttl_ms: i64) {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.retain(|_, kept| kept.until > now);
            if kept.len() >= MOST {
                let mut ends: Vec<i64> = kept.values().map(|kept| kept.until).collect();
                ends.sort_unstable();
                let cut = ends[ends.len() / 10];
                kept.retain(|_, kept| kept.until > cut);
            }
        }
        let entry = kept
            .entry((state.to_string(), record.to_vec()))
            .or_insert_with(|| Kept { fields: Map::new(), until: now });
        if entry.until <= now {
            entry.fields.clear();
        }
        entry.fields.insert(name.to_string(), value);
        entry.until = now.saturating_add(ttl_ms);
    }

    /// What is known of a state of a record; none: nothing, or no longer.
    pub fn get(&self, state: &str, record: &[u8], now: i64) -> Option<Value> {
        let kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = kept.get(&(state.to_string(), record.to_vec()))?;
        (entry.until > now).then(|| Value::Object(entry.fields.clone()))
    }
}

impl Runtime {
    /// The soft state of a record; none: nothing is known, or no longer.
    pub fn ephemeral(
        &self,
        subject: &str,
        key: &[Value],
        state: &str,
    ) -> Result<Option<Value>, CallError> {
        self.ephemeral_as(subject, key, state, None)
    }

    /// The same, unless the viewer may not see it.
    pub fn ephemeral_as(
        &self,
        subject: &str,
        key: &[Value],
        state: &str,
        viewer: Option<&Viewer>,
    ) -> Result<Option<Value>, CallError> {
        let schema = &*self.schema;
        let Some(id) = schema.subject(subject) else {
            let message = format!("`{}` has no subject `{subject}`", schema.design.name);
            return Err(CallError::Unknown(message));
        };
        let pool = RefCell::new(Pool::new(schema.program.texts()));
        let handle = values::read_key(&schema.design, id, &mut key.iter(), &mut pool.borrow_mut())
            .map_err(CallError::Bad)?;
        let mut record = Vec::new();
        put_parts(&mut record, &schema.design, id, handle, &pool.borrow());
        if let Some(eye) = self.eye(viewer)
            && !eye.sees_soft((id, handle), state, &pool)?
        {
            return Ok(None);
        }
        Ok(self.ephemerals.get(state, &record, self.clock.now_ms()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn soft_state_ends_by_itself_and_starts_anew() {
        let soft = Ephemerals::default();
        soft.set("Cursor", b"r", "at", json!(3), 100, 50);
        soft.set("Cursor", b"r", "by", json!("ann"), 120, 50);
        assert_eq!(soft.get("Cursor", b"r", 169), Some(json!({ "at": 3, "by": "ann" })));
        assert_eq!(soft.get("Cursor", b"r", 170), None);
        assert_eq!(soft.get("Cursor", b"q", 100), None);
        soft.set("Cursor", b"r", "by", json!("bob"), 200, 50);
        assert_eq!(soft.get("Cursor", b"r", 201), Some(json!({ "by": "bob" })));
    }
}
