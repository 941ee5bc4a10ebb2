//! Steps that take the next record of a view: in its order, once, and the same one again under a key.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use runtime::{CallError, Reply, Request, Runtime, Settings};
use serde_json::json;
use store::{Distant, Faults, Store, block_on};
use store_embedded::{Embedded, Options};

use crate::support::{Bench, ask, bench, compile};

const DESIGN: &str = r#"design Work

actor client
actor worker { my_epoch: int? of Job }

subject Job(job: text) {
    truth JobState {
        queue: text = "",
        status: WAITS | HELD | DONE = WAITS,
        rank: int = 0,
        needs: int = 0,
        by: actor?,
        epoch: int = 0,
    }
}

view Runnable(queue: text) = list Job where status = WAITS order by rank

step client[put(job: new Job, queue: text, rank: int = 0, needs: int = 0)] {
    JobState.queue := queue
    JobState.rank := rank
    JobState.needs := needs
}

step worker[claim(queue: text, has: int = 0, job: any of Runnable(queue)) {
    known: queue != "closed"
    waits: JobState.status = WAITS
    able: JobState.needs <= has
}] {
    JobState.status := HELD
    JobState.by := me
    JobState.epoch += 1
    my_epoch := JobState.epoch
}

step worker[start(job: Job) { waits: JobState.status = WAITS }] { JobState.status := HELD }
step worker[give_back(job: Job) { yours: JobState.epoch = my_epoch }] {
    JobState.status := WAITS
    JobState.by := null
}

invariant held_by_one: all j in Job: j.by = null or j.epoch > 0
check { job: 1  client: 1  worker: 1  queue: 1  rank: {0}  needs: {0}  has: {0}
        JobState.epoch: 0..2 }
"#;

fn put(bench: &Bench, job: &str, queue: &str, rank: i64, needs: i64) {
    let request = ask("client", "put", "ann").with("job", job).with("queue", queue);
    bench.call(request.with("rank", rank).with("needs", needs)).unwrap();
}

fn claim(queue: &str) -> Request {
    ask("worker", "claim", "bob").with("queue", queue)
}

fn job(reply: &Reply) -> &str {
    reply.result["job"].as_str().unwrap()
}

#[test]
fn records_are_taken_in_the_order_of_the_view_until_none_is_left() {
    let bench = bench(compile("work", DESIGN));
    assert_eq!(bench.refused_by(claim("q")), "none_left");
    for (name, queue, rank) in [("c", "q", 1), ("a", "q", 2), ("b", "q", 1), ("x", "other", 0)] {
        put(&bench, name, queue, rank, 0);
    }
    for expected in ["b", "c", "a"] {
        let reply = bench.call(claim("q")).unwrap();
        assert_eq!(reply.result, json!({ "job": expected }));
        assert_eq!(bench.truth("Job", expected)["JobState"]["by"], "bob");
    }
    assert_eq!(bench.refused_by(claim("q")), "none_left");
    assert_eq!(bench.truth("Job", "x")["JobState"]["status"], "WAITS");
    // a caller does not choose
    match bench.call(claim("other").with("job", "x")) {
        Err(CallError::Bad(bad)) => {
            assert_eq!(bad.pointer, "/params/job");
            assert_eq!(bad.message, "`job` is chosen by the server; leave it out");
        }
        other => panic!("{other:?}"),
    }
    let entries = block_on(bench.runtime.history()).unwrap();
    let walked = runtime::replay(compile("work", DESIGN), entries.iter().map(Vec::as_slice));
    assert_eq!(walked, Ok(entries.len()), "what was taken is told by the feed");
}

#[test]
fn a_record_that_the_guard_refuses_is_passed_over() {
    let bench = bench(compile("work", DESIGN));
    put(&bench, "a", "q", 0, 9);
    put(&bench, "b", "q", 1, 0);
    put(&bench, "c", "q", 2, 0);
    assert_eq!(job(&bench.call(claim("q")).unwrap()), "b");
    assert_eq!(job(&bench.call(claim("q").with("has", 9)).unwrap()), "a");
    assert_eq!(job(&bench.call(claim("q")).unwrap()), "c");
    put(&bench, "d", "q", 0, 9);
    assert_eq!(bench.refused_by(claim("q")), "none_left", "none that it could take");
    // what does not rest on the record refuses at once, by its own name
    put(&bench, "e", "closed", 0, 0);
    assert_eq!(bench.refused_by(claim("closed")), "known");
    // asking what would be done takes nothing
    assert!(bench.runtime.would(&claim("q").with("has", 9)).is_ok());
    assert!(matches!(bench.runtime.would(&claim("q")),
        Err(CallError::Refused(it)) if it.clause == "none_left"));
    assert_eq!(job(&bench.call(claim("q").with("has", 9)).unwrap()), "d");
}

