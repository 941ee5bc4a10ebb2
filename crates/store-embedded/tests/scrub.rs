//! Damage is found while the store serves; a full disk is told and passes.

use crate::place;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use place::Place;
use store::{Commit, Store, block_on};
use store_embedded::disk::{Faults, SimulatedDisk};
use store_embedded::{Embedded, Options};

fn options() -> Options {
    Options { segment_bytes: 8 << 10, feed_retention_bytes: u64::MAX, ..Options::small() }
}

fn fill(store: &Embedded) {
    for n in 0..60 {
        let commit = Commit::new().put(format!("key/{n}"), "x".repeat(400)).feed("fed");
        block_on(store.commit(commit)).unwrap();
        if n == 30 {
            store.snapshot().unwrap();
        }
    }
    let written = block_on(async {
        let mut writer = store.blobs().begin().await?;
        writer.write("content".repeat(300).into()).await?;
        writer.finish(None).await
    });
    written.unwrap();
}

fn find(directory: &Path, prefix: &str) -> PathBuf {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(prefix);
    entries.filter(named).min().unwrap()
}

#[test]
fn damage_to_any_file_is_found_while_the_store_serves() {
    let place = Place::new("scrub");
    let store = Embedded::open(place.path(), options()).unwrap();
    fill(&store);
    let whole = store.scrub();
    assert_eq!((whole.damaged_files, &whole.damaged[..]), (0, &[][..]));
    assert!(whole.files >= 5 && whole.bytes > 20_000, "{whole:?}");
    assert_eq!(store.health().scrubbed, Some(whole));
    let folder = find(&place.path().join("blobs"), "");
    let files = [
        find(place.path(), "manifest"),
        find(place.path(), "seal"),
        find(place.path(), "snapshot-"),
        find(place.path(), "log-"),
        find(&folder, ""),
    ];
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        // Both places of the seal, and a record elsewhere.
        let places = if name == "seal" { vec![30, 4126] } else { vec![bytes.len().min(8000) / 2] };
        places.into_iter().for_each(|at| changed[at] ^= 1);
        fs::write(&path, changed).unwrap();
        let found = store.scrub();
        assert_eq!(found.damaged_files, 1, "{name}: {found:?}");
        assert!(found.damaged[0].contains(&name), "{name}: {found:?}");
        fs::write(&path, &bytes).unwrap();
        if name.starts_with("log-") || name.starts_with("snapshot-") {
            let aside = path.with_extension("aside");
            fs::rename(&path, &aside).unwrap();
            let found = store.scrub();
            assert!(found.damaged[0].contains(&format!("{name}` is missing")), "{found:?}");
            fs::rename(&aside, &path).unwrap();
        }
    }
    assert_eq!(store.scrub().damaged_files, 0);
}

#[test]
fn it_is_done_by_itself() {
    let place = Place::new("scrub-by-itself");
    let options = Options { scrub_every: Duration::from_millis(20), ..options() };
    let store = Embedded::open(place.path(), options).unwrap();
    fill(&store);
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.health().scrubbed.is_none_or(|scrubbed| scrubbed.files < 5) {
        assert!(Instant::now() < deadline, "it never came to an end");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(store.health().scrubbed.unwrap().damaged, [""; 0]);
}

#[test]
fn a_full_disk_is_told_refuses_writes_serves_reads_and_passes_by_itself() {
    let disk = SimulatedDisk::new();
    let options = Options { snapshot_after_bytes: u64::MAX, ..options() };
    let store = Embedded::open_on(Arc::new(disk.clone()), "store", options).unwrap();
    block_on(store.commit(Commit::new().put("key", "value"))).unwrap();
    disk.set_faults(Faults { capacity_bytes: Some(1), ..Faults::default() });
    let put = |n: u64| block_on(store.commit(Commit::new().put(format!("k/{n}"), "x".repeat(900))));
    let refused = (0..200).map(put).find_map(Result::err).expect("a full disk refuses");
    assert!(matches!(refused, store::Error::Full(_)), "{refused}");
    let told = store.health();
    assert!(told.full.is_some() && told.failed.is_none(), "{told:?}");
    assert!(block_on(store.read(&["key".into()], None)).unwrap().records[0].is_some());
    disk.set_faults(Faults::default());
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.health().full.is_some() {
        assert!(Instant::now() < deadline, "it does not recover");
        std::thread::sleep(Duration::from_millis(5));
    }
    put(0).unwrap();
}

#[test]
fn a_failed_sync_is_told() {
    let disk = SimulatedDisk::new();
    let store = Embedded::open_on(Arc::new(disk.clone()), "store", options()).unwrap();
    let put = |n: u64| block_on(store.commit(Commit::new().put(format!("k/{n}"), "x")));
    // The sync that fails may be one of a file that is only being made ready: nothing hangs on it, and the
    // store goes on by itself.
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        disk.set_faults(Faults { failed_sync_at: Some(1), ..Faults::default() });
        let refused = (0..200).map(put).find_map(Result::err).expect("a failed sync is told");
        if matches!(refused, store::Error::Poisoned(_)) {
            break;
        }
        assert!(matches!(refused, store::Error::Full(_)), "{refused}");
        disk.set_faults(Faults::default());
        while store.health().full.is_some() {
            assert!(Instant::now() < deadline, "it does not recover");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let failed = store.health().failed;
    assert!(failed.is_some_and(|why| why.contains("the sync failed")));
}
