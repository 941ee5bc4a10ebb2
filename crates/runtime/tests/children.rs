//! A child is made only while its parent is there: also when another call deletes the parent at the
//! same moment, on a store in this process and on one that knows only conditional commits.

use crate::support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use design::model::Design;
use runtime::{CallError, Request, Runtime, Settings};
use serde_json::{Value, json};
use store::{Distant, Faults, Memory, Store, block_on};
use store_embedded::{Embedded, Options};
use support::{bench, compile};

const DESIGN: &str = r#"
design Jobs
actor owner
subject Job(job: text) { truth JobState { open: bool = true } }
subject Task(job: Job, task: text) { truth TaskState { done: bool = false } }
subject Desk(desk: text) { truth DeskState { job: Job? } }
step owner[open(job: new Job)] {}
step owner[close(job: Job) { none: count(Task of job) = 0 }] { delete job }
step owner[add(task: new Task)] {}
step owner[put(desk: Desk, job: Job)] { DeskState.job := job }
step owner[add_there(desk: Desk, name: text) { some: DeskState.job != null }] {
    new Task(DeskState.job, name)
}
step owner[drop_task(task: Task)] { delete task }
"#;

fn counted() -> Design {
    compile("jobs", DESIGN)
}

/// The same without the count, which the compiler would not let pass: what is left is that the
/// parent's presence is read. A job is deleted whether it has tasks or not.
fn uncounted() -> Design {
    let mut design = counted();
    for operation in &mut design.operations {
        if operation.name == "close" {
            operation.guard.clear();
        }
    }
    design.subjects.iter_mut().for_each(|subject| subject.counters.clear());
    design
}

const CLIENTS: u64 = 6;
const ROUNDS: u64 = 60;
const JOBS: u64 = 3;

fn call(name: &str, params: &[(&str, Value)]) -> Request {
    let request = Request::new("owner", name, "ann");
    params.iter().fold(request, |request, (name, value)| request.with(name, value.clone()))
}

/// Everybody opens, closes and fills the same few jobs.
fn race(runtimes: &[Arc<Runtime>]) -> u64 {
    let accepted = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (runtime, accepted) = (&runtimes[client as usize % runtimes.len()], &accepted);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let job = json!(format!("j{}", (client + round) % JOBS));
                    let name = json!(format!("{client}-{round}"));
                    let desk = json!(format!("d{client}"));
                    let task = json!([job, name]);
                    let calls = [
                        call("open", &[("job", job.clone())]),
                        call("put", &[("desk", desk.clone()), ("job", job.clone())]),
                        call("add", &[("task", task.clone())]),
                        call("drop_task", &[("task", task.clone())]),
                        call("close", &[("job", job.clone())]),
                        call("add_there", &[("desk", desk), ("name", name)]),
                        call("drop_task", &[("task", task)]),
                        call("close", &[("job", job)]),
                    ];
                    for request in calls {
                        match runtime.call(&request) {
                            Ok(_) => accepted.fetch_add(1, Ordering::Relaxed),
                            Err(CallError::Refused(_)) => 0,
                            Err(error) => panic!("{error}"),
                        };
                    }
                }
            });
        }
    });
    accepted.into_inner()
}

/// Walks the feed, which is in the order of the commits: tasks that were made while their job was
/// not there, and jobs that were deleted under their tasks.
fn orphans(runtime: &Runtime) -> (Vec<String>, Vec<String>) {
    let (mut jobs, mut tasks) = (BTreeSet::new(), BTreeSet::new());
    let (mut unborn, mut left) = (Vec::new(), Vec::new());
    let (mut from, mut made) = (None::<String>, 0);
    loop {
        let (list, next) = block_on(runtime.feed(from.as_deref(), 500)).unwrap();
        if list.is_empty() {
            assert!(made > 50, "{made} tasks were made");
            return (unborn, left);
        }
        for (revision, transition) in list {
            for change in transition.to_json()["changes"].as_array().unwrap() {
                let key: Vec<String> = serde_json::from_value(change["key"].clone()).unwrap();
                let there = !change["truth"].is_null();
                match (change["subject"].as_str().unwrap(), there) {
                    ("Job", true) => drop(jobs.insert(key[0].clone())),
                    ("Job", false) => {
                        jobs.remove(&key[0]);
                        if tasks.iter().any(|task: &Vec<String>| task[0] == key[0]) {
                            left.push(format!("{revision}: {key:?}"));
                        }
                    }
                    ("Task", true) => {
                        if !jobs.contains(&key[0]) {
                            unborn.push(format!("{revision}: {key:?}"));
                        }
                        made += 1;
                        tasks.insert(key);
                    }
                    ("Task", false) => drop(tasks.remove(&key)),
                    _ => {}
                }
            }
        }
        from = Some(next);
    }
}

