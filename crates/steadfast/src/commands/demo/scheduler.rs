//! Many jobs, few workers: they die with a job in hand, come back too late, give up, and take what others have.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use runtime::{Outside, Request};
use serde_json::{Map, Value, json};
use store::Seeded;

use super::plan::{Plan, Planned, between, drawn};
use super::provider::Provider;
use super::scenario::{Damage, Judged, Scenario, Told, name_of, numbered};
use super::screen::{Painted, grouped};
use super::stage::Stage;
use crate::problem::Problem;

const WORKERS: u64 = 20;
const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
/// A job is due within so much time.
const DUE: u64 = 5 * MINUTE;
/// A worker has a job for so long.
const LEASE: u64 = 30 * SECOND;
/// Every job is taken up in so many rounds by workers that may die. The next round begins when all leases of the last
/// one are over, and when those who failed may try again.
const ROUNDS: u64 = 3;
const BETWEEN_ROUNDS: u64 = 7 * MINUTE;
/// Jobs are taken up one after the other, so many milliseconds apart on average: so leases are not shorter than calls are
/// under way, however few jobs there are.
const APART: u64 = 48;
/// So many jobs wait in one bucket of the due index.
const IN_A_BUCKET: u64 = 40;
const LOST_ANSWERS: u64 = 20;

#[derive(Clone, Copy, Debug)]
pub enum Move {
    CreateJob,
    Create { job: u32, due_ms: u64 },
    Claim(Attempt),
    Execute(Attempt),
    Complete(Attempt),
    Fail(Attempt),
}

/// One attempt at a job.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    job: u32,
    number: u32,
}

pub struct Scheduler {
    jobs: u64,
    plan: Plan<Move>,
    target: Arc<Provider>,
    /// what the worker of each attempt remembers
    told: Vec<OnceLock<Map<String, Value>>>,
    died: u64,
    claimed: AtomicU64,
}

#[derive(Default)]
struct Draw {
    calls: Vec<Planned<Move>>,
    attempts: u32,
    died: u64,
}

impl Draw {
    fn attempt(&mut self, job: u32) -> Attempt {
        self.attempts += 1;
        Attempt { job, number: self.attempts - 1 }
    }

    fn call(&mut self, at: u64, worker: u32, what: Move) {
        self.calls.push(Planned::new(at, worker, what));
    }

    /// A worker takes a job, and something becomes of that; now and then another one takes it at the same time.
    fn round(&mut self, random: &mut Seeded, job: u32, at: u64) {
        let worker = random.below(WORKERS) as u32;
        let mine = self.attempt(job);
        self.call(at, worker, Move::Claim(mine));
        let soon = at + between(random, SECOND, 5 * SECOND);
        let later = soon + between(random, 2 * SECOND, 20 * SECOND);
        match random.below(100) {
            // dies with the job in hand
            0..35 => self.died += 1,
            // dies when it has asked for the work
            35..50 => {
                self.call(soon, worker, Move::Execute(mine));
                self.died += 1;
            }
            // is taken for dead, and comes back
            50..65 => {
                let late = at + LEASE + between(random, 5 * SECOND, MINUTE);
                self.call(late, worker, Move::Execute(mine));
                self.call(late + SECOND, worker, Move::Complete(mine));
            }
            65..72 => self.call(soon, worker, Move::Fail(mine)),
            // asks for the work, and then says that it has failed
            72..80 => {
                self.call(soon, worker, Move::Execute(mine));
                self.call(later, worker, Move::Fail(mine));
            }
            // says that it is done before it is
            80..85 => self.call(soon, worker, Move::Complete(mine)),
            _ => {
                self.call(soon, worker, Move::Execute(mine));
                self.call(later, worker, Move::Complete(mine));
            }
        }
        if random.percent(25) {
            let rival = ((u64::from(worker) + between(random, 1, WORKERS)) % WORKERS) as u32;
            let theirs = self.attempt(job);
            let at = soon + random.below(2 * SECOND);
            self.call(at, rival, Move::Claim(theirs));
            self.call(at + SECOND, rival, Move::Execute(theirs));
        }
    }

