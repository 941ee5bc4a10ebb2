//! Snapshots, backups, restored copies, exported records and the format's fixture.

use crate::place;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use place::Place;
use store::{Commit, Cursor, Error as StoreError, KeyRange, Scan, Seeded, Store, block_on};
use store_embedded::{
    Embedded, Error, Options, Restore, Verified, export, import, restore, verify,
};

type Records = BTreeMap<Vec<u8>, (u64, Vec<u8>)>;

fn contents(store: &Embedded) -> Records {
    let page = block_on(store.scan(Scan::new(KeyRange::all(), 10_000))).unwrap();
    let record =
        |(key, r): (store::Key, store::Record)| (key.to_vec(), (r.version.0, r.value.to_vec()));
    page.records.into_iter().map(record).collect()
}

fn put(store: &Embedded, key: &str, value: &str) -> Cursor {
    committed(store, || Commit::new().put(key, value.to_owned()).feed(key.to_owned()))
}

/// A disk that does not keep up says so, and is asked again.
fn committed(store: &Embedded, commit: impl Fn() -> Commit) -> Cursor {
    loop {
        match block_on(store.commit(commit())) {
            Err(StoreError::Busy) => thread::sleep(Duration::from_millis(1)),
            committed => return committed.unwrap(),
        }
    }
}

fn names(directory: &Path, prefix: &str) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort();
    names
}

#[test]
fn a_snapshot_lets_the_log_go_and_the_floor_of_the_feed_rise() {
    let place = Place::new("snapshot");
    let options =
        || Options { snapshot_after_bytes: u64::MAX, feed_retention_bytes: 0, ..Options::small() };
    let store = Embedded::open(place.path(), options()).unwrap();
    let mut last = Cursor::start(Default::default());
    for n in 0..200 {
        last = put(&store, &format!("key/{}", n % 50), &"x".repeat(1000));
    }
    assert!(names(place.path(), "log-0").len() > 10);
    store.snapshot().unwrap();
    let kept = names(place.path(), "log-0").into_iter().filter(|name| !name.ends_with("tmp"));
    assert!(kept.count() <= 3, "{:?}", names(place.path(), "log-0"));
    assert_eq!(names(place.path(), "snapshot-").len(), 1);
    let start = Cursor::start(Default::default());
    let Err(StoreError::BelowFloor(floor)) = block_on(store.feed(start, 10)) else {
        panic!("the feed still goes back to the start");
    };
    let page = block_on(store.feed(floor, 1000)).unwrap();
    assert_eq!(page.commits.first().unwrap().cursor.position(), floor.position() + 1);
    assert_eq!(page.next, last);
    for n in 0..20 {
        put(&store, &format!("later/{n}"), "y");
    }
    let before = contents(&store);
    drop(store);
    let store = Embedded::open(place.path(), options()).unwrap();
    assert_eq!(contents(&store), before);
    assert_eq!(store.statistics().snapshot_position, 200);
}

#[test]
fn a_trimmed_feed_keeps_what_recovery_needs() {
    let place = Place::new("trim");
    let store = Embedded::open(place.path(), Options::small()).unwrap();
    for n in 0..60 {
        put(&store, &format!("key/{n}"), &"x".repeat(1000));
    }
    let head = block_on(store.head(Default::default())).unwrap();
    let floor = block_on(store.trim(head)).unwrap();
    store.snapshot().unwrap();
    let after = block_on(store.trim(head)).unwrap();
    assert!(after > floor && after <= head, "{floor} {after} {head}");
    let before = contents(&store);
    drop(store);
    assert_eq!(contents(&Embedded::open(place.path(), Options::small()).unwrap()), before);
}

/// Writes go on while a store is backed up: the copy is one moment of it, not before the call.
#[test]
fn a_backup_while_serving_is_one_moment_of_the_store() {
    let place = Place::new("backup");
    let store = Embedded::open(place.path().join("store"), Options::small()).unwrap();
    let stop = AtomicBool::new(false);
    let write = |n: u64| {
        let mut all = Commit::new().feed(n.to_string());
        for key in 0..40 {
            all = all.put(format!("same/{key:02}"), n.to_string());
        }
        block_on(store.commit(all)).unwrap();
    };
    write(1);
    block_on(async {
        let mut writer = store.blobs().begin().await?;
        writer.write("a blob".into()).await?;
        writer.finish(None).await
    })
    .unwrap();
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut n = 2;
            while !stop.load(Ordering::Relaxed) {
                write(n);
                n += 1;
            }
        });
        for copy in 0..5 {
            let before = block_on(store.head(Default::default())).unwrap();
            let to = place.path().join(format!("backup-{copy}"));
            store.backup(&to).unwrap();
            let found = verify(&to).unwrap();
            assert!(found.position >= before.position());
            assert_eq!((found.records, found.blobs), (40, 1));
            let to_restore = place.path().join(format!("restored-{copy}"));
            let restored = restore(&to, &to_restore, Restore::default()).unwrap();
            assert_eq!(Verified { earliest: found.earliest, ..restored }, found);
            let copy = Embedded::open(&to_restore, Options::small()).unwrap();
            let records = contents(&copy);
            let mut values: Vec<_> = records.into_values().collect();
            values.dedup();
            assert_eq!(values, [(found.position, found.position.to_string().into())]);
            put(&copy, "goes", "on");
            assert!(!block_on(copy.feed(before, 1000)).unwrap().commits.is_empty());
        }
        stop.store(true, Ordering::Relaxed);
        writing.join().unwrap();
    });
    // A directory that holds something else is left alone.
    let again = store.backup(place.path());
    assert!(matches!(again, Err(Error::Place { .. })));
}

