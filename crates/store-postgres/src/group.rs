//! Commits that are sent together.
//!
//! They are decided one after the other, by the database. A commit may expect what an earlier one of the group writes: it
//! holds if that one does. Keys that several of them meet at are told to the database, which looks at those one by one.

use std::collections::{HashMap, HashSet, VecDeque};

use store::{Commit, Expected, Key, Token, Write};

use crate::values::{Uuid, pack, version};

/// So many commits are in one group. More would make the first one wait for longer than the disk does.
const COMMITS_MAX: usize = 256;
/// Their bytes, but for a single commit that has more.
const BYTES_MAX: u64 = 4 << 20;

/// Who waits for an answer, and to what.
pub trait Waiting {
    fn commit(&self) -> &Commit;
}

/// Takes from a queue what can be sent together. What cannot stays, in its order.
pub fn gather<W: Waiting>(queue: &mut VecDeque<W>) -> Group<W> {
    let mut group = Group { waiting: Vec::new(), contended: HashMap::new() };
    let mut written: HashSet<Key> = HashSet::new();
    let mut tokens: HashSet<Token> = HashSet::new();
    let mut bytes = 0;
    while let Some(next) = queue.pop_front() {
        let commit = next.commit();
        let more = commit.bytes();
        let full = group.waiting.len() >= COMMITS_MAX
            || !group.waiting.is_empty() && bytes + more > BYTES_MAX;
        // the answer to the second is that to the first, so it has to be there
        let repeated = commit.token.is_some_and(|token| tokens.contains(&token));
        if full || repeated {
            queue.push_front(next);
            break;
        }
        bytes += more;
        tokens.extend(commit.token);
        let checked = commit.checks.iter().map(|check| &check.key);
        for key in checked.chain(commit.writes.iter().map(Write::key)) {
            if written.contains(key) && !group.contended.contains_key(key) {
                let number = group.contended.len() as i32 + 1;
                group.contended.insert(key.clone(), number);
            }
        }
        written.extend(commit.writes.iter().map(|write| write.key().clone()));
        group.waiting.push(next);
    }
    group
}

pub struct Group<W> {
    pub waiting: Vec<W>,
    /// Keys that one of them writes and a later one checks or writes, numbered from 1.
    contended: HashMap<Key, i32>,
}

/// A group as the function takes it.
#[derive(Default)]
pub struct Arrays<'a> {
    pub tokens: Vec<Option<Uuid>>,
    pub versions: Vec<Option<i64>>,
    pub changes: Vec<bool>,
    pub feeds: Vec<Option<Vec<u8>>>,
    pub check_of: Vec<i32>,
    pub check_key: Vec<&'a [u8]>,
    pub check_version: Vec<i64>,
    pub write_of: Vec<i32>,
    pub write_key: Vec<&'a [u8]>,
    pub write_value: Vec<Option<&'a [u8]>>,
    pub write_touched: Vec<i32>,
    pub touched_of: Vec<i32>,
    pub touched: Vec<i32>,
    pub touched_writes: Vec<bool>,
    pub touched_version: Vec<Option<i64>>,
    pub touched_key: Vec<&'a [u8]>,
}

impl<W: Waiting> Group<W> {
    pub fn arrays(&self) -> Arrays<'_> {
        let mut arrays = Arrays::default();
        let mut keys: Vec<(&Key, &i32)> = self.contended.iter().collect();
        keys.sort_unstable_by_key(|(_, number)| **number);
        arrays.touched_key = keys.into_iter().map(|(key, _)| &**key).collect();
        for (of, waiting) in (1..).zip(&self.waiting) {
            let commit = waiting.commit();
            arrays.tokens.push(commit.token.map(Uuid::from));
            let leaves = commit.version.map(version);
            arrays.versions.push(leaves);
            // one that can be asked for has a place of its own
            arrays.changes.push(!commit.only_checks() || commit.token.is_some());
            arrays.feeds.push(pack(&commit.feed));
            for check in &commit.checks {
                let expected = match check.expected {
                    Expected::Absent => 0,
                    Expected::Version(expected) => version(expected),
                };
                if let Some(number) = self.contended.get(&check.key) {
                    arrays.touch(of, *number, false, Some(expected));
                    continue;
                }
                arrays.check_of.push(of);
                arrays.check_key.push(&check.key);
                arrays.check_version.push(expected);
            }
            for write in &commit.writes {
                arrays.write_of.push(of);
                arrays.write_key.push(write.key());
                let (value, leaves) = match write {
                    Write::Put(_, value) => (Some(&**value), leaves),
                    Write::Delete(_) => (None, Some(0)),
                };
                arrays.write_value.push(value);
                let number = self.contended.get(write.key()).copied();
                arrays.write_touched.push(number.unwrap_or(0));
                if let Some(number) = number {
                    arrays.touch(of, number, true, leaves);
                }
            }
        }
        arrays
    }
}

