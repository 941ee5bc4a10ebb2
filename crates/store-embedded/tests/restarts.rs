//! A store that is opened often, and lives shortly each time, is opened quickly all the same.

use crate::place;

use std::path::Path;
use std::time::{Duration, Instant};

use place::Place;
use store::{Commit, Store, block_on};
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
