//! When the repairs of a record are due: asked when it is written, and when it is copied to another
//! version of its design.

use design::model::{OperationId, OperationKind, SubjectId};
use engine::{Due, NULL, Scratch, Word};

use super::elsewhere::again;
use crate::calls::fetch;
use crate::core::{Loaded, ReadError, Schema, Source};

pub struct DueTimes<'a> {
    pub schema: &'a Schema,
    /// of what the guards of repairs look at beyond the record
    pub source: &'a dyn Source,
    pub now: Word,
    /// the operation that has just run; none: nothing has
    pub ran: Option<OperationId>,
}

impl DueTimes<'_> {
    /// Appends the time of each repair of this record that is due at some time, by the truth that is
    /// loaded. False: something is not fetched yet.
    pub fn repairs(
        &self,
        loaded: &mut Loaded<'_>,
        (subject, record): (SubjectId, Word),
        scratch: &mut Scratch,
        words: &mut Vec<Word>,
        due: &mut Vec<(OperationId, Word)>,
    ) -> Result<bool, ReadError> {
        let DueTimes { schema, source, now, ran } = *self;
        for repair in &schema.subjects[subject.index()].repairs {
            let known = loop {
                match engine::due(&schema.program, loaded, *repair, record, NULL, now, scratch) {
                    Due::Need => {
                        if !fetch(schema, loaded, scratch.needs(), source, words)? {
                            return Ok(false);
                        }
                    }
                    known => break known,
                }
            };
            let kind = &schema.design.operations[repair.index()].kind;
            let OperationKind::Repair { after, every, .. } = *kind else {
                unreachable!("a repair of a subject is a repair");
            };
            // it has just run: not again before `every` is over
            let last = if ran == Some(*repair) { now } else { NULL };
            match known.tuned(after, every, last, now) {
                Due::Now => due.push((*repair, now)),
                Due::At(time) => due.push((*repair, time)),
                Due::Never | Due::Need => {
                    let soon = now.saturating_add(schema.reexamine_ms);
                    let again = again(schema, loaded, (*repair, record), (now, soon), scratch);
                    due.extend(again.map(|at| (*repair, at)));
                }
            }
        }
        Ok(true)
    }
}
