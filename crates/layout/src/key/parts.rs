//! The parts of a record's key. Each sorts as its value does, so that children lie together and
//! numbers are in order.

use design::model::{Design, SubjectId, Type};
use engine::Word;

use crate::bytes::Reader;
use crate::damaged::Wrong;
use crate::pool::Pool;

/// How one part of a key is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartKind {
    /// the parts of the key of a record that it refers to
    Parts(SubjectId),
    /// a text that ends in 00 01, with 00 inside written as 00 ff
    Text,
    /// eight bytes that sort as the number
    Number,
}

impl PartKind {
    pub fn of(ty: &Type) -> PartKind {
        match ty {
            Type::Ref(other) => PartKind::Parts(*other),
            Type::Text | Type::Bytes | Type::Actor | Type::Digest(_) | Type::PublicKey => {
                PartKind::Text
            }
            _ => PartKind::Number,
        }
    }
}

pub fn sortable(value: i64) -> [u8; 8] {
    (value as u64 ^ 1 << 63).to_be_bytes()
}

pub fn from_sortable(bytes: [u8; 8]) -> i64 {
    (u64::from_be_bytes(bytes) ^ 1 << 63) as i64
}

/// The parts of a key, those of the records it refers to among them.
pub fn put_parts(out: &mut Vec<u8>, design: &Design, subject: SubjectId, key: Word, pool: &Pool) {
    let parts = pool.parts(key);
    for (part, declared) in parts.iter().zip(&design.subjects[subject.index()].keys) {
        match PartKind::of(&declared.ty) {
            PartKind::Parts(other) => put_parts(out, design, other, *part, pool),
            PartKind::Text => put_text(out, pool.content(*part)),
            PartKind::Number => out.extend_from_slice(&sortable(*part)),
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
pub fn take_parts(
    reader: &mut Reader<'_>,
    design: &Design,
    subject: SubjectId,
    pool: &mut Pool,
) -> Result<Word, Wrong> {
    let mut parts = [0; MAX_PARTS];
    let keys = &design.subjects[subject.index()].keys;
    let count = keys.len();
    if count > MAX_PARTS {
        return Err(Wrong::TooManyParts);
    }
    for (part, declared) in parts.iter_mut().zip(keys) {
        *part = match PartKind::of(&declared.ty) {
            PartKind::Parts(other) => take_parts(reader, design, other, pool)?,
            PartKind::Text => {
                let content = take_text(reader)?;
                pool.text(&content)
            }
            PartKind::Number => from_sortable(reader.array()?),
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

fn take_text(reader: &mut Reader<'_>) -> Result<Vec<u8>, Wrong> {
    let mut content = Vec::new();
    loop {
        match reader.byte()? {
            0 => match reader.byte()? {
                0xff => content.push(0),
                1 => return Ok(content),
                _ => return Err(Wrong::TextInKey),
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
            assert_eq!(take_text(&mut Reader::new(bytes)).as_deref(), Ok(*content));
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
            assert_eq!(from_sortable(bytes), at);
            last = bytes;
        }
    }
}
