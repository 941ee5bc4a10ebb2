//! Where a page ends: the score and key of its last hit, and what scores were made of.
//!
//! With the latter the next page scores as the first one did, whatever has changed meanwhile, so a record that has not
//! changed keeps its place.

use crate::statistics::Statistics;

#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub score: f32,
    pub key: Vec<u8>,
}

/// `statistics`: none where they are always the same.
pub fn write(score: f32, key: &[u8], statistics: Option<&Statistics>) -> Vec<u8> {
    let mut bytes = score.to_be_bytes().to_vec();
    put_number(&mut bytes, key.len() as u64);
    bytes.extend_from_slice(key);
    if let Some(known) = statistics {
        put_number(&mut bytes, known.docs);
        known.tokens.iter().chain(&known.frequencies).for_each(|it| put_number(&mut bytes, *it));
    }
    bytes
}

/// None: it was not written here, for so many attributes and words.
pub fn read(
    mut bytes: &[u8],
    tokens: usize,
    frequencies: usize,
    alone: bool,
) -> Option<(Place, Option<Statistics>)> {
    let (score, rest) = bytes.split_first_chunk::<4>()?;
    let score = f32::from_be_bytes(*score);
    bytes = rest;
    let length = usize::try_from(take_number(&mut bytes)?).ok()?;
    let (key, rest) = bytes.split_at_checked(length)?;
    bytes = rest;
    let statistics = match alone {
        true => None,
        false => {
            let docs = take_number(&mut bytes)?;
            let mut numbers = |count: usize| -> Option<Vec<u64>> {
                (0..count).map(|_| take_number(&mut bytes)).collect()
            };
            let (tokens, frequencies) = (numbers(tokens)?, numbers(frequencies)?);
            // more records with a word than there are records would be no statistics
            if frequencies.iter().any(|it| *it > docs) {
                return None;
            }
            Some(Statistics { docs, tokens, frequencies })
        }
    };
    (bytes.is_empty() && score.is_finite())
        .then(|| (Place { score, key: key.to_vec() }, statistics))
}

/// Seven bits a byte, the lowest first.
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f).checked_shl(shift)?;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_no_other() {
        let known =
            Statistics { docs: 1 << 40, tokens: vec![0, 127], frequencies: vec![128, 5, 0] };
        let written = write(3.25, b"key", Some(&known));
        let place = Place { score: 3.25, key: b"key".to_vec() };
        assert_eq!(read(&written, 2, 3, false), Some((place.clone(), Some(known.clone()))));
        assert_eq!(read(&written, 2, 2, false), None, "it is of another query");
        assert_eq!(read(&written, 2, 3, true), None);
        assert_eq!(read(&write(3.25, b"key", None), 2, 3, true), Some((place, None)));
        for cut in 0..written.len() {
            assert_eq!(read(&written[..cut], 2, 3, false), None, "cut at {cut}");
        }
        let unsound = Statistics { docs: 4, ..known };
        assert_eq!(read(&write(1.0, b"", Some(&unsound)), 2, 3, false), None);
        assert_eq!(read(&write(f32::NAN, b"", None), 0, 0, true), None);
    }
}
