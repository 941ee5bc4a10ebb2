//! Several servers on one store: what breaks with two of them, each as a test. A runtime stands for a server.

use crate::support;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use layout::{MetaKey, Numbered, put_numbers, take_numbers};
use runtime::{
    Ahead, CallError, Clock, Delivered, Delivery, Fired, OpenError, Outside, ReplaceError, Reply,
    Request, Runtime, Settings, SystemClock, Worked, Workers,
};
use serde_json::{Value, json};
use store::{Commit, Cursor, Distant, Faults, Store, block_on};

const DESIGN: &str = r#"
design Many
actor client
actor bank
actor sweeper
subject Count(count: text) {
    truth Total { total: int = 0 }
    log Steps { by: int } retain 10ms
}
subject Move(move: text) { truth MoveState { status: OPEN | PAID | LOST = OPEN } }
subject Lease(lease: text) { truth LeaseState { until: time?, expired: int = 0 } }
step client[raise(count: Count, by: int) { small: by <= 10 }] {
    Total.total += by
    append Steps { by: by }
    emit Raised { total: Total.total }
}
read client[look(count: Count)] = Total
step client[pay(move: new Move)] { MoveState := { status: OPEN } send bank.settle(move) }
step client[take(lease: Lease, ttl: duration) { free: LeaseState.until = null }] {
    LeaseState.until := now + ttl
}
effect bank[settle(move: Move)] {
    call POST "bank" key move body { move }
    on ok { MoveState.status := PAID }
    on refused { }
    on unknown { MoveState.status := LOST }
}
step client[tell(count: Count)] { send bank.hear(count) }
step bank[hear(count: Count)] { Total.total += 1 }
repair sweeper[expire(lease: Lease) { over: LeaseState.until < now }] {
    LeaseState.until := null
    LeaseState.expired += 1
}
"#;

fn design(text: &str) -> design::model::Design {
    support::compile("many", text)
}

fn settings() -> Settings {
    let conflicts = store::Retry { attempts_max: 500, ..store::Retry::default() };
    Settings { conflicts, ..Settings::default() }
}

fn distant() -> Arc<Distant> {
    Arc::new(Distant::new(5, Faults { delay_us_max: 300, ..Faults::default() }))
}

fn open_with(store: &Arc<Distant>, settings: Settings) -> Arc<Runtime> {
    Arc::new(Runtime::open(design(DESIGN), store.clone(), settings).unwrap())
}

fn open(store: &Arc<Distant>) -> Arc<Runtime> {
    open_with(store, settings())
}

fn raise(by: i64) -> Request {
    Request::new("client", "raise", "kim").with("count", "c").with("by", by)
}

fn pay(name: &str) -> Request {
    Request::new("client", "pay", "kim").with("move", name)
}

fn call(runtime: &Runtime, request: &Request) -> Reply {
    runtime.call(request).unwrap_or_else(|error| panic!("{error}"))
}

fn truth(runtime: &Runtime, subject: &str, key: &str, state: &str) -> Value {
    let found = block_on(runtime.get(subject, &[json!(key)])).unwrap();
    found.map_or(Value::Null, |found| found.truth[state].clone())
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "not in a minute: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn told(ahead: Ahead) -> usize {
    match ahead {
        Ahead::Transitions(list) => list.len(),
        Ahead::Nothing => 0,
        other => panic!("{other:?}"),
    }
}

/// Row 1: where others commit, too, no transaction knows its position before it has one.
#[test]
fn a_new_follower_begins_at_the_head() {
    let store = distant();
    let (first, second) = (open(&store), open(&store));
    call(&first, &raise(1));
    let mut follower = first.follower("f").unwrap();
    call(&second, &raise(2));
    assert_eq!(told(follower.ahead(10).unwrap()), 1);
    assert_eq!(first.followers().unwrap()[0].name, "f");
}

