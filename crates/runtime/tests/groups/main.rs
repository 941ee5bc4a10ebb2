//! Calls are decided in groups: over what the earlier ones wrote, each on its own, answered when durable.

mod held;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use runtime::{Answers, CallError, Reply, Request, Runtime, Settings, Told};
use serde_json::{Value, json};
use store::{Distant, Faults, Memory, Store, block_on};
use store_embedded::{Embedded, Options};

use crate::support;
use held::Held;

const DESIGN: &str = r#"
design Counters
actor client
subject Counter(counter: text) { truth Count { count: int = 0, note: text = "" } }
step client[add(counter: Counter, limit: int, note: text = "") { below: Count.count < limit }] {
    Count.count += 1
    Count.note := note
}
step client[copy(from: Counter, to: Counter) { more: from.count > to.count }] {
    to.count := from.count
}
"#;

const POST: &str = r#"
design Post
actor author
actor carrier
subject Letter(letter: text) { truth LetterState { version: int = 0 } }
subject Box(letter: text, house: text) at house { truth BoxState { version: int = 0 } }
step author[write(letter: Letter, to: Box)] {
    LetterState.version += 1
    send carrier.bring(to, LetterState.version)
}
step carrier[bring(to: Box, version: int) { newer: BoxState.version < version }] {
    BoxState.version := version
}
"#;

fn open(store: Arc<dyn Store>) -> Runtime {
    open_design(DESIGN, store)
}

fn open_design(text: &str, store: Arc<dyn Store>) -> Runtime {
    let design = support::compile("groups", text);
    Runtime::open(design, store, Settings::default()).unwrap()
}

fn add(counter: &str, limit: i64) -> Request {
    Request::new("client", "add", "ann").with("counter", counter).with("limit", limit)
}

fn count(runtime: &Runtime, counter: &str) -> i64 {
    let found = block_on(runtime.get("Counter", &[json!(counter)])).unwrap();
    found.map_or(0, |found| found.truth["Count"]["count"].as_i64().unwrap())
}

fn reply(answers: &mut Answers<'_>, at: usize) -> Result<Reply, CallError> {
    match answers.take(at)? {
        Told::Reply(reply) => Ok(reply),
        Told::Text(text) => panic!("not asked for: {text:?}"),
    }
}

/// What became of many calls that were asked together.
fn together(runtime: &Runtime, requests: &[Request]) -> Vec<Result<Reply, CallError>> {
    let mut calls = runtime.calls();
    requests.iter().for_each(|request| calls.request(request).unwrap());
    let mut answers = block_on(calls.answered());
    (0..requests.len()).map(|at| reply(&mut answers, at)).collect()
}

fn clause(outcome: &Result<Reply, CallError>) -> &str {
    match outcome {
        Ok(_) => "done",
        Err(CallError::Refused(refused)) => &refused.clause,
        Err(other) => panic!("{other}"),
    }
}

/// A directory that is gone at the end.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("steadfast-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The same on every kind of store.
fn on_all_stores(name: &str, test: impl Fn(&Runtime)) {
    test(&open(Arc::new(Memory::new())));
    test(&open(Arc::new(Distant::new(7, Faults::default()))));
    let scratch = Scratch::new(name);
    let embedded = Embedded::open(&scratch.0, Options::default()).unwrap();
    test(&open(Arc::new(embedded)));
}

#[test]
fn a_call_is_decided_over_what_the_earlier_ones_of_its_group_wrote() {
    on_all_stores("groups-order", |runtime| {
        let requests: Vec<Request> = (0..10).map(|_| add("a", 4)).collect();
        let outcomes = together(runtime, &requests);
        let said: Vec<&str> = outcomes.iter().map(clause).collect();
        assert_eq!(said[..4], ["done"; 4]);
        assert_eq!(said[4..], ["below"; 6]);
        for (at, outcome) in outcomes[..4].iter().enumerate() {
            let truth = &outcome.as_ref().unwrap().truth;
            assert_eq!(truth[0]["truth"]["Count"]["count"], json!(at + 1), "its own moment");
        }
        assert_eq!(count(runtime, "a"), 4);
        // what one call writes, another one of the group finds under another name
        let copy = |from: &str, to: &str| {
            Request::new("client", "copy", "ann").with("from", from).with("to", to)
        };
        let chain = [copy("a", "b"), copy("b", "c"), copy("c", "d"), copy("d", "a")];
        let outcomes = together(runtime, &chain);
        let said: Vec<&str> = outcomes.iter().map(clause).collect();
        assert_eq!(said, ["done", "done", "done", "more"]);
        assert_eq!(count(runtime, "d"), 4);
    });
}

