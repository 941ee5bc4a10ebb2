//! Events that call something: stored with what emits them, delivered in the order of their key, done with when refused.

use crate::support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use runtime::{CallError, Request, Runtime, Settings, Worked, Workers};
use serde_json::{Value, json};
use store_embedded::{Embedded, Options};
use support::{Bench, Nothing, ask, bench, bench_on, compile, deliver, deliver_all};

const DESIGN: &str = r#"
design Parcels
actor carrier
subject Van(van: text) { truth VanState { stops: int = 0 } }
subject Parcel(parcel: text) {
    truth ParcelState { moves: int = 0 }
    truth Board { shown: int = 0, taken: int = 0, wrong: int = 0 }
}
step carrier[move_on(parcel: Parcel)] {
    ParcelState.moves += 1
    emit Moved { parcel: parcel, moves: ParcelState.moves }
}
step carrier[report(van: Van, parcel: Parcel, moves: int)] {
    VanState.stops += 1
    emit Moved { parcel: parcel, moves: moves }
}
on Moved(parcel: Parcel, moves: int) { wanted: moves > 0 } {
    if moves != Board.shown + 1 { Board.wrong += 1 }
    Board.shown := moves
    Board.taken += 1
}
"#;

fn report(van: &str, parcel: &str, moves: i64) -> Request {
    ask("carrier", "report", "ann").with("van", van).with("parcel", parcel).with("moves", moves)
}

fn board(bench: &Bench, parcel: &str) -> Value {
    bench.truth("Parcel", parcel)["Board"].clone()
}

#[test]
fn an_event_is_handled_after_the_commit_that_emits_it() {
    let bench = bench(compile("parcels", DESIGN));
    bench.call(ask("carrier", "move_on", "ann").with("parcel", "p")).unwrap();
    assert_eq!(board(&bench, "p")["taken"], 0);
    assert_eq!(bench.runtime.undelivered().unwrap().len(), 1);
    deliver(&bench);
    assert_eq!(board(&bench, "p"), json!({ "shown": 1, "taken": 1, "wrong": 0 }));
    assert_eq!(bench.runtime.undelivered().unwrap(), []);
    let (told, _) = store::block_on(bench.runtime.feed(None, 10)).unwrap();
    let by: Vec<(&str, &str)> =
        told.iter().map(|(_, told)| (told.actor.as_str(), told.operation.as_str())).collect();
    assert_eq!(by, [("carrier", "move_on"), ("event", "on_moved")]);
}

/// A clock that is set back, and times that differ from record to record, change nothing.
#[test]
fn events_of_one_key_come_in_the_order_of_their_commits_whatever_the_clock_says() {
    let bench = bench(compile("parcels", DESIGN));
    for moves in 1..=9 {
        bench.clock.advance(-1_000 * moves);
        bench.call(report(&format!("v{moves}"), "p", moves)).unwrap();
        bench.call(report(&format!("w{moves}"), "q", moves)).unwrap();
    }
    bench.clock.advance(2_000_000);
    deliver(&bench);
    for parcel in ["p", "q"] {
        assert_eq!(
            board(&bench, parcel),
            json!({ "shown": 9, "taken": 9, "wrong": 0 }),
            "{parcel}"
        );
    }
}

/// Keys that begin alike are different keys, and none waits for another.
#[test]
fn a_key_does_not_wait_for_others() {
    let bench = bench(compile("parcels", DESIGN));
    for parcel in ["p", "pp", "ppp", ""] {
        for moves in 1..=3 {
            bench.call(report("v", parcel, moves).keyed(&format!("{parcel}-{moves}"))).ok();
        }
    }
    deliver(&bench);
    for parcel in ["p", "pp", "ppp"] {
        assert_eq!(
            board(&bench, parcel),
            json!({ "shown": 3, "taken": 3, "wrong": 0 }),
            "{parcel}"
        );
    }
}

#[test]
fn an_event_that_is_refused_is_done_with_and_does_not_stop_the_next_one() {
    let bench = bench(compile("parcels", DESIGN));
    for moves in [0, 1, -5, 2] {
        bench.call(report("v", "p", moves)).unwrap();
    }
    deliver(&bench);
    assert_eq!(board(&bench, "p"), json!({ "shown": 2, "taken": 2, "wrong": 0 }));
    let counted = bench.runtime.counters().all();
    let (_, done, refused) = counted.iter().find(|(name, _, _)| name == "on_moved").unwrap();
    assert_eq!((*done, refused.get("wanted")), (2, Some(&2)));
    assert_eq!(bench.runtime.undelivered().unwrap(), []);
}

#[test]
fn an_event_that_comes_again_comes_before_the_next_one() {
    let bench = bench(compile("parcels", DESIGN));
    for moves in [1, 2] {
        bench.call(report("v", "p", moves)).unwrap();
    }
    let first = |_: &str, args: &serde_json::Map<String, Value>| args["moves"] == 1;
    for taken in 1..=3 {
        assert_eq!(bench.runtime.deliver_and_keep(&Nothing, &first).unwrap(), Worked::Tried);
        assert_eq!(board(&bench, "p")["taken"], taken);
        assert_eq!(board(&bench, "p")["shown"], 1);
    }
    // whoever asks for the second is given the first
    let second = |_: &str, args: &serde_json::Map<String, Value>| args["moves"] == 2;
    assert_eq!(bench.runtime.deliver_chosen(&Nothing, &second).unwrap(), Worked::Tried);
    assert_eq!(board(&bench, "p")["shown"], 1);
    deliver(&bench);
    assert_eq!(board(&bench, "p")["shown"], 2);
}