/// Row 3: who follows the feed from the revision of an answer loses nothing that the answer does not show.
#[test]
fn an_answer_never_carries_a_revision_newer_than_what_it_shows() {
    let store = Arc::new(Distant::new(9, Faults { delay_us_max: 2_000, ..Faults::default() }));
    let (first, second) = (open(&store), open(&store));
    call(&first, &raise(1));
    let over = AtomicBool::new(false);
    let answers = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..300 {
                call(&first, &raise(1));
            }
            over.store(true, Ordering::Release);
        });
        let mut answers = Vec::new();
        while !over.load(Ordering::Acquire) {
            let look = Request::new("client", "look", "kim").with("count", "c");
            let reply = call(&second, &look);
            let cursor: Cursor = reply.revision.parse().unwrap();
            answers.push((reply.result["total"].as_i64().unwrap(), cursor));
        }
        answers
    });
    let mut totals = Vec::new();
    let mut from = Cursor::start(store::Partition::default());
    loop {
        let page = block_on(store.feed(from, 100)).unwrap();
        totals.extend(page.commits.iter().map(|commit| commit.cursor));
        if page.next == from {
            break;
        }
        from = page.next;
    }
    assert_eq!(totals.len(), 301);
    let newer = answers.iter().filter(|(total, at)| {
        let raised = totals.iter().filter(|cursor| **cursor <= *at).count();
        raised as i64 > *total
    });
    assert_eq!(newer.count(), 0, "of {} answers", answers.len());
}

