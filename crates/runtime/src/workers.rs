//! The threads that make due things happen.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::core::Runtime;
use crate::outbox::{Outside, Worked};

/// Stops its threads when it is dropped.
pub struct Workers {
    runtime: Arc<Runtime>,
    threads: Vec<JoinHandle<()>>,
}

/// What is in trouble is left alone for so long.
const TROUBLE_MS: i64 = 1_000;

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

fn run_repairs(runtime: &Runtime) {
    loop {
        let rings = runtime.alarm.rings();
        if runtime.alarm.is_held() {
            if !runtime.alarm.sleep(rings, None, runtime.clock.as_ref()) {
                return;
            }
            continue;
        }
        let next = match runtime.fire_due() {
            Ok((_, next)) => {
                runtime.counters.in_trouble(None);
                next
            }
            Err(error) => {
                runtime.counters.in_trouble(Some(format!("repairs: {error}")));
                Some(runtime.clock.now_ms() + TROUBLE_MS)
            }
        };
        let forgotten = runtime.forget_outcomes(1_000).unwrap_or(0);
        if forgotten == 1_000 {
            continue;
        }
        if !runtime.alarm.sleep(rings, next, runtime.clock.as_ref()) {
            return;
        }
    }
}

fn run_deliveries(runtime: &Runtime, outside: &dyn Outside) {
    loop {
        let rings = runtime.alarm.rings();
        if runtime.alarm.is_held() {
            if !runtime.alarm.sleep(rings, None, runtime.clock.as_ref()) {
                return;
            }
            continue;
        }
        let next = match runtime.deliver_one(outside) {
            Ok(Worked::Tried) => {
                if runtime.alarm.is_stopped() {
                    return;
                }
                continue;
            }
            Ok(Worked::Idle(next)) => next,
            Err(error) => {
                runtime.counters.in_trouble(Some(format!("deliveries: {error}")));
                Some(runtime.clock.now_ms() + TROUBLE_MS)
            }
        };
        if !runtime.alarm.sleep(rings, next, runtime.clock.as_ref()) {
            return;
        }
    }
}
