//! Connections that are cut, and a database that ends at once.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use store::{Commit, Cursor, Error, Key, Partition, Store, Token, block_on};
use store_postgres::Postgres;

use crate::support::proxy::{Proxy, Trap};
use crate::support::{Server, open, shared};

fn marked(name: &str, token: u128) -> Commit {
    let commit = Commit::new().absent(name).put(name, "x");
    commit.feed(name.to_owned()).token(Token(token))
}

fn is_there(store: &Postgres, name: &str) -> bool {
    block_on(store.read(&[Key::from(name)], None)).unwrap().records[0].is_some()
}

/// How often the feed tells of each.
fn fed(store: &Postgres) -> BTreeMap<String, usize> {
    let mut from = Cursor::start(Partition::default());
    let head = block_on(store.head(Partition::default())).unwrap();
    let mut times = BTreeMap::new();
    while from < head {
        let page = block_on(store.feed(from, 100)).unwrap();
        for entry in page.commits.iter().flat_map(|commit| &commit.entries) {
            *times.entry(String::from_utf8_lossy(entry).into_owned()).or_default() += 1;
        }
        from = page.next;
    }
    times
}

/// What became of a commit, asked for until there is an answer.
fn outcome(store: &Postgres, token: u128) -> Option<Cursor> {
    let begun = Instant::now();
    loop {
        match block_on(store.outcome(Token(token))) {
            Ok(outcome) => return outcome,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(60), "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_commit_that_is_cut_anywhere_is_known_by_its_token() {
    let server = shared();
    let proxy = Proxy::start(server.port);
    let schema = server.schema();
    // what listens would only wait for a second
    let store = open(&format!("{}&listen=off", server.address_at(proxy.port, &schema)));
    block_on(store.commit(Commit::new().put("first", "x"))).unwrap();
    let requests = (0..1_000).step_by(29).map(Trap::Request);
    let answers = (0..300).step_by(13).map(Trap::Answer);
    let (mut held, mut never) = (0, 0);
    for (n, trap) in requests.chain(answers).enumerate() {
        let (name, token) = (format!("cut/{n}"), 10_000 + n as u128);
        proxy.set(trap);
        let answer = block_on(store.commit(marked(&name, token)));
        assert!(proxy.is_sprung(), "{trap:?}");
        match outcome(&store, token) {
            Some(cursor) => {
                held += 1;
                assert!(answer.is_ok_and(|told| told == cursor) || is_there(&store, &name));
            }
            None => {
                never += 1;
                assert!(matches!(answer, Err(Error::Unknown(_))), "{trap:?}: {answer:?}");
                assert!(!is_there(&store, &name), "{trap:?}");
                // the same request, much later
                let late = block_on(store.commit(marked(&name, token)));
                assert!(matches!(late, Err(Error::Invalid(_))), "{trap:?}: {late:?}");
            }
        }
        assert_eq!(is_there(&store, &name), outcome(&store, token).is_some(), "{trap:?}");
    }
    assert!(held >= 20 && never >= 10, "{held} hold, {never} do not");
    let fed = fed(&store);
    assert_eq!(fed.len(), held);
    assert!(fed.values().all(|times| *times == 1), "{fed:?}");
}

/// It was on its way all the time that somebody asked, and arrives when it is given up.
#[test]
fn a_commit_that_arrives_late_does_not_hold() {
    let server = shared();
    let proxy = Proxy::start(server.port);
    let schema = server.schema();
    let store = open(&server.address_at(proxy.port, &schema));
    block_on(store.commit(Commit::new().put("first", "x"))).unwrap();
    proxy.set(Trap::Hold);
    let answer = block_on(store.commit(marked("late", 1)));
    assert!(matches!(answer, Err(Error::Unknown(_))), "{answer:?}");
    assert_eq!(outcome(&store, 1), None);
    proxy.let_go();
    assert!(!is_there(&store, "late"));
    assert_eq!(outcome(&store, 1), None);
    // if nobody asked, it holds
    proxy.set(Trap::Hold);
    let answer = block_on(store.commit(marked("early", 2)));
    assert!(matches!(answer, Err(Error::Unknown(_))), "{answer:?}");
    proxy.let_go();
    assert!(is_there(&store, "early"));
    assert!(outcome(&store, 2).is_some());
}

/// It is being carried out while somebody asks.
#[test]
fn whoever_asks_for_a_commit_that_is_under_way_waits_for_it() {
    let server = shared();
    let schema = server.schema();
    let store = open(&server.address(&schema));
    thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let none = "'{}', '{}', '{}'";
            server.sql(&format!(
                "BEGIN; SELECT {schema}.commit_1(ARRAY['00000000-0000-0000-0000-000000000005']::uuid[], \
                 '{{t}}', ARRAY[NULL]::bytea[], {none}, {none}, {none}, '{{}}'); SELECT pg_sleep(2); COMMIT"
            ))
        });
        server.wait_for_sleeper(&schema);
        assert_eq!(outcome(&store, 5).map(Cursor::position), Some(1));
        slow.join().unwrap();
    });
}

const CRASHES: usize = 5;

#[test]
fn what_was_acknowledged_survives_a_database_that_ends_at_once() {
    let server = Server::start();
    let store = open(&server.address("crashes"));
    let over = AtomicBool::new(false);
    let acknowledged = AtomicUsize::new(0);
    let ledger = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for client in 0..4_u128 {
            let (store, over, ledger, acknowledged) = (&store, &over, &ledger, &acknowledged);
            scope.spawn(move || {
                for round in 0_u128.. {
                    if over.load(Ordering::Acquire) {
                        return;
                    }
                    let (name, token) =
                        (format!("{client}/{round}"), client << 64 | round | 1 << 100);
                    let holds = match block_on(store.commit(marked(&name, token))) {
                        Ok(_) => true,
                        Err(Error::Unknown(_)) => outcome(store, token).is_some(),
                        Err(Error::Unavailable(_)) => {
                            thread::sleep(Duration::from_millis(20));
                            false
                        }
                        Err(error) => panic!("{error}"),
                    };
                    acknowledged.fetch_add(usize::from(holds), Ordering::AcqRel);
                    ledger.lock().unwrap().insert(name, holds);
                }
            });
        }
        for _ in 0..CRASHES {
            let before = acknowledged.load(Ordering::Acquire);
            let begun = Instant::now();
            while acknowledged.load(Ordering::Acquire) < before + 100 {
                assert!(begun.elapsed() < Duration::from_secs(60), "nothing is acknowledged");
                thread::sleep(Duration::from_millis(10));
            }
            server.crash();
        }
        over.store(true, Ordering::Release);
    });
    let ledger = ledger.into_inner().unwrap();
    let fed = fed(&store);
    for (name, holds) in &ledger {
        assert_eq!(is_there(&store, name), *holds, "{name}");
        assert_eq!(fed.get(name).copied().unwrap_or(0), usize::from(*holds), "{name}");
    }
    assert!(ledger.values().filter(|holds| **holds).count() >= CRASHES * 100);
}
