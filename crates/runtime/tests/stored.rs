//! The bytes of every kind of key and value that a store is given, held against what they were when
//! the format was last changed. Whoever changes them changes the format, and owes a migration.

mod support;

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde_json::json;
use store::{Cursor, Decision, Key, KeyRange, Partition};
use support::{Bench, ask, bench, compile};
use telemetry::Trace;

const DESIGN: &str = include_str!("stored/Archive.design");
const GOLDEN: &str = include_str!("stored/bytes.txt");

#[test]
fn the_stored_bytes_are_what_they_were() {
    let bench = archive();
    let found = dump(&bench);
    if let Some(path) = std::env::var_os("STORED_BYTES") {
        std::fs::write(path, &found).unwrap();
    }
    for (at, (found, golden)) in found.lines().zip(GOLDEN.lines()).enumerate() {
        assert_eq!(found, golden, "line {}", at + 1);
    }
    assert_eq!(found.lines().count(), GOLDEN.lines().count());
}

/// Something of every kind: records with all types of values, log entries, due repairs, effects and
/// messages that wait, an outcome that is kept, content, a follower.
fn archive() -> Bench {
    let bench = bench(compile("archive", DESIGN));
    let runtime = &bench.runtime;
    let picture = store::block_on(runtime.put_blob(b"a picture")).unwrap();
    let book = json!([7, "upper", "ATLAS", "ann"]);
    let trace = Trace::of_parent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    assert!(trace.is_some());
    let mut write = ask("author", "write", "ann")
        .with("shelf", json!([7, "upper"]))
        .with("book", book.clone())
        .with("title", "a\0b")
        .with("cover", picture);
    write.trace = trace.clone();
    bench.call(write).unwrap();
    let on_book = |actor: &str, operation: &str, who: &str| {
        ask(actor, operation, who).with("book", book.clone())
    };
    bench.call(on_book("author", "remark", "ann").with("remark", "good")).unwrap();
    bench.call(on_book("author", "remark", "ann").with("remark", "better")).unwrap();
    bench.call(on_book("approver", "approve", "bob").keyed("k1")).unwrap();
    let mut print = on_book("author", "print", "ann");
    print.trace = trace.clone();
    bench.call(print).unwrap();
    bench.call(ask("editor", "tell", "eve").with("box", "h")).unwrap();
    let mut make =
        ask("author", "make", "ann").with("copy", json!([7, "upper", "ATLAS", "ann", 1]));
    make.trace = trace;
    bench.call(make).unwrap();
    runtime.follower("webhook").unwrap();
    runtime.keep_verdict("proved").unwrap();
    bench
}

/// A line for each key with its value, and a line for each entry of the feed.
fn dump(bench: &Bench) -> String {
    let mut out = String::new();
    let all = KeyRange { start: Key::new(Vec::new()), end: None };
    let local = bench.store.local().unwrap();
    local
        .transact(&mut |transaction| {
            transaction.scan(&all, false, &mut |key, _, value| {
                // the design and its description are long texts, and are compared elsewhere
                let value = if key.ends_with(b"mdesign") { &b""[..] } else { value };
                let space = char::from(key[2]);
                writeln!(out, "{space} {} {}", hex(key), hex(value)).unwrap();
                ControlFlow::Continue(())
            });
            Decision::Abandon
        })
        .unwrap();
    let feed = bench.store.feed(Cursor::start(Partition::default()), 1_000);
    for commit in store::block_on(feed).unwrap().commits {
        for entry in &commit.entries {
            writeln!(out, "feed {}", hex(entry)).unwrap();
        }
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".into();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
