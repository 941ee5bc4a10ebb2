//! A commit: what must hold, what is written, and what the feed says about it.

use std::collections::BTreeSet;
use std::fmt;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::key::Key;
use crate::limits::Limits;
use crate::record::Version;

/// What a commit expects of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It is there, and was last written as this version.
    Version(Version),
    /// It is not there.
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub key: Key,
    pub expected: Expected,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    Put(Key, Bytes),
    Delete(Key),
}

impl Write {
    pub fn key(&self) -> &Key {
        match self {
            Write::Put(key, _) | Write::Delete(key) => key,
        }
    }
}

/// Names one commit, so that its outcome can be asked for when the answer was lost. Made by chance, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u128);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// All of it happens, or nothing. A commit that writes nothing and feeds nothing only checks.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Commit {
    pub checks: Vec<Check>,
    pub writes: Vec<Write>,
    pub feed: Vec<Bytes>,
    /// None: whoever loses the answer will never know.
    pub token: Option<Token>,
    /// What it writes gets this version, so that the next commit can expect it before this one is answered: whoever
    /// chooses it takes care that no other write of the same key has it. None: the store chooses. So it does where the
    /// state is in this process.
    pub version: Option<Version>,
}

impl Commit {
    pub fn new() -> Self {
        Commit::default()
    }

    pub fn expect(mut self, key: impl Into<Key>, version: Version) -> Self {
        self.checks.push(Check { key: key.into(), expected: Expected::Version(version) });
        self
    }

    pub fn absent(mut self, key: impl Into<Key>) -> Self {
        self.checks.push(Check { key: key.into(), expected: Expected::Absent });
        self
    }

    pub fn put(mut self, key: impl Into<Key>, value: impl Into<Bytes>) -> Self {
        self.writes.push(Write::Put(key.into(), value.into()));
        self
    }

    pub fn delete(mut self, key: impl Into<Key>) -> Self {
        self.writes.push(Write::Delete(key.into()));
        self
    }

    pub fn feed(mut self, entry: impl Into<Bytes>) -> Self {
        self.feed.push(entry.into());
        self
    }

    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    pub fn version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    /// Keys that it checks or writes, each once.
    pub fn operations(&self) -> usize {
        let checked = self.checks.iter().map(|check| &check.key);
        let written = self.writes.iter().map(Write::key);
        checked.chain(written).collect::<BTreeSet<_>>().len()
    }

    /// It changes nothing when its checks hold.
    pub fn only_checks(&self) -> bool {
        self.writes.is_empty() && self.feed.is_empty()
    }

    /// The bytes of all keys, values and feed entries that it writes.
    pub fn bytes(&self) -> u64 {
        let writes = self.writes.iter().map(|write| match write {
            Write::Put(key, value) => key.len() + value.len(),
            Write::Delete(key) => key.len(),
        });
        let feed = self.feed.iter().map(Bytes::len);
        writes.chain(feed).map(|bytes| bytes as u64).sum()
    }

    /// Refuses what no store takes: parts over the limits, and a key that is written twice.
    pub fn validate(&self, limits: &Limits) -> Result<()> {
        let within = |what, bytes: u64, bytes_max| {
            if bytes <= bytes_max {
                Ok(())
            } else {
                Err(Error::TooLarge { what, bytes, bytes_max })
            }
        };
        for check in &self.checks {
            within("key", check.key.len() as u64, limits.key_bytes_max)?;
        }
        for write in &self.writes {
            within("key", write.key().len() as u64, limits.key_bytes_max)?;
            if let Write::Put(_, value) = write {
                within("value", value.len() as u64, limits.value_bytes_max)?;
            }
        }
        within("commit", self.bytes(), limits.commit_bytes_max)?;
        let operations_max = limits.commit_operations_max;
        if self.checks.len() + self.writes.len() > operations_max {
            let operations = self.operations();
            if operations > operations_max {
                return Err(Error::TooMany { operations, operations_max });
            }
        }
        match self.written_twice() {
            Some(key) => Err(Error::Invalid(format!("`{key}` is written twice in one commit"))),
            None => Ok(()),
        }
    }

    fn written_twice(&self) -> Option<&Key> {
        if self.writes.len() < 2 {
            return None;
        }
        let mut keys: Vec<&Key> = self.writes.iter().map(Write::key).collect();
        keys.sort_unstable();
        keys.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }
}
