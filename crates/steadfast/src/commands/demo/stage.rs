//! Where a demo runs: the runtime with its workers on a store that is durable, a clock of its own, and clients.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use design::model::Design;
use runtime::{CallError, ManualClock, Outside, Runtime, Settings, Transition, Workers};
use serde_json::Value;
use store::{Store, block_on};
use store_embedded::{Embedded, Options};

use super::plan::{Part, Planned};
use super::scenario::Scenario;
use crate::problem::Problem;
use crate::removed::Removed;

/// So many calls are under way at the same time.
const CLIENTS: usize = 32;
/// The workers look at the clock again after so many calls.
const LOOK_AFTER: usize = 32;
/// How long is waited, on a real clock, for something to be committed while something is due.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long is waited in all: a design may always have something to do.
const PATIENCE_IN_ALL: Duration = Duration::from_secs(180);
/// The same for a design without one of its guards: some then have something to do for ever.
const PATIENCE_WITHOUT: Duration = Duration::from_secs(3);
/// The clock of a demo begins with the year 2026: the same calls have the same times.
const BEGIN_MS: i64 = 1_767_225_600_000;
/// All of the feed is read in the end.
const FEED_BYTES: u64 = 16 << 30;
/// The clock is ahead of a call that is under way, and of what is due, by so much at most: on a busy machine, too, nobody
/// loses a lease because of the threads of this process.
const AHEAD_MS: u64 = 2_000;
/// So long, on a real clock, calls wait for what is due, if something always is.
const BEHIND_WITHOUT: Duration = Duration::from_millis(10);
/// Time that passes is cut into at most so many parts.
const STEPS_MAX: i64 = 40;
/// So often all of the time passes that a demo takes to settle.
const TIMES_MAX: usize = 4;
/// Of a design that commits all the time, so many looks are enough.
const LOOKS_MAX: u32 = 100;
const PAGE: usize = 1_000;
const DELIVERERS: usize = 4;

pub struct Stage {
    pub runtime: Arc<Runtime>,
    clock: Arc<ManualClock>,
    store: Arc<dyn Store>,
    workers: Option<Workers>,
    weakened: bool,
    /// what was due long before this moment was done
    caught_up: AtomicI64,
    pub progress: Progress,
    /// last: it goes when nothing uses it any more
    _folder: Removed,
}

/// How far it is.
#[derive(Default)]
pub struct Progress {
    pub answered: AtomicU64,
    pub lost: AtomicU64,
    /// what was kept for an idempotency key was given again
    pub replayed: AtomicU64,
}

impl Stage {
    pub fn set(
        design: Design,
        weakened: bool,
        outside: Arc<dyn Outside>,
    ) -> Result<Stage, Problem> {
        let folder = Removed::new("demo");
        let options = Options { feed_retention_bytes: FEED_BYTES, ..Options::default() };
        let store: Arc<dyn Store> = Arc::new(
            Embedded::open(&folder.0, options)
                .map_err(|error| Problem::new(error.to_string()).help(error.help()))?,
        );
        let clock = Arc::new(ManualClock::new(BEGIN_MS));
        let settings =
            Settings { secrets: Some(steadfast::passing_secrets()), ..Settings::default() };
        let opened = Runtime::open_with_clock(
            design,
            Arc::clone(&store),
            settings,
            Arc::clone(&clock) as Arc<dyn runtime::Clock>,
        );
        let runtime = Arc::new(opened.map_err(|error| Problem::new(error.to_string()))?);
        let workers = Workers::start(&runtime, outside, DELIVERERS)
            .map_err(|error| Problem::new(format!("cannot start threads: {error}")))?;
        Ok(Stage {
            runtime,
            clock,
            store,
            workers: Some(workers),
            weakened,
            caught_up: AtomicI64::new(BEGIN_MS),
            progress: Progress::default(),
            _folder: folder,
        })
    }

    pub fn durability(&self) -> String {
        self.store.describe().durability
    }

    /// How much time has passed on the clock of the demo.
    pub fn passed_ms(&self) -> i64 {
        self.since_begin(self.runtime.now_ms())
    }

    /// A time of the feed, on the clock of the demo.
    pub fn since_begin(&self, at: i64) -> i64 {
        at - BEGIN_MS
    }

