//! What callers were shown, held against the records that a walk has come to.

use std::cell::RefCell;

use layout::Pool;
use serde_json::Value;

use super::walk::Walk;
use crate::core::ReadError;
use crate::feed;
use crate::sight::Mask;
use crate::values;

impl Walk {
    /// Records as an answer tells them, `[{ "subject", "key", "truth" }]`: is all of it as the walk has left them? What
    /// is not told, since the caller may not see it, may be anything.
    pub fn agrees(&self, told: &Value) -> Result<bool, ReadError> {
        for record in told.as_array().into_iter().flatten() {
            if !self.agrees_on(record)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn agrees_on(&self, told: &Value) -> Result<bool, ReadError> {
        let schema = &self.schema;
        let (subject, key) = (told["subject"].as_str(), told["key"].as_array());
        let Some((subject, key)) = subject.and_then(|name| schema.subject(name)).zip(key) else {
            return Ok(false);
        };
        let pool = RefCell::new(Pool::new(schema.program.texts()));
        let handle =
            values::read_key(&schema.design, subject, &mut key.iter(), &mut pool.borrow_mut());
        let Ok(handle) = handle else { return Ok(false) };
        let stored = schema.codec().record_key(subject, handle, &pool.borrow());
        let mut words = Vec::new();
        match self.stored(&stored) {
            Some(value) => {
                schema.codec().take_record(&stored, value, subject, &pool, &mut words)?;
            }
            // one that nobody has written is told as it begins, or not at all
            None if told["truth"].is_null() => return Ok(true),
            None if schema.design.subjects[subject.index()].implicit => {
                words.extend_from_slice(schema.program.defaults(subject));
            }
            None => return Ok(false),
        }
        let held = feed::seen_json(schema, subject, &words, &pool.borrow(), &Mask::Everything);
        let Some(truth) = told["truth"].as_object() else { return Ok(false) };
        Ok(truth.iter().all(|(state, fields)| held.get(state) == Some(fields)))
    }
}
