//! What a process has read and written of late, on a store that others may change, too.
//!
//! Commits check what they rest on, so what is kept here need not be true: a transaction that was decided on something
//! out of date fails, and is run again on what is there now. What a transaction answers without a commit, a refusal or a
//! look, never rests on this.
//!
//! Commits that are not answered yet are kept, too. The next transaction is decided on what they write, and expects just
//! that: so many of them can meet at one record in one group, where they would have to wait for each other's answers.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use super::expected;
use crate::commit::{Commit, Write};
use crate::key::Key;
use crate::record::{Record, Version};

/// Half of what is kept, in records and in bytes: when it is reached, the half that was not asked for lately is let go.
const HALF_RECORDS: usize = 32_768;
const HALF_BYTES: usize = 32 << 20;

#[derive(Debug, Default)]
pub struct Recent(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    young: BTreeMap<Key, Entry>,
    old: BTreeMap<Key, Entry>,
    bytes: usize,
    /// How far the store is known to have come.
    newest: u64,
    /// Where counting began, and own commits that were answered since, each with a position of its own.
    counted_from: u64,
    counted: u64,
    /// Own commits that are not answered yet.
    under_way: u64,
    /// Up to here others have committed. What was read or written before may have changed.
    others_at: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    /// None: there is no record.
    record: Option<Record>,
    since: Since,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// As of this position.
    Position(u64),
    /// A commit that is not answered yet, by the version of what it writes.
    UnderWay(Version),
}

/// A commit that was not sent: what is under these keys is known to be something else than it expects.
#[derive(Debug)]
pub struct Outdated(pub Vec<Key>);

impl Recent {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is under this key, unless it is not known or others may have changed it.
    pub(super) fn find(&self, key: &Key) -> Option<Option<Record>> {
        let mut state = self.lock();
        let entry = state.find(key)?;
        Some(entry.record.clone())
    }

    /// This was read from the store, as of a position.
    pub(super) fn read(&self, keys: &[Key], records: &[Option<Record>], position: u64) {
        let mut state = self.lock();
        state.reached(position);
        for (key, record) in keys.iter().zip(records) {
            if !state.is_newer(key, position) {
                let entry = Entry { record: record.clone(), since: Since::Position(position) };
                state.keep(key.clone(), entry);
            }
        }
    }

    /// Begins to send a commit, if nothing contradicts what it expects. `send` is called in the order in which commits
    /// build upon each other.
    pub(super) fn begin<T>(
        &self,
        commit: &Commit,
        version: Version,
        send: impl FnOnce() -> Poll<T>,
    ) -> Result<(UnderWay<'_>, Poll<T>), Outdated> {
        let mut state = self.lock();
        let mut changed = Vec::new();
        for check in &commit.checks {
            if let Some(entry) = state.find(&check.key)
                && expected(entry.record.as_ref()) != check.expected
            {
                changed.push(check.key.clone());
            }
        }
        if !changed.is_empty() {
            return Err(Outdated(changed));
        }
        let mut keys = Vec::with_capacity(commit.writes.len());
        for write in &commit.writes {
            keys.push(write.key().clone());
            let entry = Entry::written(write, version, Since::UnderWay(version));
            state.keep(write.key().clone(), entry);
        }
        state.under_way += 1;
        let under_way = UnderWay { recent: self, version, keys, over: false };
        Ok((under_way, send()))
    }

    /// A commit that nobody has built upon holds, at this position.
    pub(super) fn wrote(&self, commit: &Commit, version: Version, position: u64) {
        let mut state = self.lock();
        state.counted += 1;
        state.reached(position);
        for write in &commit.writes {
            if !state.is_newer(write.key(), position) {
                let entry = Entry::written(write, version, Since::Position(position));
                state.keep(write.key().clone(), entry);
            }
        }
    }

    /// These were not as they are kept here.
    pub(super) fn forget<'k>(&self, keys: impl IntoIterator<Item = &'k Key>) {
        let mut state = self.lock();
        for key in keys {
            let settled = |entry: &Entry| matches!(entry.since, Since::Position(_));
            if state.entry(key).is_some_and(settled) {
                state.take(key);
            }
        }
    }

    fn answered(&self, version: Version, keys: &[Key], position: Option<u64>) {
        let mut state = self.lock();
        state.under_way -= 1;
        if let Some(position) = position {
            state.counted += 1;
            state.reached(position);
        }
        for key in keys {
            let Some(entry) = state.entry_mut(key) else { continue };
            if entry.since != Since::UnderWay(version) {
                continue;
            }
            match position {
                Some(position) => entry.since = Since::Position(position),
                None => state.take(key),
            }
        }
    }
}

/// A commit that is not answered yet. If nobody waits for the answer any more, what it writes is not known.
#[derive(Debug)]
pub struct UnderWay<'r> {
    recent: &'r Recent,
    version: Version,
    keys: Vec<Key>,
    over: bool,
}

impl UnderWay<'_> {
    /// It holds, at this position.
    pub(super) fn holds(mut self, position: u64) {
        self.over = true;
        self.recent.answered(self.version, &self.keys, Some(position));
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.recent.answered(self.version, &self.keys, None);
        }
    }
}

impl State {
    fn entry(&self, key: &Key) -> Option<&Entry> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    fn entry_mut(&mut self, key: &Key) -> Option<&mut Entry> {
        match self.young.get_mut(key) {
            Some(entry) => Some(entry),
            None => self.old.get_mut(key),
        }
    }

