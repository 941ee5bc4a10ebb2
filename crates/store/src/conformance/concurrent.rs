//! Many clients at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::expect::{all_fed, commit, equal, holds, value};
use super::{Broken, Check, Outcome};
use crate::contract::Store;
use crate::key::{Key, KeyRange};
use crate::linearizability::{self, Recording, Registers};
use crate::surroundings::block_on;
use crate::{Commit, Error, Scan};

pub const CHECKS: &[Check] = &[
    Check { name: "concurrent increments lose nothing", run: increments },
    Check { name: "a commit is never seen in part", run: atomic },
    Check { name: "what one client was told another sees", run: recent },
    Check { name: "concurrent histories are linearizable", run: linearizable },
];

const CLIENTS: usize = 4;
const ROUNDS: usize = 50;

fn spawn_all<T: Send>(run: impl Fn(usize) -> Result<T, Broken> + Sync) -> Result<Vec<T>, Broken> {
    thread::scope(|scope| {
        let run = &run;
        let clients: Vec<_> = (0..CLIENTS).map(|n| scope.spawn(move || run(n))).collect();
        clients.into_iter().map(|client| client.join().expect("a client panicked")).collect()
    })
}

fn increments(store: &dyn Store) -> Outcome {
    let key = [Key::from("counter")];
    spawn_all(|client| {
        for round in 0..ROUNDS {
            loop {
                let found = block_on(store.read(&key, None))?.records.remove(0);
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).parse::<usize>();
                let before = found.as_ref().map_or(Ok(0), |record| text(&record.value));
                let after = before.map_err(|_| Broken("the counter is no number".into()))? + 1;
                let guarded = match found {
                    Some(record) => Commit::new().expect("counter", record.version),
                    None => Commit::new().absent("counter"),
                };
                let next = guarded.put("counter", after.to_string());
                match commit(store, next.feed(format!("{client}/{round}"))) {
                    Ok(_) => break,
                    Err(Error::Conflict(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    })?;
    let total = CLIENTS * ROUNDS;
    equal("the counter", value(store, "counter")?, Some(total.to_string()))?;
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for text in all_fed(store, 9)? {
        *times.entry(text).or_default() += 1;
    }
    holds("the feed has every increment once", times.values().all(|n| *n == 1))?;
    equal("increments in the feed", times.len(), total)
}

fn atomic(store: &dyn Store) -> Outcome {
    let keys: Vec<Key> = (0..6).map(|n| format!("pair/{n}").into()).collect();
    let stop = AtomicBool::new(false);
    spawn_all(|client| {
        if client < 2 {
            let outcome = (0..ROUNDS * 2).try_for_each(|round| {
                let mut all = Commit::new();
                for key in &keys {
                    all = all.put(key.clone(), format!("{client}/{round}"));
                }
                commit(store, all).map(drop)
            });
            stop.store(true, Ordering::SeqCst);
            return Ok(outcome?);
        }
        while !stop.load(Ordering::SeqCst) {
            let read = block_on(store.read(&keys, None))?.records;
            let same = read.windows(2).all(|pair| pair[0] == pair[1]);
            holds("all keys of a read show one commit", same)?;
            let page = block_on(store.scan(Scan::new(KeyRange::prefix("pair/"), 100)))?;
            holds("a scan shows all keys or none", [0, keys.len()].contains(&page.records.len()))?;
            let same = page.records.windows(2).all(|pair| pair[0].1 == pair[1].1);
            holds("all records of a scan show one commit", same)?;
        }
        Ok(())
    })?;
    Ok(())
}

fn recent(store: &dyn Store) -> Outcome {
    spawn_all(|client| {
        for round in 0..ROUNDS {
            let key = format!("recent/{client}");
            commit(store, Commit::new().put(key.clone(), round.to_string()))?;
            let seen = thread::scope(|scope| {
                scope.spawn(|| value(store, &key)).join().expect("a reader panicked")
            })?;
            equal("what another client reads", seen, Some(round.to_string()))?;
        }
        Ok(())
    })?;
    Ok(())
}

fn linearizable(store: &dyn Store) -> Outcome {
    let recording = Recording { seed: 1, clients: CLIENTS as u64, operations: 1200 };
    let history = linearizability::record(store, recording)?;
    let judged = linearizability::check(&Registers, &history);
    judged.map(drop).map_err(|impossible| {
        let (ordered, stuck) = (impossible.ordered, impossible.stuck);
        Broken(format!("after {ordered} operations in order, this one fits nowhere: {stuck}"))
    })
}
