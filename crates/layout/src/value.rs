//! Values as they are stored: compact, by type, independent of the handles of one call.

use design::model::{Design, Type};
use engine::{NULL, Word, width_of};

use crate::bytes::{Reader, put_bytes, put_number, put_signed, put_sized};
use crate::damaged::Wrong;
use crate::key::parts::{put_parts, take_parts};
use crate::pool::Pool;

/// Writes the value of type `ty` that stands in `words`.
pub fn put(out: &mut Vec<u8>, design: &Design, ty: &Type, words: &[Word], pool: &Pool) {
    match ty {
        Type::Optional(inner) => {
            if words[0] == NULL {
                out.push(0);
            } else {
                out.push(1);
                put(out, design, inner, words, pool);
            }
        }
        Type::List { of, .. } => {
            let width = width_of(of) as usize;
            let length = length_of(words, width);
            put_number(out, length as u64);
            for element in words[1..=length * width].chunks_exact(width) {
                put(out, design, of, element, pool);
            }
        }
        Type::Set { of, .. } => {
            let width = width_of(of) as usize;
            let length = length_of(words, width);
            put_number(out, length as u64);
            let elements = words[1..=length * width].chunks_exact(width);
            put_in_order(out, elements, |out, element| put(out, design, of, element, pool));
        }
        Type::Map { key, value, .. } => {
            let length = length_of(words, 2);
            put_number(out, length as u64);
            let pairs = words[1..=2 * length].chunks_exact(2);
            put_in_order(out, pairs, |out, pair| {
                put(out, design, key, &pair[..1], pool);
                put(out, design, value, &pair[1..], pool);
            });
        }
        Type::Struct(fields) => {
            for (field, word) in fields.iter().zip(words) {
                put(out, design, &field.ty, std::slice::from_ref(word), pool);
            }
        }
        Type::Record(fields) => {
            let mut at = 0;
            for (_, ty) in fields {
                let width = width_of(ty) as usize;
                put(out, design, ty, &words[at..at + width], pool);
                at += width;
            }
        }
        Type::Ref(subject) => {
            put_sized(out, |out| put_parts(out, design, *subject, words[0], pool));
        }
        ty if is_text(ty) => put_bytes(out, pool.content(words[0])),
        _ => put_signed(out, words[0]),
    }
}

/// Writes elements whose order means nothing, in the order of their bytes. Their own order is that of the handles of one
/// call: the same set would be stored in many ways.
fn put_in_order<'w>(
    out: &mut Vec<u8>,
    elements: impl ExactSizeIterator<Item = &'w [Word]>,
    put: impl Fn(&mut Vec<u8>, &[Word]),
) {
    if elements.len() < 2 {
        elements.for_each(|element| put(out, element));
        return;
    }
    let (start, mut ends) = (out.len(), Vec::with_capacity(elements.len()));
    for element in elements {
        put(out, element);
        ends.push(out.len());
    }
    let starts = std::iter::once(start).chain(ends.iter().copied());
    let mut places: Vec<(usize, usize)> = starts.zip(ends.iter().copied()).collect();
    if places.is_sorted_by_key(|(from, to)| &out[*from..*to]) {
        return;
    }
    let written = out.split_off(start);
    let of = |(from, to): &(usize, usize)| &written[from - start..to - start];
    places.sort_by(|one, other| of(one).cmp(of(other)));
    places.iter().for_each(|place| out.extend_from_slice(of(place)));
}

/// Reads a value of type `ty`; its words are appended.
pub fn take(
    reader: &mut Reader<'_>,
    design: &Design,
    ty: &Type,
    pool: &mut Pool,
    words: &mut Vec<Word>,
) -> Result<(), Wrong> {
    match ty {
        Type::Optional(inner) => match reader.byte()? {
            0 => {
                words.push(NULL);
                words.extend((1..width_of(inner)).map(|_| 0));
            }
            1 => take(reader, design, inner, pool, words)?,
            _ => return Err(Wrong::UnknownChoice),
        },
        Type::Set { of, max } | Type::List { of, max } => {
            let length = count(reader, *max)?;
            let start = words.len();
            words.push(length as Word);
            for _ in 0..length {
                take(reader, design, of, pool, words)?;
            }
            if matches!(ty, Type::Set { .. }) {
                words[start + 1..].sort_unstable();
            }
            words.resize(start + width_of(ty) as usize, 0);
        }
        Type::Map { key, value, max } => {
            let length = count(reader, *max)?;
            let start = words.len();
            words.push(length as Word);
            let mut pairs: Vec<[Word; 2]> = Vec::with_capacity(length);
            for _ in 0..length {
                take(reader, design, key, pool, words)?;
                take(reader, design, value, pool, words)?;
                let tail = words.split_off(words.len() - 2);
                pairs.push([tail[0], tail[1]]);
            }
            pairs.sort_unstable();
            words.extend(pairs.into_iter().flatten());
            words.resize(start + 1 + 2 * *max as usize, 0);
        }
        Type::Struct(fields) => {
            for field in fields {
                take(reader, design, &field.ty, pool, words)?;
            }
        }
        Type::Record(fields) => {
            for (_, ty) in fields {
                take(reader, design, ty, pool, words)?;
            }
        }
        Type::Ref(subject) => {
            let mut key = Reader::new(reader.bytes()?);
            words.push(take_parts(&mut key, design, *subject, pool)?);
            key.end()?;
        }
        ty if is_text(ty) => {
            let handle = pool.text(reader.bytes()?);
            words.push(handle);
        }
        _ => words.push(reader.signed()?),
    }
    Ok(())
}

fn count(reader: &mut Reader<'_>, max: u32) -> Result<usize, Wrong> {
    let length = reader.number()?;
    if length > u64::from(max) { Err(Wrong::TooManyElements) } else { Ok(length as usize) }
}

fn length_of(words: &[Word], width: usize) -> usize {
    usize::try_from(words[0]).unwrap_or(0).min(words.len().saturating_sub(1) / width)
}

/// Kept in the pool.
pub fn is_text(ty: &Type) -> bool {
    ty.is_opaque() || *ty == Type::Actor
}
