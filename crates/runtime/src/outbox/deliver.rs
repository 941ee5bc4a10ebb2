//! The world outside: effects are delivered at least once, under a key that stays the same.

use std::ops::ControlFlow;

use design::model::{OperationId, OperationKind};
use engine::outbox::{Answered, Entry, EntryState};
use engine::{AnswerKind, Command, Outcome, Word};
use layout::{OutboxDueKey, OutboxEntry, OutboxKey, Reader, Space, Wrong};
use serde_json::{Map, Value};
use store::{Decision, KeyRange, Transaction};
use telemetry::Trace;

use super::answer_value::{MISREAD, bound};
use super::chosen::Chosen;
use super::naming::{jitter, key_text};
use crate::calls::{CallError, Performed, clause_name, fetch, perform};
use crate::core::{Desk, Loaded, NOBODY, Newest, Plan, ReadError, Runtime, Schema, apply};
use crate::values;

/// One call to the world outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Delivery {
    pub design: String,
    pub actor: String,
    pub effect: String,
    pub method: String,
    pub url: String,
    /// the same for every attempt
    pub key: String,
    pub body: Value,
    /// from 0
    pub attempt: u32,
    /// which request caused it
    pub trace: Option<Trace>,
}

/// What the other side said.
#[derive(Clone, PartialEq, Debug)]
pub enum Delivered {
    Ok(Value),
    /// decided for good: no
    Refused(Value),
    /// nothing is known; `retry_after_ms` is what the other side asked for
    Unknown {
        trouble: String,
        retry_after_ms: Option<i64>,
    },
}

/// Whoever carries calls to the other side. It may take its time: nothing waits for it.
pub trait Outside: Send + Sync {
    fn deliver(&self, delivery: &Delivery) -> Delivered;
}

/// What one look at the outbox came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Worked {
    /// an entry was delivered or tried
    Tried,
    /// nothing is to be done before this time
    Idle(Option<i64>),
}

/// An entry on its way to the other side.
struct Picked {
    effect: OperationId,
    /// what names the call
    name: Vec<u8>,
    /// none: a message, which is already done
    delivery: Option<Delivery>,
    /// the clause that refused a message
    refused: Option<String>,
}

impl Picked {
    /// Where its entry stands.
    fn key(&self, schema: &Schema) -> OutboxKey<'_> {
        OutboxKey { design: schema.number, operation: self.effect, name: &self.name }
    }
}

impl Runtime {
    /// Delivers the entry that has waited longest, if one is to be tried now.
    pub fn deliver_one(&self, outside: &dyn Outside) -> Result<Worked, CallError> {
        self.deliver_first(outside, None)
    }

    /// Delivers the first entry that is chosen; without a choice, the first that is to be tried now.
    pub(crate) fn deliver_first(
        &self,
        outside: &dyn Outside,
        chosen: Option<&Chosen<'_>>,
    ) -> Result<Worked, CallError> {
        let mut desk = self.desk();
        let picked = self.pick(chosen, &mut desk);
        self.give_back(desk);
        let picked = match picked? {
            Ok(picked) => picked,
            Err(idle) => return Ok(Worked::Idle(idle)),
        };
        match (&picked.delivery, &picked.refused) {
            (Some(delivery), _) => {
                let delivered = outside.deliver(delivery);
                let settled = self.settle(&picked, delivered);
                self.in_flight().remove(&picked.key(&self.schema).to_bytes());
                settled?;
            }
            (None, Some(clause)) => self.counters.refused(picked.effect, clause),
            (None, None) => self.counters.done(picked.effect),
        }
        Ok(Worked::Tried)
    }

