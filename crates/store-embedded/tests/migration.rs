//! A store that the first format wrote is opened, with everything in it, and goes on in the second.

use crate::place;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use place::Place;
use store::{Commit, Cursor, KeyRange, Scan, Seeded, Store, block_on};
use store_embedded::disk::{Disk, Faults, RealDisk, SimulatedDisk};
use store_embedded::{Embedded, Error, Options, Restore, Target, restore, verify};

fn options() -> Options {
    Options {
        segment_bytes: 4 << 10,
        snapshot_after_bytes: u64::MAX,
        commit_bytes_max: 512,
        pending_bytes_max: 512,
        feed_retention_bytes: 64 << 10,
        ..Options::default()
    }
}

/// Written by the version before the list: 41 commits, a snapshot at 21, and some content.
fn fixture() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store-format-1")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn check(store: &Embedded, later: u64) {
    let records = block_on(store.scan(Scan::new(KeyRange::all(), 100))).unwrap().records;
    assert_eq!(records.len() as u64, 33 + later);
    assert_eq!(&*records[0].0, b"key/00");
    assert_eq!(records[0].1.version.0, 1);
    let page = block_on(store.feed(Cursor::start(Default::default()), 100)).unwrap();
    assert_eq!(page.commits.len() as u64, 41 + later);
    assert_eq!(page.commits[40].entries, ["gone", "for good"]);
    assert_eq!(block_on(store.blobs().list(None, 10)).unwrap().len(), 1);
}

#[test]
fn a_store_of_format_one_is_opened_whole_and_goes_on_in_format_two() {
    let place = Place::new("migration");
    copy(&fixture(), place.path());
    assert_eq!(verify(place.path()).unwrap().position, 41);
    for later in 0..3 {
        let store = Embedded::open(place.path(), options()).unwrap();
        check(&store, later);
        block_on(store.commit(Commit::new().put(format!("later/{later}"), "x").feed("later")))
            .unwrap();
        check(&store, later + 1);
    }
    assert_eq!(verify(place.path()).unwrap().position, 44);
    // From now on the old segments are vouched for, too.
    let path = place.path().join("log-0000000000000001");
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(1024);
    fs::write(&path, bytes).unwrap();
    let error = Embedded::open(place.path(), options()).unwrap_err();
    assert!(error.to_string().contains("log-0000000000000001"), "{error}");
}

#[test]
fn without_its_list_a_store_of_format_two_is_not_taken_for_one_of_format_one() {
    let place = Place::new("unlisted");
    copy(&fixture(), place.path());
    let store = Embedded::open(place.path(), options()).unwrap();
    block_on(store.commit(Commit::new().put("later", "x"))).unwrap();
    drop(store);
    fs::remove_file(place.path().join("manifest")).unwrap();
    let error = Embedded::open(place.path(), options()).unwrap_err();
    assert!(matches!(error, Error::Missing { .. }), "{error}");
    assert!(error.to_string().contains("manifest"), "{error}");
}

/// Power is cut at every moment of the first opening.
#[test]
fn a_migration_that_is_cut_short_is_done_again() {
    for crash_at in 1..60 {
        let disk = SimulatedDisk::new();
        load(&disk, &fixture(), Path::new("store"));
        disk.sync_directory(Path::new("store")).unwrap();
        disk.set_faults(Faults { crash_at: Some(crash_at), ..Faults::default() });
        let opened = Embedded::open_on(Arc::new(disk.clone()), "store", options());
        let mut seeded = Seeded::new(crash_at);
        let after = disk.after_power_cut(&mut seeded);
        drop(opened);
        let store = Embedded::open_on(Arc::new(after), "store", options());
        check(&store.unwrap_or_else(|error| panic!("cut at {crash_at}: {error}")), 0);
    }
}

fn load(disk: &SimulatedDisk, from: &Path, to: &Path) {
    for name in RealDisk.list(from).unwrap() {
        let path = from.join(&name);
        if path.is_dir() {
            load(disk, &path, &to.join(name));
            continue;
        }
        let file = disk.create(&to.join(name)).unwrap();
        file.write_at(0, &fs::read(path).unwrap()).unwrap();
        file.sync().unwrap();
    }
}

/// The log of format 1 in a backup can be cut, too.
#[test]
fn a_migrated_store_is_restored_to_revisions_of_both_formats() {
    let place = Place::new("migrated-backup");
    let (store, backup) = (place.path().join("store"), place.path().join("backup"));
    copy(&fixture(), &store);
    let migrated = Embedded::open(&store, options()).unwrap();
    (0..5).for_each(|n| {
        let commit = Commit::new().put(format!("later/{n}"), "x").feed("later");
        block_on(migrated.commit(commit)).unwrap();
    });
    migrated.backup(&backup).unwrap();
    for revision in [1, 7, 20, 21, 40, 41, 42, 46] {
        let to = place.path().join(revision.to_string());
        let target = Target::Revision(revision);
        let found = restore(&backup, &to, Restore { target, ..Restore::default() }).unwrap();
        assert_eq!(found.position, revision);
        let restored = Embedded::open(&to, options()).unwrap();
        let page = block_on(restored.feed(Cursor::start(Default::default()), 100)).unwrap();
        assert_eq!(page.commits.len() as u64, revision);
        let records = if revision < 41 { revision } else { revision - 8 };
        assert_eq!(restored.statistics().records, records);
        block_on(restored.commit(Commit::new().put("goes", "on"))).unwrap();
    }
}
