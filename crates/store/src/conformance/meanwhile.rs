//! The feed and the cursors of reads while others commit: what a look at the end of the feed, when all is quiet, cannot
//! find.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::expect::{commit, equal, feed, follow, holds, partitions, value};
use super::{Broken, Check, Outcome};
use crate::contract::Store;
use crate::cursor::{Cursor, Partition};
use crate::key::{Key, KeyRange};
use crate::record::Record;
use crate::surroundings::block_on;
use crate::{Commit, Error, Scan};

pub const CHECKS: &[Check] = &[
    Check { name: "the feed misses nothing while others commit", run: followed },
    Check { name: "the feed is the order in which commits happened", run: replayed },
    Check { name: "a read is never newer than what it shows", run: cursors },
];

const CLIENTS: usize = 4;
const ROUNDS: usize = 60;
const KEYS: usize = 5;

fn name(key: usize) -> String {
    format!("m/{key}")
}

fn number(record: Option<&Record>) -> u64 {
    record.map_or(0, |record| String::from_utf8_lossy(&record.value).parse().unwrap_or(u64::MAX))
}

/// One step: two numbers are read, and both are raised if they are still the same. What the feed says of it holds for
/// no other place in the order: which numbers it found.
fn step(store: &dyn Store, client: usize, round: usize) -> Outcome {
    let first = (client * 7 + round * 3) % KEYS;
    let both = [first, (first + 1 + round % (KEYS - 1)) % KEYS];
    let keys = both.map(|key| Key::from(name(key)));
    loop {
        let found = block_on(store.read(&keys, None))?.records;
        let mut next = Commit::new();
        let mut said = Vec::new();
        for (at, record) in found.iter().enumerate() {
            let before = number(record.as_ref());
            next = match record {
                Some(record) => next.expect(keys[at].clone(), record.version),
                None => next.absent(keys[at].clone()),
            };
            next = next.put(keys[at].clone(), (before + 1).to_string());
            said.push(format!("{} {before}", both[at]));
        }
        match commit(store, next.feed(said.join(" "))) {
            Ok(_) => return Ok(()),
            Err(Error::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Clients work, and whoever looks does so until they are done and once more.
fn while_they_work<T: Send>(
    store: &dyn Store,
    look: impl Fn(bool) -> Result<Option<T>, Broken> + Sync,
) -> Result<T, Broken> {
    let working = AtomicUsize::new(CLIENTS);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let working = &working;
                scope.spawn(move || {
                    let outcome = (0..ROUNDS).try_for_each(|round| step(store, client, round));
                    working.fetch_sub(1, Ordering::AcqRel);
                    outcome
                })
            })
            .collect();
        let seen = loop {
            let over = working.load(Ordering::Acquire) == 0;
            if let Some(seen) = look(over)? {
                break seen;
            }
        };
        for client in clients {
            client.join().expect("a client panicked")?;
        }
        Ok(seen)
    })
}

/// What a reader was given that was there all the time, by partition.
fn given(store: &dyn Store) -> Result<BTreeMap<Partition, Vec<(Cursor, String)>>, Broken> {
    let from: Vec<Cursor> = partitions(store).map(Cursor::start).collect();
    let reading = std::sync::Mutex::new((from, BTreeMap::<Partition, Vec<_>>::new()));
    while_they_work(store, |over| {
        let mut reading = reading.lock().expect("one thread looks");
        let (from, given) = &mut *reading;
        let mut moved = false;
        for from in from {
            let page = feed(store, *from, 3)?;
            let texts = page.commits.iter().flat_map(|commit| {
                let text = |entry: &bytes::Bytes| String::from_utf8_lossy(entry).into_owned();
                commit.entries.iter().map(move |entry| (commit.cursor, text(entry)))
            });
            given.entry(from.partition()).or_default().extend(texts);
            moved |= page.next != *from;
            *from = page.next;
        }
        Ok((over && !moved).then(|| std::mem::take(given)))
    })
}

fn followed(store: &dyn Store) -> Outcome {
    let given = given(store)?;
    let mut entries = 0;
    for partition in partitions(store) {
        let afterwards = follow(store, Cursor::start(partition), 100)?;
        entries += afterwards.len();
        let meanwhile = given.get(&partition).cloned().unwrap_or_default();
        let missed = afterwards.iter().filter(|entry| !meanwhile.contains(entry)).count();
        equal("commits that were missed", missed, 0)?;
        holds("the order is the same for everybody", meanwhile == afterwards)?;
    }
    equal("commits in the feed", entries, CLIENTS * ROUNDS)
}

fn replayed(store: &dyn Store) -> Outcome {
    let given = given(store)?;
    if store.describe().partitions > 1 {
        // the order of two partitions is nobody's
        return Ok(());
    }
    let mut state: BTreeMap<String, u64> = BTreeMap::new();
    for (cursor, text) in given.into_values().flatten() {
        let words: Vec<&str> = text.split(' ').collect();
        for pair in words.chunks(2) {
            let now = state.entry(name(pair[0].parse().unwrap_or(KEYS))).or_default();
            let found = pair.get(1).and_then(|found| found.parse().ok());
            equal(&format!("`{}` as `{cursor}` found it", pair[0]), found, Some(*now))?;
            *now += 1;
        }
    }
    for (key, last) in state {
        equal(&key, value(store, &key)?, Some(last.to_string()))?;
    }
    Ok(())
}

fn cursors(store: &dyn Store) -> Outcome {
    let key = [Key::from(name(0))];
    let seen = std::sync::Mutex::new(Vec::new());
    let all = while_they_work(store, |over| {
        let read = block_on(store.read(&key, None))?;
        let page = block_on(store.scan(Scan::new(KeyRange::prefix(name(0)), 1)))?;
        let scanned = number(page.records.first().map(|(_, record)| record));
        let mut seen = seen.lock().expect("one thread looks");
        seen.push((number(read.records[0].as_ref()), read.at));
        seen.push((scanned, page.at));
        Ok(over.then(|| std::mem::take(&mut *seen)))
    })?;
    let mut raised = Vec::new();
    for partition in partitions(store) {
        for (cursor, text) in follow(store, Cursor::start(partition), 100)? {
            let words: Vec<&str> = text.split(' ').collect();
            if words.chunks(2).any(|pair| pair[0] == "0") {
                raised.push(cursor);
            }
        }
    }
    for (shown, at) in all {
        let told = raised.iter().filter(|cursor| **cursor <= at).count() as u64;
        holds(&format!("{shown} is all that the feed tells up to `{at}` ({told})"), told <= shown)?;
    }
    let last = commit(store, Commit::new().put("m/else", "1"))?;
    let read = block_on(store.read(&key, Some(last)))?;
    holds("a read is not before what was asked for", read.at >= last)?;
    let page = block_on(store.scan(Scan::new(KeyRange::prefix(name(0)), 1).at_least(last)))?;
    holds("a scan is not before what was asked for", page.at >= last)
}
