//! What rows show of records that they refer to: looked up when a row is read.
//!
//! The truth of every record that may be referred to is kept beside the views. So a change of one of them is one
//! change here, however many rows refer to it, and a row that is read costs one look-up for each reference.

use std::cell::RefCell;

use design::model::{Design, Operation, SubjectId};
use engine::{Command, NULL, Need, Outcome, Word};
use layout::{Head, Pool};
use serde_json::{Map, Value};

use super::State;
use super::row::of_row;
use crate::calls::{CallError, Room};
use crate::core::{Loaded, ReadError, Runtime};
use crate::sight::{Eye, Looked};
use crate::values;

/// By view, one for each column: a read of one row, answered with the attribute.
pub fn operations(design: &Design) -> Vec<Vec<Operation>> {
    let of_view = |view: &design::model::View| {
        let columns = view.with.iter();
        columns.map(|column| of_row(design, view, Vec::new(), column.value.clone())).collect()
    };
    design.views.iter().map(of_view).collect()
}

impl Runtime {
    /// The columns of a row, by their names. What is not seen is left out; what a reference that leads nowhere
    /// would say is null.
    pub(super) fn columns(
        &self,
        state: &State,
        (at, eye): (usize, Option<&Eye<'_>>),
        row: Looked<'_>,
        pool: &RefCell<Pool>,
    ) -> Result<Map<String, Value>, CallError> {
        let schema = &*self.schema;
        let view = &schema.design.views[at];
        let mut found = Map::new();
        let mut room = Room::default();
        for (number, column) in view.with.iter().enumerate() {
            let mut loaded = Loaded::new(pool);
            loaded.add(row.subject, row.key, &[], Some(1), Head::default(), row.words);
            let params = [row.key];
            let operation = schema.view_columns[at][number];
            let command =
                Command { operation, params: &params, memory: &[], me: NULL, now: 0, answer: None };
            let outcome = loop {
                match engine::step(&schema.program, &loaded, &command, &mut room.scratch) {
                    Outcome::Need => {
                        let needs: Vec<Need> = room.scratch.needs().to_vec();
                        for need in needs {
                            let Need::Record { subject, key } = need else {
                                unreachable!("a column leads from record to record")
                            };
                            self.load(state, &mut loaded, (subject, key))?;
                        }
                    }
                    outcome => break outcome,
                }
            };
            if let Some(eye) = eye {
                let read: Vec<Looked<'_>> = (0..loaded.count())
                    .map(|at| {
                        let entry = loaded.entry(at);
                        let words = loaded.words(at);
                        Looked { subject: entry.subject, key: entry.key, words }
                    })
                    .collect();
                if !eye.sees_column(at, number, &read, pool)? {
                    continue;
                }
            }
            let value = match outcome {
                Outcome::Done => {
                    let words = room.scratch.result();
                    values::write(&schema.design, &column.value.ty, words, &pool.borrow())
                }
                // a reference on the way is null, or its record is gone
                _ => Value::Null,
            };
            found.insert(column.name.clone(), value);
        }
        Ok(found)
    }

    /// A record as the views know it.
    fn load(
        &self,
        state: &State,
        loaded: &mut Loaded<'_>,
        (subject, key): (SubjectId, Word),
    ) -> Result<(), CallError> {
        let codec = self.schema.codec();
        let id = codec.record_key(subject, key, &loaded.pool.borrow());
        let mut words = Vec::new();
        let known = state.records.get(&id[..]);
        if let Some(truth) = known {
            codec
                .take_truth(truth, subject, &mut loaded.pool.borrow_mut(), &mut words)
                .map_err(|wrong| ReadError::value(&id, wrong))?;
        }
        let words = known.map(|_| &words[..]);
        loaded.add(subject, key, &id, words.map(|_| 1), Head::default(), words);
        Ok(())
    }
}
