//! What a run measures.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How much is asked of the system under test.
#[derive(Clone, Debug)]
pub struct Load {
    pub clients: usize,
    /// each transition is of one of so many records
    pub keys: u64,
    pub seconds: f64,
    /// so many transitions, however long they take; none: for so many seconds
    pub count: Option<u64>,
    /// the process whose CPU time counts; none: this one
    pub pid: Option<u32>,
}

impl Default for Load {
    fn default() -> Load {
        Load { clients: 64, keys: 100_000, seconds: 3.0, count: None, pid: None }
    }
}

/// What is written into a record, beside its version.
pub const PAYLOAD: &str = "sixty-four bytes of payload, written again with every transition..";

/// Shared by the clients of one run.
#[derive(Debug, Default)]
pub struct Meter {
    done: AtomicU64,
    /// it stops after so many
    count: Option<u64>,
    measuring: AtomicBool,
    stopped: AtomicBool,
}

/// What one client saw.
#[derive(Debug, Default)]
pub struct Seen {
    latencies_ns: Vec<u32>,
}

impl Meter {
    pub fn new(load: &Load) -> Meter {
        let measuring = AtomicBool::new(load.count.is_some());
        Meter { count: load.count, measuring, ..Meter::default() }
    }

    pub fn goes_on(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn answered(&self, begun: Instant, seen: &mut Seen) {
        if self.measuring.load(Ordering::Relaxed) {
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            if self.count == Some(done) {
                self.stop();
            }
            let took = u32::try_from(begun.elapsed().as_nanos()).unwrap_or(u32::MAX);
            seen.latencies_ns.push(took);
        }
    }

    /// Measures while the clients work: waits until they are warm, then for so long. `bytes` tells how
    /// much was written so far.
    pub fn measure(&self, load: &Load, bytes: &dyn Fn() -> u64) -> Measured {
        let process = load.pid.map_or_else(|| "self".to_string(), |pid| pid.to_string());
        if self.count.is_none() {
            std::thread::sleep(Duration::from_secs_f64(load.seconds.min(1.0) / 4.0));
        }
        let (cpu, written, started) = (cpu_micros(&process), bytes(), Instant::now());
        self.measuring.store(true, Ordering::Relaxed);
        if self.count.is_none() {
            std::thread::sleep(Duration::from_secs_f64(load.seconds));
        }
        while self.count.is_some() && self.goes_on() {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.measuring.store(false, Ordering::Relaxed);
        let measured = Measured {
            done: self.done.load(Ordering::Relaxed),
            seconds: started.elapsed().as_secs_f64(),
            cpu_us: cpu_micros(&process) - cpu,
            bytes: bytes() - written,
        };
        self.stop();
        measured
    }
}

pub struct Measured {
    pub done: u64,
    pub seconds: f64,
    pub cpu_us: u64,
    pub bytes: u64,
}

#[derive(Debug, PartialEq)]
pub struct Figures {
    pub per_second: f64,
    /// of the whole process
    pub cpu_us_each: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub bytes_each: f64,
}

impl Figures {
    pub fn of(measured: &Measured, seen: Vec<Seen>) -> Result<Figures, String> {
        let mut latencies: Vec<u32> = seen.into_iter().flat_map(|seen| seen.latencies_ns).collect();
        latencies.sort_unstable();
        let Some(last) = latencies.len().checked_sub(1) else {
            return Err("nothing was answered in time".into());
        };
        let at = |share: f64| f64::from(latencies[(share * last as f64) as usize]) / 1e3;
        let done = measured.done as f64;
        Ok(Figures {
            per_second: done / measured.seconds,
            cpu_us_each: measured.cpu_us as f64 / done,
            p50_us: at(0.5),
            p99_us: at(0.99),
            bytes_each: measured.bytes as f64 / done,
        })
    }

    pub fn to_json(&self) -> String {
        format!(
            "{{\"per_second\":{:.1},\"cpu_us_each\":{:.3},\"p50_us\":{:.1},\"p99_us\":{:.1},\"bytes_each\":{:.1}}}",
            self.per_second, self.cpu_us_each, self.p50_us, self.p99_us, self.bytes_each
        )
    }
}

/// User and system time of a process. The kernel tells it in hundredths of a second.
pub fn cpu_micros(process: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let times = after_name.split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10_000
}
