//! A record as it is stored: when it was last written, when each of its repairs is due, its truth.

use design::model::{OperationId, SubjectId};
use engine::Word;

use crate::bytes::{Damaged, Reader, put_number, put_signed};
use crate::codec;
use crate::pool::Pool;
use crate::schema::Schema;

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

/// The truth alone, as it stands in the feed.
pub fn put_truth(
    out: &mut Vec<u8>,
    schema: &Schema,
    subject: SubjectId,
    words: &[Word],
    pool: &Pool,
) {
    let known = &schema.subjects[subject.index()];
    for (field, ty) in &known.attributes {
        codec::put(out, &schema.design, ty, &words[field.range()], pool);
    }
    for word in &words[known.counters.clone()] {
        put_signed(out, *word);
    }
    for (_, start) in &known.logs {
        put_signed(out, words[*start]);
        put_signed(out, words[*start + 1]);
    }
}

/// Appends the words of the record.
pub fn take(
    bytes: &[u8],
    schema: &Schema,
    subject: SubjectId,
    pool: &mut Pool,
    words: &mut Vec<Word>,
) -> Result<Head, Damaged> {
    let mut reader = Reader::new(bytes);
    let head = take_head(&mut reader)?;
    take_truth(&mut reader, schema, subject, pool, words)?;
    if reader.is_empty() { Ok(head) } else { Err(Damaged) }
}

pub fn take_head(reader: &mut Reader<'_>) -> Result<Head, Damaged> {
    if reader.byte()? != FORM {
        return Err(Damaged);
    }
    let written_at = reader.signed()?;
    let count = reader.number()?;
    let mut due = Vec::new();
    for _ in 0..count {
        let repair = u32::try_from(reader.number()?).map_err(|_| Damaged)?;
        due.push((OperationId(repair), reader.signed()?));
    }
    Ok(Head { written_at, due })
}

pub fn take_truth(
    reader: &mut Reader<'_>,
    schema: &Schema,
    subject: SubjectId,
    pool: &mut Pool,
    words: &mut Vec<Word>,
) -> Result<(), Damaged> {
    let known = &schema.subjects[subject.index()];
    let start = words.len();
    for (_, ty) in &known.attributes {
        codec::take(reader, &schema.design, ty, pool, words)?;
    }
    for _ in known.counters.clone() {
        words.push(reader.signed()?);
    }
    for _ in &known.logs {
        words.push(reader.signed()?);
        words.push(reader.signed()?);
    }
    if words.len() - start == known.width { Ok(()) } else { Err(Damaged) }
}
