//! The embedded store passes what every store must pass.

use crate::place;

use std::sync::Arc;

use place::Place;
use store::conformance;
use store::linearizability::{self, Recording, Registers};
use store_embedded::disk::SimulatedDisk;
use store_embedded::{Embedded, Options};

#[test]
fn conformance() {
    let place = Place::new("conformance");
    let mut count = 0;
    conformance::run(&mut || {
        count += 1;
        let directory = place.path().join(count.to_string());
        Box::new(Embedded::open(directory, Options::small()).unwrap())
    });
}

#[test]
fn a_store_that_is_opened_again() {
    let place = Place::new("reopen");
    conformance::run_reopen(&mut || {
        Box::new(Embedded::open(place.path(), Options::small()).unwrap())
    });
}

#[test]
fn a_store_with_the_default_options() {
    let place = Place::new("defaults");
    conformance::run_reopen(&mut || {
        Box::new(Embedded::open(place.path(), Options::default()).unwrap())
    });
}

fn check_history(store: &Embedded, recording: Recording) {
    let history = linearizability::record(store, recording).unwrap();
    assert!(history.len() >= 10_000, "{recording:?}: {} operations", history.len());
    let judged = linearizability::check(&Registers, &history);
    assert!(judged.is_ok(), "{recording:?}: {judged:?}");
}

#[test]
fn histories_of_ten_thousand_operations_are_linearizable() {
    for seed in 0..8 {
        let disk = Arc::new(SimulatedDisk::new());
        let store = Embedded::open_on(disk, "store", Options::small()).unwrap();
        check_history(&store, Recording { seed, clients: 2 + seed % 5, operations: 10_080 });
    }
}

#[test]
fn a_history_on_a_real_disk_is_linearizable() {
    let place = Place::new("history");
    let store = Embedded::open(place.path(), Options::small()).unwrap();
    check_history(&store, Recording { seed: 99, clients: 8, operations: 10_080 });
}
