//! Reading and writing the small encodings that stored values are made of.

use crate::damaged::Wrong;

pub fn put_number(out: &mut Vec<u8>, value: u64) {
    let mut rest = value;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Small numbers of either sign are short.
pub fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_number(out, ((value << 1) ^ (value >> 63)) as u64);
}

pub fn put_bytes(out: &mut Vec<u8>, content: &[u8]) {
    put_number(out, content.len() as u64);
    out.extend_from_slice(content);
}

/// Writes something after its length, which is known only when it is written.
pub fn put_sized(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.push(0);
    write(out);
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
        return;
    }
    let mut prefix = Vec::with_capacity(10);
    put_number(&mut prefix, length as u64);
    out.splice(start..=start, prefix);
}

/// Takes values off the front of some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn byte(&mut self) -> Result<u8, Wrong> {
        let (first, rest) = self.rest.split_first().ok_or(Wrong::EndsEarly)?;
        self.rest = rest;
        Ok(*first)
    }

    pub fn number(&mut self) -> Result<u64, Wrong> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return Err(Wrong::NumberTooLarge);
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Wrong::NumberTooLarge)
    }

    pub fn signed(&mut self) -> Result<i64, Wrong> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], Wrong> {
        let length = usize::try_from(self.number()?).map_err(|_| Wrong::NumberTooLarge)?;
        self.take(length)
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Wrong> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Wrong::EndsEarly)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next bytes, as many as are asked for.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Wrong> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Wrong::EndsEarly)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// A number of an operation, a subject or an event.
    pub fn id(&mut self) -> Result<u32, Wrong> {
        u32::try_from(self.number()?).map_err(|_| Wrong::NumberTooLarge)
    }

    /// What `take` takes off the front, as it is written.
    pub fn span<T>(
        &mut self,
        take: impl FnOnce(&mut Reader<'a>) -> Result<T, Wrong>,
    ) -> Result<(&'a [u8], T), Wrong> {
        let before = self.rest;
        let taken = take(self)?;
        Ok((&before[..before.len() - self.rest.len()], taken))
    }

    /// Fails if something is left over.
    pub fn end(self) -> Result<(), Wrong> {
        if self.rest.is_empty() { Ok(()) } else { Err(Wrong::GoesOn) }
    }

    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_first_is_sized_afterwards() {
        for length in [0, 1, 127, 128, 300, 16_384] {
            let content = vec![7; length];
            let (mut sized, mut known) = (vec![1, 2], vec![1, 2]);
            put_sized(&mut sized, |out| out.extend_from_slice(&content));
            put_bytes(&mut known, &content);
            assert_eq!(sized, known);
        }
    }

    #[test]
    fn numbers_come_back() {
        for value in [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN, 1 << 40, -(1 << 40)] {
            let mut out = Vec::new();
            put_signed(&mut out, value);
            put_bytes(&mut out, b"tail");
            let mut reader = Reader::new(&out);
            assert_eq!(reader.signed(), Ok(value));
            assert_eq!(reader.bytes(), Ok(&b"tail"[..]));
            assert!(reader.is_empty());
            for end in 0..out.len() {
                let mut reader = Reader::new(&out[..end]);
                assert!(reader.signed().and_then(|_| reader.bytes()).is_err(), "{value} {end}");
            }
        }
        assert_eq!(Reader::new(&[0xff; 10]).number(), Err(Wrong::NumberTooLarge));
    }
}