/// Truth decides, though the view shows the record: a commit that is not durable is in no view.
#[test]
fn what_is_taken_otherwise_meanwhile_is_not_taken_again() {
    let directory = directory("meanwhile");
    let store = Embedded::open(&directory, Options::default()).unwrap();
    let runtime = Runtime::open(compile("work", DESIGN), Arc::new(store), Settings::default());
    let runtime = runtime.unwrap();
    for round in 0..200 {
        for name in ["a", "b"] {
            let put = ask("client", "put", "ann").with("job", format!("{name}{round}"));
            runtime.call(&put.with("queue", "q")).unwrap();
        }
        let start = ask("worker", "start", "cid").with("job", format!("a{round}"));
        let (ticket, started) = runtime.begin(&start).unwrap();
        started.unwrap();
        assert_eq!(job(&runtime.call(&claim("q")).unwrap()), format!("b{round}"));
        ticket.wait().unwrap();
    }
    drop(runtime);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_record_that_is_given_back_is_taken_again() {
    let bench = bench(compile("work", DESIGN));
    put(&bench, "a", "q", 0, 0);
    for _ in 0..5 {
        let reply = bench.call(claim("q")).unwrap();
        assert_eq!(job(&reply), "a");
        let back = ask("worker", "give_back", "bob").with("job", "a");
        bench.call(back.remembering(reply.memory)).unwrap();
    }
    assert_eq!(bench.truth("Job", "a")["JobState"]["epoch"], 5);
}

/// A call tries 64 records. Behind those the next one goes on, so that the last is reached.
#[test]
fn a_head_that_nobody_can_take_does_not_hide_what_stands_behind_it() {
    let bench = bench(compile("work", DESIGN));
    for number in 0..200 {
        put(&bench, &format!("h{number}"), "q", 0, 9);
    }
    put(&bench, "z", "q", 1, 0);
    for _ in 0..3 {
        assert_eq!(bench.refused_by(claim("q")), "able", "there are records, and none is left out");
    }
    assert_eq!(job(&bench.call(claim("q")).unwrap()), "z");
    assert_eq!(bench.refused_by(claim("q")), "able", "from the first again");
}

fn directory(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("steadfast-taking-{name}-{}", std::process::id()))
}

#[test]
fn under_its_key_a_call_gets_the_same_record_again() {
    let directory = directory("keyed");
    let open = || {
        let store = Embedded::open(&directory, Options::default()).unwrap();
        Runtime::open(compile("work", DESIGN), Arc::new(store), Settings::default()).unwrap()
    };
    let runtime = open();
    for name in ["a", "b"] {
        let put = ask("client", "put", "ann").with("job", name).with("queue", "q");
        runtime.call(&put).unwrap();
    }
    let first = runtime.call(&claim("q").keyed("k1")).unwrap();
    let again = runtime.call(&claim("q").keyed("k1")).unwrap();
    assert_eq!((job(&first), job(&again), again.replayed), ("a", "a", true));
    assert_eq!(first.memory, again.memory);
    let second = runtime.call(&claim("q").keyed("k2")).unwrap();
    assert_eq!(job(&second), "b", "a call that was answered again takes nothing");
    // the queue is empty, and the answers are the same
    assert_eq!(job(&runtime.call(&claim("q").keyed("k1")).unwrap()), "a");
    assert!(matches!(runtime.call(&claim("q").keyed("k3")),
        Err(CallError::Refused(it)) if it.clause == "none_left"));
    assert_eq!(runtime.call(&claim("r").keyed("k1")), Err(CallError::OtherPayload));
    drop(runtime);
    let runtime = open();
    for (key, expected) in [("k1", "a"), ("k2", "b")] {
        let again = runtime.call(&claim("q").keyed(key)).unwrap();
        assert_eq!((job(&again), again.replayed), (expected, true));
    }
    // a refusal is not kept: what came since is taken
    let put = ask("client", "put", "ann").with("job", "c").with("queue", "q");
    runtime.call(&put).unwrap();
    assert_eq!(job(&runtime.call(&claim("q").keyed("k3")).unwrap()), "c");
    drop(runtime);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Workers take from one queue until they are told that none is left. Gives what each key took.
fn drain(runtimes: &[Arc<Runtime>], workers: usize, over: &AtomicBool) -> Vec<(String, String)> {
    let taken = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let runtime = &runtimes[worker % runtimes.len()];
            let taken = &taken;
            scope.spawn(move || {
                for number in 0.. {
                    let key = format!("{worker}-{number}");
                    let request = ask("worker", "claim", &format!("w{worker}"));
                    let request = request.with("queue", "q").keyed(&key);
                    // whoever begins after somebody was told that none is left finds none
                    let late = over.load(Ordering::SeqCst);
                    match runtime.call(&request) {
                        Ok(reply) => {
                            assert!(!late, "{key} took {} after the end", job(&reply));
                            taken.lock().unwrap().push((key, job(&reply).to_string()));
                        }
                        Err(CallError::Refused(it)) if it.clause == "none_left" => {
                            over.store(true, Ordering::SeqCst);
                            return;
                        }
                        Err(other) => panic!("{key}: {other}"),
                    }
                }
            });
        }
    });
    taken.into_inner().unwrap()
}

