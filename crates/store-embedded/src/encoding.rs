//! How a commit is laid out in the log: its length, then what it does, one after the other.

/// Before a commit stands its length in so many bytes.
pub const LENGTH_BYTES: usize = 4;

const PUT: u8 = 1;
const DELETE: u8 = 2;
const FEED: u8 = 3;

/// One thing that a commit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    Put(&'a [u8], &'a [u8]),
    Delete(&'a [u8]),
    Feed(&'a [u8]),
}

pub fn encode_put(buffer: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    buffer.push(PUT);
    encode_number(buffer, key.len() as u64);
    encode_number(buffer, value.len() as u64);
    buffer.extend_from_slice(key);
    buffer.extend_from_slice(value);
}

pub fn encode_delete(buffer: &mut Vec<u8>, key: &[u8]) {
    buffer.push(DELETE);
    encode_number(buffer, key.len() as u64);
    buffer.extend_from_slice(key);
}

pub fn encode_feed(buffer: &mut Vec<u8>, entry: &[u8]) {
    buffer.push(FEED);
    encode_number(buffer, entry.len() as u64);
    buffer.extend_from_slice(entry);
}

/// Seven bits a byte, the lowest first; the highest bit says that there is more.
pub fn encode_number(buffer: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        buffer.push(number as u8 | 0x80);
        number >>= 7;
    }
    buffer.push(number as u8);
}

/// Reads what was encoded. Nothing comes of bytes that are not.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes are not read yet.
    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    pub fn bytes(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(usize::try_from(length).ok()?)?;
        self.bytes = rest;
        Some(taken)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.bytes(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// The next commit of a batch.
    pub fn commit(&mut self) -> Option<Reader<'a>> {
        let length = self.u32()?;
        self.bytes(length.into()).map(Reader::new)
    }

    pub fn action(&mut self) -> Option<Action<'a>> {
        match self.byte()? {
            PUT => {
                let (key, value) = (self.number()?, self.number()?);
                Some(Action::Put(self.bytes(key)?, self.bytes(value)?))
            }
            DELETE => {
                let key = self.number()?;
                Some(Action::Delete(self.bytes(key)?))
            }
            FEED => {
                let entry = self.number()?;
                Some(Action::Feed(self.bytes(entry)?))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut buffer = Vec::new();
        encode_put(&mut buffer, b"key", &[7; 300]);
        encode_delete(&mut buffer, b"");
        encode_feed(&mut buffer, b"entry");
        let mut reader = Reader::new(&buffer);
        assert_eq!(reader.action(), Some(Action::Put(b"key", &[7; 300])));
        assert_eq!(reader.action(), Some(Action::Delete(b"")));
        assert_eq!(reader.action(), Some(Action::Feed(b"entry")));
        assert!(reader.is_empty());
        for length in 0..buffer.len() {
            let mut cut = Reader::new(&buffer[..length]);
            let whole = std::iter::from_fn(|| cut.action()).count();
            assert!(whole < 3, "{length}");
        }
    }

    #[test]
    fn numbers_of_every_length() {
        for shift in 0..64 {
            for number in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut buffer = Vec::new();
                encode_number(&mut buffer, number);
                assert_eq!(Reader::new(&buffer).number(), Some(number));
            }
        }
        assert_eq!(Reader::new(&[0xff; 11]).number(), None);
    }
}
