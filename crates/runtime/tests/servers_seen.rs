//! Which servers share a store, as people are told. A runtime stands for a server.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use runtime::{Clock, Presence, Process, Request, Runtime, Seen, Settings, SystemClock, Workers};
use store::{Distant, Faults, Memory, Store};

const DESIGN: &str = r#"
design Seen
actor client
subject Count(count: text) { truth Total { total: int = 0 } }
step client[raise(count: Count, by: int) { small: by <= 10 }] { Total.total += by }
"#;

fn design(text: &str) -> design::model::Design {
    support::compile("seen", text)
}

fn distant() -> Arc<Distant> {
    Arc::new(Distant::new(5, Faults { delay_us_max: 300, ..Faults::default() }))
}

fn process(number: u64) -> Arc<Process> {
    Arc::new(Process::new(number, "web".into(), "0.1.0".into(), 1))
}

/// Short leases, so that a test sees one end.
fn settings(process: &Arc<Process>) -> Settings {
    let process = Some(Arc::clone(process));
    Settings { lease_ms: 600, skew_max_ms: 100, process, ..Settings::default() }
}

fn open(text: &str, store: &Arc<Distant>, process: &Arc<Process>) -> Arc<Runtime> {
    Arc::new(Runtime::open(design(text), store.clone(), settings(process)).unwrap())
}

fn work(runtime: &Arc<Runtime>) -> Workers {
    Workers::start(runtime, Arc::new(support::Nothing), 1).unwrap()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn seen(by: &Runtime, process: u64) -> Option<Seen> {
    let all = by.servers_seen().unwrap().servers;
    all.into_iter().find(|row| row.card.as_ref().is_some_and(|card| card.process == process))
}

fn is(by: &Runtime, process: u64, presence: Presence) -> bool {
    seen(by, process).is_some_and(|row| row.presence == presence)
}

/// The system's, and so much more.
struct Off(AtomicI64);

impl Clock for Off {
    fn now_ms(&self) -> i64 {
        SystemClock::default().now_ms() + self.0.load(Ordering::Acquire)
    }
}

#[test]
fn a_server_stands_in_the_store_from_its_start_to_its_end() {
    let store = distant();
    let (one, two) = (process(1), process(2));
    let (first, second) = (open(DESIGN, &store, &one), open(DESIGN, &store, &two));
    let (first_works, second_works) = (work(&first), work(&second));
    eventually("both are there", || {
        is(&first, 1, Presence::Serving) && is(&first, 2, Presence::Serving)
    });
    // where it listens is known only later, and told at once
    two.listens_at("http://10.0.0.7:7070".into());
    eventually("the address is told", || {
        seen(&first, 2).and_then(|row| row.card).unwrap().address == "http://10.0.0.7:7070"
    });
    let all = second.servers_seen().unwrap();
    assert!(all.shared && !all.more);
    assert_eq!((all.servers.len(), all.designs.len()), (2, 1));
    assert_eq!((all.designs[0].name.as_str(), all.designs[0].epoch), ("Seen", Some(1)));
    for row in &all.servers {
        let card = row.card.as_ref().unwrap();
        assert_eq!((card.epoch, card.design), (1, all.designs[0].hash));
        assert!((all.at - card.seen) < 600 && card.ahead_ms.abs() < 100, "{card:?} at {}", all.at);
    }
    // whoever ends takes its row away
    drop(second_works);
    assert_eq!(seen(&first, 2), None);
    drop(first_works);
}

#[test]
fn a_server_that_is_heard_of_no_more_is_late_then_gone_then_forgotten() {
    let store = distant();
    // clocks may be far apart, so that it is late for a while
    let short = |number: u64| {
        let settings = Settings { lease_ms: 300, skew_max_ms: 500, ..settings(&process(number)) };
        Arc::new(Runtime::open(design(DESIGN), store.clone(), settings).unwrap())
    };
    let (first, silent) = (short(1), short(2));
    // without workers it stands there once, and never again
    silent.fire_one().unwrap();
    eventually("it is late", || is(&first, 2, Presence::Late));
    eventually("it is gone", || is(&first, 2, Presence::Gone));
    // whoever works removes what is long gone
    let works = work(&first);
    eventually("it is forgotten", || seen(&first, 2).is_none());
    assert!(is(&first, 1, Presence::Serving));
    drop(works);
}

#[test]
fn a_server_whose_clock_is_wrong_says_so_and_is_not_relied_on() {
    let store = distant();
    let first = open(DESIGN, &store, &process(1));
    let clock = Arc::new(Off(AtomicI64::new(0)));
    let settings = settings(&process(2));
    let second =
        Runtime::open_with_clock(design(DESIGN), store.clone(), settings, clock.clone()).unwrap();
    let second = Arc::new(second);
    let works = work(&second);
    eventually("it serves", || is(&first, 2, Presence::Serving));
    clock.0.store(5_000, Ordering::Release);
    eventually("it refuses, and says so", || is(&first, 2, Presence::WrongClock));
    let ahead_ms = seen(&first, 2).unwrap().card.unwrap().ahead_ms;
    assert!((ahead_ms - 5_000).abs() < 100, "{ahead_ms}");
    let raise = Request::new("client", "raise", "kim").with("count", "c").with("by", 1);
    assert!(second.call(&raise).is_err());
    // it stays so for longer than any lease, and is still listed
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(is(&first, 2, Presence::WrongClock));
    clock.0.store(0, Ordering::Release);
    eventually("it serves again", || is(&first, 2, Presence::Serving));
    second.call(&raise).unwrap();
    drop(works);
    assert_eq!(seen(&first, 2), None);
}

#[test]
fn a_server_of_a_replaced_text_says_so_until_it_ends() {
    let store = distant();
    let old = open(DESIGN, &store, &process(1));
    let works = work(&old);
    eventually("it serves", || is(&old, 1, Presence::Serving));
    let new = open(&DESIGN.replace("by <= 10", "by <= 5"), &store, &process(2));
    let new_works = work(&new);
    eventually("the old text has no say", || is(&new, 1, Presence::Replaced));
    eventually("the new one serves", || is(&new, 2, Presence::Serving));
    let all = new.servers_seen().unwrap();
    assert_eq!(all.designs[0].epoch, Some(2));
    assert_eq!(seen(&new, 1).unwrap().card.unwrap().epoch, 1);
    // also the old one can be asked
    assert_eq!(old.servers_seen().unwrap().servers.len(), 2);
    drop(works);
    assert_eq!(seen(&new, 1), None, "its row goes with it, though its text has no say");
    drop(new_works);
}

#[test]
fn a_store_in_this_process_has_one_server() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let alone = Runtime::open(design(DESIGN), store, settings(&process(9))).unwrap();
    let all = alone.servers_seen().unwrap();
    assert!(!all.shared);
    assert_eq!((all.servers.len(), all.designs[0].epoch), (1, None));
    assert_eq!(all.servers[0].presence, Presence::Serving);
    assert_eq!(all.servers[0].card.as_ref().unwrap().process, 9);
}
