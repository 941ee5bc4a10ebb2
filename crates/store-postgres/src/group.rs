//! Commits that are sent together.
//!
//! They are decided one after the other, by the database, on what was there before the group. What one of them writes a
//! later one has not seen: if that checks it, it fails, and the database is told so. Where it could hold all the same, it
//! waits for the next group.

use std::collections::{HashMap, HashSet, VecDeque};

use store::{Commit, Expected, Key, Token, Write};

use crate::values::{Uuid, pack, version};

/// So many commits are in one group. More would make the first one wait for longer than the disk does.
const COMMITS_MAX: usize = 256;
/// Their bytes, but for a single commit that has more.
const BYTES_MAX: u64 = 4 << 20;
/// So many are looked at for one group, so that those who wait for each other cost little.
const LOOKED_AT_MAX: usize = COMMITS_MAX * 4;

/// Who waits for an answer, and to what.
pub trait Waiting {
    fn commit(&self) -> &Commit;
}

/// What earlier commits of the group do with a key.
#[derive(Default)]
struct Written {
    deleted: bool,
}

/// Takes from a queue what can be sent together. What cannot stays, in its order.
pub fn gather<W: Waiting>(queue: &mut VecDeque<W>) -> Group<W> {
    let mut group = Group { waiting: Vec::new(), contended: HashMap::new() };
    let mut written: HashMap<Key, Written> = HashMap::new();
    let mut tokens: HashSet<Token> = HashSet::new();
    let mut left = VecDeque::new();
    let (mut bytes, mut looked_at) = (0, 0);
    while let Some(next) = queue.pop_front() {
        let commit = next.commit();
        let more = commit.bytes();
        let full = group.waiting.len() >= COMMITS_MAX
            || looked_at >= LOOKED_AT_MAX
            || !group.waiting.is_empty() && bytes + more > BYTES_MAX;
        if full {
            queue.push_front(next);
            break;
        }
        looked_at += 1;
        let repeated = commit.token.is_some_and(|token| tokens.contains(&token));
        if repeated || !fits(commit, &written) {
            left.push_back(next);
            continue;
        }
        bytes += more;
        tokens.extend(commit.token);
        for check in &commit.checks {
            if written.contains_key(&check.key) {
                let number = group.contended.len() as i32 + 1;
                group.contended.entry(check.key.clone()).or_insert(number);
            }
        }
        for write in &commit.writes {
            let known = written.entry(write.key().clone()).or_default();
            known.deleted |= matches!(write, Write::Delete(_));
        }
        group.waiting.push(next);
    }
    while let Some(last) = left.pop_back() {
        queue.push_front(last);
    }
    group
}

/// Whether it is known what becomes of this commit, for each of those that may become of the ones before.
fn fits(commit: &Commit, written: &HashMap<Key, Written>) -> bool {
    if written.is_empty() {
        return true;
    }
    let checked = |key: &Key| commit.checks.iter().any(|check| check.key == *key);
    let holds_never = commit.checks.iter().all(|check| match written.get(&check.key) {
        // after a deletion it may be as expected
        Some(known) => !(known.deleted && check.expected == Expected::Absent),
        None => true,
    });
    let no_write_upon_another = commit
        .writes
        .iter()
        .all(|write| !written.contains_key(write.key()) || checked(write.key()));
    holds_never && no_write_upon_another
}

pub struct Group<W> {
    pub waiting: Vec<W>,
    /// Keys that one of them writes and a later one checks, numbered from 1.
    contended: HashMap<Key, i32>,
}

