//! Kill -9 under load: nothing acknowledged is lost, nothing is done twice, and what was due is
//! done in the end.
//!
//! The test starts itself again as a child that serves clients on an embedded store and prints
//! what it tries and what was acknowledged; the parent kills it at random moments. More kills with
//! `STEADFAST_KILLS`.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use runtime::{CallError, Delivered, Delivery, Outside, Request, Runtime, Settings, Workers};
use serde_json::Value;
use store_embedded::{Embedded, Options};

const DESIGN: &str = r#"
design Torture
actor client
actor bank
actor sweeper
subject Account(account: text) {
    truth Balance { total: int = 0, moves: int = 0 }
}
subject Move(move: text) {
    truth MoveState { status: OPEN | PAID | REFUSED | UNSURE = OPEN, from: Account, to: Account }
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
    on refused { MoveState.status := REFUSED }
    on unknown { MoveState.status := UNSURE }
}
repair sweeper[expire(lease: Lease) { over: LeaseState.until < now }] {
    LeaseState.until := null
    LeaseState.expired += 1
}
"#;

const CLIENTS: u64 = 8;
const ACCOUNTS: u64 = 5;

fn open(directory: &Path) -> Arc<Runtime> {
    let options = Options::default();
    let store = Embedded::open(directory.join("data"), options).expect("the store opens");
    let design = support::compile("torture", DESIGN);
    Arc::new(Runtime::open(design, Arc::new(store), Settings::default()).expect("it opens"))
}

/// Writes every delivery down, durable enough to survive the killing of this process.
struct Bank(Mutex<std::fs::File>);

impl Outside for Bank {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let line = format!("{} {}\n", delivery.key, delivery.body["move"].as_str().unwrap_or("?"));
        self.0.lock().unwrap().write_all(line.as_bytes()).unwrap();
        Delivered::Ok(Value::Null)
    }
}

fn transfer(name: &str, number: u64) -> Request {
    let from = number % ACCOUNTS;
    let to = (number / ACCOUNTS) % ACCOUNTS;
    let to = if to == from { (from + 1) % ACCOUNTS } else { to };
    Request::new("client", "transfer", "torture")
        .with("from", format!("a{from}"))
        .with("to", format!("a{to}"))
        .with("move", name)
        .with("amount", (number % 7) as i64)
        .keyed(name)
}

