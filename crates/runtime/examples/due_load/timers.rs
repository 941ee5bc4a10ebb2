//! A pile of timers on the embedded store, and a burst of them in one second.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use runtime::{ManualClock, Request, Runtime, Settings};
use serde_json::Value;
use store::{Ticket, block_on};
use store_embedded::{Embedded, Options};

const DESIGN: &str = r#"
design Timers
actor client
actor sweeper
subject Timer(timer: text) { truth TimerState { due: time?, fired: int = 0 } }
step client[set(timer: Timer, after: duration)] { TimerState.due := now + after }
step client[cancel(timer: Timer) { pending: TimerState.due != null }] { TimerState.due := null }
repair sweeper[fire(timer: Timer) { over: TimerState.due < now }] {
    TimerState.due := null
    TimerState.fired += 1
}
"#;

const START: i64 = 1_700_000_000_000;
const DAY_MS: i64 = 86_400_000;
/// Nothing of the pile is due before.
const QUIET_MS: i64 = 60_000;
/// Two threads fire at once: none of them may fire what the other has fired.
const FIRING: usize = 2;

/// What one item of each phase cost.
#[derive(Debug, Default)]
pub struct Figures {
    pub pending: usize,
    pub burst: usize,
    pub set: Cost,
    pub burst_fire: Cost,
    pub cancel: Cost,
    pub fire: Cost,
}

#[derive(Debug, Default, Clone, Copy)]
pub struct Cost {
    pub cpu_us_each: f64,
    pub seconds: f64,
}

impl Figures {
    pub fn to_json(&self) -> String {
        let cost = |name: &str, cost: Cost| {
            format!(
                "\"{name}_cpu_us_each\":{:.3},\"{name}_seconds\":{:.3}",
                cost.cpu_us_each, cost.seconds
            )
        };
        format!(
            "{{\"pending\":{},\"burst\":{},{},{},{},{}}}",
            self.pending,
            self.burst,
            cost("set", self.set),
            cost("burst_fire", self.burst_fire),
            cost("cancel", self.cancel),
            cost("fire", self.fire),
        )
    }
}

struct Timers {
    runtime: Runtime,
    clock: Arc<ManualClock>,
}

pub fn run(directory: &Path, pending: usize, burst: usize) -> Result<Figures, String> {
    let compiled = design::compile("timers", DESIGN, &design::NoCatalog);
    let design = compiled.design.ok_or_else(|| format!("{:?}", compiled.diagnostics))?;
    let store = Embedded::open(directory, Options::default()).map_err(told)?;
    let clock = Arc::new(ManualClock::new(START));
    let runtime =
        Runtime::open_with_clock(design, Arc::new(store), Settings::default(), clock.clone())
            .map_err(told)?;
    let timers = Timers { runtime, clock };
    let mut figures = Figures { pending, burst, ..Figures::default() };

    // a pile that is due over a day
    figures.set = timed(pending, || {
        timers.each(pending, &|n| {
            let after = QUIET_MS + n as i64 * (DAY_MS - QUIET_MS) / pending as i64;
            request("set", "pile", n).with("after", format!("{after}ms"))
        })
    })?;

    // many in one second, on top of the pile
    timers.each(burst, &|n| {
        let after = 1_000 + n as i64 * 1_000 / burst as i64;
        request("set", "burst", n).with("after", format!("{after}ms"))
    })?;
    timers.clock.advance(2_001);
    figures.burst_fire = timed(burst, || timers.drain(burst))?;
    timers.all_fired("burst", 0..burst, 1)?;
    timers.all_fired("pile", 0..pending, 0)?;

    // every other one of the pile is cancelled, and the day goes by
    let cancelled = pending / 2;
    figures.cancel =
        timed(cancelled, || timers.each(cancelled, &|n| request("cancel", "pile", n)))?;
    timers.clock.advance(DAY_MS);
    figures.fire = timed(pending - cancelled, || timers.drain(pending - cancelled))?;
    timers.all_fired("pile", 0..cancelled, 0)?;
    timers.all_fired("pile", cancelled..pending, 1)?;
    timers.all_fired("burst", 0..burst, 1)?;
    Ok(figures)
}

fn request(operation: &str, pile: &str, number: usize) -> Request {
    Request::new("client", operation, "load").with("timer", name(pile, number))
}

fn name(pile: &str, number: usize) -> String {
    format!("{pile}-{number:07}")
}

impl Timers {
    /// One call after the other, and waits until all are durable.
    fn each(&self, count: usize, request: &dyn Fn(usize) -> Request) -> Result<(), String> {
        let mut last: Option<Ticket> = None;
        for number in 0..count {
            let (ticket, answer) = self.runtime.begin(&request(number)).map_err(told)?;
            answer.map_err(told)?;
            last = Some(ticket);
        }
        last.map_or(Ok(()), |ticket| ticket.wait().map_err(told))
    }

    /// Fires until nothing is due; exactly so many must have been.
    fn drain(&self, expected: usize) -> Result<(), String> {
        let fired = AtomicUsize::new(0);
        let fire = || -> Result<(), String> {
            loop {
                let (done, next) = self.runtime.fire_due().map_err(told)?;
                fired.fetch_add(done, Ordering::Relaxed);
                let now = runtime::Clock::now_ms(&*self.clock);
                if done == 0 && next.is_none_or(|next| next > now) {
                    return Ok(());
                }
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..FIRING).map(|_| scope.spawn(fire)).collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().map_err(|_| "it panicked".to_string())?)
        })?;
        let fired = fired.into_inner();
        if fired == expected {
            return Ok(());
        }
        Err(format!("{fired} repairs were fired, of {expected} that were due"))
    }

    /// Each of these timers has been fired exactly so often.
    fn all_fired(
        &self,
        pile: &str,
        numbers: std::ops::Range<usize>,
        times: i64,
    ) -> Result<(), String> {
        for number in numbers {
            let key = [Value::String(name(pile, number))];
            let truth = block_on(self.runtime.get("Timer", &key)).map_err(told)?;
            let fired = truth.and_then(|truth| truth.truth["TimerState"]["fired"].as_i64());
            if fired != Some(times) {
                let name = name(pile, number);
                return Err(format!("`{name}` was fired {fired:?} times, and not {times}"));
            }
        }
        Ok(())
    }
}

fn timed(count: usize, run: impl FnOnce() -> Result<(), String>) -> Result<Cost, String> {
    let (cpu, started) = (cpu_micros(), Instant::now());
    run()?;
    let cpu = cpu_micros().saturating_sub(cpu);
    Ok(Cost {
        cpu_us_each: cpu as f64 / count.max(1) as f64,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// User and system time of this process. The kernel tells it in hundredths of a second.
fn cpu_micros() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let times = after_name.split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10_000
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}
