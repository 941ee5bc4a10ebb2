//! What a copy holds, in two hashes.

use crate::contract::FeedCommit;
use crate::error::{Error, Result};
use crate::hash::Hasher;
use crate::key::Key;
use crate::record::Record;

/// Of keys, versions and values in their order, and of the feed. What is not after the base was compared before: of such a
/// record key and version count, and of the feed nothing.
pub struct Digest {
    base: u64,
    records: Hasher,
    count: u64,
    last: Option<Key>,
    feed: Hasher,
    fed: u64,
    position: u64,
}

impl Digest {
    pub fn new(base: u64) -> Self {
        let (records, feed) = (Hasher::default(), Hasher::default());
        Digest { base, records, count: 0, last: None, feed, fed: 0, position: 0 }
    }

    pub fn count(&self) -> u64 {
        self.count + self.fed
    }

    pub fn records(&mut self, records: &[(Key, Record)]) -> Result<()> {
        for (key, record) in records {
            if self.last.as_ref().is_some_and(|last| last >= key) {
                return Err(Error::Damaged(format!("`{key}` was read after a later key")));
            }
            self.last = Some(key.clone());
            self.count += 1;
            put(&mut self.records, key);
            self.records.update(&record.version.0.to_be_bytes());
            if record.version.0 > self.base {
                put(&mut self.records, &record.value);
            }
        }
        Ok(())
    }

    pub fn feed(&mut self, commits: &[FeedCommit]) -> Result<()> {
        for commit in commits {
            let position = commit.cursor.position();
            if position <= self.position {
                let message = format!("the feed goes from {} to {position}", self.position);
                return Err(Error::Damaged(message));
            }
            self.position = position;
            if position <= self.base {
                continue;
            }
            self.fed += 1;
            self.feed.update(&position.to_be_bytes());
            self.feed.update(&(commit.entries.len() as u64).to_be_bytes());
            commit.entries.iter().for_each(|entry| put(&mut self.feed, entry));
        }
        Ok(())
    }

    /// In what the other one differs.
    pub fn differs(&self, other: &Digest) -> Option<String> {
        let pairs =
            [("records", self.count, other.count), ("commits in the feed", self.fed, other.fed)];
        if let Some((what, ours, theirs)) =
            pairs.into_iter().find(|(_, ours, theirs)| ours != theirs)
        {
            return Some(format!("it has {theirs} {what}, of {ours}"));
        }
        if self.records.finish() != other.records.finish() {
            return Some("it has other records".into());
        }
        (self.feed.finish() != other.feed.finish()).then(|| "it has another feed".into())
    }
}

/// Bytes after their length, so that no two lists of them are taken for each other.
fn put(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::cursor::{Cursor, Partition};
    use crate::record::Version;

    fn record(key: &str, version: u64, value: &'static str) -> (Key, Record) {
        (
            key.into(),
            Record { version: Version(version), value: Bytes::from_static(value.as_bytes()) },
        )
    }

    fn fed(position: u64, entries: &[&'static str]) -> FeedCommit {
        let entries = entries.iter().map(|entry| Bytes::from_static(entry.as_bytes())).collect();
        FeedCommit { cursor: Cursor::at(Partition(0), position), entries }
    }

    fn digest(base: u64, records: &[(Key, Record)], feed: &[FeedCommit]) -> Digest {
        let mut digest = Digest::new(base);
        digest.records(records).unwrap();
        digest.feed(feed).unwrap();
        digest
    }

    #[test]
    fn everything_counts_and_before_the_base_only_keys_and_versions() {
        let records = [record("a", 1, "x"), record("b", 7, "y")];
        let feed = [fed(1, &["p", "q"]), fed(7, &["r"])];
        let whole = digest(0, &records, &feed);
        let others = [
            (vec![record("a", 1, "x")], feed.to_vec()),
            (vec![record("a", 1, "x"), record("b", 6, "y")], feed.to_vec()),
            (vec![record("a", 1, "x"), record("c", 7, "y")], feed.to_vec()),
            (vec![record("a", 1, "z"), record("b", 7, "y")], feed.to_vec()),
            (records.to_vec(), vec![fed(1, &["pq"]), fed(7, &["r"])]),
            (records.to_vec(), vec![fed(1, &["p", "q"]), fed(6, &["r"])]),
            (records.to_vec(), vec![fed(7, &["r"])]),
        ];
        for (records, feed) in &others {
            assert!(whole.differs(&digest(0, records, feed)).is_some(), "{records:?} {feed:?}");
        }
        assert_eq!(whole.differs(&digest(0, &records, &feed)), None);
        let since = digest(5, &records, &feed);
        let same: Vec<bool> =
            others.iter().map(|(r, f)| since.differs(&digest(5, r, f)).is_none()).collect();
        assert_eq!(same, [false, false, false, true, true, false, true]);
    }

    #[test]
    fn what_is_out_of_order_is_damage() {
        let mut digest = Digest::new(0);
        assert!(digest.records(&[record("b", 1, ""), record("a", 2, "")]).is_err());
        assert!(digest.feed(&[fed(2, &[]), fed(2, &[])]).is_err());
    }
}
