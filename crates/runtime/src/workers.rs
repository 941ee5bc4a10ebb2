//! The threads that make due things happen.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::aside::caught;
use crate::calls::CallError;
use crate::core::{Runtime, Worker};
use crate::outbox::{Outside, Worked};

/// Stops its threads when it is dropped.
pub struct Workers {
    runtime: Arc<Runtime>,
    threads: Vec<JoinHandle<()>>,
}

/// What is in trouble is left alone for so long.
const TROUBLE_MS: i64 = 1_000;
/// So many outcomes are forgotten at a time.
const OUTCOMES: usize = 1_000;

impl Workers {
    /// One thread for repairs, and so many for deliveries.
    pub fn start(
        runtime: &Arc<Runtime>,
        outside: Arc<dyn Outside>,
        deliverers: usize,
    ) -> std::io::Result<Workers> {
        let mut workers = Workers { runtime: Arc::clone(runtime), threads: Vec::new() };
        let spawn = |name: String, run: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name).spawn(run)
        };
        let repairs = Arc::clone(runtime);
        workers.threads.push(spawn("repairs".into(), Box::new(move || run_repairs(&repairs)))?);
        for at in 0..deliverers {
            let (runtime, outside) = (Arc::clone(runtime), Arc::clone(&outside));
            let run = Box::new(move || run_deliveries(&runtime, outside.as_ref()));
            workers.threads.push(spawn(format!("deliveries-{at}"), run)?);
        }
        Ok(workers)
    }
}

impl Runtime {
    /// For whoever moves the clock by hand: the workers look again at what is due. With `held` they
    /// leave it as it is, until this is called without.
    pub fn clock_moved(&self, held: bool) {
        self.alarm.hold(held);
    }

    /// Notes and logs what keeps a worker from going on, when that changes. A runtime that was replaced is
    /// about to lose its workers: that is no trouble.
    fn say_trouble(&self, worker: Worker, error: Option<&CallError>) {
        let error = error.filter(|error| **error != CallError::Replaced);
        let told = error.map(|error| format!("{}: {error}", worker.name()));
        let is_new = self.counters.in_trouble(worker, told);
        let (design, worker) = (&self.schema.design.name, worker.name());
        match error {
            _ if !is_new => {}
            Some(error) => tracing::warn!(%design, worker, %error, "work does not go on"),
            None => tracing::info!(%design, worker, "work goes on again"),
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.runtime.alarm.stop();
        for thread in self.threads.drain(..) {
            // a thread that panicked has said so already
            let _ = thread.join();
        }
    }
}

/// Works until it is told to stop. Whoever panics outside of any entry is gone, and that is told: nobody
/// knows what it left half done.
fn work(runtime: &Runtime, worker: Worker, run: impl FnOnce()) {
    if let Err(trouble) = caught(run) {
        let (design, worker) = (&runtime.schema.design.name, worker.name());
        tracing::error!(%design, worker, %trouble, "a worker is gone; start the server anew");
        runtime.counters.ended(format!("{worker}: {trouble}"));
    }
}

fn run_repairs(runtime: &Runtime) {
    work(runtime, Worker::Repairs, || repair(runtime));
}

fn run_deliveries(runtime: &Runtime, outside: &dyn Outside) {
    work(runtime, Worker::Deliveries, || deliver(runtime, outside));
}

fn repair(runtime: &Runtime) {
    loop {
        let rings = runtime.alarm.rings();
        if runtime.alarm.is_held() {
            if !runtime.alarm.sleep(rings, None, runtime.clock.as_ref()) {
                return;
            }
            continue;
        }
        let fired = runtime.fire_due();
        let forgotten = runtime.forget_outcomes(OUTCOMES);
        let trouble = fired.as_ref().err().or(forgotten.as_ref().err());
        runtime.say_trouble(Worker::Repairs, trouble);
        if trouble.is_none() && forgotten == Ok(OUTCOMES) {
            continue;
        }
        let next = match (trouble, &fired) {
            (None, Ok((_, next))) => *next,
            _ => Some(runtime.clock.now_ms() + TROUBLE_MS),
        };
        if !runtime.alarm.sleep(rings, next, runtime.clock.as_ref()) {
            return;
        }
    }
}

fn deliver(runtime: &Runtime, outside: &dyn Outside) {
    loop {
        let rings = runtime.alarm.rings();
        if runtime.alarm.is_held() {
            if !runtime.alarm.sleep(rings, None, runtime.clock.as_ref()) {
                return;
            }
            continue;
        }
        let next = match runtime.deliver_one(outside) {
            Ok(Worked::Tried | Worked::SetAside) => {
                runtime.say_trouble(Worker::Deliveries, None);
                if runtime.alarm.is_stopped() {
                    return;
                }
                continue;
            }
            Ok(Worked::Idle(next)) => {
                runtime.say_trouble(Worker::Deliveries, None);
                next
            }
            Err(error) => {
                runtime.say_trouble(Worker::Deliveries, Some(&error));
                Some(runtime.clock.now_ms() + TROUBLE_MS)
            }
        };
        if !runtime.alarm.sleep(rings, next, runtime.clock.as_ref()) {
            return;
        }
    }
}
