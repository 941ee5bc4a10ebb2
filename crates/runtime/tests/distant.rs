//! A design on a store that does not keep its state in this process: conditional commits, delays,
//! others who are faster, answers that are lost. Two runtimes stand for two processes.

use crate::support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use runtime::{
    CallError, Delivered, Delivery, Outside, Reply, Request, Runtime, Settings, Workers,
};
use serde_json::{Value, json};
use store::{Cursor, Distant, Faults, Partition, Store, block_on};

const DESIGN: &str = r#"
design Far
actor client
actor bank
actor sweeper
subject Account(account: text) { truth Balance { total: int = 0, moves: int = 0 } }
subject Move(move: text) {
    truth MoveState { status: OPEN | PAID = OPEN, from: Account, to: Account }
}
subject Lease(lease: text) { truth LeaseState { until: time?, expired: int = 0 } }
step client[transfer(from: Account, to: Account, move: new Move, amount: int) {
    apart: from != to
}] {
    from.total -= amount
    from.moves += 1
    to.total += amount
    to.moves += 1
    MoveState := { from: from, to: to }
    send bank.settle(move)
}
step client[take(lease: Lease, ttl: duration) { free: LeaseState.until = null }] {
    LeaseState.until := now + ttl
}
effect bank[settle(move: Move)] {
    call POST "bank" key move body { move }
    on ok { MoveState.status := PAID }
    on refused { }
    on unknown { }
}
repair sweeper[expire(lease: Lease) { over: LeaseState.until < now }] {
    LeaseState.until := null
    LeaseState.expired += 1
}
"#;

const ACCOUNTS: u64 = 6;
const CLIENTS: u64 = 6;
const TRANSFERS: u64 = 20;

fn settings(attempts_max: u32) -> Settings {
    let conflicts = store::Retry { attempts_max, ..store::Retry::default() };
    Settings { conflicts, claim_ms: 500, ..Settings::default() }
}

fn open(store: &Arc<Distant>) -> Arc<Runtime> {
    let design = support::compile("far", DESIGN);
    Arc::new(Runtime::open(design, store.clone(), settings(500)).unwrap())
}

fn transfer(name: &str, number: u64) -> Request {
    let from = number % ACCOUNTS;
    let to = (from + 1 + number / ACCOUNTS % (ACCOUNTS - 1)) % ACCOUNTS;
    Request::new("client", "transfer", "far")
        .with("from", format!("a{from}"))
        .with("to", format!("a{to}"))
        .with("move", name)
        .with("amount", (number % 7) as i64)
        .keyed(name)
}

