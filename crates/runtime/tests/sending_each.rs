//! `send each`: a set of any size is gone through a page at a time. Whenever the server is killed, everybody who is there
//! is told once under its key, and what waits meanwhile is bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use runtime::{CallError, Delivered, Delivery, Outside, Runtime, Settings, Worked, Workers};
use serde_json::{Value, json};
use store::{Memory, Seeded, SimulatedSurroundings, Store, Surroundings};
use store_embedded::disk::SimulatedDisk;
use store_embedded::{Embedded, Options};

use crate::support::{self, Bench, ask, bench, bench_on, compile};

const FEED: &str = r#"
design Feed
actor author
actor reader
actor push
subject Author(author: text) { truth AuthorState { posts: int = 0 } }
subject Follower(author: Author, name: text) {
    truth FollowerState { told: int = 0, last: int = 0, muted: bool = false }
    ephemeral Presence ttl 30s { online: bool = false }
}
step reader[follow(follower: new Follower)] {}
step reader[unfollow(follower: Follower)] { delete follower }
step reader[mute(follower: Follower)] { FollowerState.muted := true }
step reader[here(follower: Follower)] { Presence.online := true }
step author[post(author: Author)] {
    AuthorState.posts += 1
    send each f in Follower of author: push.tell(f, AuthorState.posts)
}
step author[repeat(author: Author, number: int)] {
    send each f in Follower of author: push.tell(f, number)
}
step author[publish(author: Author, text: text)] {
    send each f in Follower of author: push.send_text(f, text)
}
step author[whisper(author: Author)] {
    send each f in Follower of author where online: push.tell(f, 7)
}
step author[ring(author: Author)] {
    send each f in Follower of author where not muted: push.tell(f, 8)
}
effect push[tell(f: Follower, number: int)] {
    call POST "{push.url}/notes" body { name: f.name, number }
    on ok { FollowerState.told += 1  FollowerState.last := number }
    on refused {}
    on unknown {}
}
effect push[send_text(f: Follower, text: text)] {
    call POST "{push.url}/texts" key f body { name: f.name, number: 1 }
    on ok {}
    on refused {}
    on unknown {}
}
"#;

fn follow(runtime: &Runtime, author: &str, name: &str) {
    let call = ask("reader", "follow", name).with("follower", json!([author, name]));
    runtime.call(&call).unwrap();
}

fn followed(count: usize) -> Bench {
    let bench = bench(compile("feed", FEED));
    (0..count).for_each(|n| follow(&bench.runtime, "ann", &format!("f{n:04}")));
    // of somebody else, whose key begins alike
    follow(&bench.runtime, "anna", "g");
    bench
}

fn post(runtime: &Runtime) {
    runtime.call(&ask("author", "post", "ann").with("author", "ann")).unwrap();
}

fn truth(runtime: &Runtime, name: &str) -> Option<Value> {
    let found = store::block_on(runtime.get("Follower", &[json!("ann"), json!(name)])).unwrap();
    found.map(|found| found.truth["FollowerState"].clone())
}

/// Who was told what under which key; it counts what is under way, too.
#[derive(Default)]
struct Told {
    calls: Mutex<Vec<(String, i64, String)>>,
}

impl Outside for Told {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let name = delivery.body["name"].as_str().unwrap().to_string();
        let number = delivery.body["number"].as_i64().unwrap();
        self.calls.lock().unwrap().push((name, number, delivery.key.clone()));
        Delivered::Ok(Value::Null)
    }
}

impl Told {
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.calls.lock().unwrap().iter().map(|(name, ..)| name.clone()).collect();
        names.sort();
        names
    }
}

/// Delivers until nothing is left; what waits for room waits no longer than the clock is moved.
fn finish(bench: &Bench, told: &Told) {
    for _ in 0..100_000 {
        match bench.runtime.deliver_one(told).unwrap() {
            Worked::Tried => {}
            Worked::Idle(None) => return,
            Worked::Idle(Some(_)) => bench.clock.advance(50),
            Worked::SetAside => panic!("set aside"),
        }
    }
    panic!("it does not end");
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("f{n:04}")).collect()
}

