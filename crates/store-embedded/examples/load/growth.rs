//! What more records cost: memory, restart, and answers while a snapshot is written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use store::{Store, block_on};
use store_embedded::{Embedded, Options};

use crate::clients::{Load, drive};
use crate::usage::{Directory, resident_bytes};
use crate::workload::{Keys, fill, step};

const MILLION: f64 = 1_000_000.0;
const CLIENTS: usize = 64;

pub fn run(millions: &[f64]) {
    println!(
        "{:>12} {:>14} {:>14} {:>14} {:>16}",
        "records", "memory each", "from log s", "snapshot s", "from snapshot s"
    );
    for millions in millions {
        let records = (millions * MILLION) as u64;
        let directory = Directory::new("growth");
        // No snapshot by itself, so that both ways to restart can be measured.
        let options = || Options { snapshot_after_bytes: u64::MAX, ..Options::default() };
        let open = || Embedded::open(directory.path(), options()).expect("a store");
        let before = resident_bytes();
        let store = open();
        fill(&store, records);
        let each = (resident_bytes().saturating_sub(before)) as f64 / records as f64;
        block_on(store.close()).expect("a disk that works");
        drop(store);
        let (store, from_log) = timed(open);
        let ((), snapshot) = timed(|| store.snapshot().expect("a snapshot"));
        block_on(store.close()).expect("a disk that works");
        drop(store);
        let (store, from_snapshot) = timed(open);
        assert_eq!(store.statistics().records, records);
        println!("{records:12} {each:14.0} {from_log:14.2} {snapshot:14.2} {from_snapshot:16.2}");
    }
}

/// Answers while snapshots are written, one after the other, against answers without.
pub fn snapshot(millions: f64) {
    let records = (millions * MILLION) as u64;
    let directory = Directory::new("snapshot");
    let options = Options { snapshot_after_bytes: u64::MAX, ..Options::default() };
    let store = Embedded::open(directory.path(), options).expect("a store");
    fill(&store, records);
    store.snapshot().expect("a snapshot");
    let time = Duration::from_secs(10);
    let load = || {
        drive(&store, CLIENTS, time, &|seeded, client| {
            step(&store, Keys::Uniform(records), seeded, client)
        })
    };
    println!("{}", Load::header());
    let without = load();
    println!("{}", without.row("without a snapshot", CLIENTS));
    let stop = AtomicBool::new(false);
    let during = thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) {
                store.snapshot().expect("a snapshot");
                count += 1;
            }
            count
        });
        let during = load();
        stop.store(true, Ordering::Relaxed);
        println!("{}", during.row("while one is written", CLIENTS));
        println!("{} snapshots", writing.join().expect("the snapshots panicked"));
        during
    });
    let times = f64::from(during.percentile_us(99)) / f64::from(without.percentile_us(99).max(1));
    println!("p99 is {times:.2} times as long");
}

fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let begun = Instant::now();
    let done = run();
    (done, begun.elapsed().as_secs_f64())
}