    /// Is something known under this key that comes after a position?
    fn is_newer(&self, key: &Key, position: u64) -> bool {
        self.entry(key).is_some_and(|entry| match entry.since {
            Since::UnderWay(_) => true,
            Since::Position(known) => known > position,
        })
    }

    /// One that can be built upon.
    fn find(&mut self, key: &Key) -> Option<&Entry> {
        if !self.young.contains_key(key) {
            let entry = self.old.remove(key)?;
            self.keep(key.clone(), entry);
        }
        self.young.get(key).filter(|entry| match entry.since {
            Since::UnderWay(_) => true,
            Since::Position(position) => position >= self.others_at,
        })
    }

    fn keep(&mut self, key: Key, entry: Entry) {
        self.bytes += key.len() + entry.bytes();
        if let Some(before) = self.young.insert(key, entry) {
            self.bytes = self.bytes.saturating_sub(before.bytes());
        }
        if self.young.len() > HALF_RECORDS || self.bytes > HALF_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
    }

    fn take(&mut self, key: &Key) {
        if let Some(entry) = self.young.remove(key) {
            self.bytes = self.bytes.saturating_sub(key.len() + entry.bytes());
        }
        self.old.remove(key);
    }

    /// The store has come to this position. If that is further than own commits can have brought it, others have
    /// committed: those that are under way may hold a position already.
    fn reached(&mut self, position: u64) {
        self.newest = self.newest.max(position);
        if self.newest - self.counted_from > self.counted + self.under_way {
            (self.counted_from, self.counted) = (self.newest, 0);
            self.others_at = self.newest;
        }
    }
}

impl Entry {
    fn written(write: &Write, version: Version, since: Since) -> Entry {
        let record = match write {
            Write::Put(_, value) => Some(Record { version, value: value.clone() }),
            Write::Delete(_) => None,
        };
        Entry { record, since }
    }

    fn bytes(&self) -> usize {
        self.record.as_ref().map_or(0, |record| record.value.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: &str, version: u64, after: Option<u64>) -> (Commit, Version) {
        let commit = match after {
            None => Commit::new().absent(key),
            Some(after) => Commit::new().expect(key, Version(after)),
        };
        (commit.put(key, "x").version(Version(version)), Version(version))
    }

    fn begun<'r>(recent: &'r Recent, (commit, version): &(Commit, Version)) -> UnderWay<'r> {
        recent.begin(commit, *version, || Poll::<()>::Pending).unwrap().0
    }

    fn version(recent: &Recent, key: &str) -> Option<Option<u64>> {
        recent.find(&key.into()).map(|found| found.map(|record| record.version.0))
    }

    #[test]
    fn a_commit_builds_upon_one_that_is_not_answered() {
        let recent = Recent::default();
        let first = begun(&recent, &put("a", 10, None));
        assert_eq!(version(&recent, "a"), Some(Some(10)));
        let second = begun(&recent, &put("a", 11, Some(10)));
        // who has read what was there before the second is told, and nothing is sent
        let third = put("a", 12, Some(10));
        let outdated = recent.begin(&third.0, third.1, || -> Poll<()> { panic!("sent") });
        assert_eq!(outdated.unwrap_err().0, ["a".into()]);
        first.holds(1);
        assert_eq!(version(&recent, "a"), Some(Some(11)));
        // it did not hold: what is there is not known
        drop(second);
        assert_eq!(version(&recent, "a"), None);
    }

    #[test]
    fn what_was_read_before_others_committed_is_not_built_upon() {
        let recent = Recent::default();
        recent.read(&["a".into(), "b".into()], &[None, None], 7);
        assert_eq!(version(&recent, "a"), Some(None));
        // own commits take the positions 8 and 9, in any order
        let (first, second) = (put("c", 10, None), put("d", 11, None));
        let (first, second) = (begun(&recent, &first), begun(&recent, &second));
        second.holds(9);
        first.holds(8);
        assert_eq!(version(&recent, "a"), Some(None));
        // 10 is somebody else's
        begun(&recent, &put("e", 12, None)).holds(11);
        assert_eq!((version(&recent, "a"), version(&recent, "c")), (None, None));
        assert_eq!(version(&recent, "e"), Some(Some(12)));
        recent.read(&["a".into()], &[None], 11);
        assert_eq!(version(&recent, "a"), Some(None));
        // so is 12, and a read tells of it
        recent.read(&["b".into()], &[None], 12);
        assert_eq!((version(&recent, "a"), version(&recent, "b")), (None, Some(None)));
    }

    #[test]
    fn an_early_read_does_not_hide_what_was_written_since() {
        let recent = Recent::default();
        recent.read(&["a".into()], &[None], 1);
        begun(&recent, &put("a", 10, None)).holds(2);
        recent.read(&["a".into()], &[None], 1);
        assert_eq!(version(&recent, "a"), Some(Some(10)));
    }

    #[test]
    fn what_was_not_asked_for_lately_is_let_go() {
        let recent = Recent::default();
        let asked: Key = "asked".into();
        recent.read(std::slice::from_ref(&asked), &[None], 1);
        for n in 0..3 * HALF_RECORDS {
            let key: Key = n.to_string().as_str().into();
            recent.read(&[key], &[None], 1);
            assert_eq!(recent.find(&asked), Some(None), "{n}");
        }
        let state = recent.lock();
        assert!(state.young.len() + state.old.len() <= 2 * HALF_RECORDS + 1);
        drop(state);
        assert_eq!(version(&recent, "0"), None);
    }
}
