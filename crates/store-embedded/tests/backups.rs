//! Backups that are whole or refused, that are added to, and that are restored to any revision.
//!
//! `STEADFAST_REVISIONS` sets how many revisions are restored; the default is small.

use crate::place;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use place::Place;
use store::{Cursor, KeyRange, Scan, Seeded, Store, block_on};
use store_embedded::disk::{Faults, SimulatedDisk};
use store_embedded::{Embedded, Error, Options, Restore, Target, restore, verify, verify_on};

type Records = BTreeMap<String, String>;

fn options() -> Options {
    Options {
        segment_bytes: 8 << 10,
        snapshot_after_bytes: u64::MAX,
        commit_bytes_max: 1 << 10,
        pending_bytes_max: 2 << 10,
        feed_retention_bytes: u64::MAX,
        ..Options::default()
    }
}

/// A commit whose feed entry tells what it changes.
fn change(store: &Embedded, seeded: &mut Seeded, number: u64) -> store::Ticket {
    use store::{Decision, LocalStore};
    let key = format!("key/{:02}", seeded.below(40));
    let value = format!("{number} {}", "x".repeat(seeded.below(80) as usize));
    let gone = seeded.percent(20);
    let ticket = store.transact(&mut |transaction| {
        match gone {
            true => transaction.delete(key.as_bytes()),
            false => transaction.put(key.as_bytes(), value.as_bytes()),
        }
        let fed = if gone { format!("-{key}") } else { format!("+{key}={value}") };
        transaction.feed(fed.as_bytes());
        Decision::Commit
    });
    ticket.unwrap()
}

fn load(store: &Embedded, seeded: &mut Seeded, numbers: std::ops::Range<u64>) {
    // Many at once, so that batches hold several.
    let tickets: Vec<_> = numbers.map(|number| change(store, seeded, number)).collect();
    tickets.into_iter().for_each(|ticket| ticket.wait().unwrap());
}

fn put_content(store: &Embedded, text: &str) {
    let written = block_on(async {
        let mut writer = store.blobs().begin().await?;
        writer.write(text.to_owned().into()).await?;
        writer.finish(None).await
    });
    written.unwrap();
}

fn records(store: &Embedded) -> Records {
    let page = block_on(store.scan(Scan::new(KeyRange::all(), 10_000))).unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    page.records.into_iter().map(|(key, r)| (text(&key), text(&r.value))).collect()
}