impl Arrays<'_> {
    fn touch(&mut self, of: i32, number: i32, writes: bool, version: Option<i64>) {
        self.touched_of.push(of);
        self.touched.push(number);
        self.touched_writes.push(writes);
        self.touched_version.push(version);
    }
}

#[cfg(test)]
mod tests {
    use store::Version;

    use super::*;

    impl Waiting for Commit {
        fn commit(&self) -> &Commit {
            self
        }
    }

    fn gathered(commits: impl IntoIterator<Item = Commit>) -> (Group<Commit>, VecDeque<Commit>) {
        let mut queue: VecDeque<Commit> = commits.into_iter().collect();
        (gather(&mut queue), queue)
    }

    fn raise(key: &str, version: u64) -> Commit {
        Commit::new().expect(key, Version(version)).put(key, "x")
    }

    #[test]
    fn commits_of_different_keys_go_together() {
        let (group, left) = gathered((0..10).map(|n| raise(&n.to_string(), 1)));
        assert_eq!((group.waiting.len(), left.len()), (10, 0));
        assert!(group.arrays().touched.is_empty());
    }

    #[test]
    fn who_meets_another_at_a_key_is_looked_at_after_it() {
        let second = raise("a", 1).version(Version(7));
        let (group, left) = gathered([second, raise("b", 1), raise("a", 7), raise("a", 2)]);
        assert_eq!((group.waiting.len(), left.len()), (4, 0));
        let arrays = group.arrays();
        assert_eq!(arrays.versions, [Some(7), None, None, None]);
        assert_eq!((arrays.check_of, arrays.check_key), (vec![2], vec![&b"b"[..]]));
        assert_eq!(arrays.touched_key, [b"a"]);
        assert_eq!(arrays.touched_of, [1, 1, 3, 3, 4, 4]);
        assert_eq!(arrays.touched_writes, [false, true, false, true, false, true]);
        let versions = [Some(1), Some(7), Some(7), None, Some(2), None];
        assert_eq!(arrays.touched_version, versions);
        assert_eq!(arrays.write_touched, [1, 0, 1, 1]);
    }

    #[test]
    fn who_only_checks_before_a_write_is_not_touched_by_it() {
        let (group, _) =
            gathered([Commit::new().expect("a", Version(1)).put("b", ""), raise("a", 1)]);
        assert_eq!(group.waiting.len(), 2);
        assert!(group.arrays().touched.is_empty());
    }

    #[test]
    fn what_is_deleted_is_absent_for_the_next() {
        let (group, _) =
            gathered([Commit::new().delete("a"), Commit::new().absent("a").put("a", "y")]);
        let arrays = group.arrays();
        assert_eq!(arrays.touched_version, [Some(0), Some(0), None]);
        assert_eq!(arrays.write_value, [None, Some(&b"y"[..])]);
    }

    #[test]
    fn the_same_token_waits_for_the_next_group() {
        let token = |key: &str| Commit::new().put(key, "x").token(Token(1));
        let (group, left) = gathered([token("a"), token("b"), raise("c", 1)]);
        assert_eq!(group.waiting, [token("a")]);
        assert_eq!(left, [token("b"), raise("c", 1)]);
    }

    #[test]
    fn groups_are_limited_in_number_and_bytes() {
        let (group, left) = gathered((0..COMMITS_MAX + 5).map(|n| raise(&n.to_string(), 1)));
        assert_eq!((group.waiting.len(), left.len()), (COMMITS_MAX, 5));
        let large = |key: &str| Commit::new().put(key, vec![0; BYTES_MAX as usize]);
        let (group, left) = gathered([large("a"), large("b")]);
        assert_eq!((group.waiting.len(), left.len()), (1, 1));
    }
}
