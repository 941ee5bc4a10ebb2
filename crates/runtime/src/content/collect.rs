//! Content that nothing mentions is taken away.
//!
//! What is looked for are the digests themselves, as they are written: in the keys and values of
//! records, in the entries of logs, in calls and messages on their way. A text that happens to be a
//! digest keeps its content, too; none is taken away because a kind of reference was forgotten.

use std::ops::ControlFlow;

use layout::{ContentKey, Reader, Space};
use rustc_hash::FxHashSet;
use store::{Decision, Hash, Key, KeyRange, Transaction};

use super::blobs::mark;
use crate::calls::CallError;
use crate::core::{ReadError, Runtime};
use crate::registry;

/// Keys that are looked at in one transaction while calls wait.
const KEYS: usize = 2_000;

/// A digest as it is written: in hexadecimal digits.
const DIGITS: usize = 64;

/// What may mention a digest.
const SPACES: [Space; 4] = [Space::Record, Space::LogEntry, Space::Outbox, Space::Aside];

/// What a collection came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Collected {
    pub taken: usize,
    /// contents of this design that are still there
    pub kept: usize,
}

impl Runtime {
    /// Deletes content that nothing mentions and that was stored more than `grace_ms` ago. Whoever
    /// uploads first and refers to it afterwards has that long.
    ///
    /// Everything is looked at in small transactions. Only if something was found is it looked at once
    /// more in one, which a store in this process alone can give: any other refuses.
    pub async fn collect_blobs(&self, grace_ms: i64) -> Result<Collected, CallError> {
        if self.is_shared() {
            let why = "content is collected only where the state is in this process";
            return Err(store::Error::Invalid(why.into()).into());
        }
        let before = self.clock.now_ms().saturating_sub(grace_ms);
        let (mut unused, all) = self.marked(before)?;
        let mut kept = all;
        for space in SPACES {
            let mut after = None;
            while !unused.is_empty() && self.look_through(space, &mut after, &mut unused)? {}
        }
        if unused.is_empty() {
            return Ok(Collected { taken: 0, kept });
        }
        let mut trouble = None;
        let candidates = unused;
        let mut unused = FxHashSet::default();
        let ticket = self.transact(&mut |transaction| {
            unused = candidates.clone();
            unused.retain(|digest| {
                let key = mark(self.schema.number, digest);
                match transaction.get(&key) {
                    // somebody may have stored it again meanwhile
                    Some((_, at)) => match Reader::new(at).signed() {
                        Ok(at) => at <= before,
                        Err(wrong) => {
                            trouble = Some(ReadError::value(&key, wrong));
                            false
                        }
                    },
                    None => false,
                }
            });
            for space in SPACES {
                let _ = self.some_mentioned(transaction, space, None, usize::MAX, &mut unused);
            }
            for digest in &unused {
                transaction.delete(&mark(self.schema.number, digest));
            }
            if unused.is_empty() { Decision::Abandon } else { Decision::Commit }
        })?;
        if let Some(error) = trouble {
            return Err(error.into());
        }
        kept = kept.saturating_sub(unused.len());
        // the bytes go only when nothing can refer to them any more
        ticket.durable().await?;
        let mut taken = 0;
        for digest in &unused {
            taken += usize::from(self.delete_unmarked(digest)?);
        }
        Ok(Collected { taken, kept })
    }

    /// What was stored before a time, and how much is stored at all.
    fn marked(&self, before: i64) -> Result<(FxHashSet<Vec<u8>>, usize), CallError> {
        let range = KeyRange::prefix(Space::Blob.prefix(self.schema.number).to_vec());
        let (mut old, mut all) = (FxHashSet::default(), 0);
        let mut trouble = None;
        self.transact(&mut |transaction| {
            (old, all) = (FxHashSet::default(), 0);
            transaction.scan(&range, false, &mut |key, _, value| {
                all += 1;
                match (ContentKey::parse(key), Reader::new(value).signed()) {
                    (Ok(mark), Ok(at)) => {
                        if at <= before {
                            old.insert(mark.digest.to_vec());
                        }
                    }
                    (Err(damaged), _) => trouble = Some(damaged.into()),
                    (_, Err(wrong)) => trouble = Some(ReadError::value(key, wrong)),
                }
                ControlFlow::Continue(())
            });
            Decision::Abandon
        })?;
        match trouble {
            Some(error) => Err(error.into()),
            None => Ok((old, all)),
        }
    }

