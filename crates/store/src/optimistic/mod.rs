//! Transactions on a store that knows only conditional commits.
//!
//! A transaction is run on what was fetched so far. Whatever it misses is fetched, and it is run
//! again from the beginning; when it misses nothing, it is committed under the condition that all it
//! has read is unchanged. If something was changed, it is run anew on what is there now, after a
//! while that grows, and so many times.
//!
//! With [`Recent`], what a process has read and written of late is not fetched again.

mod attempt;
mod recent;

use std::collections::BTreeMap;
use std::task::Poll;
use std::time::Duration;

use self::attempt::{Attempt, Wanted};
use self::recent::Outdated;
pub use self::recent::Recent;
use crate::commit::{Check, Commit, Expected, Token, Write};
use crate::contract::{Scan, Store};
use crate::cursor::{Cursor, Partition};
use crate::error::{Error, Result};
use crate::key::{Key, KeyRange};
use crate::local::{Decision, Ticket, Transaction};
use crate::record::{Record, Version};
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
    /// Something was known without asking the store: nothing may be answered on it without a commit.
    known: bool,
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

/// So often a transaction is run again because another one of this process was faster. Each time that one has been sent.
const OVERTAKEN_MAX: u32 = 64;
/// So many records of a scan are fetched at first, then four times as many each time.
const SCAN_FIRST: usize = 32;

/// Where transactions run, and what is known there.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    pub surroundings: &'a dyn Surroundings,
    pub store: &'a dyn Store,
    /// None: everything is fetched.
    pub recent: Option<&'a Recent>,
    pub retry: &'a Retry,
}

