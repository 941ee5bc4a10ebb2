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
use crate::commit::{Check, Commit, Expected, Token, Write};
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
    /// So long it is asked what became of a commit whose answer was lost.
    pub outcome_within: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Retry {
            attempts_max: 24,
            backoff_first: Duration::from_millis(2),
            backoff_max: Duration::from_millis(100),
            outcome_within: Duration::from_secs(10),
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
    /// The earliest of those moments: all that is not shown comes after it in the feed.
    at: Option<Cursor>,
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

/// Runs a transaction to its end; the surroundings decide how long it waits for others. Only its last run counts. An
/// [`Error::Contended`] means that it met others too often, and that nothing was written.
///
/// When the answer to a commit is lost, the store is asked what became of it: [`Error::Unknown`] is left only where it
/// cannot be reached for long.
///
/// The ticket of a transaction that wrote nothing says at which cursor it has looked, never a later one.
pub async fn transact<R: FnMut(&mut dyn Transaction) -> Decision + ?Sized>(
    surroundings: &dyn Surroundings,
    store: &dyn Store,
    retry: &Retry,
    run: &mut R,
) -> Result<Settled> {
    let mut fetched = Fetched::default();
    let mut conflicts = 0;
    let mut number = chosen(surroundings);
    loop {
        let mut attempt = Attempt::new(&fetched, number);
        let decision = run(&mut attempt);
        let (wanted, found) = attempt.end();
        if !wanted.is_empty() {
            fetched.fetch(store, wanted).await?;
            continue;
        }
        if decision == Decision::Again {
            continue;
        }
        let read: Vec<Key> = found.read.keys().cloned().collect();
        let checks = found.read.into_iter().map(|(key, expected)| Check { key, expected });
        let mut commit = Commit { checks: checks.collect(), ..Commit::default() };
        if decision == Decision::Commit {
            commit.writes = found.writes.into_iter().map(write).collect();
            commit.feed = found.feed;
        }
        let looked = commit.only_checks();
        let settled = |cursor| Ok(Settled { ticket: Ticket::settled(cursor), conflicts });
        if looked && fetched.fetches <= 1 {
            let at = match fetched.at {
                Some(at) => at,
                // it has asked for nothing at all
                None => store.head(Partition::default()).await?,
            };
            return settled(at);
        }
        let answer = if looked {
            // A range that was scanned may have more by now than was shown.
            let unchanged = unchanged(store, &read, &commit.checks).await?;
            Ok(fetched.at.filter(|_| unchanged))
        } else {
            let token = token(surroundings);
            commit.token = Some(token);
            match store.commit(commit).await {
                Err(Error::Unknown(why)) => outcome(surroundings, store, retry, token, why).await,
                answer => answer.map(Some),
            }
        };
        match answer {
            Ok(Some(cursor)) => return settled(cursor),
            Ok(None) | Err(Error::Conflict(_)) => {
                conflicts += 1;
                if conflicts >= retry.attempts_max {
                    return Err(Error::Contended { attempts: conflicts });
                }
                surroundings.sleep(retry.wait(surroundings.chance(), conflicts)).await;
                fetched = Fetched::default();
                number = chosen(surroundings);
                // It will most likely read the same again.
                fetched.fetch(store, vec![Wanted::Records(read)]).await?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether everything that was read at several moments was like this at one moment. A read does it: it takes as many
/// keys as somebody looked at, where a commit takes few.
async fn unchanged(store: &dyn Store, keys: &[Key], checks: &[Check]) -> Result<bool> {
    let now = store.read(keys, None).await?.records;
    Ok(checks.iter().zip(&now).all(|(check, record)| check.expected == expected(record.as_ref())))
}

/// The number of a transaction stays the same while it fetches: it may ask for what lies under that number.
fn chosen(surroundings: &dyn Surroundings) -> u64 {
    surroundings.chance() | 1 << 63
}

fn token(surroundings: &dyn Surroundings) -> Token {
    Token(u128::from(surroundings.chance()) << 64 | u128::from(surroundings.chance()))
}

/// What became of a commit whose answer was lost. None: it was not carried out, and never will be.
async fn outcome(
    surroundings: &dyn Surroundings,
    store: &dyn Store,
    retry: &Retry,
    token: Token,
    why: String,
) -> Result<Option<Cursor>> {
    let end = surroundings.now() + retry.outcome_within;
    let mut asked = 0;
    loop {
        match store.outcome(token).await {
            Ok(cursor) => return Ok(cursor),
            Err(Error::Unknown(_) | Error::Unavailable(_)) if surroundings.now() < end => {
                asked += 1;
                surroundings.sleep(retry.wait(surroundings.chance(), asked)).await;
            }
            Err(_) => return Err(Error::Unknown(why)),
        }
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
                    let read = store.read(&keys, None).await?;
                    self.taken(read.at);
                    self.records.extend(keys.into_iter().zip(read.records));
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
        let scanned = &self.scans[at];
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
        let scanned = &mut self.scans[at];
        scanned.whole = !page.more;
        scanned.records.extend(page.records);
        self.taken(page.at);
        Ok(())
    }

    fn taken(&mut self, at: Cursor) {
        self.at = Some(self.at.map_or(at, |known| if at < known { at } else { known }));
    }
}

/// What a read found, as a commit expects it.
fn expected(record: Option<&Record>) -> Expected {
    record.map_or(Expected::Absent, |record| Expected::Version(record.version))
}

#[cfg(test)]
mod tests;