    /// Strikes out what the next keys of a space mention. False: there are none.
    fn look_through(
        &self,
        space: Space,
        after: &mut Option<Vec<u8>>,
        unused: &mut FxHashSet<Vec<u8>>,
    ) -> Result<bool, CallError> {
        let mut last = None;
        self.transact(&mut |transaction| {
            last = self.some_mentioned(transaction, space, after.as_deref(), KEYS, unused);
            Decision::Abandon
        })?;
        *after = last;
        Ok(after.is_some())
    }

    /// Strikes out what at most so many keys mention; gives the last of them.
    fn some_mentioned(
        &self,
        transaction: &dyn Transaction,
        space: Space,
        after: Option<&[u8]>,
        most: usize,
        unused: &mut FxHashSet<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let mut range = KeyRange::prefix(space.prefix(self.schema.number).to_vec());
        if let Some(after) = after {
            range.start = Key::new(after.to_vec()).next();
        }
        let (mut looked_at, mut last) = (0, None);
        transaction.scan(&range, false, &mut |key, _, value| {
            strike_out(key, unused);
            strike_out(value, unused);
            looked_at += 1;
            if looked_at < most {
                return ControlFlow::Continue(());
            }
            last = Some(key.to_vec());
            ControlFlow::Break(())
        });
        last
    }

    /// Deletes content, unless somebody is uploading it or has marked it again. Uploads of it that
    /// begin meanwhile wait until it is gone, and then write it anew.
    fn delete_unmarked(&self, digest: &[u8]) -> Result<bool, CallError> {
        let Ok(text) = str::from_utf8(digest) else { return Ok(false) };
        let Ok(hash) = text.parse::<Hash>() else { return Ok(false) };
        let uploads = self.store.blobs().uploads();
        let deleted = uploads.unless_under_way(hash, || self.delete_if_unmarked(digest, hash));
        deleted.unwrap_or(Ok(false))
    }

    fn delete_if_unmarked(&self, digest: &[u8], hash: Hash) -> Result<bool, CallError> {
        // the bytes are shared by all designs of the store, and each has its own marks
        let mut marked = Ok(false);
        self.transact(&mut |transaction| {
            marked = registry::numbers(transaction).map(|mut numbers| {
                numbers.any(|number| transaction.get(&mark(number, digest)).is_some())
            });
            Decision::Abandon
        })?;
        if marked? {
            return Ok(false);
        }
        Ok(self.block_on(self.store.blobs().delete(hash))?)
    }
}

/// Takes every digest out of the list that stands somewhere in these bytes.
fn strike_out(bytes: &[u8], unused: &mut FxHashSet<Vec<u8>>) {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    for run in bytes.split(|byte| !is_digit(byte)) {
        for window in run.windows(DIGITS) {
            unused.remove(window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_found_wherever_it_stands() {
        let digest = Hash::of(b"x").to_string().into_bytes();
        let other = Hash::of(b"y").to_string().into_bytes();
        for (before, after) in
            [(&b""[..], &b""[..]), (b"\x40", b"\x00\x01"), (b"a", b"0"), (b"..", b"zz")]
        {
            let mut unused: FxHashSet<Vec<u8>> =
                [digest.clone(), other.clone()].into_iter().collect();
            strike_out(&[before, &digest, after].concat(), &mut unused);
            assert!(!unused.contains(&digest), "{before:?} {after:?}");
            assert!(unused.contains(&other));
            strike_out(&other[1..], &mut unused);
            assert!(unused.contains(&other), "a part of it is not it");
        }
    }
}
