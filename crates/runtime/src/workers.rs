//! The tasks that make due things happen.

use std::sync::Arc;

use store::{Next, Task};

use crate::core::{Called, Runtime, WorkerNumber};
use crate::outbox::{Outside, Worked};

/// Stops its tasks when it is dropped.
pub struct Workers {
    runtime: Arc<Runtime>,
    tasks: Vec<Task>,
}

/// What is in trouble is left alone for so long.
const TROUBLE_MS: i64 = 1_000;
/// So many outcomes are forgotten in a row.
const FORGET: usize = 1_000;

impl Workers {
    /// One task for repairs, and so many for deliveries.
    pub fn start(
        runtime: &Arc<Runtime>,
        outside: Arc<dyn Outside>,
        deliverers: usize,
    ) -> std::io::Result<Workers> {
        let mut workers = Workers { runtime: Arc::clone(runtime), tasks: Vec::new() };
        let repairs = Arc::clone(runtime);
        workers.spawn("repairs", move |worker| repair(&repairs, worker))?;
        for at in 0..deliverers {
            let (runtime, outside) = (Arc::clone(runtime), Arc::clone(&outside));
            let step = move |worker| deliver(&runtime, outside.as_ref(), worker);
            workers.spawn(&format!("deliveries-{at}"), step)?;
        }
        Ok(workers)
    }

    fn spawn(
        &mut self,
        name: &str,
        step: impl Fn(WorkerNumber) -> Next + Send + 'static,
    ) -> std::io::Result<()> {
        let alarm = &self.runtime.alarm;
        let worker = alarm.enlist();
        let surroundings = &self.runtime.settings.surroundings;
        let task = surroundings.spawn(name, Box::new(move || step(worker)))?;
        alarm.woken_by(worker, task.waker());
        self.tasks.push(task);
        Ok(())
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
        self.tasks.drain(..).for_each(Task::join);
    }
}

/// Fires the repairs that are due, and forgets outcomes that are kept no longer.
fn repair(runtime: &Runtime, worker: WorkerNumber) -> Next {
    let rings = match runtime.alarm.called(worker, runtime.clock.now_ms()) {
        Called::Look { rings } => rings,
        Called::Rest(next) => return next,
    };
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
    if runtime.forget_outcomes(FORGET).unwrap_or(0) == FORGET {
        return Next::Now;
    }
    runtime.alarm.rest(worker, rings, next, runtime.clock.now_ms())
}

/// Delivers one entry of the outbox.
fn deliver(runtime: &Runtime, outside: &dyn Outside, worker: WorkerNumber) -> Next {
    let rings = match runtime.alarm.called(worker, runtime.clock.now_ms()) {
        Called::Look { rings } => rings,
        Called::Rest(next) => return next,
    };
    let next = match runtime.deliver_one(outside) {
        Ok(Worked::Tried) => return Next::Now,
        Ok(Worked::Idle(next)) => next,
        Err(error) => {
            runtime.counters.in_trouble(Some(format!("deliveries: {error}")));
            Some(runtime.clock.now_ms() + TROUBLE_MS)
        }
    };
    runtime.alarm.rest(worker, rings, next, runtime.clock.now_ms())
}
