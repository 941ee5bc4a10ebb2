//! Transactions on a store that knows only conditional commits.
//!
//! A transaction is run on what was fetched so far. Whatever it misses is fetched, and it is run
//! again from the beginning; when it misses nothing, it is committed under the condition that all it
//! has read is unchanged. If something was changed, it is run anew on what is there now, after a
//! while that grows, and so many times.

mod attempt;

use std::collections::BTreeMap;
use std::time::Duration;

use self::attempt::{Attempt, Wanted};
use crate::commit::{Check, Commit, Expected, Write};
use crate::contract::{Scan, Store};
use crate::cursor::{Cursor, Partition};
use crate::error::{Error, Result};
use crate::key::{Key, KeyRange};
use crate::local::{Decision, Ticket, Transaction};
use crate::record::Record;
use crate::surroundings::Surroundings;

/// How often a transaction that meets another one is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// the first try counts
    pub attempts_max: u32,
    /// Each wait is a part of this, by chance; it doubles from try to try.
    pub backoff_first: Duration,
    pub backoff_max: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Retry {
            attempts_max: 24,
            backoff_first: Duration::from_millis(2),
            backoff_max: Duration::from_millis(100),
        }
    }
}

/// What became of a transaction, and how often it met another one.
#[derive(Clone, Debug)]
pub struct Settled {
    pub ticket: Ticket,
    pub conflicts: u32,
}

/// What one attempt has fetched.
#[derive(Debug, Default)]
struct Fetched {
    records: BTreeMap<Key, Option<Record>>,
    scans: Vec<Scanned>,
    /// What was fetched at once is of one moment; more is not.
    fetches: u32,
}

/// The beginning of a range, as far as it was fetched.
#[derive(Debug)]
struct Scanned {
    range: KeyRange,
    reverse: bool,
    records: Vec<(Key, Record)>,
    /// There is no more.
    whole: bool,
}

/// So many records of a scan are fetched at first, then four times as many each time.
const SCAN_FIRST: usize = 32;

/// Runs a transaction to its end; the surroundings decide how long it waits for others. Only its last run counts. An [`Error::Contended`] means that it met others too often,
/// and that nothing was written.
pub async fn transact<R: FnMut(&mut dyn Transaction) -> Decision + ?Sized>(
    surroundings: &dyn Surroundings,
    store: &dyn Store,
    retry: &Retry,
    run: &mut R,
) -> Result<Settled> {
    let mut rounds = Rounds::new(surroundings, store, retry);
    loop {
        if let Round::Settled(settled) = rounds.next(run).await? {
            return Ok(settled);
        }
    }
}

/// A transaction that is tried round by round, so that whoever runs many as one may leave out those that
/// are settled.
pub struct Rounds<'s> {
    surroundings: &'s dyn Surroundings,
    store: &'s dyn Store,
    retry: &'s Retry,
    fetched: Fetched,
    conflicts: u32,
}

/// What a round came to.
#[derive(Debug)]
pub enum Round {
    Settled(Settled),
    /// Others had changed something that was read: nothing was written. What it read most likely again
    /// is fetched anew. `at` is a moment at which everything was as it was read, if there was one.
    Met {
        at: Option<Cursor>,
    },
}