#[test]
fn sixty_four_workers_take_two_thousand_jobs_once_each() {
    const JOBS: usize = 2_000;
    let directory = directory("crowd");
    let open = || {
        let store = Embedded::open(&directory, Options::default()).unwrap();
        Runtime::open(compile("work", DESIGN), Arc::new(store), Settings::default()).unwrap()
    };
    let runtime = Arc::new(open());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= JOBS {
                        return;
                    }
                    let put = ask("client", "put", "ann").with("job", format!("j{number}"));
                    runtime.call(&put.with("queue", "q")).unwrap();
                }
            });
        }
    });
    let taken = drain(&[Arc::clone(&runtime)], 64, &AtomicBool::new(false));
    let jobs: BTreeSet<&String> = taken.iter().map(|(_, job)| job).collect();
    assert_eq!((taken.len(), jobs.len()), (JOBS, JOBS), "each is taken once");
    // nobody fought for a head: without proposals each call would meet those of 63 others
    let passed_over = runtime.counters().passed_over();
    println!("{passed_over} passed over");
    assert!(passed_over < JOBS as u64, "{passed_over} for {JOBS} jobs");
    drop(runtime);
    let runtime = open();
    for (key, expected) in &taken {
        let worker = format!("w{}", key.split('-').next().unwrap());
        let request = ask("worker", "claim", &worker).with("queue", "q").keyed(key);
        assert_eq!(job(&runtime.call(&request).unwrap()), expected, "{key}, after a restart");
    }
    let entries = block_on(runtime.history()).unwrap();
    let walked = runtime::replay(compile("work", DESIGN), entries.iter().map(Vec::as_slice));
    assert_eq!(walked, Ok(2 * JOBS));
    drop(runtime);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Two processes know nothing of each other's proposals: truth keeps them apart.
#[test]
fn two_runtimes_on_one_distant_store_take_each_record_once() {
    let faults = Faults { delay_us_max: 200, ..Faults::default() };
    let store: Arc<dyn Store> = Arc::new(Distant::new(7, faults));
    let open = || {
        let conflicts = store::Retry { attempts_max: 1_000, ..store::Retry::default() };
        let settings = Settings { conflicts, ..Settings::default() };
        Arc::new(Runtime::open(compile("work", DESIGN), Arc::clone(&store), settings).unwrap())
    };
    let runtimes = [open(), open()];
    for number in 0..150 {
        let put = ask("client", "put", "ann").with("job", format!("j{number}"));
        runtimes[number % 2].call(&put.with("queue", "q")).unwrap();
    }
    let taken = drain(&runtimes, 12, &AtomicBool::new(false));
    let jobs: BTreeSet<&String> = taken.iter().map(|(_, job)| job).collect();
    assert_eq!((taken.len(), jobs.len()), (150, 150));
}