/// Runs a transaction to its end; the surroundings decide how long it waits for others. Only its last run counts. An
/// [`Error::Contended`] means that it met others too often, and that nothing was written.
///
/// When the answer to a commit is lost, the store is asked what became of it: [`Error::Unknown`] is left only where it
/// cannot be reached for long.
///
/// The ticket of a transaction that wrote nothing says at which cursor it has looked, never a later one.
pub async fn transact<R: FnMut(&mut dyn Transaction) -> Decision + ?Sized>(
    ground: Ground<'_>,
    run: &mut R,
) -> Result<Settled> {
    let Ground { surroundings, store, retry, .. } = ground;
    let mut recent = ground.recent;
    let mut fetched = Fetched::default();
    let (mut conflicts, mut overtaken) = (0, 0);
    let mut number = chosen(surroundings);
    loop {
        let mut attempt = Attempt::new(&fetched, number);
        let decision = run(&mut attempt);
        let (wanted, found) = attempt.end();
        let read: Vec<Key> = found.read.keys().cloned().collect();
        // Ranges are fetched, after the records that tell what is in them: both have to be of the store.
        if found.scans && fetched.known {
            recent = None;
            fetched = Fetched::of(ground, recent, read).await?;
            continue;
        }
        if !wanted.is_empty() {
            fetched.fetch(ground, recent, wanted).await?;
            continue;
        }
        if decision == Decision::Again {
            continue;
        }
        let checks = found.read.into_iter().map(|(key, expected)| Check { key, expected });
        let mut commit = Commit { checks: checks.collect(), ..Commit::default() };
        if decision == Decision::Commit {
            commit.writes = found.writes.into_iter().map(write).collect();
            commit.feed = found.feed;
        }
        let looked = commit.only_checks();
        if looked && fetched.known {
            recent = None;
            fetched = Fetched::of(ground, recent, read).await?;
            continue;
        }
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
            // on what it has fetched it is sent as it is, whatever is under way
            let upon = recent.filter(|_| overtaken < OVERTAKEN_MAX && !found.scans);
            match send(ground, upon, commit, version(number)).await {
                Ok(answer) => answer,
                Err(Outdated(keys)) => {
                    overtaken += 1;
                    fetched.fetch(ground, recent, vec![Wanted::Records(keys)]).await?;
                    continue;
                }
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
                number = chosen(surroundings);
                // What it has built upon may come late, or never: every other time it builds on what is there.
                recent = ground.recent.filter(|_| conflicts % 2 == 0);
                overtaken = 0;
                // It will most likely read the same again.
                fetched = Fetched::of(ground, recent, read).await?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Sends a commit, and waits until it is known what became of it. None: it was not carried out, and never will be. If
/// it builds `upon` what is known, others may build upon it.
async fn send(
    ground: Ground<'_>,
    upon: Option<&Recent>,
    mut commit: Commit,
    version: Version,
) -> std::result::Result<Result<Option<Cursor>>, Outdated> {
    let token = token(ground.surroundings);
    (commit.token, commit.version) = (Some(token), Some(version));
    let Some(kept) = ground.recent else {
        return Ok(answered(ground, ground.store.commit(commit).await, token).await);
    };
    let begun = commit.clone();
    let mut sending = ground.store.commit(commit);
    let Some(recent) = upon else {
        let answer = answered(ground, sending.await, token).await;
        match &answer {
            Ok(Some(cursor)) => kept.wrote(&begun, version, cursor.position()),
            Ok(None) | Err(_) => kept.forget(begun.checks.iter().map(|check| &check.key)),
        }
        return Ok(answer);
    };
    // What it builds upon has been sent before, and whoever builds upon it is sent afterwards.
    let (under_way, first) = std::future::poll_fn(|context| {
        Poll::Ready(recent.begin(&begun, version, || sending.as_mut().poll(context)))
    })
    .await?;
    let answer = match first {
        Poll::Ready(answer) => answer,
        Poll::Pending => sending.await,
    };
    let answer = answered(ground, answer, token).await;
    match &answer {
        Ok(Some(cursor)) => under_way.holds(cursor.position()),
        Ok(None) | Err(_) => {
            drop(under_way);
            recent.forget(begun.checks.iter().map(|check| &check.key));
        }
    }
    Ok(answer)
}

/// The answer to a commit. If it was lost, the store is asked.
async fn answered(
    ground: Ground<'_>,
    answer: Result<Cursor>,
    token: Token,
) -> Result<Option<Cursor>> {
    match answer {
        Err(Error::Unknown(why)) => outcome(ground, token, why).await,
        answer => answer.map(Some),
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

/// What it writes gets this version. It fits into a number of JavaScript, and is larger than any position.
fn version(number: u64) -> Version {
    Version(1 << 52 | number >> 12)
}

fn token(surroundings: &dyn Surroundings) -> Token {
    Token(u128::from(surroundings.chance()) << 64 | u128::from(surroundings.chance()))
}

/// What became of a commit whose answer was lost. None: it was not carried out, and never will be.
async fn outcome(ground: Ground<'_>, token: Token, why: String) -> Result<Option<Cursor>> {
    let Ground { surroundings, store, retry, .. } = ground;
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
    /// These records, and nothing else.
    async fn of(ground: Ground<'_>, recent: Option<&Recent>, keys: Vec<Key>) -> Result<Fetched> {
        let mut fetched = Fetched::default();
        fetched.fetch(ground, recent, vec![Wanted::Records(keys)]).await?;
        Ok(fetched)
    }

    /// Asks the store for what is not known.
    async fn fetch(
        &mut self,
        ground: Ground<'_>,
        recent: Option<&Recent>,
        wanted: Vec<Wanted>,
    ) -> Result<()> {
        let store = ground.store;
        for wanted in wanted {
            match wanted {
                Wanted::Records(mut keys) => {
                    keys.retain(|key| match recent.and_then(|recent| recent.find(key)) {
                        Some(known) => {
                            self.known = true;
                            self.records.insert(key.clone(), known);
                            false
                        }
                        None => true,
                    });
                    if keys.is_empty() {
                        continue;
                    }
                    self.fetches += 1;
                    let read = store.read(&keys, None).await?;
                    self.taken(read.at);
                    if let Some(recent) = ground.recent {
                        recent.read(&keys, &read.records, read.at.position());
                    }
                    self.records.extend(keys.into_iter().zip(read.records));
                }
                Wanted::Scan { range, reverse } => {
                    self.fetches += 1;
                    self.fetch_scan(store, range, reverse).await?;
                }
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
