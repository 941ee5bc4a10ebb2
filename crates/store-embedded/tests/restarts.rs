//! A store that is opened often, and lives shortly each time, is opened quickly all the same, and holds what it held.

use crate::place;

use std::path::Path;
use std::time::{Duration, Instant};

use place::Place;
use store::{Commit, Decision, Key, LocalStore, Store, block_on};
use store_embedded::{Embedded, Options};

fn options(snapshot_after_bytes: u64) -> Options {
    Options { snapshot_after_bytes, ..Options::small() }
}

/// Writes about so many bytes of log.
fn live(directory: &Path, snapshot_after_bytes: u64, bytes: u64) {
    let store = Embedded::open(directory, options(snapshot_after_bytes)).unwrap();
    for n in 0..bytes / 1000 {
        let key = format!("key {}", n % 7);
        block_on(store.commit(Commit::new().put(&*key, vec![b'x'; 1000]))).unwrap();
    }
    block_on(store.close()).unwrap();
}

#[test]
fn the_log_of_earlier_lives_counts() {
    let place = Place::new("restarts");
    // Never enough in one life.
    (0..6).for_each(|_| live(place.path(), 40_000, 15_000));
    let store = Embedded::open(place.path(), options(40_000)).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.statistics().snapshot_position == 0 {
        assert!(Instant::now() < deadline, "no snapshot was written");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_long_overdue_is_done_before_the_store_serves() {
    let place = Place::new("overdue");
    live(place.path(), u64::MAX, 90_000);
    let store = Embedded::open(place.path(), options(20_000)).unwrap();
    assert_eq!(store.statistics().snapshot_position, 90);
    assert_eq!(store.statistics().records, 7);
}

/// The last write of a key counts, also when the log is read again.
#[test]
fn a_commit_that_writes_a_key_more_than_once_is_found_as_it_was_left() {
    let place = Place::new("more-than-once");
    let keys = ["put twice", "put and deleted", "deleted and put", "deleted, and put twice"];
    let held = |store: &Embedded| {
        let keys: Vec<Key> = keys.iter().map(|key| Key::from(key.as_bytes())).collect();
        let found = block_on(store.read(&keys, None)).unwrap().records;
        found.into_iter().map(|it| it.map(|it| it.value.to_vec())).collect::<Vec<_>>()
    };
    let store = Embedded::open(place.path(), Options::small()).unwrap();
    for key in &keys[1..] {
        block_on(store.commit(Commit::new().put(*key, "before"))).unwrap();
    }
    let ticket = store.transact(&mut |transaction| {
        let [twice, gone, back, all] = keys.map(str::as_bytes);
        transaction.put(twice, b"first");
        transaction.put(twice, b"last");
        transaction.put(gone, b"first");
        transaction.delete(gone);
        transaction.delete(back);
        transaction.put(back, b"last");
        transaction.delete(all);
        transaction.put(all, b"first");
        transaction.put(all, b"last");
        Decision::Commit
    });
    ticket.unwrap().wait().unwrap();
    let last = Some(b"last".to_vec());
    let left = vec![last.clone(), None, last.clone(), last];
    assert_eq!(held(&store), left);
    drop(store);
    let store = Embedded::open(place.path(), Options::small()).unwrap();
    assert_eq!(held(&store), left, "as it is read from the log");
}