    /// A worker that does not die.
    fn last_round(&mut self, random: &mut Seeded, job: u32, at: u64) {
        let worker = random.below(WORKERS) as u32;
        let mine = self.attempt(job);
        self.call(at, worker, Move::Claim(mine));
        self.call(at + 2 * SECOND, worker, Move::Execute(mine));
        let complete = Planned::new(at + 20 * SECOND, worker, Move::Complete(mine));
        if random.percent(20) {
            self.calls.push(Planned { lost: true, ..complete });
            self.calls.push(Planned { at_ms: at + 22 * SECOND, ..complete });
        } else {
            self.calls.push(complete);
        }
    }
}

impl Scheduler {
    pub fn new(jobs: u64, seed: u64) -> Scheduler {
        let mut draw = Draw::default();
        let owner = WORKERS as u32;
        let mut parts = vec![vec![Planned::new(0, owner, Move::CreateJob)], Vec::new()];
        for job in 0..jobs as u32 {
            let random = &mut drawn(seed, job.into());
            let due_ms = random.below(DUE / SECOND) * SECOND;
            parts[1].push(Planned::new(0, owner + job, Move::Create { job, due_ms }));
        }
        let round_ms = jobs * APART + BETWEEN_ROUNDS;
        for round in 0..=ROUNDS {
            let begins = DUE + MINUTE + round * round_ms;
            for job in 0..jobs {
                let random = &mut drawn(seed.wrapping_add(round + 1), job);
                let at = begins + random.below(jobs * APART);
                match round == ROUNDS {
                    true => draw.last_round(random, job as u32, at),
                    false => draw.round(random, job as u32, at),
                }
            }
            parts.push(std::mem::take(&mut draw.calls));
        }
        Scheduler {
            jobs,
            plan: Plan::new(parts),
            target: Arc::new(Provider::new(seed, LOST_ANSWERS, 0, "schedule")),
            told: (0..draw.attempts).map(|_| OnceLock::new()).collect(),
            died: draw.died,
            claimed: AtomicU64::new(0),
        }
    }
}

impl Scenario for Scheduler {
    type Move = Move;