/// Serves its own clients until it is killed.
#[test]
fn child() {
    let Ok(directory) = std::env::var("STEADFAST_TORTURE") else { return };
    let directory = Path::new(&directory);
    let started = Instant::now();
    let runtime = open(directory);
    let out = Mutex::new(std::io::stdout());
    writeln!(out.lock().unwrap(), "\nopen {}", started.elapsed().as_micros()).unwrap();
    let log = std::fs::File::options().append(true).create(true).open(directory.join("bank"));
    let _workers = Workers::start(&runtime, Arc::new(Bank(Mutex::new(log.unwrap()))), 2).unwrap();
    let round = std::env::var("STEADFAST_ROUND").unwrap();
    let count = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (runtime, out, count, round) = (&runtime, &out, &count, &round);
            scope.spawn(move || {
                loop {
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    let name = format!("{round}-{client}-{number}");
                    writeln!(out.lock().unwrap(), "try {name} {number}").unwrap();
                    match runtime.call(&transfer(&name, number)) {
                        Ok(reply) => {
                            writeln!(out.lock().unwrap(), "ack {name} {}", reply.revision).unwrap();
                        }
                        Err(error) => panic!("{error}"),
                    }
                    if number % 10 == 0 {
                        let take = Request::new("client", "take", "torture")
                            .with("lease", format!("l{client}"))
                            .with("ttl", "5ms");
                        match runtime.call(&take) {
                            Ok(_) | Err(CallError::Refused(_)) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
}

/// What the children said.
#[derive(Default)]
struct Ledger {
    tried: BTreeMap<String, u64>,
    acknowledged: BTreeMap<String, String>,
    recovery_us: Vec<u64>,
}

impl Ledger {
    fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["open", micros] => self.recovery_us.push(micros.parse().unwrap()),
            ["try", name, number] => {
                self.tried.insert((*name).into(), number.parse().unwrap());
            }
            ["ack", name, revision] => {
                self.acknowledged.insert((*name).into(), (*revision).into());
            }
            _ => {}
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_done_twice() {
    let kills: u64 = std::env::var("STEADFAST_KILLS").ok().map_or(6, |n| n.parse().unwrap());
    let directory = std::env::temp_dir().join(format!("steadfast-torture-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let mut ledger = Ledger::default();
    let mut seed = 0x1234_5678_9abc_def1_u64 ^ u64::from(std::process::id());
    println!("seed {seed}");
    for round in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "torture::child", "--nocapture", "--test-threads", "1"])
            .env("STEADFAST_TORTURE", &directory)
            .env("STEADFAST_ROUND", round.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let answered = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&answered);
        let heard = std::thread::spawn(move || -> Vec<String> {
            let count = |line: &String| {
                counted.fetch_add(u64::from(line.starts_with("ack")), Ordering::Relaxed);
            };
            lines.lines().map_while(Result::ok).inspect(count).collect()
        });
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // under load, however long a busy machine takes to get there
        let deadline = Instant::now() + Duration::from_secs(60);
        while answered.load(Ordering::Relaxed) < 10 {
            assert!(Instant::now() < deadline, "the child answers nothing");
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis((seed >> 33) % 300));
        child.kill().unwrap();
        child.wait().unwrap();
        let heard = heard.join().unwrap();
        // a line is one write to a pipe, which the kernel does not tear
        heard.iter().for_each(|line| ledger.hear(line));
    }
    assert!(ledger.acknowledged.len() > 20, "{} acknowledged", ledger.acknowledged.len());
    verify(&directory, &ledger);
    std::fs::remove_dir_all(&directory).unwrap();
    let slowest = ledger.recovery_us.iter().max().copied().unwrap_or(0);
    println!(
        "{kills} kills, {} tried, {} acknowledged, opened in at most {slowest} µs",
        ledger.tried.len(),
        ledger.acknowledged.len()
    );
}

fn verify(directory: &Path, ledger: &Ledger) {
    let runtime = open(directory);
    // everything is asked once more: what was acknowledged gives its first answer
    for (name, number) in &ledger.tried {
        let reply = runtime.call(&transfer(name, *number)).unwrap();
        if let Some(revision) = ledger.acknowledged.get(name) {
            assert!(reply.replayed, "{name} was acknowledged and is gone");
            assert_eq!(reply.revision, *revision, "{name}");
        }
    }
    let get = |subject: &str, key: &str| {
        store::block_on(runtime.get(subject, &[Value::String(key.into())])).unwrap().unwrap().truth
    };
    let (mut total, mut moves) = (0, 0);
    for account in 0..ACCOUNTS {
        let balance = get("Account", &format!("a{account}"));
        total += balance["Balance"]["total"].as_i64().unwrap();
        moves += balance["Balance"]["moves"].as_i64().unwrap();
    }
    assert_eq!(total, 0, "money was made or lost");
    assert_eq!(moves, 2 * ledger.tried.len() as i64, "a transfer was done twice, or not at all");

    // what was due is done: repairs fire, every entry of the outbox is delivered under one key
    let log = std::fs::File::options().append(true).create(true).open(directory.join("bank"));
    let bank = Bank(Mutex::new(log.unwrap()));
    while runtime.deliver_one(&bank).unwrap() == runtime::Worked::Tried {}
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(runtime.fire_due().unwrap().1, None, "nothing is left to be due");
    for name in ledger.tried.keys() {
        assert_eq!(get("Move", name)["MoveState"]["status"], "PAID", "{name}");
    }
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in std::fs::read_to_string(directory.join("bank")).unwrap().lines() {
        // a line may be torn by a kill
        if let [key, name] = line.split_whitespace().collect::<Vec<_>>()[..] {
            keys.entry(name.into()).or_default().insert(key.into());
        }
    }
    for name in ledger.tried.keys() {
        assert_eq!(keys.get(name).map(BTreeSet::len), Some(1), "{name} under several keys");
    }

    // the whole history, crashes included, is one that the design allows
    let history = store::block_on(runtime.history()).unwrap();
    let design = support::compile("torture", DESIGN);
    let walked = runtime::replay(design, history.iter().map(Vec::as_slice)).unwrap();
    assert!(walked >= 2 * ledger.tried.len(), "{walked} transitions");
}

/// A history that was tampered with is not allowed.
#[test]
fn a_changed_history_departs_from_the_design() {
    let bench = support::bench(support::compile("torture", DESIGN));
    for number in 0..20 {
        bench.call(transfer(&format!("m{number}"), number)).unwrap();
    }
    let history = store::block_on(bench.runtime.history()).unwrap();
    let walk = |entries: &[Vec<u8>]| {
        let design = support::compile("torture", DESIGN);
        runtime::replay(design, entries.iter().map(Vec::as_slice))
    };
    assert_eq!(walk(&history), Ok(20));
    let mut lost = history.clone();
    lost.remove(7);
    assert_eq!(walk(&lost).unwrap_err().what, "the design leaves another truth");
    let mut doubled = history.clone();
    doubled.insert(7, history[6].clone());
    assert_eq!(walk(&doubled).unwrap_err().what, "the design refuses this by `fresh`");
    let mut swapped = history;
    swapped.swap(3, 9);
    assert!(walk(&swapped).is_err());
}
