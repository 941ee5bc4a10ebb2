//! A group on a store that does not keep its state in this process: what its calls are sure to read is
//! fetched at once, and all that they write is one commit.
//!
//! Others may change meanwhile what was read. Then nothing was written, and the calls are decided again;
//! those before the first that writes had their answers at one moment, and are left out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use store::{Cursor, Decision, Error, Key, Partition, Round, Rounds, Ticket, Transaction};

use super::submission::{Asked, Inner, Outcome, Submission};
use crate::calls::decide::Finished;
use crate::calls::perform::Room;
use crate::calls::reply::CallError;
use crate::core::{Desk, Runtime};

/// What became of one call in the last run.
struct Decided {
    finished: Result<Result<Finished, CallError>, Box<dyn std::any::Any + Send>>,
    writes: bool,
}

impl Runtime {
    /// Decides the calls of one caller. What went wrong is told to each.
    pub(super) async fn decide_far(&self, submission: &Arc<Submission>) {
        // each call has its outcome, whatever the last group came to
        let _ = self.decide_far_now(submission).await;
    }

    /// The same; gives the ticket of the last group, which is durable.
    pub(super) async fn decide_far_now(
        &self,
        submission: &Arc<Submission>,
    ) -> Result<Ticket, CallError> {
        let mut ticket = Ok(Ticket::settled(Cursor::start(Partition::default())));
        let mut most = usize::MAX;
        loop {
            let left = submission.lock().undecided().len();
            if left == 0 {
                return ticket;
            }
            most = most.min(left);
            let mut group = most;
            ticket = self.commit_far(submission, &mut group).await;
            match &ticket {
                Ok(_) => {}
                // together they are more than a commit may be: fewer at a time
                Err(CallError::Store(Error::TooLarge { .. })) if group > 1 => {
                    most = group.div_ceil(2);
                }
                Err(error) => submission.lock().fail_first(group, error),
            }
        }
    }

    /// Decides the next calls of a caller, so many, and commits them as one. Those that are left when it
    /// fails were not carried out, or nobody knows.
    async fn commit_far(
        &self,
        submission: &Submission,
        left: &mut usize,
    ) -> Result<Ticket, CallError> {
        let store = self.store.as_ref();
        let settings = &self.settings;
        let mut rounds = Rounds::new(settings.surroundings.as_ref(), store, &settings.conflicts);
        let keys = expected_keys(&mut submission.lock(), *left);
        rounds.load(keys).await?;
        loop {
            let mut desk = self.desk();
            let mut decided: Vec<Decided> = Vec::new();
            let mut current = Ok(());
            let round = rounds
                .next(&mut |transaction: &mut dyn Transaction| {
                    current = self.still_current();
                    if current.is_err() {
                        return Decision::Abandon;
                    }
                    self.gate.note(transaction, &mut |transaction| {
                        decided =
                            self.run_far(&mut submission.lock(), *left, transaction, &mut desk);
                        let writes = decided.iter().any(|decided| decided.writes);
                        if writes { Decision::Commit } else { Decision::Abandon }
                    })
                })
                .await;
            let round = round.inspect_err(|_| self.counters.met(rounds.conflicts()))?;
            current?;
            let (settled, cursor) = match &round {
                Round::Settled(settled) => {
                    self.counters.met(settled.conflicts);
                    (decided.len(), Some(settled.ticket.cursor()))
                }
                Round::Met { at } => {
                    let before = decided.iter().take_while(|decided| !decided.writes).count();
                    (if at.is_some() { before } else { 0 }, *at)
                }
            };
            if let Some(cursor) = cursor {
                decided.truncate(settled);
                self.conclude_far(&mut submission.lock(), decided, cursor, &mut desk.room);
                *left -= settled;
            }
            self.give_back(desk);
            if let Round::Settled(settled) = round {
                return Ok(settled.ticket);
            }
        }
    }

    /// Decides calls one after the other over what the earlier ones wrote.
    fn run_far(
        &self,
        inner: &mut Inner,
        most: usize,
        transaction: &mut dyn Transaction,
        desk: &mut Desk,
    ) -> Vec<Decided> {
        let (now, number) = (self.clock.now_ms(), transaction.position());
        let calls = inner.undecided().iter_mut().take(most).enumerate();
        let mut decided = Vec::new();
        for (at, Asked { ask, .. }) in calls {
            let number = number.wrapping_add(at as u64);
            let ran = catch_unwind(AssertUnwindSafe(|| {
                self.run(ask, now, number, &mut *transaction, &mut desk.room)
            }));
            decided.push(match ran {
                Ok((decision, finished)) => {
                    Decided { finished: Ok(finished), writes: decision == Decision::Commit }
                }
                Err(panic) => {
                    // nobody knows what it left half done
                    desk.room = Room::default();
                    Decided { finished: Err(panic), writes: false }
                }
            });
        }
        decided
    }

    fn conclude_far(
        &self,
        inner: &mut Inner,
        decided: Vec<Decided>,
        cursor: Cursor,
        room: &mut Room,
    ) {
        let mut wake: Option<i64> = None;
        let mut hot = self.hot.touches();
        let count = decided.len();
        for (asked, Decided { finished, .. }) in inner.undecided().iter_mut().zip(decided) {
            let outcome = finished.map(|finished| {
                let due = finished.as_ref().ok().and_then(Finished::wake);
                wake = wake.into_iter().chain(due).min();
                self.conclude(&mut asked.ask, finished, cursor, &mut hot, room)
            });
            asked.outcome = Some(outcome.map_or_else(Outcome::Panicked, Outcome::Concluded));
        }
        inner.next += count;
        drop(hot);
        if let Some(at) = wake {
            self.alarm.ring(at);
        }
    }
}

/// What the next calls are sure to read, each key once.
fn expected_keys(inner: &mut Inner, most: usize) -> Vec<Key> {
    let calls = inner.undecided().iter().take(most);
    let mut keys: Vec<Key> = Vec::new();
    for Asked { ask, .. } in calls {
        let outcome = ask.terms.idempotent.as_ref().map(|(key, _)| Key::new(key.to_bytes()));
        keys.extend(ask.expected.keys.iter().map(Key::from).chain(outcome));
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}
