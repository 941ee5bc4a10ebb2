//! Names of blobs.

use std::fmt;
use std::str::FromStr;

/// The BLAKE3 hash of a blob, which is its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    pub fn of(bytes: &[u8]) -> Self {
        Hash(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a hash of 64 lowercase hexadecimal digits");
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut hash = [0; 32];
        if text.len() != 64 {
            return Err(wrong());
        }
        for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
            let high = digit(pair[0]).ok_or_else(wrong)?;
            *byte = high << 4 | digit(pair[1]).ok_or_else(wrong)?;
        }
        Ok(Hash(hash))
    }
}

/// Finds the hash of bytes that come in pieces.
#[derive(Clone, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub fn finish(&self) -> Hash {
        Hash(*self.0.finalize().as_bytes())
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.finish())
    }
}