#[test]
fn one_entry_is_committed_whatever_the_size_and_each_is_told_once() {
    for count in [0, 1, 127, 128, 129, 300] {
        let bench = followed(count);
        post(&bench.runtime);
        let waiting = bench.runtime.undelivered().unwrap();
        assert_eq!(waiting.len(), 1, "{count}: one entry for all");
        assert_eq!(waiting[0].0, "post_each");
        assert_eq!(waiting[0].1["number"], 1);
        let told = Told::default();
        finish(&bench, &told);
        assert_eq!(told.names(), names(count));
    }
}

#[test]
fn what_is_open_at_a_time_is_bounded() {
    let bench = followed(3_000);
    post(&bench.runtime);
    // nobody answers: pages are read until enough wait, and not beyond
    struct Silent;
    impl Outside for Silent {
        fn deliver(&self, _: &Delivery) -> Delivered {
            let retry_after_ms = Some(3_600_000);
            Delivered::Unknown { trouble: "no answer".into(), retry_after_ms }
        }
    }
    for _ in 0..5_000 {
        bench.clock.advance(5);
        bench.runtime.deliver_one(&Silent).unwrap();
    }
    let waiting = bench.runtime.undelivered().unwrap();
    let open = waiting.iter().filter(|(name, _)| name == "tell").count();
    assert!((1_024..1_024 + 128).contains(&open), "{open}");
    bench.clock.advance(7_200_000);
    let told = Told::default();
    finish(&bench, &told);
    assert_eq!(told.names(), names(3_000));
}

#[test]
fn a_page_of_long_texts_holds_fewer() {
    let bench = followed(200);
    let text = "x".repeat(16 << 10);
    bench.call(ask("author", "publish", "ann").with("author", "ann").with("text", text)).unwrap();
    let told = Told::default();
    bench.runtime.deliver_one(&told).unwrap();
    let open = bench.runtime.undelivered().unwrap().len() - 1;
    assert!((2..=8).contains(&open), "{open} at once");
    finish(&bench, &told);
    assert_eq!(told.names(), names(200));
}

#[test]
fn who_joins_ahead_is_told_and_who_joined_behind_or_left_is_not() {
    let bench = followed(200);
    post(&bench.runtime);
    // the first page: f0000 to f0127
    assert_eq!(bench.runtime.deliver_one(&Told::default()).unwrap(), Worked::Tried);
    follow(&bench.runtime, "ann", "a-behind");
    follow(&bench.runtime, "ann", "z-ahead");
    let leave = ask("reader", "unfollow", "f0150").with("follower", json!(["ann", "f0150"]));
    bench.call(leave).unwrap();
    let told = Told::default();
    finish(&bench, &told);
    let mut wanted = names(200);
    wanted.retain(|name| name != "f0150");
    wanted.push("z-ahead".into());
    assert_eq!(told.names(), wanted);
}

#[test]
fn sent_again_while_it_goes_on_it_goes_around_and_comes_to_everybody() {
    let bench = followed(300);
    let told = Told::default();
    let repeat = || ask("author", "repeat", "ann").with("author", "ann").with("number", 5);
    bench.call(repeat()).unwrap();
    for round in 0..20 {
        // one page each time, and then it is sent again
        let chosen = bench.runtime.deliver_chosen(&told, &|name, _| name == "repeat_each");
        assert_eq!(chosen.unwrap(), Worked::Tried, "{round}");
        bench.call(repeat()).unwrap();
    }
    finish(&bench, &told);
    let counted: BTreeSet<String> = told.names().into_iter().collect();
    assert_eq!(counted.len(), 300, "a round that is sent again comes to everybody");
    // once it is over, it can be sent anew
    bench.call(repeat()).unwrap();
    let anew = Told::default();
    finish(&bench, &anew);
    assert_eq!(anew.names(), names(300));
}

