//! What more records cost: memory, restart, and answers while a snapshot is written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use store::{Store, block_on};
use store_embedded::{Embedded, Options};

use crate::clients::{Load, drive};
use crate::usage::{Directory, cpu_us, resident_bytes};
use crate::workload::{Keys, fill, step};

const MILLION: f64 = 1_000_000.0;
const CLIENTS: usize = 64;

pub fn run(millions: &[f64]) {
    println!(
        "{:>12} {:>12} {:>20} {:>20} {:>20}",
        "records", "memory each", "from log s (CPU)", "snapshot s (CPU)", "from it s (CPU)"
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
        println!("{records:12} {each:12.0} {from_log:>20} {snapshot:>20} {from_snapshot:>20}");
    }
}

/// The goal: while a snapshot is written, p99 is at most this many times as long.
const TIMES_MAX: f64 = 3.0;
const ROUNDS: usize = 3;

/// Answers while snapshots are written, one after the other, against answers without.
pub fn snapshots(millions: &[f64]) {
    println!("{}", Load::header());
    for millions in millions {
        snapshot(*millions);
    }
}

fn snapshot(millions: f64) {
    let records = (millions * MILLION) as u64;
    let directory = Directory::new("snapshot");
    let options = Options { snapshot_after_bytes: u64::MAX, ..Options::default() };
    let store = Embedded::open(directory.path(), options).expect("a store");
    fill(&store, records);
    store.snapshot().expect("a snapshot");
    let time = Duration::from_secs(5);
    let load = || {
        drive(&store, CLIENTS, time, &|seeded, client| {
            step(&store, Keys::Uniform(records), seeded, client)
        })
    };
    // By turns, so that what else the machine does falls on both alike.
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| turn(&store, records, &load)).collect();
    times.sort_by(f64::total_cmp);
    let middle = times[ROUNDS / 2];
    let met = if middle <= TIMES_MAX { "met" } else { "not met" };
    println!(
        "{records} records: p99 is {middle:.2} times as long while a snapshot is written ({:.2} to \
         {:.2}); the goal is at most {TIMES_MAX}: {met}",
        times[0],
        times[ROUNDS - 1]
    );
}

/// How many times as long p99 is while snapshots are written.
fn turn(store: &Embedded, records: u64, load: &dyn Fn() -> Load) -> f64 {
    let without = load();
    println!("{}", without.row(&format!("{records} records"), CLIENTS));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                store.snapshot().expect("a snapshot");
            }
        });
        let during = load();
        stop.store(true, Ordering::Relaxed);
        println!("{}", during.row("  and a snapshot", CLIENTS));
        writing.join().expect("the snapshots panicked");
        f64::from(during.percentile_us(99)) / f64::from(without.percentile_us(99).max(1))
    })
}

/// How long it took, and how much of that on a processor: others may use the machine, too.
fn timed<T>(run: impl FnOnce() -> T) -> (T, String) {
    let (begun, cpu) = (Instant::now(), cpu_us());
    let done = run();
    let seconds = begun.elapsed().as_secs_f64();
    let cpu = cpu_us().saturating_sub(cpu) as f64 / MILLION;
    (done, format!("{seconds:.2} ({cpu:.2})"))
}