/// As a client does that must know: it asks again under the same key.
fn insist(runtime: &Runtime, request: &Request, unknown: &AtomicU64) -> Reply {
    loop {
        match runtime.call(request) {
            Ok(reply) => return reply,
            Err(CallError::Store(store::Error::Unknown(_))) => {
                unknown.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Counts what it is asked under each key.
#[derive(Default)]
struct Bank(Mutex<BTreeMap<String, u32>>);

impl Outside for Bank {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let name = delivery.body["move"].as_str().unwrap_or("?").to_string();
        let name = format!("{name} {}", delivery.key);
        *self.0.lock().unwrap().entry(name).or_default() += 1;
        Delivered::Ok(Value::Null)
    }
}

fn truth(runtime: &Runtime, subject: &str, key: &str, state: &str, field: &str) -> Value {
    let found = block_on(runtime.get(subject, &[json!(key)])).unwrap();
    found.map_or(Value::Null, |found| found.truth[state][field].clone())
}

fn entries(store: &dyn Store) -> Vec<Vec<u8>> {
    let mut from = Cursor::start(Partition::default());
    let mut all = Vec::new();
    loop {
        let page = block_on(store.feed(from, 100)).unwrap();
        if page.commits.is_empty() {
            return all;
        }
        let entries = page.commits.iter().flat_map(|commit| &commit.entries);
        all.extend(entries.map(|entry| entry.to_vec()));
        from = page.next;
    }
}

/// Lost answers, false conflicts and delays, with clients, repairs and deliveries of two runtimes at
/// once: what was acknowledged is there, and nothing happened twice.
#[test]
fn nothing_is_lost_or_doubled_whatever_the_network_does() {
    // which of them strike in one of three is up to the threads
    let (mut lost, mut conflicts) = (0, 0);
    for seed in 0..3 {
        let faults = Faults { delay_us_max: 500, conflicts_percent: 10, lost_percent: 4 };
        let store = Arc::new(Distant::new(seed, faults));
        // opening may be lost, too
        let opened = || loop {
            let design = support::compile("far", DESIGN);
            match Runtime::open(design, store.clone(), settings(500)) {
                Ok(runtime) => return Arc::new(runtime),
                Err(runtime::OpenError::Store(store::Error::Unknown(_))) => {}
                Err(error) => panic!("{error}"),
            }
        };
        let (first, second) = (opened(), opened());
        let bank = Arc::new(Bank::default());
        let workers =
            [&first, &second].map(|runtime| Workers::start(runtime, bank.clone(), 2).unwrap());
        let unknown = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (first, second, unknown) = (&first, &second, &unknown);
                scope.spawn(move || {
                    for number in 0..TRANSFERS {
                        let runtime = if number % 2 == 0 { first } else { second };
                        let other = if number % 2 == 0 { second } else { first };
                        let name = format!("{client}-{number}");
                        let request = transfer(&name, client * 7 + number);
                        let reply = insist(runtime, &request, unknown);
                        // the other one gives the first answer again
                        let again = insist(other, &request, unknown);
                        assert!(again.replayed && again.truth == reply.truth);
                        if number % 10 == 0 {
                            let take = Request::new("client", "take", "far")
                                .with("lease", &*name)
                                .with("ttl", "5ms")
                                .keyed(&format!("take {name}"));
                            insist(other, &take, unknown);
                        }
                    }
                });
            }
        });
        let moves = CLIENTS * TRANSFERS;
        let deadline = Instant::now() + Duration::from_secs(60);
        let names: Vec<String> = (0..CLIENTS)
            .flat_map(|client| (0..TRANSFERS).map(move |n| format!("{client}-{n}")))
            .collect();
        let paid = |name: &String| truth(&first, "Move", name, "MoveState", "status") == "PAID";
        let over =
            |name: &String| truth(&first, "Lease", name, "LeaseState", "expired") == json!(1);
        while !names.iter().all(paid) || !names.iter().step_by(10).all(over) {
            assert!(Instant::now() < deadline, "seed {seed}: what was due is not done");
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(workers);
        let sum = |field: &str| -> i64 {
            let accounts = (0..ACCOUNTS).map(|n| format!("a{n}"));
            accounts.map(|a| truth(&first, "Account", &a, "Balance", field).as_i64().unwrap()).sum()
        };
        assert_eq!((sum("total"), sum("moves")), (0, 2 * moves as i64), "seed {seed}");
        // every entry under one key of its own; an answer that was lost is asked for again
        assert_eq!(bank.0.lock().unwrap().len() as u64, moves, "seed {seed}");
        assert!(names.iter().step_by(10).all(over), "seed {seed}: a lease expired twice");
        // what became of a commit whose answer was lost is asked for: no caller is left without an answer
        assert_eq!(unknown.into_inner(), 0, "seed {seed}");
        lost += store.lost();
        conflicts += first.counters().conflicts() + second.counters().conflicts();
        let entries = entries(store.as_ref());
        let design = support::compile("far", DESIGN);
        let walked = runtime::replay(design, entries.iter().map(Vec::as_slice));
        // of each move the transfer and its answer, of each lease its beginning and its end
        assert_eq!(walked, Ok((2 * moves + 2 * moves.div_ceil(10)) as usize), "seed {seed}");
    }
    assert!(lost > 0 && conflicts > 0, "{lost} answers lost, {conflicts} conflicts");
}

/// Without lost answers nothing is even delivered twice: an entry is claimed by one of them.
#[test]
fn two_runtimes_share_the_outbox() {
    let store = Arc::new(Distant::new(5, Faults { delay_us_max: 300, ..Faults::default() }));
    let (first, second) = (open(&store), open(&store));
    let unknown = AtomicU64::new(0);
    for number in 0..60 {
        insist(&first, &transfer(&number.to_string(), number), &unknown);
    }
    let bank = Arc::new(Bank::default());
    let workers =
        [&first, &second].map(|runtime| Workers::start(runtime, bank.clone(), 2).unwrap());
    let deadline = Instant::now() + Duration::from_secs(60);
    while !first.outbox(10).unwrap().is_empty() {
        assert!(Instant::now() < deadline, "the outbox is not empty");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(workers);
    let asked = bank.0.lock().unwrap();
    assert_eq!((asked.len(), asked.values().sum::<u32>()), (60, 60));
}

#[test]
fn who_meets_others_too_often_is_told_so() {
    let store = Arc::new(Distant::new(5, Faults::default()));
    open(&store);
    let always = Faults { conflicts_percent: 100, ..Faults::default() };
    store.set_faults(always);
    let design = support::compile("far", DESIGN);
    let runtime = Runtime::open(design, store.clone(), settings(4)).unwrap();
    let error = runtime.call(&transfer("m", 1)).unwrap_err();
    assert_eq!(error, CallError::Store(store::Error::Contended { attempts: 4 }));
    assert_eq!(runtime.counters().conflicts(), 4);
    store.set_faults(Faults::default());
    assert_eq!(truth(&runtime, "Move", "m", "MoveState", "status"), Value::Null);
}

/// A server drives calls on threads that may not wait.
#[test]
fn a_call_may_move_from_thread_to_thread() {
    fn movable<T: Send>(future: T) -> T {
        future
    }
    let store = Arc::new(Distant::new(5, Faults { delay_us_max: 300, ..Faults::default() }));
    let runtime = open(&store);
    let request = transfer("m", 1);
    let reply = block_on(movable(runtime.call_async(&request))).unwrap();
    assert_eq!(reply.truth.as_array().unwrap().len(), 3);
}