    const DAMAGING: &'static [&'static str] = &[
        "claim_execution.ready",
        "requeue_lost_execution.nothing_done",
        "execute.mine",
        "fail_execution.nothing_done",
        "complete_execution.executed",
    ];

    fn title(&self) -> String {
        format!(
            "{} jobs and {WORKERS} workers that die {} times with a job in hand",
            grouped(self.jobs),
            grouped(self.died)
        )
    }

    fn plan(&self) -> &Plan<Move> {
        &self.plan
    }

    fn request(&self, call: &Planned<Move>) -> Request {
        let worker = |operation: &str, attempt: Attempt| {
            // what it was told when it took the job; nothing, if it was refused
            let memory = self.told[attempt.number as usize].get().cloned().unwrap_or_default();
            Request::new("worker", operation, &format!("worker-{}", call.client))
                .with("schedule", job_name(attempt.job))
                .remembering(memory)
        };
        match call.what {
            Move::CreateJob => Request::new("user", "create_job", "owner")
                .with("job", "work")
                .with("command", "do it")
                .with("tries", 20),
            Move::Create { job, due_ms } => Request::new("user", "create_execution", "owner")
                .with("execution", job_name(job))
                .with("job", "work")
                .with("bucket", format!("bucket-{}", u64::from(job) / IN_A_BUCKET))
                .with("due_in", format!("{}s", due_ms / SECOND)),
            Move::Claim(attempt) => {
                worker("claim_execution", attempt).with("ttl", format!("{}s", LEASE / SECOND))
            }
            Move::Execute(attempt) => worker("execute", attempt),
            Move::Complete(attempt) => {
                worker("complete_execution", attempt).keyed(&format!("attempt-{}", attempt.number))
            }
            Move::Fail(attempt) => worker("fail_execution", attempt),
        }
    }

    fn answered(&self, call: &Planned<Move>, told: &Told) {
        if let (Move::Claim(attempt), Ok(reply)) = (call.what, told) {
            self.claimed.fetch_add(1, Ordering::Relaxed);
            let _ = self.told[attempt.number as usize].set(reply.memory.clone());
        }
    }

    fn outside(&self) -> Arc<dyn Outside> {
        Arc::clone(&self.target) as Arc<dyn Outside>
    }

    fn settling_ms(&self) -> i64 {
        10 * MINUTE as i64
    }

    fn picture(&self, stage: &Stage) -> Vec<Painted> {
        const BAR: u64 = 60;
        let counters = stage.runtime.counters();
        let by_workers = counters.done_of("complete_execution");
        let by_repair = counters.done_of("record_result_execution");
        let bar = |name: &str, count: u64| {
            let filled = (count.min(self.jobs) * BAR / self.jobs.max(1)) as usize;
            let bar = "█".repeat(filled) + &"░".repeat(BAR as usize - filled);
            Painted::plain(format!("{name:<9}{bar} {}", grouped(count)))
        };
        let book = self.target.book();
        vec![
            bar("due", counters.done_of("enqueue_overdue")),
            bar("taken", self.claimed.load(Ordering::Relaxed)),
            bar("lost", counters.done_of("requeue_lost_execution")),
            bar("done", by_workers + by_repair),
            Painted::plain(format!(
                "target   asked {} times, {} answers lost; {} jobs recorded for workers that died",
                grouped(book.asked),
                grouped(book.lost),
                grouped(by_repair)
            )),
        ]
    }

    fn judge(&self, stage: &Stage) -> Result<Judged, Problem> {
        // what the target has done, by its own book
        let mut performed: HashMap<usize, u64> = HashMap::new();
        let book = self.target.book();
        for line in book.lines.values().filter(|line| line.done) {
            if let Some(job) = numbered(&line.name, "job") {
                *performed.entry(job).or_default() += 1;
            }
        }
        // how often it was recorded that a job is done
        let mut recorded: HashMap<usize, u64> = HashMap::new();
        stage.each_transition(|transition| {
            let completes = ["complete_execution", "record_result_execution"]
                .contains(&transition.operation.as_str());
            let changed = transition.changes.iter().find(|change| change.subject == "Execution");
            if let Some(job) =
                changed.and_then(|change| numbered(&name_of(&json!(change.key)), "job"))
                && completes
            {
                *recorded.entry(job).or_default() += 1;
            }
        })?;
        let mut done = 0;
        stage.each_record("Execution", |_, truth| {
            done += u64::from(truth["RunnableExecutionState"]["status"] == "DONE");
        })?;
        let twice = performed.values().filter(|times| **times > 1).count() as u64;
        let recorded_twice = recorded.values().filter(|times| **times > 1).count() as u64;
        let never = recorded.keys().filter(|job| !performed.contains_key(*job)).count() as u64;
        let left = self.jobs.saturating_sub(done);
        Ok(Judged {
            kept: format!(
                "all {} jobs are done, each once by the book of who does the work, and recorded once; {} answers of \
                 theirs were lost",
                grouped(done),
                grouped(book.lost)
            ),
            facts: vec![
                ("jobs", json!(self.jobs)),
                ("done", json!(done)),
                ("performed", json!(performed.values().sum::<u64>())),
                ("deaths", json!(self.died)),
                ("requeued", json!(stage.runtime.counters().done_of("requeue_lost_execution"))),
                ("target_asked", json!(book.asked)),
                ("target_answers_lost", json!(book.lost)),
            ],
            damage: vec![
                Damage::new(
                    "done_twice",
                    twice,
                    format!(
                        "{} of {} jobs were done more than once",
                        grouped(twice),
                        grouped(self.jobs)
                    ),
                ),
                Damage::new(
                    "recorded_twice",
                    recorded_twice,
                    format!(
                        "{} jobs were recorded as done more than once",
                        grouped(recorded_twice)
                    ),
                ),
                Damage::new(
                    "never_done",
                    never,
                    format!(
                        "{} jobs were recorded as done, and nobody has done them",
                        grouped(never)
                    ),
                ),
                Damage::new("left", left, format!("{} jobs are not done", grouped(left))),
            ],
        })
    }
}

fn job_name(job: u32) -> String {
    format!("job-{job}")
}
