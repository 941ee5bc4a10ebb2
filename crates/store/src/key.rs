//! Keys: bytes in byte order, and ranges of them.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

/// The name of a record. Keys are ordered byte by byte.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key(Box<[u8]>);

impl Key {
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Key(bytes.into())
    }

    /// The first key after this one: nothing fits in between.
    pub fn next(&self) -> Key {
        let mut bytes = Vec::with_capacity(self.0.len() + 1);
        bytes.extend_from_slice(&self.0);
        bytes.push(0);
        Key::new(bytes)
    }
}

impl Deref for Key {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Key {
    fn from(bytes: &[u8]) -> Self {
        Key(bytes.into())
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Key(text.as_bytes().into())
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Key(text.into_bytes().into())
    }
}

impl From<Vec<u8>> for Key {
    fn from(bytes: Vec<u8>) -> Self {
        Key(bytes.into())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// The keys from `start`, included, to `end`, excluded; without an `end`, to the last key there is.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KeyRange {
    pub start: Key,
    pub end: Option<Key>,
}

impl KeyRange {
    pub fn all() -> Self {
        KeyRange::default()
    }

    pub fn new(start: impl Into<Key>, end: impl Into<Key>) -> Self {
        KeyRange { start: start.into(), end: Some(end.into()) }
    }

    /// Every key that begins with these bytes.
    pub fn prefix(prefix: impl Into<Key>) -> Self {
        let start = prefix.into();
        let kept = start.iter().rposition(|byte| *byte != u8::MAX);
        let end = kept.map(|last| {
            let mut bytes = start[..=last].to_vec();
            bytes[last] += 1;
            Key::from(bytes)
        });
        KeyRange { start, end }
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        *key >= *self.start && self.end.as_ref().is_none_or(|end| *key < **end)
    }

    /// No key can lie in it.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_where_its_last_byte_can_grow() {
        let check = |prefix: &[u8], end: Option<&[u8]>| {
            assert_eq!(KeyRange::prefix(prefix).end.as_deref(), end, "{prefix:?}");
        };
        check(b"seat/", Some(b"seat0"));
        check(b"a\xff", Some(b"b"));
        check(b"\xff\xff", None);
        check(b"", None);
    }

    #[test]
    fn nothing_lies_between_a_key_and_the_next() {
        let key = Key::from("a");
        assert!(key < key.next());
        assert!(key.next() < Key::from(&b"a\0\0"[..]));
        assert!(!KeyRange::new(key.clone(), key.next()).is_empty());
        assert!(KeyRange::new(key.clone(), key).is_empty());
    }
}