/// Rows 2 and 11: another text is an upgrade, and no call is decided by a guard that no longer counts.
#[test]
fn no_server_decides_by_a_guard_that_no_longer_counts() {
    let store = distant();
    let (first, second) = (open(&store), open(&store));
    assert_eq!((first.epoch(), second.epoch()), (Some(1), Some(1)));
    call(&first, &raise(10));
    let other = DESIGN.replace("by <= 10", "by <= 3");
    let third = Runtime::open(design(&other), store.clone(), settings()).unwrap();
    assert_eq!(third.epoch(), Some(2));
    // the first has not heard of it, and the guard that it knows would let this pass
    assert_eq!(first.call(&raise(5)).unwrap_err(), CallError::Replaced);
    assert!(matches!(third.call(&raise(5)), Err(CallError::Refused(_))));
    // nor does it show what another text might hide
    let read = block_on(second.get("Count", &[json!("c")]));
    assert_eq!(read.unwrap_err(), CallError::Replaced);
    assert_eq!(second.fire_one().unwrap_err(), CallError::Replaced);
    assert!(second.is_replaced());
    // a server that is started anew with the text before does not take the say back
    match Runtime::open(design(DESIGN), store.clone(), settings()) {
        Err(OpenError::Outdated { epoch: 2 }) => {}
        other => panic!("{:?}", other.map(|_| ())),
    }
    // somebody who means it does
    let back = third.replace(design(DESIGN), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((back.epoch(), third.is_replaced()), (Some(3), true));
    call(&back, &raise(5));
    assert_eq!(truth(&back, "Count", "c", "Total")["total"], 15);
    // the same text, whatever stands where in it, is no upgrade
    let again = Runtime::open(design(&format!("\n\n{DESIGN}")), store.clone(), settings()).unwrap();
    assert_eq!(again.epoch(), Some(3));
    call(&back, &raise(1));
}

/// Row 2, in the middle of a call: the commit depends on the epoch, not only the beginning of the call.
#[test]
fn a_call_that_is_under_way_when_the_text_changes_is_decided_by_neither() {
    for seed in 0..5 {
        let faults = Faults { delay_us_max: 3_000, ..Faults::default() };
        let store = Arc::new(Distant::new(seed, faults));
        let old = open(&store);
        let over = AtomicBool::new(false);
        let other = DESIGN.replace("by <= 10", "by <= 3");
        let upgraded = std::thread::scope(|scope| {
            for client in 0..3 {
                let (old, over) = (&old, &over);
                scope.spawn(move || {
                    let request = raise(5).with("count", format!("c{client}"));
                    while !over.load(Ordering::Acquire) {
                        match old.call(&request) {
                            Ok(_) => {}
                            Err(CallError::Replaced) => return,
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(20));
            let new = Runtime::open(design(&other), store.clone(), settings()).unwrap();
            let head = block_on(new.head()).unwrap();
            std::thread::sleep(Duration::from_millis(30));
            over.store(true, Ordering::Release);
            (new, head)
        });
        let (new, head) = upgraded;
        // at the latest when the new one was open, nothing that the old guard let pass was committed any more
        let (late, _) = block_on(new.feed(Some(&head), 1_000)).unwrap();
        assert_eq!(late.len(), 0, "seed {seed}");
    }
}

/// Row 11: where there may be other servers, one of them may be at it.
#[test]
fn opening_a_design_leaves_the_copy_of_another_server_alone() {
    let store = distant();
    let _first = open(&store);
    let key = MetaKey::NUMBERS.to_bytes();
    let numbers = || block_on(store.read(&[key.clone().into()], None)).unwrap().records.remove(0);
    let mut list = take_numbers(&numbers().unwrap().value).unwrap();
    list.push(Numbered::Copying("Many".into()));
    block_on(store.commit(Commit::new().put(key.clone(), put_numbers(&list)))).unwrap();
    let _second = open(&store);
    assert_eq!(take_numbers(&numbers().unwrap().value).unwrap(), list);
}

/// What is stored is not converted while others may write it: that is said, and nothing changes.
#[test]
fn a_text_that_needs_a_conversion_is_refused_where_servers_share_a_store() {
    let store = distant();
    let first = open(&store);
    call(&first, &raise(1));
    let other = DESIGN.replace("total: int = 0", "total: int = 0, more: int = 0");
    match first.replace(design(&other), &[]) {
        Err(ReplaceError::Design(why)) => assert!(why.contains("several servers share"), "{why}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
    assert!(Runtime::open(design(&other), store.clone(), settings()).is_err());
    call(&first, &raise(1));
}

/// A clock that is off.
struct Off {
    clock: SystemClock,
    ahead_ms: AtomicI64,
}

impl Clock for Off {
    fn now_ms(&self) -> i64 {
        self.clock.now_ms() + self.ahead_ms.load(Ordering::Acquire)
    }
}

fn off(ahead_ms: i64) -> Arc<Off> {
    Arc::new(Off { clock: SystemClock::default(), ahead_ms: AtomicI64::new(ahead_ms) })
}

/// Row 5: a server that is far from the store's clock does not serve, and says so.
#[test]
fn a_server_whose_clock_is_far_off_refuses_to_serve() {
    let store = distant();
    let first = open(&store);
    let lease =
        |name: &str| Request::new("client", "take", "kim").with("lease", name).with("ttl", "5s");
    call(&first, &lease("l"));
    for ahead in [5_000, -5_000] {
        match Runtime::open_with_clock(design(DESIGN), store.clone(), settings(), off(ahead)) {
            Err(OpenError::Skewed(skewed)) => {
                assert!((skewed.ahead_ms - ahead).abs() < 1_000, "{skewed}");
                assert!(skewed.to_string().contains("of at most 500 ms"), "{skewed}");
            }
            other => panic!("{:?}", other.map(|_| ())),
        }
    }
    // 400 ms are within the bound
    let clock = off(400);
    let near = Runtime::open_with_clock(design(DESIGN), store.clone(), settings(), clock.clone());
    let near = near.unwrap();
    call(&near, &lease("m"));
    // it jumps while it serves
    clock.ahead_ms.store(6_000, Ordering::Release);
    std::thread::sleep(Duration::from_millis(1_100));
    assert!(matches!(near.fire_one(), Err(CallError::Skewed(_))));
    assert!(matches!(near.call(&lease("n")), Err(CallError::Skewed(_))));
    assert!(matches!(block_on(near.get("Lease", &[json!("l")])), Err(CallError::Skewed(_))));
    assert_eq!(truth(&first, "Lease", "l", "LeaseState")["expired"], 0);
    clock.ahead_ms.store(0, Ordering::Release);
    std::thread::sleep(Duration::from_millis(1_100));
    call(&near, &lease("n"));
}

/// Row 5: nothing is decided before what it rests on was written.
#[test]
fn time_never_goes_back_from_one_server_to_the_other() {
    let store = distant();
    let fast =
        Runtime::open_with_clock(design(DESIGN), store.clone(), settings(), off(400)).unwrap();
    let slow =
        Runtime::open_with_clock(design(DESIGN), store.clone(), settings(), off(-400)).unwrap();
    for _ in 0..5 {
        call(&fast, &raise(1));
        call(&slow, &raise(1));
    }
    let (feed, _) = block_on(slow.feed(None, 100)).unwrap();
    let at: Vec<i64> = feed.iter().map(|(_, transition)| transition.at).collect();
    assert_eq!(at.len(), 10);
    assert!(at.is_sorted(), "{at:?}");
    // a record that nobody else has written is of the server's own time
    call(&slow, &raise(1).with("count", "own"));
    let (feed, _) = block_on(slow.feed(None, 100)).unwrap();
    assert!(feed[10].1.at < at[9], "{} {}", feed[10].1.at, at[9]);
}

/// Row 8: no commit is larger than the store takes, housekeeping's neither.
#[test]
fn housekeeping_keeps_to_the_number_of_operations() {
    let store = distant();
    assert_eq!(store.limits().commit_operations_max, 100);
    let few = Settings { idempotency_retention_ms: 1, ..settings() };
    let first = open_with(&store, few);
    for number in 0..230 {
        call(&first, &raise(1).keyed(&number.to_string()));
    }
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(first.forget_outcomes(1_000), Ok(230));
    assert_eq!(first.forget_outcomes(1_000), Ok(0));
    // every entry of the log is older than 10 ms
    while first.fire_one().unwrap() == Fired::Done {}
    let kept = truth(&first, "Count", "c", "Steps");
    assert_eq!((&kept["start"], &kept["end"]), (&json!(230), &json!(230)));
}

/// Row 9: of the servers that follow under one name, one is told; what it has kept never goes back.
#[test]
fn one_server_follows_and_the_next_goes_on_where_it_was() {
    let store = distant();
    let short = || Settings { lease_ms: 400, skew_max_ms: 100, ..settings() };
    let (first, second) = (open_with(&store, short()), open_with(&store, short()));
    let (mut one, mut two) = (first.follower("w").unwrap(), second.follower("w").unwrap());
    for _ in 0..4 {
        call(&first, &raise(1));
    }
    assert_eq!(told(one.ahead(2).unwrap()), 2);
    assert_eq!(two.ahead(10).unwrap(), Ahead::Elsewhere);
    one.keep(true).unwrap();
    let kept = first.followers().unwrap()[0].revision.clone();
    assert_eq!(told(one.ahead(10).unwrap()), 2);
    // the first is heard of no more
    let mut ahead = Ahead::Elsewhere;
    eventually("the second follows", || {
        ahead = two.ahead(10).unwrap();
        ahead != Ahead::Elsewhere
    });
    // what was not kept is told again
    assert_eq!(told(ahead), 2);
    two.keep(true).unwrap();
    let further = first.followers().unwrap()[0].revision.clone();
    assert_ne!(kept, further);
    // the first comes back, and keeps what it had been told
    one.keep(true).unwrap();
    assert_eq!(first.followers().unwrap()[0].revision, further);
    assert_eq!(one.ahead(10).unwrap(), Ahead::Elsewhere);
}

/// Calls that never come back, as of a server that is killed.
#[derive(Default)]
struct Kills(AtomicU32);

impl Outside for Kills {
    fn deliver(&self, _: &Delivery) -> Delivered {
        self.0.fetch_add(1, Ordering::AcqRel);
        loop {
            std::thread::park();
        }
    }
}

/// Row 10: an effect that kills its server is tried so many times, and is a dead letter then.
#[test]
fn an_effect_that_kills_its_server_becomes_a_dead_letter() {
    let store = distant();
    let outbox =
        engine::outbox::Policy { backoff_first_ms: 10, backoff_max_ms: 20, attempts_max: 3 };
    let short = || Settings { outbox, claim_ms: 100, lease_ms: 200, skew_max_ms: 50, ..settings() };
    let last = open_with(&store, short());
    call(&last, &pay("m"));
    let world = Arc::new(Kills::default());
    let begun = Instant::now();
    for kill in 1..=3_u32 {
        let (runtime, world) = (open_with(&store, short()), Arc::clone(&world));
        let deliver = Arc::clone(&world);
        // one attempt on its own, then it hangs for ever: nobody puts off its lease
        std::thread::spawn(move || while runtime.deliver_one(&*deliver).is_ok() {});
        eventually("it is tried", || world.0.load(Ordering::Acquire) >= kill);
    }
    // somebody finds the last one
    eventually("it is given up", || {
        assert_ne!(last.deliver_one(&*world).unwrap(), Worked::SetAside);
        last.outbox(10).unwrap()[0].state == "dead letter"
    });
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(world.0.load(Ordering::Acquire), 3);
    let dead = &last.outbox(10).unwrap()[0];
    assert_eq!(
        (dead.attempts, &*dead.trouble),
        (3, "whoever delivered it did not come back with an answer")
    );
    assert_eq!(truth(&last, "Move", "m", "MoveState")["status"], "LOST");
}

/// Takes its time, and counts.
#[derive(Default)]
struct Slow(Mutex<Vec<String>>);

impl Outside for Slow {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        self.0.lock().unwrap().push(delivery.key.clone());
        std::thread::sleep(Duration::from_millis(1_500));
        Delivered::Ok(Value::Null)
    }
}

/// Row 10: a claim lasts as long as its server lives, however long the delivery takes.
#[test]
fn what_a_living_server_has_in_hand_stays_with_it() {
    let store = distant();
    let short =
        || Settings { claim_ms: 100, lease_ms: 600, skew_max_ms: 50, grace_ms: 0, ..settings() };
    let (first, second) = (open_with(&store, short()), open_with(&store, short()));
    call(&first, &pay("m"));
    let world = Arc::new(Slow::default());
    let workers =
        [&first, &second].map(|runtime| Workers::start(runtime, world.clone(), 2).unwrap());
    eventually("it is paid", || truth(&first, "Move", "m", "MoveState")["status"] == "PAID");
    drop(workers);
    assert_eq!(world.0.lock().unwrap().len(), 1);
}

/// Row 4: servers do not all reach for the same, and what is one's is done by the others when it does not.
#[test]
fn repairs_are_shared_out() {
    let store = distant();
    let long = || Settings { grace_ms: 60_000, ..settings() };
    let servers: Vec<_> = (0..4).map(|_| open_with(&store, long())).collect();
    // all of them are known to all of them
    for _ in 0..2 {
        for server in &servers {
            assert_eq!(server.fire_one().unwrap(), Fired::Idle(None));
        }
        std::thread::sleep(Duration::from_millis(1_800));
    }
    for number in 0..80 {
        let take = Request::new("client", "take", "kim");
        let take = take.with("lease", format!("l{number}")).with("ttl", "1ms");
        call(&servers[0], &take);
    }
    std::thread::sleep(Duration::from_millis(20));
    let fired: Vec<usize> = std::thread::scope(|scope| {
        let each = servers.iter().map(|server| {
            scope.spawn(|| {
                let mut done = 0;
                while server.fire_one().unwrap() == Fired::Done {
                    done += 1;
                }
                done
            })
        });
        each.collect::<Vec<_>>().into_iter().map(|each| each.join().unwrap()).collect()
    });
    // each has a share, nobody met anybody, and nothing was left or done twice
    assert_eq!(fired.iter().sum::<usize>(), 80, "{fired:?}");
    assert!(fired.iter().all(|n| *n > 5), "{fired:?}");
    let conflicts: u64 = servers.iter().map(|server| server.counters().conflicts()).sum();
    assert!(conflicts < 8, "{conflicts} conflicts");
    for number in 0..80 {
        let lease = truth(&servers[0], "Lease", &format!("l{number}"), "LeaseState");
        assert_eq!(lease["expired"], 1);
    }
}

/// Row 4: what is another server's first is anybody's after the grace.
#[test]
fn after_the_grace_anybody_does_it() {
    let store = distant();
    let short = || Settings { grace_ms: 300, ..settings() };
    let (first, second) = (open_with(&store, short()), open_with(&store, short()));
    // the second is known, and will do nothing
    second.fire_one().unwrap();
    for number in 0..20 {
        let take = Request::new("client", "take", "kim");
        call(&first, &take.with("lease", format!("l{number}")).with("ttl", "1ms"));
    }
    let mut done = 0;
    eventually("all are done", || {
        done += usize::from(first.fire_one().unwrap() == Fired::Done);
        done == 20
    });
}

/// A message is named after its transaction, and a transaction on a store that is far away is run until nothing is
/// missing: this one never ended.
#[test]
fn a_message_is_sent_on_one_server_and_taken_on_another() {
    let store = distant();
    let (first, second) = (open(&store), open(&store));
    call(&first, &Request::new("client", "tell", "kim").with("count", "c"));
    eventually("it is taken", || {
        second.deliver_one(&Never).unwrap();
        truth(&second, "Count", "c", "Total")["total"] == 1
    });
}

struct Never;

impl Outside for Never {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        panic!("{} is no message", delivery.effect)
    }
}
