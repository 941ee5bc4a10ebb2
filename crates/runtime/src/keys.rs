//! Where things lie in the store.
//!
//! Every key begins with the number of its design and the letter of a space. Within a space keys
//! sort as their parts do, so that due times are read in order and children lie together.

use design::model::{Design, OperationId, StateId, SubjectId, Type};
use engine::Word;

use crate::bytes::{Damaged, Reader};
use crate::pool::Pool;

/// The number of a design in a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct DesignNumber(pub u16);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Space {
    Record = b'r',
    LogEntry = b'l',
    Idempotency = b'i',
    /// outbox entries by effect and key
    Outbox = b'o',
    /// the same by the time of their next attempt
    OutboxDue = b'p',
    /// repairs by the time they are due
    RepairDue = b't',
    /// stored outcomes by the time they are forgotten
    IdempotencyDue = b'j',
    /// digests whose content is stored
    Blob = b'b',
    /// what each principal has acted as, of the actors that are apart from others
    Apart = b'a',
    /// how far each follower of the feed is
    Follower = b'f',
    /// what the runtime keeps of the design itself
    Meta = b'm',
}

pub fn begin(out: &mut Vec<u8>, design: DesignNumber, space: Space) {
    out.extend_from_slice(&design.0.to_be_bytes());
    out.push(space as u8);
}

/// What stands before the parts of a record's key: design, space and subject.
pub const RECORD_HEAD_BYTES: usize = 5;

/// The key of a record: subject, then the parts.
pub fn record(
    out: &mut Vec<u8>,
    design: &Design,
    number: DesignNumber,
    subject: SubjectId,
    key: Word,
    pool: &Pool,
) {
    begin(out, number, Space::Record);
    out.extend_from_slice(&(subject.0 as u16).to_be_bytes());
    key_parts(out, design, subject, key, pool);
}

pub fn log_entry(out: &mut Vec<u8>, record: &[u8], log: StateId, offset: Word) {
    out.extend_from_slice(&record[..2]);
    out.push(Space::LogEntry as u8);
    out.extend_from_slice(&record[3..]);
    out.push(log.0 as u8);
    out.extend_from_slice(&(offset as u64).to_be_bytes());
}

/// What is due at a time: for a repair the record's key, for the outbox the entry's.
pub fn due(
    out: &mut Vec<u8>,
    number: DesignNumber,
    space: Space,
    at: Word,
    operation: OperationId,
    tail: &[u8],
) {
    begin(out, number, space);
    out.extend_from_slice(&sortable(at));
    out.extend_from_slice(&(operation.0 as u16).to_be_bytes());
    out.extend_from_slice(tail);
}

/// The time, the operation and the tail of a key that [`due`] made.
pub fn read_due(key: &[u8]) -> Result<(Word, OperationId, &[u8]), Damaged> {
    let mut reader = Reader::new(key);
    reader.take(3)?;
    let at = from_sortable(reader.take(8)?)?;
    let operation = reader.take(2)?;
    let operation = u16::from_be_bytes([operation[0], operation[1]]);
    Ok((at, OperationId(u32::from(operation)), reader.rest()))
}

pub fn sortable(value: i64) -> [u8; 8] {
    (value as u64 ^ 1 << 63).to_be_bytes()
}

fn from_sortable(bytes: &[u8]) -> Result<i64, Damaged> {
    let bytes: [u8; 8] = bytes.try_into().map_err(|_| Damaged)?;
    Ok((u64::from_be_bytes(bytes) ^ 1 << 63) as i64)
}

/// The parts of a key, those of the records it refers to among them.
pub fn key_parts(out: &mut Vec<u8>, design: &Design, subject: SubjectId, key: Word, pool: &Pool) {
    let parts = pool.parts(key);
    for (part, declared) in parts.iter().zip(&design.subjects[subject.index()].keys) {
        match declared.ty {
            Type::Ref(other) => key_parts(out, design, other, *part, pool),
            Type::Text | Type::Bytes | Type::Actor | Type::Digest(_) | Type::PublicKey => {
                put_text(out, pool.content(*part));
            }
            _ => out.extend_from_slice(&sortable(*part)),
        }
    }
}

/// Is a part of this key, or of a key in it, an empty text?
pub fn has_empty_part(design: &Design, subject: SubjectId, key: Word, pool: &Pool) -> bool {
    let declared = &design.subjects[subject.index()].keys;
    pool.parts(key).iter().zip(declared).any(|(part, declared)| match declared.ty {
        Type::Ref(other) => has_empty_part(design, other, *part, pool),
        Type::Text => pool.content(*part).is_empty(),
        // a principal is whoever the server says that it is
        _ => false,
    })
}

/// Takes the parts of a key off the front and gives its handle.
pub fn read_key_parts(
    reader: &mut Reader<'_>,
    design: &Design,
    subject: SubjectId,
    pool: &mut Pool,
) -> Result<Word, Damaged> {
    let mut parts = [0; MAX_PARTS];
    let keys = &design.subjects[subject.index()].keys;
    let count = keys.len();
    if count > MAX_PARTS {
        return Err(Damaged);
    }
    for (part, declared) in parts.iter_mut().zip(keys) {
        *part = match declared.ty {
            Type::Ref(other) => read_key_parts(reader, design, other, pool)?,
            Type::Text | Type::Bytes | Type::Actor | Type::Digest(_) | Type::PublicKey => {
                let content = read_text(reader)?;
                pool.text(&content)
            }
            _ => from_sortable(reader.take(8)?)?,
        };
    }
    Ok(pool.key(subject, &parts[..count]))
}

/// How many parts a key may have; checked when a design is loaded.
pub const MAX_PARTS: usize = 16;

/// Ends in two bytes that no content contains, so that a prefix sorts before what it begins.
pub fn put_text(out: &mut Vec<u8>, content: &[u8]) {
    if content.contains(&0) {
        for byte in content {
            out.push(*byte);
            if *byte == 0 {
                out.push(0xff);
            }
        }
    } else {
        out.extend_from_slice(content);
    }
    out.extend_from_slice(&[0, 1]);
}

fn read_text(reader: &mut Reader<'_>) -> Result<Vec<u8>, Damaged> {
    let mut content = Vec::new();
    loop {
        match reader.byte()? {
            0 => match reader.byte()? {
                0xff => content.push(0),
                1 => return Ok(content),
                _ => return Err(Damaged),
            },
            byte => content.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_sort_and_come_back() {
        let mut contents: Vec<&[u8]> =
            vec![b"", b"a", b"a\0", b"a\0b", b"a\x01", b"ab", b"b", b"\xff", b"\0", b"\0\0"];
        contents.sort();
        let mut encoded: Vec<Vec<u8>> = contents
            .iter()
            .map(|content| {
                let mut out = Vec::new();
                put_text(&mut out, content);
                out
            })
            .collect();
        for (content, bytes) in contents.iter().zip(&encoded) {
            assert_eq!(read_text(&mut Reader::new(bytes)).as_deref(), Ok(*content));
        }
        let before = encoded.clone();
        encoded.sort();
        assert_eq!(before, encoded);
    }

    #[test]
    fn times_sort() {
        let mut last = [0; 8];
        for at in [i64::MIN, -5, -1, 0, 1, 5, i64::MAX] {
            let bytes = sortable(at);
            assert!(at == i64::MIN || bytes > last);
            assert_eq!(from_sortable(&bytes), Ok(at));
            last = bytes;
        }
    }
}