#[test]
fn where_is_asked_when_it_is_their_turn() {
    let bench = followed(20);
    for name in ["f0003", "f0011"] {
        bench.call(ask("reader", "here", name).with("follower", json!(["ann", name]))).unwrap();
    }
    let whisper = ask("author", "whisper", "ann").with("author", "ann");
    bench.call(whisper.clone()).unwrap();
    let told = Told::default();
    finish(&bench, &told);
    assert_eq!(told.names(), ["f0003", "f0011"]);
    // presence has run out
    bench.clock.advance(31_000);
    bench.call(whisper).unwrap();
    let told = Told::default();
    finish(&bench, &told);
    assert_eq!(told.names(), [""; 0]);
    // upon truth: as it is at the turn, not as it was at the post
    bench.call(ask("author", "ring", "ann").with("author", "ann")).unwrap();
    bench.call(ask("reader", "mute", "f0002").with("follower", json!(["ann", "f0002"]))).unwrap();
    let told = Told::default();
    finish(&bench, &told);
    assert_eq!(told.names().len(), 19);
    assert!(!told.names().contains(&"f0002".to_string()));
}

#[test]
fn nobody_but_the_outbox_calls_a_page() {
    let bench = followed(1);
    let call = ask("outbox", "post_each", "eve").with("f", json!(["ann", "f0000"]));
    let call = call.with("author", "ann").with("number", 1);
    assert!(matches!(bench.call(call), Err(CallError::Unknown(_))));
}

#[test]
fn a_server_that_is_started_anew_at_any_point_goes_on_where_it_was() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let clock = Arc::new(runtime::ManualClock::new(support::START));
    let open = || bench_on(compile("feed", FEED), Arc::clone(&store), Arc::clone(&clock));
    let told = Told::default();
    names(300).iter().for_each(|name| follow(&open().runtime, "ann", name));
    post(&open().runtime);
    // another server for every single delivery or page
    for _ in 0..1_000 {
        if let Worked::Idle(at) = open().runtime.deliver_one(&told).unwrap() {
            if at.is_none() {
                break;
            }
            clock.advance(50);
        }
    }
    assert_eq!(told.names(), names(300));
    let keys: BTreeSet<String> =
        told.calls.lock().unwrap().iter().map(|(.., key)| key.clone()).collect();
    assert_eq!(keys.len(), 300);
}

/// The power goes after every number of deliveries and pages: what was committed is there, and no more.
#[test]
fn a_power_cut_at_any_point_loses_nobody_and_tells_nobody_under_another_key() {
    for cut in (0..40).chain([100, 170, 260]) {
        let surroundings: Arc<dyn Surroundings> = Arc::new(SimulatedSurroundings::new(cut));
        let options = || Options {
            commit_bytes_max: 256 << 10,
            surroundings: Arc::clone(&surroundings),
            ..Options::small()
        };
        let settings = Settings { surroundings: Arc::clone(&surroundings), ..Settings::default() };
        let open = |disk: &SimulatedDisk| {
            let store = Embedded::open_on(Arc::new(disk.clone()), "store", options()).unwrap();
            Runtime::open(compile("feed", FEED), Arc::new(store), settings.clone()).unwrap()
        };
        let disk = SimulatedDisk::new();
        let told = Told::default();
        let runtime = open(&disk);
        names(140).iter().for_each(|name| follow(&runtime, "ann", name));
        post(&runtime);
        for _ in 0..cut {
            runtime.deliver_one(&told).unwrap();
        }
        let disk = disk.after_power_cut(&mut Seeded::new(cut));
        drop(runtime);
        let runtime = open(&disk);
        for _ in 0..1_000 {
            match runtime.deliver_one(&told).unwrap() {
                Worked::Idle(None) => break,
                Worked::Idle(Some(_)) => surroundings.rest(Duration::from_millis(50)),
                _ => {}
            }
        }
        let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, _, key) in told.calls.lock().unwrap().iter() {
            keys.entry(name.clone()).or_default().insert(key.clone());
        }
        assert_eq!(keys.len(), 140, "cut {cut}");
        assert!(keys.values().all(|keys| keys.len() == 1), "cut {cut}");
        for name in names(140) {
            let state = truth(&runtime, &name).unwrap();
            assert_eq!(state["told"], 1, "{name}, cut {cut}");
        }
    }
}

/// Writes every delivery down, durable enough to survive the killing of this process.
struct Wire(Mutex<std::fs::File>);