#[test]
fn every_message_of_a_group_is_another_one() {
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(Memory::new()), Arc::new(Distant::new(7, Faults::default()))];
    for store in stores {
        let runtime = open_design(POST, store);
        let write = Request::new("author", "write", "ann")
            .with("letter", "l")
            .with("to", json!(["l", "h"]));
        let requests = [write.clone(), write.clone(), write.clone(), write];
        let outcomes = together(&runtime, &requests);
        outcomes.iter().for_each(|outcome| assert_eq!(clause(outcome), "done"));
        assert_eq!(runtime.outbox(10).unwrap().len(), 4);
    }
}

#[test]
fn a_refused_call_leaves_the_others_of_its_group_alone() {
    on_all_stores("groups-refused", |runtime| {
        let outcomes = together(
            runtime,
            &[add("a", 1), add("a", 1), add("b", 0), add("b", 9), add("c", 1), add("a", 9)],
        );
        let said: Vec<&str> = outcomes.iter().map(clause).collect();
        assert_eq!(said, ["done", "below", "below", "done", "done", "done"]);
        assert_eq!([count(runtime, "a"), count(runtime, "b"), count(runtime, "c")], [2, 1, 1]);
    });
}

#[test]
fn what_is_too_large_for_a_commit_is_told_so_and_its_neighbours_are_done() {
    on_all_stores("groups-large", |runtime| {
        // together more than a commit may be; each alone fits
        let long = "x".repeat(1 << 20);
        let mut requests: Vec<Request> =
            (0..20).map(|at| add(&format!("k{at}"), 1).with("note", long.as_str())).collect();
        requests.insert(3, add("k1", 1));
        let outcomes = together(runtime, &requests);
        for (at, outcome) in outcomes.iter().enumerate() {
            assert_eq!(clause(outcome), if at == 3 { "below" } else { "done" }, "{at}");
        }
        let counts: Vec<i64> = (0..20).map(|at| count(runtime, &format!("k{at}"))).collect();
        assert_eq!(counts, [1; 20]);
    });
}

#[test]
fn a_call_that_panics_leaves_the_others_of_its_group_alone() {
    let held = Arc::new(Held::default());
    let runtime = open(held.clone());
    let requests = [add("a", 9), add("boom", 9), add("a", 9)];
    let mut calls = runtime.calls();
    requests.iter().for_each(|request| calls.request(request).unwrap());
    let mut answers = block_on(calls.answered());
    assert!(reply(&mut answers, 0).is_ok());
    let panicked = catch_unwind(AssertUnwindSafe(|| reply(&mut answers, 1)));
    let said = panicked.expect_err("its own caller is told");
    assert_eq!(said.downcast_ref::<&str>(), Some(&"boom"));
    assert!(reply(&mut answers, 2).is_ok());
    drop(answers);
    assert_eq!(count(&runtime, "a"), 2);
    // and the next group is as any other
    assert_eq!(
        together(&runtime, &[add("a", 3), add("a", 3)]).iter().filter(|it| it.is_ok()).count(),
        1
    );
}

/// A future, and whether it was woken.
struct Task<'a> {
    future: Pin<Box<dyn Future<Output = Result<Reply, CallError>> + 'a>>,
    woken: Arc<Woken>,
    outcome: Option<Result<Reply, CallError>>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<'a> Task<'a> {
    fn new(runtime: &'a Runtime, request: Request) -> Task<'a> {
        let future = Box::pin(async move { runtime.call_async(&request).await });
        Task { future, woken: Arc::new(Woken(AtomicBool::new(true))), outcome: None }
    }

    fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::SeqCst)
    }

    /// Lets it go on, if it was woken. Says whether it was.
    fn go_on(&mut self) -> bool {
        if self.outcome.is_some() || !self.woken.0.swap(false, Ordering::SeqCst) {
            return false;
        }
        let waker = Waker::from(Arc::clone(&self.woken));
        if let Poll::Ready(outcome) = self.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            self.outcome = Some(outcome);
        }
        true
    }
}