    /// Takes the first entry that is due and that nobody has in hand.
    fn pick(
        &self,
        chosen: Option<&Chosen<'_>>,
        desk: &mut Desk,
    ) -> Result<Result<Picked, Option<i64>>, CallError> {
        let now = self.clock.now_ms();
        let mut outcome: Result<Result<Picked, Option<i64>>, CallError> = Ok(Err(None));
        let mut wake = None;
        let ticket = self.transact(&mut |transaction| {
            desk.pool.borrow_mut().reset();
            (outcome, wake) = (Ok(Err(None)), None);
            let start = Space::OutboxDue.prefix(self.schema.number).to_vec();
            let mut found = None;
            {
                let in_flight = self.in_flight();
                transaction.scan(&KeyRange::prefix(start), false, &mut |key, _, _| {
                    let is_under_way = |due: OutboxDueKey<'_>| {
                        !in_flight.is_empty() && in_flight.contains(&due.entry.to_bytes())
                    };
                    // one that cannot be read is found, and said to be damaged
                    if OutboxDueKey::parse(key).is_ok_and(is_under_way)
                        || chosen.is_some_and(|chosen| !self.is_chosen(key, chosen, &*transaction))
                    {
                        return ControlFlow::Continue(());
                    }
                    found = Some(key.to_vec());
                    ControlFlow::Break(())
                });
            }
            let Some(key) = found else { return Decision::Abandon };
            match self.prepare(&key, (now, chosen.is_some()), transaction, desk) {
                Ok(Prepared::Idle(at)) => {
                    outcome = Ok(Err(Some(at)));
                    Decision::Abandon
                }
                Ok(Prepared::Deliver(picked)) => {
                    self.in_flight().insert(picked.key(&self.schema).to_bytes());
                    outcome = Ok(Ok(picked));
                    Decision::Abandon
                }
                Ok(Prepared::Claimed(picked, plan) | Prepared::Message(picked, plan)) => {
                    apply(&plan, transaction);
                    wake = plan.wake;
                    outcome = Ok(Ok(picked));
                    Decision::Commit
                }
                Err(error) => {
                    outcome = Err(error.into());
                    Decision::Abandon
                }
            }
        })?;
        if let Some(at) = wake {
            self.alarm.ring(at);
        }
        // the world is told of nothing that a crash could still take back
        if let Err(error) = ticket.wait() {
            if let Ok(Ok(picked)) = &outcome {
                self.in_flight().remove(&picked.key(&self.schema).to_bytes());
            }
            return Err(error.into());
        }
        outcome
    }

    fn prepare(
        &self,
        key: &[u8],
        (now, early): (Word, bool),
        transaction: &dyn Transaction,
        desk: &mut Desk,
    ) -> Result<Prepared, ReadError> {
        let schema = &*self.schema;
        let OutboxDueKey { at, entry: key } = OutboxDueKey::parse(key)?;
        if at > now && !early {
            return Ok(Prepared::Idle(at));
        }
        let (effect, entry_key) = (key.operation, key.to_bytes());
        let Some((_, bytes)) = transaction.get(&entry_key) else {
            return Err(ReadError::absent(transaction, &entry_key));
        };
        let wrong = |wrong| ReadError::value(&entry_key, wrong);
        let entry = OutboxEntry::take(bytes).map_err(wrong)?;
        let params = params_of(schema, effect, &entry.args, desk).map_err(wrong)?;
        let command = Command {
            operation: effect,
            params: &params,
            memory: &[],
            me: NOBODY,
            now,
            answer: None,
        };
        let mut picked = Picked { effect, name: key.name.to_vec(), delivery: None, refused: None };
        let operation = &schema.design.operations[effect.index()];
        if !matches!(operation.kind, OperationKind::Effect(_)) {
            let source = Newest(transaction, schema.number);
            let number = transaction.position();
            desk.room.trace.clone_from(&entry.trace);
            let performed = perform(schema, &command, &desk.pool, &source, number, &mut desk.room)?;
            let mut plan = match performed {
                Performed::Done(done) => done.plan,
                // a refusal is an answer, too: the message was received
                Performed::Refused(refused) => {
                    picked.refused = Some(clause_name(operation, &refused.refusal));
                    Plan::default()
                }
                Performed::Later => return Err(ReadError::NotFetched),
            };
            close(key, &entry, &mut plan);
            return Ok(Prepared::Message(picked, plan));
        }
        let delivery = delivery(schema, &command, key.name, &entry, transaction, desk)?;
        let picked = Picked { delivery: Some(delivery), ..picked };
        if !self.is_shared() {
            return Ok(Prepared::Deliver(picked));
        }
        let claimed = OutboxEntry {
            entry: Entry { next_at: now.saturating_add(self.settings.claim_ms), ..entry.entry },
            ..entry.clone()
        };
        let mut plan = Plan::default();
        move_entry(key, &entry, &claimed, &mut plan);
        Ok(Prepared::Claimed(picked, plan))
    }

    /// Commits what the other side said, if the entry still waits for it.
    fn settle(&self, picked: &Picked, delivered: Delivered) -> Result<(), CallError> {
        let mut desk = self.desk();
        let now = self.clock.now_ms();
        let mut outcome: Result<(), CallError> = Ok(());
        let mut wake = None;
        let mut done = false;
        let ticket = self.transact(&mut |transaction| {
            desk.pool.borrow_mut().reset();
            (outcome, wake, done) = (Ok(()), None, false);
            match self.answered(picked, &delivered, now, transaction, &mut desk, &mut done) {
                Ok(Some(plan)) => {
                    apply(&plan, transaction);
                    wake = plan.wake;
                    Decision::Commit
                }
                Ok(None) => Decision::Abandon,
                Err(error) => {
                    outcome = Err(error.into());
                    Decision::Abandon
                }
            }
        });
        self.give_back(desk);
        if let Some(at) = wake {
            self.alarm.ring(at);
        }
        ticket?.wait()?;
        if done {
            self.counters.done(picked.effect);
        }
        outcome
    }

    fn answered(
        &self,
        picked: &Picked,
        delivered: &Delivered,
        now: Word,
        transaction: &dyn Transaction,
        desk: &mut Desk,
        done: &mut bool,
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
                    // the design is told: retries never end silently
                    plan = self.answer(
                        picked,
                        &entry,
                        (AnswerKind::Unknown, &Value::Null),
                        now,
                        transaction,
                        desk,
                        done,
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
        let mut plan = self.answer(picked, &entry, (kind, answer), now, transaction, desk, done)?;
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
        performed: &mut bool,
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
            operation: picked.effect,
            params: &params,
            memory: &[],
            me: NOBODY,
            now,
            answer: Some((kind, word)),
        };
        let source = Newest(transaction, schema.number);
        // the entry is closed before its handler runs, so that it may send the same key again
        let closing = Closing { inner: &source, key };
        let number = transaction.position();
        match perform(schema, &command, &desk.pool, &closing, number, &mut desk.room)? {
            Performed::Done(done) => {
                *performed = true;
                Ok(done.plan)
            }
            Performed::Refused(_) => Ok(Plan::default()),
            Performed::Later => Err(ReadError::NotFetched),
        }
    }
}