impl Outside for Wire {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let line = format!("{} {}\n", delivery.key, delivery.body["name"].as_str().unwrap_or("?"));
        self.0.lock().unwrap().write_all(line.as_bytes()).unwrap();
        Delivered::Ok(Value::Null)
    }
}

fn open(directory: &Path) -> Arc<Runtime> {
    let store = Embedded::open(directory.join("data"), Options::default()).expect("it opens");
    let design = compile("feed", FEED);
    Arc::new(Runtime::open(design, Arc::new(store), Settings::default()).expect("it opens"))
}

/// Tells everybody, until it is done or killed.
#[test]
fn child() {
    let Ok(directory) = std::env::var("STEADFAST_FANOUT") else { return };
    let directory = Path::new(&directory);
    let runtime = open(directory);
    let log = std::fs::File::options().append(true).create(true).open(directory.join("told"));
    let _workers = Workers::start(&runtime, Arc::new(Wire(Mutex::new(log.unwrap()))), 4).unwrap();
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn start(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sending_each::child", "--nocapture", "--test-threads", "1"])
        .env("STEADFAST_FANOUT", directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the kernel says of a process, in kB.
fn memory_kb(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()).map_or(0, |n| n.parse().unwrap())
}

#[test]
fn followers_are_told_once_under_their_keys_through_three_kills() {
    let count = std::env::var("STEADFAST_FOLLOWERS").ok().map_or(2_000, |n| n.parse().unwrap());
    let directory = std::env::temp_dir().join(format!("steadfast-fanout-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let runtime = open(&directory);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    follow(&runtime, "ann", &format!("f{n:06}"));
                }
            });
        }
    });
    post(&runtime);
    assert_eq!(runtime.undelivered().unwrap().len(), 1, "one entry for all of them");
    drop(runtime);
    let lines = || -> usize {
        let told = std::fs::read(directory.join("told")).unwrap_or_default();
        told.iter().filter(|byte| **byte == b'\n').count()
    };
    let begun = Instant::now();
    let mut memory = Vec::new();
    for kill in 1..=3 {
        let mut child = start(&directory);
        // at its start: what the store holds; then what telling adds
        let (mut first, mut most) = (None, 0);
        while lines() < count * kill / 4 {
            assert!(begun.elapsed() < Duration::from_secs(900), "nobody is told any more");
            std::thread::sleep(Duration::from_millis(5));
            let now = memory_kb(&child);
            if lines() > count * (kill - 1) / 4 {
                first.get_or_insert(now);
            }
            most = most.max(now);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        memory.push((first.unwrap_or(most), most));
    }
    let runtime = open(&directory);
    let log = std::fs::File::options().append(true).open(directory.join("told")).unwrap();
    let wire = Wire(Mutex::new(log));
    loop {
        match runtime.deliver_one(&wire).unwrap() {
            Worked::Idle(None) => break,
            Worked::Idle(Some(_)) => std::thread::sleep(Duration::from_millis(5)),
            _ => {}
        }
    }
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let told = std::fs::read_to_string(directory.join("told")).unwrap();
    let mut calls = 0;
    for line in told.lines() {
        if let [key, name] = line.split_whitespace().collect::<Vec<_>>()[..] {
            keys.entry(name.into()).or_default().insert(key.into());
            calls += 1;
        }
    }
    assert_eq!(keys.len(), count, "everybody is told");
    assert!(keys.values().all(|keys| keys.len() == 1), "each under its key");
    // what was under way when it was killed is tried again, under the same key: one for each worker and kill
    assert!(calls <= count + 3 * 4, "{calls} calls for {count}");
    for n in (0..count).step_by(1 + count / 2_000) {
        let state = truth(&runtime, &format!("f{n:06}")).unwrap();
        assert_eq!(state["told"], 1, "f{n:06}");
    }
    let grown = memory.iter().map(|(first, most)| most.saturating_sub(*first)).max().unwrap();
    println!(
        "3 kills, {count} followers, {calls} calls, {:.1} s, at most {grown} kB more than at the start of a server with {} kB",
        begun.elapsed().as_secs_f64(),
        memory.iter().map(|(first, _)| first).max().unwrap()
    );
    assert!(grown < 65_536, "{grown} kB");
    std::fs::remove_dir_all(&directory).unwrap();
}
