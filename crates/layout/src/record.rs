//! A record as it is stored: when it was last written, when each of its repairs is due, its truth.

use std::ops::Range;

use design::model::{AttrId, CounterId, Design, OperationId, StateId, StateKind, SubjectId, Type};
use engine::{Field, Program, Word};

use crate::bytes::{Reader, put_number, put_signed};
use crate::damaged::Wrong;
use crate::pool::Pool;
use crate::value;

/// The version of this encoding; the first byte of every record.
const FORM: u8 = 1;

/// What is kept with the words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Head {
    /// `now` of the step that wrote it
    pub written_at: Word,
    /// the time at which each repair is in the index, if it is
    pub due: Vec<(OperationId, Word)>,
}

impl Head {
    pub fn due_of(&self, repair: OperationId) -> Option<Word> {
        self.due.iter().find(|(known, _)| *known == repair).map(|(_, at)| *at)
    }
}

pub fn put_head(out: &mut Vec<u8>, head: &Head) {
    out.push(FORM);
    put_signed(out, head.written_at);
    put_number(out, head.due.len() as u64);
    for (repair, at) in &head.due {
        put_number(out, u64::from(repair.0));
        put_signed(out, *at);
    }
}

pub fn take_head(reader: &mut Reader<'_>) -> Result<Head, Wrong> {
    if reader.byte()? != FORM {
        return Err(Wrong::UnknownForm);
    }
    let written_at = reader.signed()?;
    let count = reader.number()?;
    let mut due = Vec::new();
    for _ in 0..count {
        due.push((OperationId(reader.id()?), reader.signed()?));
    }
    Ok(Head { written_at, due })
}

/// What the truth of a subject's records is made of, in the order in which it is stored.
#[derive(Debug)]
pub struct RecordForm {
    /// truth attributes in the order of the record
    pub attributes: Vec<(Field, Type)>,
    pub counters: Range<usize>,
    /// (state, word of the start); the end follows it
    pub logs: Vec<(StateId, usize)>,
    /// in words
    pub width: usize,
}

impl RecordForm {
    pub fn of(design: &Design, program: &Program, id: SubjectId) -> RecordForm {
        let subject = &design.subjects[id.index()];
        let words = program.layout(id);
        let attributes = subject.attributes.iter().enumerate().filter_map(|(at, attribute)| {
            Some((words.attribute(AttrId::of(at))?, attribute.ty.clone()))
        });
        let logs = subject.states.iter().enumerate().filter_map(|(at, state)| match state.kind {
            StateKind::Log { .. } => {
                let log = StateId::of(at);
                Some((log, words.log_start(log)? as usize))
            }
            _ => None,
        });
        let first = words.counter(CounterId(0)) as usize;
        RecordForm {
            attributes: attributes.collect(),
            counters: first..first + subject.counters.len(),
            logs: logs.collect(),
            width: words.width as usize,
        }
    }

    /// The truth alone, as it stands in the feed.
    pub fn put_truth(&self, out: &mut Vec<u8>, design: &Design, words: &[Word], pool: &Pool) {
        for (field, ty) in &self.attributes {
            value::put(out, design, ty, &words[field.range()], pool);
        }
        for word in &words[self.counters.clone()] {
            put_signed(out, *word);
        }
        for (_, start) in &self.logs {
            put_signed(out, words[*start]);
            put_signed(out, words[*start + 1]);
        }
    }

    /// Appends the words of the truth.
    pub fn take_truth(
        &self,
        reader: &mut Reader<'_>,
        design: &Design,
        pool: &mut Pool,
        words: &mut Vec<Word>,
    ) -> Result<(), Wrong> {
        let start = words.len();
        for (_, ty) in &self.attributes {
            value::take(reader, design, ty, pool, words)?;
        }
        for _ in self.counters.clone() {
            words.push(reader.signed()?);
        }
        for _ in &self.logs {
            words.push(reader.signed()?);
            words.push(reader.signed()?);
        }
        assert_eq!(words.len() - start, self.width, "a record has the words of its subject");
        Ok(())
    }
}