/// Lets all go on, again and again, until nobody is woken any more.
fn run(tasks: &mut [Task<'_>]) {
    while tasks.iter_mut().fold(false, |went, task| task.go_on() | went) {}
}

fn answered(tasks: &[Task<'_>]) -> usize {
    tasks.iter().filter(|task| task.outcome.is_some()).count()
}

#[test]
fn nothing_is_answered_before_its_group_is_durable_neither_done_nor_refused() {
    let held = Arc::new(Held::default());
    let runtime = open(held.clone());
    held.shut();
    let mut tasks: Vec<Task<'_>> = (0..20).map(|_| Task::new(&runtime, add("a", 12))).collect();
    run(&mut tasks);
    assert_eq!(answered(&tasks), 0);
    held.open();
    run(&mut tasks);
    let done = |task: &&Task<'_>| clause(task.outcome.as_ref().expect("answered")) == "done";
    assert_eq!(tasks.iter().filter(done).count(), 12);
    assert_eq!(answered(&tasks), 20);
    // the same for what is begun at once
    held.shut();
    let mut calls = runtime.calls();
    calls.request(&add("a", 0)).unwrap();
    let (ticket, mut answers) = calls.begin().unwrap();
    assert_eq!(clause(&reply(&mut answers, 0)), "below");
    assert!(ticket.is_durable(), "a refusal that saw nothing new has nothing to wait for");
    let (ticket, answer) = runtime.begin(&add("a", 99)).unwrap();
    assert!(answer.is_ok() && !ticket.is_durable());
    let (ticket, answer) = runtime.begin(&add("a", 0)).unwrap();
    assert!(answer.is_err() && !ticket.is_durable(), "it saw what is not durable");
}

#[test]
fn calls_that_come_at_one_time_are_one_group() {
    let held = Arc::new(Held::default());
    let runtime = open(held.clone());
    held.shut();
    // while somebody is under way, whoever comes lets others come first
    let mut first = [Task::new(&runtime, add("first", 9))];
    run(&mut first);
    let before = held.turns();
    let mut tasks: Vec<Task<'_>> =
        (0..100).map(|at| Task::new(&runtime, add(&format!("k{}", at % 7), 1_000))).collect();
    run(&mut tasks);
    assert_eq!(held.turns() - before, 1);
    held.open();
    run(&mut first);
    run(&mut tasks);
    assert_eq!(answered(&tasks), 100);
    let counts: Vec<i64> = (0..7).map(|at| count(&runtime, &format!("k{at}"))).collect();
    assert_eq!(counts.iter().sum::<i64>(), 100);
}

#[test]
fn whoever_leaves_takes_nobody_along_whether_it_led_or_not() {
    // who leaves, of three that came one after the other; the first leads
    for leaves in 0..3 {
        for after in [0, 1] {
            let held = Arc::new(Held::default());
            let runtime = open(held.clone());
            held.shut();
            let mut under_way = [Task::new(&runtime, add("first", 9))];
            run(&mut under_way);
            let mut tasks: Vec<Task<'_>> =
                (0..3).map(|_| Task::new(&runtime, add("a", 9))).collect();
            // each has come, and none has gone on
            tasks.iter_mut().for_each(|task| assert!(task.go_on()));
            if after == 1 {
                run(&mut tasks);
            }
            drop(tasks.remove(leaves));
            run(&mut tasks);
            held.open();
            run(&mut tasks);
            run(&mut under_way);
            assert_eq!(answered(&tasks), 2, "{leaves} leaves, {after}");
            // before it was decided it is forgotten, after that it is done
            assert_eq!(count(&runtime, "a"), 2 + after, "{leaves} leaves, {after}");
            // and whoever comes next is served
            assert!(block_on(runtime.call_async(&add("a", 99))).is_ok());
        }
    }
}

#[test]
fn a_store_that_fails_is_told_to_everybody_who_waits() {
    let held = Arc::new(Held::default());
    let runtime = open(held.clone());
    held.shut();
    let mut tasks: Vec<Task<'_>> = (0..5).map(|_| Task::new(&runtime, add("a", 99))).collect();
    run(&mut tasks);
    assert!(tasks.iter().all(|task| !task.is_woken()));
    let local = held.local().expect("local");
    local.progress().fail(store::Error::Poisoned("the disk is gone".into()));
    run(&mut tasks);
    for task in &tasks {
        let outcome = task.outcome.as_ref().expect("told");
        let poisoned = matches!(outcome, Err(CallError::Store(store::Error::Poisoned(_))));
        assert!(poisoned, "{outcome:?}");
    }
}

#[test]
fn a_group_for_which_there_is_no_room_goes_on_when_there_is() {
    let scratch = Scratch::new("groups-room");
    // four kilobytes may wait to be written, and a group is many times as long
    let embedded = Arc::new(Embedded::open(&scratch.0, Options::small()).unwrap());
    let runtime = open(embedded);
    for round in 1..=3_i64 {
        let requests: Vec<Request> =
            (0..200).map(|at| add(&format!("k{}", at % 20), i64::MAX)).collect();
        let outcomes = together(&runtime, &requests);
        assert!(outcomes.iter().all(Result::is_ok), "{round}");
        let (ticket, mut answers) = {
            let mut calls = runtime.calls();
            requests.iter().for_each(|request| calls.request(request).unwrap());
            calls.begin().unwrap()
        };
        ticket.wait().unwrap();
        assert!((0..requests.len()).all(|at| reply(&mut answers, at).is_ok()), "{round}");
        let counts: Vec<i64> = (0..20).map(|at| count(&runtime, &format!("k{at}"))).collect();
        assert_eq!(counts, [20 * round; 20]);
    }
}

/// Groups of two processes on one store, with conflicts that are there and conflicts that are none.
#[test]
fn groups_that_meet_others_far_away_are_decided_again() {
    let faults = Faults { delay_us_max: 300, conflicts_percent: 20, lost_percent: 0 };
    let store = Arc::new(Distant::new(11, faults));
    let runtimes = [open(store.clone()), open(store.clone())];
    for runtime in &runtimes {
        let warm = runtime.call(&add("warm", i64::MAX));
        assert!(warm.is_ok());
    }
    const GROUPS: usize = 20;
    let limit = (GROUPS * 4) as i64;
    let done: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = runtimes
            .iter()
            .map(|runtime| {
                scope.spawn(move || {
                    let mut done = 0;
                    for round in 0..GROUPS {
                        let own = format!("own{round}");
                        let group = [
                            add("never", 0),
                            add("shared", limit),
                            add("shared", limit),
                            add("never", 0),
                            add("shared", limit),
                            add(&own, i64::MAX),
                        ];
                        let outcomes = together(runtime, &group);
                        let said: Vec<&str> = outcomes.iter().map(clause).collect();
                        assert_eq!((said[0], said[3], said[5]), ("below", "below", "done"));
                        done += said[1..5].iter().filter(|clause| **clause == "done").count();
                    }
                    done
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(done as i64, limit, "the guard held for every one of them, and no longer");
    assert_eq!(count(&runtimes[0], "shared"), limit);
    let own: i64 = (0..GROUPS).map(|round| count(&runtimes[0], &format!("own{round}"))).sum();
    assert_eq!(own, 2 * GROUPS as i64);
    let met: u64 = runtimes.iter().map(|runtime| runtime.counters().conflicts()).sum();
    assert!(met > 0, "some group met another one");
}

#[test]
fn texts_and_requests_share_a_group_and_keep_their_order() {
    let runtime = open(Arc::new(Memory::new()));
    let operation = design::model::OperationId::of(0);
    let mut calls = runtime.calls();
    for at in 0..6 {
        if at % 2 == 0 {
            calls.request(&add("a", 5)).unwrap();
        } else {
            let params = br#"{"counter":"a","limit":5}"#;
            let call = runtime::TextCall {
                operation,
                params,
                principal: "ann",
                viewer: None,
                trace: None,
            };
            assert!(calls.text(&call, &mut b"before ".to_vec()));
        }
    }
    let mut answers = block_on(calls.answered());
    for at in 0..6 {
        let counted = match answers.take(at) {
            Err(CallError::Refused(_)) => Value::Null,
            Err(other) => panic!("{other}"),
            Ok(Told::Reply(reply)) => reply.truth[0]["truth"]["Count"]["count"].clone(),
            Ok(Told::Text(text)) => {
                let text = text.strip_prefix(b"before ").expect("what was there stays");
                let told: Value = serde_json::from_slice(text).unwrap();
                told["truth"][0]["truth"]["Count"]["count"].clone()
            }
        };
        assert_eq!(counted, if at < 5 { json!(at + 1) } else { Value::Null });
    }
}