#[test]
fn a_damaged_backup_is_not_restored() {
    let place = Place::new("damaged");
    let store = Embedded::open(place.path().join("store"), Options::small()).unwrap();
    for n in 0..20 {
        put(&store, &format!("key/{n}"), "value");
    }
    let backup = place.path().join("backup");
    store.backup(&backup).unwrap();
    let name = names(&backup, "snapshot-").remove(0);
    let mut bytes = std::fs::read(backup.join(&name)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(backup.join(&name), bytes).unwrap();
    let error = restore(&backup, place.path().join("to"), Restore::default()).unwrap_err();
    assert!(error.to_string().contains(&name), "{error}");
    assert!(matches!(verify(place.path().join("none")), Err(Error::Io { .. })));
}

#[test]
fn exported_records_are_imported_as_they_were() {
    let place = Place::new("export");
    let store = Embedded::open(place.path().join("store"), Options::small()).unwrap();
    let mut seeded = Seeded::new(5);
    for n in 0..300 {
        let value: Vec<u8> = (0..seeded.below(40)).map(|_| seeded.number() as u8).collect();
        let text = format!("text {n}: \u{fc}ber \"quoted\"");
        let both = Commit::new().put(format!("t/{n}"), text).put([n as u8, 255, 0].to_vec(), value);
        block_on(store.commit(both)).unwrap();
    }
    let before = contents(&store);
    drop(store);
    let mut lines = Vec::new();
    let exported = export(place.path().join("store"), &mut lines, &mut |_, _| None).unwrap();
    assert_eq!(exported.records as usize, before.len());
    let text = String::from_utf8(lines).unwrap();
    assert_eq!(text.lines().count(), before.len() + 1);
    assert!(text.contains(r#"{"key":"t/7","value":"text 7: über \"quoted\""}"#), "{text}");
    let to = place.path().join("imported");
    let count = import(&mut text.as_bytes(), &to, &Options::small()).unwrap();
    assert_eq!(count as usize, before.len());
    let values = |records: Records| -> Vec<_> {
        records.into_iter().map(|(key, (_, value))| (key, value)).collect()
    };
    let after = contents(&Embedded::open(&to, Options::small()).unwrap());
    assert_eq!(values(after), values(before));
    let short: String = text.lines().take(100).collect::<Vec<_>>().join("\n");
    let cut = import(&mut short.as_bytes(), place.path().join("cut"), &Options::small());
    assert!(matches!(cut, Err(Error::Import { line: 100, .. })), "{cut:?}");
}

/// A directory that version 1 of the format wrote must open for as long as it is format 1.
#[test]
fn the_fixture_of_format_one_is_read() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1");
    let expected = Verified { position: 44, records: 33, blobs: 1, earliest: 44 };
    assert_eq!(verify(&fixture).unwrap(), expected);
    let place = Place::new("fixture");
    let copy = place.path().join("copy");
    // It has no list: whether it is whole cannot be known, so one has to say that it is wanted.
    let error = restore(&fixture, &copy, Restore::default()).unwrap_err();
    assert!(error.to_string().contains("not known"), "{error}");
    restore(&fixture, &copy, Restore { unlisted: true, ..Restore::default() }).unwrap();
    let store = Embedded::open(&copy, Options::small()).unwrap();
    let records = contents(&store);
    assert_eq!(records[&b"key/00"[..]], (41, b"again".to_vec()));
    assert_eq!(records[&b"key/39"[..]], (40, b"value 39".to_vec()));
    assert!(!records.contains_key(&b"key/05"[..]));
    let page = block_on(store.feed(Cursor::start(Default::default()), 100)).unwrap();
    assert_eq!(page.commits.len(), 44);
    assert_eq!(page.commits[43].entries, ["gone", "for good"]);
}

/// Whoever writes a snapshot holds no one up: the log goes through many segments meanwhile.
#[test]
fn commits_go_on_while_a_snapshot_is_written() {
    let place = Place::new("meanwhile");
    let options = Options { snapshot_after_bytes: u64::MAX, ..Options::small() };
    let store = Embedded::open(place.path(), options).unwrap();
    for n in 0..1500 {
        committed(&store, || {
            let keys = (0..4).map(|m| format!("key/{n}/{m}"));
            keys.fold(Commit::new(), |all, key| all.put(key, vec![b'x'; 1000]))
        });
    }
    let done = AtomicBool::new(false);
    let segments = || names(place.path(), "log-").last().cloned();
    let before = segments();
    let mut meanwhile = 0;
    // how many commits there is time for is the machine's: snapshots are written until it is enough
    for snapshots in 0.. {
        if meanwhile > 5 {
            break;
        }
        assert!(snapshots < 50, "only {meanwhile} commits");
        done.store(false, Ordering::Relaxed);
        thread::scope(|scope| {
            let writing = scope.spawn(|| {
                store.snapshot().unwrap();
                done.store(true, Ordering::Relaxed);
            });
            while !done.load(Ordering::Relaxed) {
                put(&store, &format!("meanwhile/{meanwhile}"), &"x".repeat(4000));
                meanwhile += 1;
            }
            writing.join().unwrap();
        });
    }
    assert!(segments() > before, "{before:?}");
    let records = contents(&store);
    drop(store);
    assert_eq!(contents(&Embedded::open(place.path(), Options::small()).unwrap()), records);
}