fn open(design: Design, store: Arc<dyn Store>) -> Arc<Runtime> {
    let conflicts = store::Retry { attempts_max: 500, ..store::Retry::default() };
    let settings = Settings { conflicts, ..Settings::default() };
    Arc::new(Runtime::open(design, store, settings).unwrap())
}

#[test]
fn no_orphan_on_a_store_with_conditional_commits() {
    let raced = |seed, make: fn() -> Design| {
        let faults = Faults { delay_us_max: 400, conflicts_percent: 3, ..Faults::default() };
        let store = Arc::new(Distant::new(seed, faults));
        let runtimes = [open(make(), store.clone()), open(make(), store.clone())];
        assert!(race(&runtimes) > 300);
        let (unborn, left) = orphans(&runtimes[0]);
        assert_eq!(unborn, [""; 0], "seed {seed}");
        (left, runtimes[0].counters().conflicts())
    };
    let (left, conflicts) = raced(1, counted);
    assert_eq!(left, [""; 0]);
    assert!(conflicts > 0, "they met");
    // without the count a job may go before its tasks; it is the compiler that rules this out
    let met = (2..30).filter(|seed| !raced(*seed, uncounted).0.is_empty());
    assert_eq!(met.take(2).count(), 2, "without the count no job went before its tasks");
}

#[test]
fn no_orphan_on_a_store_in_this_process() {
    let directory = std::env::temp_dir().join(format!("children-{}", std::process::id()));
    let embedded = Embedded::open(directory.join("data"), Options::default()).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(Memory::new()), Arc::new(embedded)];
    for store in stores {
        let runtimes = [open(counted(), store)];
        assert!(race(&runtimes) > 300);
        assert_eq!(orphans(&runtimes[0]), (Vec::new(), Vec::new()));
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn the_refusal_names_exists() {
    let bench = bench(counted());
    let task = || call("add", &[("task", json!(["j", "t"]))]);
    assert_eq!(bench.refused_by(task()), "exists");
    bench.call(call("open", &[("job", json!("j"))])).unwrap();
    bench.call(call("put", &[("desk", json!("d")), ("job", json!("j"))])).unwrap();
    bench.call(task()).unwrap();
    assert_eq!(bench.refused_by(call("close", &[("job", json!("j"))])), "none");
    bench.call(call("drop_task", &[("task", json!(["j", "t"]))])).unwrap();
    bench.call(call("close", &[("job", json!("j"))])).unwrap();
    let there = call("add_there", &[("desk", json!("d")), ("name", json!("t"))]);
    assert_eq!(bench.refused_by(there), "no_parent");
}

/// Without a count the parent is not written: children of one parent do not meet on it.
#[test]
fn the_parent_is_not_written() {
    let bench = bench(uncounted());
    bench.call(call("open", &[("job", json!("j"))])).unwrap();
    let before = block_on(bench.runtime.get("Job", &[json!("j")])).unwrap().unwrap().version;
    let reply = bench.call(call("add", &[("task", json!(["j", "t"]))])).unwrap();
    assert_eq!(reply.truth.as_array().unwrap().len(), 1, "only the task changed");
    let after = block_on(bench.runtime.get("Job", &[json!("j")])).unwrap().unwrap().version;
    assert_eq!(before, after);
}
