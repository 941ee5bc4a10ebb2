//! The tasks that make due things happen.

use std::sync::Arc;
use std::time::Duration;

use store::{Next, Task};

use crate::aside::caught;
use crate::calls::CallError;
use crate::core::{Called, Runtime, Worker, WorkerNumber};
use crate::outbox::{Outside, Worked};

/// Stops its tasks when it is dropped.
pub struct Workers {
    runtime: Arc<Runtime>,
    tasks: Vec<Task>,
}

/// What is in trouble is left alone for so long.
const TROUBLE_MS: i64 = 1_000;
/// So many outcomes are forgotten at a time.
const OUTCOMES: usize = 1_000;

impl Workers {
    /// One task for repairs, and so many for deliveries.
    pub fn start(
        runtime: &Arc<Runtime>,
        outside: Arc<dyn Outside>,
        deliverers: usize,
    ) -> std::io::Result<Workers> {
        let mut workers = Workers { runtime: Arc::clone(runtime), tasks: Vec::new() };
        let repairs = Arc::clone(runtime);
        workers.spawn("repairs", move |worker| {
            work(&repairs, Worker::Repairs, || repair(&repairs, worker))
        })?;
        for at in 0..deliverers {
            let (runtime, outside) = (Arc::clone(runtime), Arc::clone(&outside));
            let step = move |worker| {
                let unit = || deliver(&runtime, outside.as_ref(), worker);
                work(&runtime, Worker::Deliveries, unit)
            };
            workers.spawn(&format!("deliveries-{at}"), step)?;
        }
        if runtime.searches() && !runtime.search_views().is_empty() {
            let runtime = Arc::clone(runtime);
            workers.spawn("search", move |worker| {
                work(&runtime, Worker::Search, || index(&runtime, worker))
            })?;
        }
        if runtime.is_shared() {
            let runtime = Arc::clone(runtime);
            workers.spawn("lease", move |worker| {
                work(&runtime, Worker::Lease, || live(&runtime, worker))
            })?;
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
    /// leave it as it is, until this is called without; who called so before the clock is moved knows that no repair sees it
    /// move.
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
        self.tasks.drain(..).for_each(Task::join);
        // what it had in hand is free at once; if that cannot be said, it is when the lease is over
        if let Err(error) = self.runtime.leave() {
            tracing::debug!(design = %self.runtime.schema.design.name, %error, "left without a word");
        }
    }
}

/// Does one unit of work. Whoever panics outside of any entry is gone, and that is told: nobody knows what
/// it left half done.
fn work(runtime: &Runtime, worker: Worker, unit: impl FnOnce() -> Next) -> Next {
    caught(unit).unwrap_or_else(|trouble| {
        let (design, worker) = (&runtime.schema.design.name, worker.name());
        tracing::error!(%design, worker, %trouble, "a worker is gone; start the server anew");
        runtime.counters.ended(format!("{worker}: {trouble}"));
        Next::Ended
    })
}

/// Fires the repairs that are due, and forgets outcomes that are kept no longer.
fn repair(runtime: &Runtime, worker: WorkerNumber) -> Next {
    let _firing = runtime.alarm.firing();
    let rings = match runtime.alarm.called(worker, runtime.clock.now_ms()) {
        Called::Look { rings } => rings,
        Called::Rest(next) => return next,
    };
    let fired = runtime.fire_due();
    let forgotten = runtime.forget_outcomes(OUTCOMES);
    let trouble = fired.as_ref().err().or(forgotten.as_ref().err());
    runtime.say_trouble(Worker::Repairs, trouble);
    if trouble.is_none() && forgotten == Ok(OUTCOMES) {
        return Next::Now;
    }
    let next = match (trouble, &fired) {
        (None, Ok((_, next))) => *next,
        _ => Some(runtime.clock.now_ms() + TROUBLE_MS),
    };
    runtime.alarm.rest(worker, rings, (next, !runtime.is_shared()), runtime.clock.now_ms())
}

/// Puts off the lease of this server, so that others leave to it what it has in hand.
fn live(runtime: &Runtime, worker: WorkerNumber) -> Next {
    if let Called::Rest(Next::Ended) = runtime.alarm.called(worker, runtime.clock.now_ms()) {
        return Next::Ended;
    }
    let attended = runtime.attend();
    runtime.say_trouble(Worker::Lease, attended.as_ref().err());
    Next::After(Duration::from_millis(runtime.settings.lease_ms.unsigned_abs() / 6))
}

/// Lets the indexes of `search` views follow the feed. What happens is not waited for: each time costs a commit of an
/// index, so it is done every so often.
fn index(runtime: &Runtime, worker: WorkerNumber) -> Next {
    if let Called::Rest(Next::Ended) = runtime.alarm.called(worker, runtime.clock.now_ms()) {
        return Next::Ended;
    }
    let followed = runtime.follow_searches();
    runtime.say_trouble(Worker::Search, followed.as_ref().err());
    Next::After(match followed {
        Ok(_) => runtime.search_pause(),
        Err(_) => Duration::from_millis(TROUBLE_MS.unsigned_abs()),
    })
}

/// Delivers one entry of the outbox.
fn deliver(runtime: &Runtime, outside: &dyn Outside, worker: WorkerNumber) -> Next {
    let rings = match runtime.alarm.called(worker, runtime.clock.now_ms()) {
        Called::Look { rings } => rings,
        Called::Rest(next) => return next,
    };
    let worked = runtime.deliver_one(outside);
    runtime.say_trouble(Worker::Deliveries, worked.as_ref().err());
    let next = match worked {
        Ok(Worked::Tried | Worked::SetAside) => return Next::Now,
        Ok(Worked::Idle(next)) => next,
        Err(_) => Some(runtime.clock.now_ms() + TROUBLE_MS),
    };
    runtime.alarm.rest(worker, rings, (next, !runtime.is_shared()), runtime.clock.now_ms())
}
