//! Concurrent histories of calls, checked for linearizability: steps on one record and on two,
//! and reads of one and of two. Stores that are wrong on purpose are found out.

use crate::linear;
use crate::support;

use std::sync::Arc;

use linear::{Fault, Linear, Wrong, record};
use runtime::{Runtime, Settings};
use store::linearizability::check;
use store::{Distant, Faults, Memory, Store};
use store_embedded::{Embedded, Options};

fn runtime(store: Arc<dyn Store>) -> Runtime {
    let design = support::compile("linear", linear::DESIGN);
    Runtime::open(design, store, Settings::default()).unwrap()
}

#[test]
fn histories_in_memory_are_linearizable() {
    let mut operations = 0;
    for seed in 0..24 {
        let history = record(&runtime(Arc::new(Memory::new())), seed, 4, 500);
        operations += history.len();
        let judged = check(&Linear, &history);
        assert!(judged.is_ok(), "seed {seed}: {judged:?}");
    }
    println!("seeds 0 to 23: {operations} operations");
    assert!(operations >= 10_000, "{operations} operations");
}

#[test]
fn histories_on_the_embedded_store_are_linearizable() {
    let (mut seed, mut overlapped) = (100, 0);
    while seed < 106 || overlapped < 1_000 {
        assert!(seed < 200, "only {overlapped} operations overlapped");
        let name = format!("steadfast-linearizable-{}-{seed}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let store = Embedded::open(&directory, Options::default()).unwrap();
        let history = record(&runtime(Arc::new(store)), seed, 8, 800);
        let overlaps = linear::overlaps(&history);
        let judged = check(&Linear, &history);
        assert!(judged.is_ok(), "seed {seed}: {judged:?}");
        println!("seed {seed}: {} operations, {overlaps} of them overlapped", history.len());
        overlapped += overlaps;
        seed += 1;
        std::fs::remove_dir_all(&directory).unwrap();
    }
}

/// Read, decided and committed at different moments, while others do the same.
#[test]
fn histories_on_a_distant_store_are_linearizable() {
    let (mut operations, mut conflicts) = (0, 0);
    for seed in 200..212 {
        let faults = Faults { delay_us_max: 200, conflicts_percent: 10, lost_percent: 0 };
        let design = support::compile("linear", linear::DESIGN);
        let patient = store::Retry { attempts_max: 1000, ..store::Retry::default() };
        let settings = Settings { conflicts: patient, ..Settings::default() };
        let runtime = Runtime::open(design, Arc::new(Distant::new(seed, faults)), settings);
        let runtime = runtime.unwrap();
        let history = record(&runtime, seed, 6, 900);
        operations += history.len();
        let judged = check(&Linear, &history);
        assert!(judged.is_ok(), "seed {seed}: {judged:?}");
        conflicts += runtime.counters().conflicts();
    }
    assert!(operations >= 10_000, "{operations} operations");
    // how many meet each other in one history depends on how the threads run
    assert!(conflicts > 300, "{conflicts} conflicts");
}

#[test]
fn a_stale_read_a_stale_guard_and_a_lost_update_are_found() {
    for fault in [Fault::StaleRead, Fault::StaleGuard, Fault::LostUpdate] {
        // whether anyone meets the fault in one history depends on how the threads run
        let found = (0..100).filter(|seed| {
            let history = record(&runtime(Arc::new(Wrong::new(fault))), *seed, 4, 500);
            check(&Linear, &history).is_err()
        });
        assert_eq!(found.take(4).count(), 4, "{fault:?} was not found four times in 100 histories");
    }
}

/// The recorder itself is not what makes histories wrong.
#[test]
fn the_same_store_without_a_fault_is_accepted() {
    let history = record(&runtime(Arc::new(Wrong::new(Fault::None))), 0, 4, 500);
    assert!(check(&Linear, &history).is_ok());
}
