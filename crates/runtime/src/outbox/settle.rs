//! What the other side said becomes a transition, and the entry is closed, tried later or set aside.

use engine::outbox::{Answered, EntryState};
use engine::{AnswerKind, Command, Word};
use layout::OutboxEntry;
use serde_json::Value;
use store::{Decision, Transaction};

use super::answer_value::{MISREAD, bound};
use super::deliver::{Delivered, Delivery, Picked, Worked, close, move_entry, params_of};
use super::naming::jitter;
use crate::aside::{Moved, Trouble, attempt, move_aside};
use crate::calls::{CallError, Performed, perform};
use crate::core::{Desk, Got, NOBODY, Newest, Plan, ReadError, Runtime, Source, apply};

/// What an answer came to, to be told once it is committed.
#[derive(Default)]
struct Came {
    /// a handler of the design ran
    done: bool,
    /// the trouble of the last attempt that there is
    given_up: Option<String>,
}

impl Runtime {
    /// Commits what the other side said, if the entry still waits for it.
    pub(super) fn settle(
        &self,
        picked: &Picked,
        delivered: &Delivered,
    ) -> Result<Worked, CallError> {
        let mut desk = self.desk();
        let mut outcome: Result<Worked, CallError> = Ok(Worked::Tried);
        let mut wake = None;
        let mut came = Came::default();
        let mut moved = None;
        let ticket = self.transact(&mut |transaction| {
            desk.pool.borrow_mut().reset();
            (outcome, wake, moved) = (Ok(Worked::Tried), None, None);
            came = Came::default();
            let now = self.now_in(transaction);
            let answered = attempt(|| {
                self.answered(picked, delivered, now, &*transaction, &mut desk, &mut came)
            });
            match answered {
                Ok(Ok(Some(plan))) => {
                    apply(&plan, transaction);
                    wake = plan.wake;
                    Decision::Commit
                }
                Ok(Ok(None)) => Decision::Abandon,
                Ok(Err(error)) => {
                    outcome = Err(error);
                    Decision::Abandon
                }
                Err(trouble) => {
                    moved = self.move_picked(picked, &trouble, now, transaction);
                    outcome = Ok(Worked::SetAside);
                    Decision::Commit
                }
            }
        });
        // a panic may have left it in the middle of something
        if moved.is_none() {
            self.give_back(desk);
        }
        if let Some(at) = wake {
            self.alarm.ring(at);
        }
        ticket?.wait()?;
        if let Some(moved) = &moved {
            self.tell_moved(moved);
        } else if came.done {
            self.counters.done(picked.effect);
        }
        if let (Some(trouble), Some(delivery)) = (&came.given_up, &picked.delivery) {
            let Delivery { design, effect, key, .. } = delivery;
            tracing::warn!(%design, %effect, %key, %trouble, "given up after the last attempt");
        }
        outcome
    }

    /// Sets an entry aside whose delivery panicked.
    pub(super) fn give_up(&self, picked: &Picked, trouble: &Trouble) -> Result<Worked, CallError> {
        let now = self.clock.now_ms();
        let mut moved = None;
        let ticket = self.transact(&mut |transaction| {
            moved = self.move_picked(picked, trouble, now, transaction);
            if moved.is_some() { Decision::Commit } else { Decision::Abandon }
        })?;
        ticket.wait()?;
        if let Some(moved) = &moved {
            self.tell_moved(moved);
        }
        Ok(Worked::SetAside)
    }

    /// Moves an entry that was picked, wherever it stands in the index by now.
    fn move_picked(
        &self,
        picked: &Picked,
        trouble: &Trouble,
        now: Word,
        transaction: &mut dyn Transaction,
    ) -> Option<Moved> {
        let place = picked.key(&self.schema);
        let key = place.to_bytes();
        let entry = transaction.get(&key).and_then(|(_, bytes)| OutboxEntry::take(bytes).ok());
        let due = entry.map(|entry| place.due(entry.entry.next_at).to_bytes());
        let keys: Vec<Vec<u8>> = [key, picked.due.clone()].into_iter().chain(due).collect();
        move_aside(self.schema.number, &keys, trouble, now, transaction)
    }