    /// Makes all calls of a demo, a part after the other.
    pub fn play<S: Scenario>(&self, scenario: &S) -> Result<(), Problem> {
        let plan = scenario.plan();
        let done: Vec<AtomicBool> = plan.calls.iter().map(|_| AtomicBool::new(false)).collect();
        let mut begin = 0;
        for part in &plan.parts {
            let end = &part.end;
            let start = std::mem::replace(&mut begin, *end);
            self.runtime.clock_moved(part.workers_are_away);
            let next = AtomicUsize::new(start);
            // all calls before it are answered
            let first_open = AtomicUsize::new(start);
            let trouble: Mutex<Option<Problem>> = Mutex::default();
            let failed = AtomicBool::new(false);
            let fail = |problem| {
                failed.store(true, Ordering::Relaxed);
                *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
            };
            std::thread::scope(|scope| {
                for _ in 0..CLIENTS {
                    scope.spawn(|| {
                        loop {
                            let at = next.fetch_add(1, Ordering::Relaxed);
                            if at >= *end || failed.load(Ordering::Relaxed) {
                                return;
                            }
                            // its client may still wait for the answer to the call before
                            let before = plan.before[at].map(|before| before as usize);
                            let is_done = |at: usize| done[at].load(Ordering::Acquire);
                            let too_early = || {
                                let mut open = first_open.load(Ordering::Relaxed);
                                while open < at && is_done(open) {
                                    open += 1;
                                }
                                first_open.fetch_max(open, Ordering::Relaxed);
                                let behind = plan.calls[open].at_ms + AHEAD_MS;
                                behind < plan.calls[at].at_ms
                                    || before.is_some_and(|before| !is_done(before))
                            };
                            while too_early() && !failed.load(Ordering::Relaxed) {
                                std::thread::sleep(Duration::from_micros(20));
                            }
                            if !part.workers_are_away
                                && let Err(problem) = self.catch_up_before(&plan.calls[at])
                            {
                                fail(problem);
                            }
                            if let Err(problem) = self.call(scenario, part, at) {
                                fail(problem);
                            }
                            done[at].store(true, Ordering::Release);
                        }
                    });
                }
            });
            let trouble = trouble.into_inner().unwrap_or_else(PoisonError::into_inner);
            if let Some(problem) = trouble {
                return Err(problem);
            }
            // time passes until the next part begins
            let next = plan.calls.get(begin).map_or(0, |call| call.at_ms);
            let next = i64::try_from(next).unwrap_or(i64::MAX);
            self.settle(next.saturating_sub(self.passed_ms()).max(0))?;
        }
        Ok(())
    }

    fn call<S: Scenario>(&self, scenario: &S, part: &Part, at: usize) -> Result<(), Problem> {
        let call = &scenario.plan().calls[at];
        self.clock.reach(clock_of(call));
        if at.is_multiple_of(LOOK_AFTER) {
            self.runtime.clock_moved(part.workers_are_away);
        }
        let request = scenario.request(call).brief();
        let told = match self.runtime.call(&request) {
            Ok(reply) => Ok(reply),
            Err(CallError::Refused(refused)) => Err(refused),
            Err(error) => {
                return Err(Problem::new(format!("`{}`: {error}", request.operation)));
            }
        };
        if told.as_ref().is_ok_and(|reply| reply.replayed) {
            self.progress.replayed.fetch_add(1, Ordering::Relaxed);
        }
        self.progress.answered.fetch_add(1, Ordering::Relaxed);
        if call.lost {
            self.progress.lost.fetch_add(1, Ordering::Relaxed);
        }
        scenario.answered(call, &told);
        Ok(())
    }

    /// The same at the end: while something comes later, as much time passes again, a few times.
    pub fn settle_all(&self, ms: i64) -> Result<bool, Problem> {
        let times = if self.weakened { 1 } else { TIMES_MAX };
        for _ in 0..times {
            if !self.settle(ms)? {
                return Ok(false);
            }
            if self.next_due_at_rest()?.is_none() {
                break;
            }
        }
        Ok(true)
    }

    /// Waits until what is due long before this call is done: often enough, and not for each of many calls that are made at
    /// nearly the same time.
    fn catch_up_before<M>(&self, call: &Planned<M>) -> Result<(), Problem> {
        let to = clock_of(call);
        if to.saturating_sub(self.caught_up.load(Ordering::Relaxed)) > AHEAD_MS as i64 / 2 {
            self.catch_up(to)?;
            self.caught_up.fetch_max(to, Ordering::Relaxed);
        }
        Ok(())
    }