#[test]
fn what_an_event_calls_nobody_else_does() {
    let bench = bench(compile("parcels", DESIGN));
    for actor in ["event", "carrier"] {
        let call = ask(actor, "on_moved", "mallory").with("parcel", "p").with("moves", 7);
        assert!(matches!(bench.call(call), Err(CallError::Unknown(_))), "{actor}");
    }
    let other = compile(
        "bills",
        "design Bills actor clerk subject Bill(bill: text) { truth BillState { paid: bool = false } }
         on Tickets.Sold(bill: new Bill) {}
         step clerk[settle(bill: Bill)] { BillState.paid := true }",
    );
    let bench = bench_on(other, bench.store, bench.clock);
    let call = ask("event", "on_tickets_sold", "mallory").with("bill", "b");
    assert!(matches!(bench.call(call), Err(CallError::Unknown(_))));
}

/// What waits is judged by the version that is there when it arrives.
#[test]
fn a_new_version_judges_the_events_that_wait() {
    let before = bench(compile("parcels", DESIGN));
    for moves in 1..=4 {
        before.call(report("v", "p", moves)).unwrap();
    }
    before.runtime.deliver_one(&Nothing).unwrap();
    let stricter = DESIGN
        .replace("wanted: moves > 0", "wanted: moves > 2")
        .replace("Board.taken += 1", "Board.taken += 1\n Note.word := \"new\"");
    let stricter =
        stricter.replace("truth Board", "truth Note { word: text = \"\" }\n truth Board");
    let after = before.runtime.replace(compile("parcels", &stricter), &[]).unwrap();
    deliver_all(&after);
    let held = store::block_on(after.get("Parcel", &[json!("p")])).unwrap().unwrap().truth;
    // the first was taken by the old version, the second is refused, and the order is kept
    assert_eq!(held["Board"], json!({ "shown": 4, "taken": 3, "wrong": 1 }));
    assert_eq!(held["Note"]["word"], "new");
}

/// With a handler that is gone, what waits for it stands in the way.
#[test]
fn a_version_without_the_handler_is_told_what_waits_for_it() {
    let before = bench(compile("parcels", DESIGN));
    before.call(report("v", "p", 1)).unwrap();
    let (without, _) = DESIGN.split_once("on Moved").unwrap();
    let refused = before.runtime.replace(compile("parcels", without), &[]).map(|_| ());
    let told = format!("{:?}", refused.unwrap_err());
    assert!(told.contains("on_moved"), "{told}");
    deliver(&before);
    assert!(before.runtime.replace(compile("parcels", without), &[]).is_ok());
}

fn open(directory: &Path) -> Arc<Runtime> {
    let store = Embedded::open(directory.join("data"), Options::default()).expect("it opens");
    let design = compile("parcels", DESIGN);
    Arc::new(Runtime::open(design, Arc::new(store), Settings::default()).expect("it opens"))
}

const PARCELS: u64 = 5;

/// Emits events until it is killed.
#[test]
fn child() {
    let Ok(directory) = std::env::var("STEADFAST_EVENTS") else { return };
    let runtime = open(Path::new(&directory));
    let out = Mutex::new(std::io::stdout());
    let _workers = Workers::start(&runtime, Arc::new(Nothing), 2).unwrap();
    std::thread::scope(|scope| {
        for parcel in 0..PARCELS {
            let (runtime, out) = (&runtime, &out);
            scope.spawn(move || {
                loop {
                    let name = format!("p{parcel}");
                    let call = Request::new("carrier", "move_on", "ann").with("parcel", name);
                    runtime.call(&call).expect("it is taken");
                    writeln!(out.lock().unwrap(), "\nmoved {parcel}").unwrap();
                }
            });
        }
    });
}

/// Kill -9 between the commit that emits and the one that handles, again and again.
#[test]
fn nothing_that_was_emitted_is_lost_doubled_or_overtaken_by_a_kill() {
    let kills: u64 = std::env::var("STEADFAST_KILLS").ok().map_or(6, |n| n.parse().unwrap());
    let directory = std::env::temp_dir().join(format!("steadfast-events-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let mut acknowledged = vec![0_i64; PARCELS as usize];
    let mut waited = 0;
    for round in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "events::child", "--nocapture", "--test-threads", "1"])
            .env("STEADFAST_EVENTS", &directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut heard = 0;
        // what is still in the pipe was acknowledged, too
        while let Some(Ok(line)) = lines.next() {
            if let Some(parcel) = line.strip_prefix("moved ") {
                acknowledged[parcel.parse::<usize>().unwrap()] += 1;
                heard += 1;
            }
            if heard == 40 + 13 * round {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(heard >= 40 + 13 * round, "the child answers nothing");
        let runtime = open(&directory);
        waited += runtime.undelivered().unwrap().len();
    }
    let runtime = open(&directory);
    deliver_all(&runtime);
    for (parcel, acknowledged) in acknowledged.iter().enumerate() {
        let key = [Value::String(format!("p{parcel}"))];
        let held = store::block_on(runtime.get("Parcel", &key)).unwrap().unwrap().truth;
        let moves = held["ParcelState"]["moves"].as_i64().unwrap();
        assert!(moves >= *acknowledged, "p{parcel}: {moves} of {acknowledged}");
        let all = json!({ "shown": moves, "taken": moves, "wrong": 0 });
        assert_eq!(held["Board"], all, "p{parcel}");
    }
    let history = store::block_on(runtime.history()).unwrap();
    let walked = runtime::replay(compile("parcels", DESIGN), history.iter().map(Vec::as_slice));
    assert!(walked.unwrap() >= 2 * acknowledged.iter().sum::<i64>() as usize);
    println!("{kills} kills, {acknowledged:?} acknowledged, {waited} events waited at a kill");
    std::fs::remove_dir_all(&directory).unwrap();
}