    fn answered(
        &self,
        picked: &Picked,
        delivered: &Delivered,
        now: Word,
        transaction: &dyn Transaction,
        desk: &mut Desk,
        came: &mut Came,
    ) -> Result<Option<Plan>, ReadError> {
        let schema = &*self.schema;
        let place = picked.key(schema);
        let key = place.to_bytes();
        let Some((_, bytes)) = transaction.get(&key) else { return Ok(None) };
        let entry = OutboxEntry::take(bytes).map_err(|wrong| ReadError::value(&key, wrong))?;
        let Answered::Commit(_) = entry.entry.answer() else { return Ok(None) };
        let operation = &schema.design.operations[picked.effect.index()];
        let misread = Delivered::Unknown { trouble: MISREAD.into(), retry_after_ms: None };
        let delivered = match delivered {
            Delivered::Ok(answer)
                if bound(
                    schema,
                    operation,
                    AnswerKind::Ok,
                    answer,
                    &mut desk.pool.borrow_mut(),
                )
                .is_none() =>
            {
                &misread
            }
            said => said,
        };
        let (kind, answer) = match delivered {
            Delivered::Ok(answer) => (AnswerKind::Ok, answer),
            Delivered::Refused(answer) => (AnswerKind::Refused, answer),
            Delivered::Unknown { trouble, retry_after_ms } => {
                let jitter = jitter(&picked.name, entry.entry.attempts);
                let next =
                    entry.entry.attempt_failed(&self.settings.outbox, now, jitter, *retry_after_ms);
                let mut plan = Plan::default();
                if next.state == EntryState::Dead {
                    came.given_up = Some(trouble.clone());
                    // the design is told: retries never end silently
                    plan = self.answer(
                        picked,
                        &entry,
                        (AnswerKind::Unknown, &Value::Null),
                        now,
                        transaction,
                        desk,
                        came,
                    )?;
                }
                let trouble = trouble.clone();
                let moved = OutboxEntry { entry: next, trouble, ..entry.clone() };
                match plan.pending(&key) {
                    None => move_entry(place, &entry, &moved, &mut plan),
                    Some(_) => close(place, &entry, &mut plan),
                }
                return Ok(Some(plan));
            }
        };
        let mut plan = self.answer(picked, &entry, (kind, answer), now, transaction, desk, came)?;
        close(place, &entry, &mut plan);
        Ok(Some(plan))
    }

    /// The transition of an answer; nothing, if the effect's guard no longer holds.
    fn answer(
        &self,
        picked: &Picked,
        entry: &OutboxEntry,
        (kind, answer): (AnswerKind, &Value),
        now: Word,
        transaction: &dyn Transaction,
        desk: &mut Desk,
        came: &mut Came,
    ) -> Result<Plan, ReadError> {
        let schema = &*self.schema;
        let key = picked.key(schema).to_bytes();
        let params = params_of(schema, picked.effect, &entry.args, desk)
            .map_err(|wrong| ReadError::value(&key, wrong))?;
        desk.room.trace.clone_from(&entry.trace);
        let operation = &schema.design.operations[picked.effect.index()];
        let word = bound(schema, operation, kind, answer, &mut desk.pool.borrow_mut());
        let word = word.unwrap_or(NOBODY);
        let command = Command {
            answer: Some((kind, word)),
            ..Command::of_nobody(picked.effect, &params, now)
        };
        let source = Newest(transaction, schema.number);
        // the entry is closed before its handler runs, so that it may send the same key again
        let closing = Closing { inner: &source, key };
        let number = transaction.number();
        match perform(schema, &command, &desk.pool, &closing, number, &mut desk.room)? {
            Performed::Done(done) => {
                came.done = true;
                Ok(done.plan)
            }
            Performed::Refused(_) => Ok(Plan::default()),
            Performed::Later => Err(ReadError::NotFetched),
        }
    }
}

/// The store as it is, but for one outbox entry that is closed.
struct Closing<'t> {
    inner: &'t dyn Source,
    key: Vec<u8>,
}

impl Source for Closing<'_> {
    fn get(&self, key: &[u8]) -> Got<'_> {
        if key == self.key { Got::Absent } else { self.inner.get(key) }
    }

    fn stored(&self, digest: &[u8]) -> Option<bool> {
        self.inner.stored(digest)
    }
}