/// A group as the function takes it.
#[derive(Default)]
pub struct Arrays<'a> {
    pub tokens: Vec<Option<Uuid>>,
    pub changes: Vec<bool>,
    pub feeds: Vec<Option<Vec<u8>>>,
    pub check_of: Vec<i32>,
    pub check_key: Vec<&'a [u8]>,
    pub check_version: Vec<i64>,
    pub write_of: Vec<i32>,
    pub write_key: Vec<&'a [u8]>,
    pub write_value: Vec<Option<&'a [u8]>>,
    pub touched_of: Vec<i32>,
    pub touched: Vec<i32>,
    pub touched_writes: Vec<bool>,
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
            // one that can be asked for has a place of its own
            arrays.changes.push(!commit.only_checks() || commit.token.is_some());
            arrays.feeds.push(pack(&commit.feed));
            for check in &commit.checks {
                arrays.check_of.push(of);
                arrays.check_key.push(&check.key);
                arrays.check_version.push(match check.expected {
                    Expected::Absent => 0,
                    Expected::Version(expected) => version(expected),
                });
                self.touch(&mut arrays, of, &check.key, false);
            }
            for write in &commit.writes {
                arrays.write_of.push(of);
                arrays.write_key.push(write.key());
                arrays.write_value.push(match write {
                    Write::Put(_, value) => Some(value),
                    Write::Delete(_) => None,
                });
                self.touch(&mut arrays, of, write.key(), true);
            }
        }
        arrays
    }

    fn touch(&self, arrays: &mut Arrays<'_>, of: i32, key: &Key, writes: bool) {
        if let Some(number) = self.contended.get(key) {
            arrays.touched_of.push(of);
            arrays.touched.push(*number);
            arrays.touched_writes.push(writes);
        }
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
    fn who_checks_what_an_earlier_one_writes_is_known_to_fail_then() {
        let (group, left) = gathered([raise("a", 1), raise("b", 1), raise("a", 1), raise("a", 2)]);
        assert_eq!((group.waiting.len(), left.len()), (4, 0));
        let arrays = group.arrays();
        assert_eq!(arrays.touched_key, [b"a"]);
        assert_eq!(arrays.touched_of, [1, 1, 3, 3, 4, 4]);
        assert_eq!(arrays.touched_writes, [false, true, false, true, false, true]);
    }

    #[test]
    fn who_only_checks_before_a_write_is_not_touched_by_it() {
        let (group, _) =
            gathered([Commit::new().expect("a", Version(1)).put("b", ""), raise("a", 1)]);
        assert_eq!(group.waiting.len(), 2);
        assert!(group.arrays().touched.is_empty());
    }

    #[test]
    fn what_may_hold_after_an_earlier_one_waits_for_the_next_group() {
        let cases = [
            // a write upon a write, whoever holds
            [raise("a", 1), Commit::new().put("a", "y")],
            [Commit::new().put("a", "x"), Commit::new().delete("a")],
            // absent after a deletion
            [Commit::new().delete("a"), Commit::new().absent("a").put("a", "y")],
            // the second answer is the first one
            [
                Commit::new().put("a", "x").token(Token(1)),
                Commit::new().put("b", "x").token(Token(1)),
            ],
        ];
        for case in cases {
            let (group, left) = gathered(case.clone());
            assert_eq!(group.waiting, case[..1]);
            assert_eq!(left, &case[1..]);
        }
    }

    #[test]
    fn groups_are_limited_in_number_and_bytes() {
        let (group, left) = gathered((0..COMMITS_MAX + 5).map(|n| raise(&n.to_string(), 1)));
        assert_eq!((group.waiting.len(), left.len()), (COMMITS_MAX, 5));
        let large = |key: &str| Commit::new().put(key, vec![0; BYTES_MAX as usize]);
        let (group, left) = gathered([large("a"), large("b")]);
        assert_eq!((group.waiting.len(), left.len()), (1, 1));
    }

    #[test]
    fn what_is_left_keeps_its_order() {
        let blind = |value: &'static str| Commit::new().put("a", value);
        let (group, left) = gathered([blind("1"), blind("2"), raise("b", 1), blind("3")]);
        assert_eq!(group.waiting, [blind("1"), raise("b", 1)]);
        assert_eq!(left, [blind("2"), blind("3")]);
    }
}
