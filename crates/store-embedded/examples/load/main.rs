//! What a transition costs on the embedded store, beside a bare log that evaluates nothing.
//!
//!     cargo run --release -p store-embedded --example load -- transitions [seconds]
//!     cargo run --release -p store-embedded --example load -- growth [millions of records …]
//!     cargo run --release -p store-embedded --example load -- snapshot [millions of records …]
//!
//! Clients are tasks that two threads drive: each takes its step, waits until it is durable, and
//! takes the next. Nothing is answered before its sync.

mod bare_log;
mod clients;
mod growth;
mod usage;
mod workload;

use std::time::Duration;

use bare_log::BareLog;
use clients::{Load, drive};
use store_embedded::{Embedded, Options};
use usage::Directory;
use workload::{Keys, fill, step};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<f64> = arguments.iter().skip(1).filter_map(|text| text.parse().ok()).collect();
    match arguments.first().map(String::as_str) {
        Some("transitions") => transitions(numbers.first().copied().unwrap_or(5.0)),
        Some("growth") if numbers.is_empty() => growth::run(&[1.0, 4.0, 16.0]),
        Some("growth") => growth::run(&numbers),
        Some("snapshot") if numbers.is_empty() => growth::snapshots(&[1.0]),
        Some("snapshot") => growth::snapshots(&numbers),
        _ => {
            eprintln!("say what to measure: `transitions`, `growth` or `snapshot`");
            std::process::exit(2);
        }
    }
}

const RECORDS: u64 = 100_000;

fn transitions(seconds: f64) {
    let seconds = Duration::from_secs_f64(seconds);
    println!("{}", Load::header());
    for keys in [Keys::Uniform(RECORDS), Keys::Hot(RECORDS, 10)] {
        for clients in [1, 16, 64, 256] {
            let directory = Directory::new("load");
            let store = Embedded::open(directory.path(), Options::default()).expect("a store");
            fill(&store, RECORDS);
            let load = drive(&store, clients, seconds, &|seeded, client| {
                step(&store, keys, seeded, client)
            });
            println!("{}", load.row(&format!("embedded, {keys}"), clients));
        }
    }
    for clients in [1, 16, 64, 256] {
        let directory = Directory::new("bare");
        let log = BareLog::create(&directory.path().join("log"));
        let load = drive(&log, clients, seconds, &|_, _| log.append(workload::LOG_BYTES));
        println!("{}", load.row("bare log", clients));
    }
}
