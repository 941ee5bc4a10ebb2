//! Clients that wait for their answers, driven by two threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use store::{LocalStore, Progress, Seeded};

use crate::usage::{cpu_us, written_bytes};

const THREADS: usize = 2;

/// What makes positions durable.
pub trait Durable: Sync {
    fn progress(&self) -> &Arc<Progress>;
}

impl<S: LocalStore> Durable for S {
    fn progress(&self) -> &Arc<Progress> {
        LocalStore::progress(self)
    }
}

/// What was measured.
pub struct Load {
    transitions: u64,
    seconds: f64,
    cpu_us: u64,
    written_bytes: u64,
    latencies_us: Vec<u32>,
}

impl Load {
    pub fn header() -> String {
        format!(
            "{:24} {:>7} {:>13} {:>9} {:>9} {:>9} {:>12}",
            "", "clients", "transitions/s", "CPU µs", "p50 µs", "p99 µs", "bytes each"
        )
    }

    pub fn row(&self, name: &str, clients: usize) -> String {
        let each = |total: u64| total as f64 / self.transitions as f64;
        format!(
            "{name:24} {clients:7} {:13.0} {:9.2} {:9} {:9} {:12.0}",
            self.transitions as f64 / self.seconds,
            each(self.cpu_us),
            self.percentile_us(50),
            self.percentile_us(99),
            each(self.written_bytes),
        )
    }

    pub fn percentile_us(&self, percent: usize) -> u32 {
        let last = self.latencies_us.len().saturating_sub(1);
        self.latencies_us.get(last * percent / 100).copied().unwrap_or(0)
    }
}

/// Clients whose answer has come.
#[derive(Default)]
struct Ready {
    list: Mutex<Vec<usize>>,
    news: Condvar,
}

/// Lets clients take steps for a while. A step answers with the position that it waits for.
pub fn drive(
    durable: &dyn Durable,
    clients: usize,
    time: Duration,
    step: &(dyn Fn(&mut Seeded, usize) -> u64 + Sync),
) -> Load {
    let ready = Arc::new(Ready::default());
    ready.list.lock().expect("a list").extend(0..clients);
    let stop = AtomicBool::new(false);
    let (cpu, written, begun) = (cpu_us(), written_bytes(), Instant::now());
    let (mut latencies_us, driven_us) = thread::scope(|scope| {
        let drivers: Vec<_> = (0..THREADS.min(clients))
            .map(|number| {
                let (ready, stop) = (Arc::clone(&ready), &stop);
                scope.spawn(move || run(durable, &ready, stop, number as u64, step))
            })
            .collect();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        ready.news.notify_all();
        let mut all = (Vec::new(), 0);
        for driver in drivers {
            let (latencies, cpu) = driver.join().expect("a driver panicked");
            all.0.extend(latencies);
            all.1 += cpu;
        }
        all
    });
    let seconds = begun.elapsed().as_secs_f64();
    let cpu_us = cpu_us() - cpu + driven_us;
    latencies_us.sort_unstable();
    let transitions = latencies_us.len() as u64;
    let written_bytes = written_bytes() - written;
    Load { transitions, seconds, cpu_us, written_bytes, latencies_us }
}

/// Answers with the latencies and the processor time of this thread, which ends with it.
fn run(
    durable: &dyn Durable,
    ready: &Arc<Ready>,
    stop: &AtomicBool,
    number: u64,
    step: &(dyn Fn(&mut Seeded, usize) -> u64 + Sync),
) -> (Vec<u32>, u64) {
    let mut seeded = Seeded::new(number);
    let latencies = Arc::new(Mutex::new(Vec::new()));
    while !stop.load(Ordering::Relaxed) {
        let mut list = ready.list.lock().expect("a list");
        while list.is_empty() && !stop.load(Ordering::Relaxed) {
            list = ready.news.wait(list).expect("a list");
        }
        let share = list.len().div_ceil(THREADS);
        let from = list.len() - share;
        let taken = list.split_off(from);
        drop(list);
        for client in taken {
            let begun = Instant::now();
            let position = step(&mut seeded, client);
            let (ready, latencies) = (Arc::clone(ready), Arc::clone(&latencies));
            let answered = move |outcome: store::Result<()>| {
                outcome.expect("a disk that works");
                let us = begun.elapsed().as_micros() as u32;
                latencies.lock().expect("a list").push(us);
                let mut list = ready.list.lock().expect("a list");
                list.push(client);
                if list.len() == 1 {
                    ready.news.notify_one();
                }
            };
            durable.progress().on_durable(position, Box::new(answered));
        }
    }
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let own_ns = own.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0);
    let latencies = std::mem::take(&mut *latencies.lock().expect("a list"));
    (latencies, own_ns / 1000)
}
