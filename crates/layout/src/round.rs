//! How far `send each` has come, as it stands behind the arguments of its entry.

use engine::round::{Rest, Round};

use crate::bytes::{Reader, put_bytes};
use crate::damaged::Wrong;

const NOBODY_YET: u8 = 0;
const BEHIND: u8 = 1;
const END: u8 = 0;
const AROUND: u8 = 1;
const UP_TO: u8 = 2;

pub fn put_round(out: &mut Vec<u8>, round: &Round) {
    match &round.at {
        None => out.push(NOBODY_YET),
        Some(at) => {
            out.push(BEHIND);
            put_bytes(out, at);
        }
    }
    let (form, key) = match &round.rest {
        Rest::End => (END, None),
        Rest::Around(key) => (AROUND, Some(key)),
        Rest::UpTo(key) => (UP_TO, Some(key)),
    };
    out.push(form);
    key.into_iter().for_each(|key| put_bytes(out, key));
}

/// Reads without taking it off: behind it there is nothing.
pub fn take_round(args: &mut Reader<'_>) -> Result<Round, Wrong> {
    let mut reader = *args;
    let at = match reader.byte()? {
        NOBODY_YET => None,
        BEHIND => Some(reader.bytes()?.to_vec()),
        _ => return Err(Wrong::UnknownChoice),
    };
    let rest = match reader.byte()? {
        END => Rest::End,
        AROUND => Rest::Around(reader.bytes()?.to_vec()),
        UP_TO => Rest::UpTo(reader.bytes()?.to_vec()),
        _ => return Err(Wrong::UnknownChoice),
    };
    reader.end()?;
    Ok(Round { at, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_read_as_it_was_written() {
        let key = |byte: u8| vec![byte, 0, 1];
        for at in [None, Some(key(7))] {
            for rest in [Rest::End, Rest::Around(key(9)), Rest::UpTo(key(0))] {
                let round = Round { at: at.clone(), rest };
                let mut out = Vec::new();
                put_round(&mut out, &round);
                assert_eq!(take_round(&mut Reader::new(&out)), Ok(round));
                for end in 0..out.len() {
                    assert!(take_round(&mut Reader::new(&out[..end])).is_err());
                }
            }
        }
    }
}
