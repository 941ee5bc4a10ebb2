//! The bytes of every kind of key and value that a store is given, held against what they were when
//! the format was last changed. Whoever changes them changes the format, and owes a migration.

use crate::support;

use std::fmt::Write as _;
use std::ops::ControlFlow;

use crate::archive::archive;
use runtime::CallError;
use store::{Cursor, Decision, Key, KeyRange, Partition};
use support::Bench;

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

fn put(bench: &Bench, key: &[u8], value: &[u8]) {
    let local = bench.store.local().unwrap();
    let put = local.transact(&mut |transaction| {
        transaction.put(key, value);
        Decision::Commit
    });
    put.unwrap().wait().unwrap();
}

#[test]
fn an_error_names_the_space_the_key_and_what_is_wrong() {
    let bench = archive();
    put(&bench, b"\0\0o\0\x06name", b"\x09");
    let listed = bench.runtime.outbox(10).unwrap();
    let unreadable = listed.iter().find(|one| one.state == "unreadable").unwrap();
    let told = match bench.runtime.retry(unreadable) {
        Err(error @ CallError::Damaged(_)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        told,
        r"the outbox entry under `\x00\x00o\x00\x06name` is damaged: it is written in a form that this program does not know"
    );
    assert_eq!(unreadable.trouble, told);
    let aside = bench.runtime.set_aside(10).unwrap();
    assert!(aside.iter().any(|one| one.reason == told), "{aside:?}");
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