    fn catch_up(&self, to: i64) -> Result<(), Problem> {
        let patience = if self.weakened { BEHIND_WITHOUT } else { PATIENCE };
        let deadline = Instant::now() + patience;
        let long_before = to.saturating_sub_unsigned(AHEAD_MS).min(self.runtime.now_ms());
        while self.next_due()?.is_some_and(|due| due <= long_before) && Instant::now() < deadline {
            self.runtime.clock_moved(false);
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Lets so much time pass, up to what is due next, and waits each time until everything that is due is done. False:
    /// something is always due.
    pub fn settle(&self, ms: i64) -> Result<bool, Problem> {
        let in_all = if self.weakened { PATIENCE_WITHOUT } else { PATIENCE_IN_ALL };
        let last = Instant::now() + in_all;
        let (mut head, mut deadline) = (String::new(), last);
        let end = self.runtime.now_ms() + ms;
        // what is due at nearly the same time is done together
        let at_least = (ms / STEPS_MAX).max(1);
        loop {
            let now = self.runtime.now_ms();
            let next = self.next_due_at_rest()?.unwrap_or(i64::MAX);
            if next > now && now >= end {
                return Ok(true);
            }
            let reached = self.head()?;
            if reached != head {
                (head, deadline) = (reached, (Instant::now() + PATIENCE).min(last));
            }
            if Instant::now() > deadline {
                return Ok(false);
            }
            if next <= now {
                // a clock that stands still is none that a worker waits for
                std::thread::sleep(Duration::from_millis(1));
                self.clock.advance(1);
            } else {
                self.clock.reach(next.max(now + at_least).min(end));
            }
            self.runtime.clock_moved(false);
        }
    }

    /// When the first repair or delivery is due that is not done yet.
    fn next_due(&self) -> Result<Option<i64>, Problem> {
        if let Some(trouble) = self.runtime.counters().trouble() {
            return Err(Problem::new(trouble));
        }
        let repairs = self.runtime.due(1).map_err(said)?;
        let outbox = self.runtime.outbox(usize::MAX).map_err(said)?;
        let first = outbox.iter().filter(|waiting| waiting.is_open()).map(|it| it.next_at).min();
        Ok(repairs.first().map(|due| due.at).into_iter().chain(first).min())
    }

    /// The same, when nobody calls: what a delivery leaves to a repair, or a repair to a delivery, is in one of the two if
    /// nothing was committed meanwhile.
    fn next_due_at_rest(&self) -> Result<Option<i64>, Problem> {
        let mut looks = 0;
        loop {
            let before = self.head()?;
            let next = self.next_due()?;
            looks += 1;
            if self.head()? == before || looks == LOOKS_MAX {
                return Ok(next);
            }
        }
    }

    fn head(&self) -> Result<String, Problem> {
        block_on(pin!(self.runtime.head())).map_err(said)
    }

    /// Nothing is changed any more: what is judged stays as it is.
    pub fn stop(&mut self) {
        self.workers = None;
    }

    /// All transitions, from the first one.
    pub fn each_transition(&self, mut see: impl FnMut(&Transition)) -> Result<(), Problem> {
        let mut from: Option<String> = None;
        loop {
            let page = self.runtime.feed(from.as_deref(), PAGE);
            let (transitions, next) = block_on(pin!(page)).map_err(said)?;
            transitions.iter().for_each(|(_, transition)| see(transition));
            if from.as_ref() == Some(&next) {
                return Ok(());
            }
            from = Some(next);
        }
    }

    /// All records of a subject: key and truth.
    pub fn each_record(
        &self,
        subject: &str,
        mut see: impl FnMut(&[Value], &Value),
    ) -> Result<(), Problem> {
        let mut after: Option<Vec<Value>> = None;
        loop {
            let page = self.runtime.records(subject, after.as_deref(), PAGE);
            let page = block_on(pin!(page)).map_err(said)?;
            page.records.iter().for_each(|(key, truth)| see(key, &truth.truth));
            match page.records.last() {
                Some((last, _)) if page.more => after = Some(last.clone()),
                _ => return Ok(()),
            }
        }
    }

    pub fn close(mut self) -> Result<(), Problem> {
        self.stop();
        block_on(self.store.close()).map_err(|error| Problem::new(error.to_string()))
    }
}

/// When a call is made, by the clock.
fn clock_of<M>(call: &Planned<M>) -> i64 {
    BEGIN_MS.saturating_add_unsigned(call.at_ms)
}

fn said(error: CallError) -> Problem {
    Problem::new(error.to_string())
}