/// What the feed tells of every revision.
fn told(store: &Embedded) -> Vec<Records> {
    let head = block_on(store.head(Default::default())).unwrap();
    let mut from = Cursor::start(Default::default());
    let mut states = vec![Records::new()];
    while from < head {
        let page = block_on(store.feed(from, 100)).unwrap();
        for commit in page.commits {
            let mut state = states.last().cloned().unwrap();
            for entry in &commit.entries {
                let entry = std::str::from_utf8(entry).unwrap();
                match entry.strip_prefix('+') {
                    Some(put) => {
                        let (key, value) = put.split_once('=').unwrap();
                        state.insert(key.into(), value.into());
                    }
                    None => drop(state.remove(&entry[1..])),
                }
            }
            assert_eq!(commit.cursor.position(), states.len() as u64);
            states.push(state);
        }
        from = page.next;
    }
    states
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(self::files(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files.sort();
    files
}

fn to_revision(revision: u64) -> Restore {
    Restore { target: Target::Revision(revision), ..Restore::default() }
}

#[test]
fn a_backup_is_restored_to_any_revision_as_the_feed_tells_it() {
    let revisions = std::env::var("STEADFAST_REVISIONS").map_or(10, |n| n.parse().unwrap());
    let place = Place::new("point-in-time");
    let store = Embedded::open(place.path().join("store"), options()).unwrap();
    let backup = place.path().join("backup");
    let mut seeded = Seeded::new(11);
    for round in 0..6 {
        load(&store, &mut seeded, round * 80..(round + 1) * 80);
        put_content(&store, &format!("content {round}"));
        store.backup(&backup).unwrap();
    }
    let states = told(&store);
    assert_eq!(records(&store), states[480]);
    let found = verify(&backup).unwrap();
    assert_eq!((found.position, found.blobs), (480, 6));
    for n in 0..revisions {
        let revision = found.earliest + seeded.below(480 - found.earliest + 1);
        let to = place.path().join(format!("restored-{n}"));
        let restored = restore(&backup, &to, to_revision(revision)).unwrap();
        assert_eq!((restored.position, restored.blobs), (revision, 6));
        let copy = Embedded::open(&to, options()).unwrap();
        assert_eq!(records(&copy), states[revision as usize], "revision {revision}");
        assert_eq!(told(&copy), states[..=revision as usize], "the feed to {revision}");
        // It goes on from there, and is opened again.
        load(&copy, &mut seeded, 1000..1010);
        let after = records(&copy);
        drop(copy);
        assert_eq!(records(&Embedded::open(&to, options()).unwrap()), after);
        fs::remove_dir_all(&to).unwrap();
    }
    for revision in [481, u64::MAX] {
        let error = restore(&backup, place.path().join("none"), to_revision(revision)).unwrap_err();
        assert!(matches!(error, Error::Target { .. }), "{error}");
        assert!(error.to_string().contains("to 480"), "{error}");
    }
}

#[test]
fn a_backup_is_restored_to_a_time() {
    let place = Place::new("to-a-time");
    let store = Embedded::open(place.path().join("store"), options()).unwrap();
    let mut seeded = Seeded::new(12);
    let now = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        now.as_millis() as u64
    };
    let before = now() - 1;
    store.backup(place.path().join("backup")).unwrap();
    load(&store, &mut seeded, 0..100);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let between = now();
    std::thread::sleep(std::time::Duration::from_millis(20));
    load(&store, &mut seeded, 100..150);
    store.backup(place.path().join("backup")).unwrap();
    let at = |time, to: &str| {
        let options = Restore { target: Target::Time(time), ..Restore::default() };
        restore(place.path().join("backup"), place.path().join(to), options)
    };
    assert_eq!(at(between, "between").unwrap().position, 100);
    assert_eq!(at(now(), "now").unwrap().position, 150);
    assert!(matches!(at(before, "before"), Err(Error::Target { .. })));
}

/// What is copied the second time is what is new.
#[test]
fn adding_to_a_backup_copies_what_is_new() {
    let place = Place::new("adding");
    let store = Embedded::open(place.path().join("store"), options()).unwrap();
    let backup = place.path().join("backup");
    let mut seeded = Seeded::new(13);
    load(&store, &mut seeded, 0..300);
    put_content(&store, &"large ".repeat(1000));
    store.backup(&backup).unwrap();
    let all = || -> Vec<_> {
        let written = |path: &PathBuf| fs::metadata(path).unwrap().modified().unwrap();
        files(&backup).into_iter().map(|path| (written(&path), path)).collect()
    };
    let before = all();
    std::thread::sleep(std::time::Duration::from_millis(20));
    load(&store, &mut seeded, 300..310);
    store.backup(&backup).unwrap();
    let same = all().into_iter().filter(|file| before.contains(file));
    // All but the list and, unless the log went on in another, the segment that was being written.
    assert!(same.count() >= before.len() - 2);
    assert_eq!(verify(&backup).unwrap().position, 310);
    // Another store does not add to it, and neither does what was restored from it.
    let other = Embedded::open(place.path().join("other"), options()).unwrap();
    assert!(matches!(other.backup(&backup), Err(Error::Place { .. })));
    restore(&backup, place.path().join("restored"), Restore::default()).unwrap();
    let restored = Embedded::open(place.path().join("restored"), options()).unwrap();
    assert!(matches!(restored.backup(&backup), Err(Error::Place { .. })));
}

/// A log that was let go between two copies: both ends can be restored, the gap cannot.
#[test]
fn what_was_never_copied_is_not_restored() {
    let place = Place::new("gap");
    let options = || Options { feed_retention_bytes: 0, ..options() };
    let store = Embedded::open(place.path().join("store"), options()).unwrap();
    let backup = place.path().join("backup");
    let mut seeded = Seeded::new(14);
    load(&store, &mut seeded, 0..100);
    store.backup(&backup).unwrap();
    load(&store, &mut seeded, 100..400);
    store.snapshot().unwrap();
    load(&store, &mut seeded, 400..410);
    store.backup(&backup).unwrap();
    let at = |revision: u64| {
        restore(&backup, place.path().join(revision.to_string()), to_revision(revision))
    };
    assert_eq!(at(410).unwrap().position, 410);
    assert_eq!(at(100).unwrap().position, 100);
    let error = at(200).unwrap_err();
    assert!(matches!(error, Error::Target { .. }), "{error}");
}

#[test]
fn a_backup_that_is_not_whole_is_refused_by_the_name_of_the_file() {
    let place = Place::new("not-whole");
    let store = Embedded::open(place.path().join("store"), options()).unwrap();
    let backup = place.path().join("backup");
    let mut seeded = Seeded::new(15);
    load(&store, &mut seeded, 0..200);
    (0..5).for_each(|n| put_content(&store, &format!("content {n}")));
    store.backup(&backup).unwrap();
    let all = files(&backup);
    assert!(all.len() > 8, "{all:?}");
    for path in all {
        let whole = fs::read(&path).unwrap();
        let damages: [fn(&mut Vec<u8>); 4] = [
            |bytes| bytes.truncate(bytes.len() - 1),
            |bytes| bytes.push(0),
            |bytes| {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            },
            |bytes| bytes.fill(0),
        ];
        let check = |what: &str| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let verified = verify(&backup).expect_err(what).to_string();
            assert!(verified.contains(&name), "{what} of {name}: {verified}");
            let to = place.path().join("to");
            let error = restore(&backup, &to, Restore::default()).expect_err(what).to_string();
            assert!(error.contains(&name), "{what} of {name}: {error}");
            assert!(!to.exists(), "{what} of {name}: something was restored");
        };
        for (n, damage) in damages.into_iter().enumerate() {
            let mut bytes = whole.clone();
            damage(&mut bytes);
            fs::write(&path, bytes).unwrap();
            check(&format!("damage {n}"));
        }
        fs::remove_file(&path).unwrap();
        check("the removal");
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(verify(&backup).unwrap().position, 200);
}

/// Power is cut at any moment of a copy, the first or a later one: what is there afterwards is a
/// backup that is whole, or none.
#[test]
fn a_backup_that_was_cut_short_is_none_or_the_older_one() {
    let (mut none, mut older, mut newer) = (0, 0, 0);
    for seed in 0..60 {
        let mut seeded = Seeded::new(seed);
        let disk = SimulatedDisk::new();
        let store = Embedded::open_on(Arc::new(disk.clone()), "store", options()).unwrap();
        load(&store, &mut seeded, 0..40);
        put_content(&store, "content");
        let again = seed % 2 == 0;
        if again {
            store.backup("backup").unwrap();
            load(&store, &mut seeded, 40..80);
            put_content(&store, "other content");
        }
        disk.set_faults(Faults { crash_at: Some(1 + seeded.below(40)), ..Faults::default() });
        let done = store.backup("backup").is_ok();
        let after = disk.after_power_cut(&mut seeded);
        let found = verify_on(&after, Path::new("backup"));
        match (found, again) {
            (Ok(found), true) if found.position == 40 => older += 1,
            (Ok(found), again) => {
                assert_eq!(found.position, if again { 80 } else { 40 }, "seed {seed}");
                assert_eq!(found.blobs, 1 + u64::from(again), "seed {seed}");
                newer += 1;
            }
            (Err(error), again) => {
                assert!(!again && !done, "seed {seed}: {error}");
                none += 1;
            }
        }
    }
    assert!(none > 5 && older > 5, "{none} none, {older} older, {newer} newer");
}