enum Prepared {
    Idle(i64),
    Deliver(Picked),
    Claimed(Picked, Plan),
    Message(Picked, Plan),
}

/// The store as it is, but for one outbox entry that is closed.
struct Closing<'t> {
    inner: &'t dyn crate::core::Source,
    key: Vec<u8>,
}

impl crate::core::Source for Closing<'_> {
    fn get(&self, key: &[u8]) -> crate::core::Got<'_> {
        if key == self.key { crate::core::Got::Absent } else { self.inner.get(key) }
    }

    fn stored(&self, digest: &[u8]) -> Option<bool> {
        self.inner.stored(digest)
    }
}

fn params_of(
    schema: &Schema,
    operation: OperationId,
    args: &[u8],
    desk: &Desk,
) -> Result<Vec<Word>, Wrong> {
    schema.codec().take_params(&mut Reader::new(args), operation, &mut desk.pool.borrow_mut())
}

/// The body of the call, from the truth as it is now.
fn delivery(
    schema: &Schema,
    command: &Command<'_>,
    name: &[u8],
    entry: &OutboxEntry,
    transaction: &dyn Transaction,
    desk: &mut Desk,
) -> Result<Delivery, ReadError> {
    let operation = &schema.design.operations[command.operation.index()];
    let OperationKind::Effect(effect) = &operation.kind else {
        unreachable!("only effects are called outside");
    };
    let source = Newest(transaction, schema.number);
    let mut loaded = Loaded::new(&desk.pool);
    let mut words = Vec::new();
    let called = loop {
        let scratch = &mut desk.room.scratch;
        match engine::call(&schema.program, &loaded, command, scratch) {
            Outcome::Need => {
                if !fetch(schema, &mut loaded, scratch.needs(), &source, &mut words)? {
                    return Err(ReadError::NotFetched);
                }
            }
            outcome => break outcome,
        }
    };
    let pool = desk.pool.borrow();
    let mut body = Map::new();
    if called == Outcome::Done {
        let mut at = 0;
        for (name, expr) in &effect.body {
            let width = engine::width_of(&expr.ty) as usize;
            let result = desk.room.scratch.result();
            let Some(words) = result.get(at..at + width) else { break };
            body.insert(name.clone(), values::write(&schema.design, &expr.ty, words, &pool));
            at += width;
        }
    }
    Ok(Delivery {
        design: schema.design.name.clone(),
        actor: schema.design.actors[operation.actor.index()].name.clone(),
        effect: operation.name.clone(),
        method: effect.method.clone(),
        url: effect.url.clone(),
        key: key_text(schema, command.operation, name),
        body: Value::Object(body),
        attempt: entry.entry.attempts,
        trace: entry.trace.clone(),
    })
}

/// An entry that is closed is as good as one that was never there. A handler may have sent it again,
/// under the same key: then it stays, and only the time that it had before goes.
fn close(key: OutboxKey<'_>, entry: &OutboxEntry, plan: &mut Plan) {
    let open = entry.entry.state == EntryState::Open;
    let due = open.then(|| key.due(entry.entry.next_at).to_bytes());
    for key in due.into_iter().chain([key.to_bytes()]) {
        if plan.pending(&key).is_none() {
            plan.delete(&key);
        }
    }
}

pub(super) fn move_entry(
    key: OutboxKey<'_>,
    before: &OutboxEntry,
    after: &OutboxEntry,
    plan: &mut Plan,
) {
    if before.entry.state == EntryState::Open {
        plan.delete(&key.due(before.entry.next_at).to_bytes());
    }
    plan.put(&key.to_bytes(), &after.to_bytes());
    if after.entry.state == EntryState::Open {
        plan.put(&key.due(after.entry.next_at).to_bytes(), &[]);
        plan.wake_at(after.entry.next_at);
    }
}