impl<'s> Rounds<'s> {
    pub fn new(
        surroundings: &'s dyn Surroundings,
        store: &'s dyn Store,
        retry: &'s Retry,
    ) -> Rounds<'s> {
        Rounds { surroundings, store, retry, fetched: Fetched::default(), conflicts: 0 }
    }

    /// Fetches what will most likely be read, at one moment.
    pub async fn load(&mut self, keys: Vec<Key>) -> Result<()> {
        if keys.is_empty() {
            Ok(())
        } else {
            self.fetched.fetch(self.store, vec![Wanted::Records(keys)]).await
        }
    }

    /// Runs it until nothing is missing, and commits. Only its last run counts.
    pub async fn next<R: FnMut(&mut dyn Transaction) -> Decision + ?Sized>(
        &mut self,
        run: &mut R,
    ) -> Result<Round> {
        let (decision, found) = loop {
            let mut attempt = Attempt::new(&self.fetched, self.surroundings.chance() | 1 << 63);
            let decision = run(&mut attempt);
            let (wanted, found) = attempt.end();
            if wanted.is_empty() {
                break (decision, found);
            }
            self.fetched.fetch(self.store, wanted).await?;
        };
        let read: Vec<Key> = found.read.keys().cloned().collect();
        let checks = found.read.into_iter().map(|(key, expected)| Check { key, expected });
        let mut commit = Commit { checks: checks.collect(), ..Commit::default() };
        if decision == Decision::Commit {
            commit.writes = found.writes.into_iter().map(write).collect();
            commit.feed = found.feed;
        }
        let one_moment = self.fetched.fetches <= 1;
        if commit.only_checks() && one_moment {
            let cursor = self.store.head(Partition::default()).await?;
            return Ok(self.settled(cursor));
        }
        match self.store.commit(commit).await {
            Ok(cursor) => Ok(self.settled(cursor)),
            Err(Error::Conflict(_)) => {
                self.conflicts += 1;
                if self.conflicts >= self.retry.attempts_max {
                    return Err(Error::Contended { attempts: self.conflicts });
                }
                let at = match one_moment {
                    true => Some(self.store.head(Partition::default()).await?),
                    false => None,
                };
                let wait = self.retry.wait(self.surroundings.chance(), self.conflicts);
                self.surroundings.sleep(wait).await;
                self.fetched = Fetched::default();
                // It will most likely read the same again.
                self.load(read).await?;
                Ok(Round::Met { at })
            }
            Err(error) => Err(error),
        }
    }

    fn settled(&self, cursor: Cursor) -> Round {
        Round::Settled(Settled { ticket: Ticket::settled(cursor), conflicts: self.conflicts })
    }

    /// How often it met others so far.
    pub fn conflicts(&self) -> u32 {
        self.conflicts
    }
}

fn write((key, value): (Key, Option<bytes::Bytes>)) -> Write {
    match value {
        Some(value) => Write::Put(key, value),
        None => Write::Delete(key),
    }
}

impl Retry {
    fn wait(&self, chance: u64, conflicts: u32) -> Duration {
        let doubled = self.backoff_first.saturating_mul(1 << (conflicts - 1).min(16));
        let longest = doubled.min(self.backoff_max);
        let part = chance >> 32;
        Duration::from_nanos((longest.as_nanos() as u64 >> 8).saturating_mul(part >> 24))
    }
}

impl Fetched {
    async fn fetch(&mut self, store: &dyn Store, wanted: Vec<Wanted>) -> Result<()> {
        for wanted in wanted {
            self.fetches += 1;
            match wanted {
                Wanted::Records(keys) => {
                    let records = store.read(&keys, None).await?;
                    self.records.extend(keys.into_iter().zip(records));
                }
                Wanted::Scan { range, reverse } => self.fetch_scan(store, range, reverse).await?,
            }
        }
        Ok(())
    }

    async fn fetch_scan(
        &mut self,
        store: &dyn Store,
        range: KeyRange,
        reverse: bool,
    ) -> Result<()> {
        let known = self.scans.iter().position(|s| s.range == range && s.reverse == reverse);
        let at = known.unwrap_or_else(|| {
            let (range, records) = (range.clone(), Vec::new());
            self.scans.push(Scanned { range, reverse, records, whole: false });
            self.scans.len() - 1
        });
        let scanned = &mut self.scans[at];
        let mut rest = range;
        match scanned.records.last() {
            Some((last, _)) if reverse => rest.end = Some(last.clone()),
            Some((last, _)) => rest.start = last.next(),
            None => {}
        }
        let limit =
            (scanned.records.len() * 3).max(SCAN_FIRST).min(store.limits().scan_records_max);
        let mut scan = Scan::new(rest, limit);
        scan.reverse = reverse;
        let page = store.scan(scan).await?;
        scanned.whole = !page.more;
        scanned.records.extend(page.records);
        Ok(())
    }
}

/// What a read found, as a commit expects it.
fn expected(record: Option<&Record>) -> Expected {
    record.map_or(Expected::Absent, |record| Expected::Version(record.version))
}

#[cfg(test)]
mod tests;
