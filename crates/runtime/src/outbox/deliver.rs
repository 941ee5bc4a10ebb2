//! The world outside: effects are delivered at least once, under a key that stays the same.

use std::ops::ControlFlow;

use design::model::{OperationId, OperationKind};
use engine::outbox::{Entry, EntryState};
use engine::{Command, Outcome, Word};
use layout::{
    OutboxDueKey, OutboxEntry, OutboxKey, Reader, Space, Wrong, event_key, put_claim, take_claim,
};
use serde_json::{Map, Value};
use store::{Decision, KeyRange, Transaction};
use telemetry::Trace;

use super::chosen::{Choice, Chosen};
use super::naming::key_text;
use crate::aside::{attempt, caught, move_aside};
use crate::calls::{CallError, Performed, clause_name, fetch, perform};
use crate::core::{Desk, Loaded, Newest, Plan, ReadError, Runtime, Schema, apply};
use crate::servers::Turn;
use crate::values;

/// What is said of an entry whose server has ended, or could not write down what it was answered.
const ORPHANED: &str = "whoever delivered it did not come back with an answer";

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
    /// an entry could not be worked on: it stands apart from the outbox now, with the reason
    SetAside,
    /// nothing is to be done before this time
    Idle(Option<i64>),
}

/// An entry on its way to the other side.
pub(super) struct Picked {
    pub effect: OperationId,
    /// what names the call
    pub name: Vec<u8>,
    /// where it stands in the index of due deliveries
    pub due: Vec<u8>,
    /// none: a message, which is already done
    pub delivery: Option<Delivery>,
    /// the clause that refused a message
    refused: Option<String>,
    /// the server that had it in hand has ended, and nobody knows what the other side did
    orphaned: bool,
}

impl Picked {
    /// Where its entry stands.
    pub fn key(&self, schema: &Schema) -> OutboxKey<'_> {
        OutboxKey { design: schema.number, operation: self.effect, name: &self.name }
    }
}

impl Runtime {
    /// Delivers the entry that has waited longest, if one is to be tried now.
    pub fn deliver_one(&self, outside: &dyn Outside) -> Result<Worked, CallError> {
        self.deliver_first(outside, Choice::default())
    }

    /// Delivers the first entry that is chosen; without a choice, the first that is to be tried now.
    pub(crate) fn deliver_first(
        &self,
        outside: &dyn Outside,
        choice: Choice<'_>,
    ) -> Result<Worked, CallError> {
        self.attend()?;
        let picked = match self.pick(choice)? {
            Pick::Entry(picked) => picked,
            Pick::Again => return Ok(Worked::Tried),
            Pick::Idle(at) => return Ok(Worked::Idle(at)),
            Pick::SetAside => return Ok(Worked::SetAside),
        };
        match (&picked.delivery, &picked.refused) {
            (Some(_), _) if picked.orphaned => {
                // an attempt like any other of which nothing is known: it counts
                let trouble = ORPHANED.to_string();
                let settled =
                    self.settle(&picked, &Delivered::Unknown { trouble, retry_after_ms: None });
                self.in_flight().remove(&picked.key(&self.schema).to_bytes());
                return settled;
            }
            (Some(delivery), _) => {
                let settled = match caught(|| outside.deliver(delivery)) {
                    Ok(delivered) => self.settle(&picked, &delivered),
                    Err(trouble) => self.give_up(&picked, &trouble),
                };
                self.in_flight().remove(&picked.key(&self.schema).to_bytes());
                return settled;
            }
            (None, Some(clause)) => {
                self.counters.refused(picked.effect, clause);
                self.tell_refused(picked.effect, clause);
            }
            (None, None) => self.counters.done(picked.effect),
        }
        Ok(Worked::Tried)
    }

    /// Takes the first entry that is due and that nobody has in hand.
    fn pick(&self, choice: Choice<'_>) -> Result<Pick, CallError> {
        let mut desk = self.desk();
        let turn = self.whose_turn();
        let mut outcome: Result<Pick, CallError> = Ok(Pick::Idle(None));
        let mut wake = None;
        let (mut moved, mut claimed) = (None, None);
        let ticket = self.transact(&mut |transaction| {
            desk.pool.borrow_mut().reset();
            (outcome, wake, moved, claimed) = (Ok(Pick::Idle(None)), None, None, None);
            let now = self.now_in(transaction);
            let Some((key, from)) = self.first_waiting(choice.of, now, &turn, &*transaction) else {
                return Decision::Abandon;
            };
            if from > now && choice.of.is_none() {
                outcome = Ok(Pick::Idle(Some(from)));
                return Decision::Abandon;
            }
            // it was only glanced at: it counts as read now, and somebody else may have been faster
            if self.fence.is_some() && transaction.get(&key).is_none() {
                outcome = Ok(Pick::Again);
                return Decision::Abandon;
            }
            let key = self.first_of_its_key(key, &*transaction);
            match attempt(|| self.prepare(&key, (now, choice), &*transaction, &mut desk)) {
                Ok(Ok(Prepared::Idle(at))) => {
                    outcome = Ok(Pick::Idle(Some(at)));
                    Decision::Abandon
                }
                Ok(Ok(Prepared::Deliver(picked))) => {
                    self.in_flight().insert(picked.key(&self.schema).to_bytes());
                    outcome = Ok(Pick::Entry(picked));
                    Decision::Abandon
                }
                Ok(Ok(Prepared::Waits(plan))) => {
                    apply(&plan, transaction);
                    outcome = Ok(Pick::Again);
                    Decision::Commit
                }
                Ok(Ok(Prepared::Claimed(picked, plan))) => {
                    apply(&plan, transaction);
                    claimed = Some(picked.key(&self.schema).to_bytes());
                    outcome = Ok(Pick::Entry(picked));
                    Decision::Commit
                }
                Ok(Ok(Prepared::Message(picked, plan))) => {
                    apply(&plan, transaction);
                    wake = plan.wake;
                    outcome = Ok(Pick::Entry(picked));
                    Decision::Commit
                }
                Ok(Err(error)) => {
                    outcome = Err(error);
                    Decision::Abandon
                }
                Err(trouble) => {
                    let entry = OutboxDueKey::parse(&key).ok().map(|due| due.entry.to_bytes());
                    let keys: Vec<Vec<u8>> = entry.into_iter().chain([key]).collect();
                    moved = move_aside(self.schema.number, &keys, &trouble, now, transaction);
                    outcome = Ok(Pick::SetAside);
                    Decision::Commit
                }
            }
        });
        // a panic may have left it in the middle of something
        if moved.is_none() {
            self.give_back(desk);
        }
        let ticket = ticket?;
        if let Some(at) = wake {
            self.alarm.ring(at);
        }
        self.in_flight().extend(claimed);
        // the world is told of nothing that a crash could still take back
        if let Err(error) = ticket.wait() {
            if let Ok(Pick::Entry(picked)) = &outcome {
                self.in_flight().remove(&picked.key(&self.schema).to_bytes());
            }
            return Err(error.into());
        }
        if let Some(moved) = &moved {
            self.tell_moved(moved);
        }
        outcome
    }

    /// The first key in the index of due deliveries that is chosen and not under way, and from when on it is this
    /// server's turn. One that cannot be read is found, too, unless somebody chooses: it is to be set aside.
    fn first_waiting(
        &self,
        chosen: Option<&Chosen<'_>>,
        now: i64,
        turn: &Turn,
        transaction: &dyn Transaction,
    ) -> Option<(Vec<u8>, i64)> {
        let start = Space::OutboxDue.prefix(self.schema.number).to_vec();
        let in_flight = self.in_flight();
        let is_under_way = |due: OutboxDueKey<'_>| {
            !in_flight.is_empty() && in_flight.contains(&due.entry.to_bytes())
        };
        let mut found: Option<(Vec<u8>, i64)> = None;
        transaction.glance(&KeyRange::prefix(start), false, &mut |key, _, _| {
            if OutboxDueKey::parse(key).is_ok_and(is_under_way)
                || chosen.is_some_and(|chosen| !self.is_chosen(key, chosen, transaction))
            {
                return ControlFlow::Continue(());
            }
            let (due, from) = match OutboxDueKey::parse(key) {
                Ok(due) if turn.is_alone() || chosen.is_some() => (due.at, due.at),
                Ok(due) => (due.at, turn.from(&self.known_by(due.entry), due.at)),
                Err(_) => (i64::MIN, i64::MIN),
            };
            if found.as_ref().is_none_or(|(_, first)| from < *first) {
                found = Some((key.to_vec(), from));
            }
            // nothing that follows is due earlier
            let over = found.as_ref().is_some_and(|(_, first)| *first <= now.max(due));
            if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found
    }

    /// What decides whose turn a delivery is: all events of one key are the same server's.
    fn known_by(&self, entry: OutboxKey<'_>) -> Vec<u8> {
        let operation = self.schema.design.operations.get(entry.operation.index());
        match operation.is_some_and(|operation| operation.hears.is_some()) {
            true => OutboxKey { name: event_key(entry.name), ..entry }.to_bytes(),
            false => entry.to_bytes(),
        }
    }

    fn prepare(
        &self,
        key: &[u8],
        (now, choice): (Word, Choice<'_>),
        transaction: &dyn Transaction,
        desk: &mut Desk,
    ) -> Result<Prepared, ReadError> {
        let schema = &*self.schema;
        let due = key;
        let OutboxDueKey { at, entry: key } = OutboxDueKey::parse(due)?;
        if at > now && choice.of.is_none() {
            return Ok(Prepared::Idle(at));
        }
        let (effect, entry_key) = (key.operation, key.to_bytes());
        let Some((_, bytes)) = transaction.get(&entry_key) else {
            return Err(ReadError::absent(transaction, &entry_key));
        };
        let wrong = |wrong| ReadError::value(&entry_key, wrong);
        let entry = OutboxEntry::take(bytes).map_err(wrong)?;
        if self.is_each(effect) {
            let plan = self.page_of(key, &entry, now, transaction, desk)?;
            let (name, due) = (key.name.to_vec(), due.to_vec());
            let picked =
                Picked { effect, name, due, delivery: None, refused: None, orphaned: false };
            return Ok(Prepared::Message(picked, plan));
        }
        let params = params_of(schema, effect, &entry.args, desk).map_err(wrong)?;
        let command = Command::of_nobody(effect, &params, now);
        let due_key = due;
        let (name, due) = (key.name.to_vec(), due.to_vec());
        let mut picked =
            Picked { effect, name, due, delivery: None, refused: None, orphaned: false };
        let operation = schema.codec().operation(effect).map_err(wrong)?;
        if matches!(operation.kind, OperationKind::Repair { .. } | OperationKind::Read { .. }) {
            return Err(wrong(Wrong::OtherKind));
        }
        if !matches!(operation.kind, OperationKind::Effect(_)) {
            let source = Newest(transaction, schema.number);
            let number = transaction.number();
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
            if !choice.stays {
                close(key, &entry, &mut plan);
            }
            return Ok(Prepared::Message(picked, plan));
        }
        let delivery = delivery(schema, &command, key.name, &entry, transaction, desk)?;
        picked.delivery = Some(delivery);
        if !self.is_shared() {
            return Ok(Prepared::Deliver(picked));
        }
        let claim = transaction.get(due_key).map_or(&[][..], |(_, claim)| claim);
        let owner = take_claim(claim).map_err(|wrong| ReadError::value(due_key, wrong))?;
        let lives = match owner {
            Some(server) if server != self.server() => self.is_alive(server, now, transaction)?,
            _ => false,
        };
        let claimed = OutboxEntry {
            entry: Entry { next_at: now.saturating_add(self.settings.claim_ms), ..entry.entry },
            ..entry.clone()
        };
        let mut plan = Plan::default();
        move_entry(key, &entry, &claimed, &mut plan);
        picked.due = key.due(claimed.entry.next_at).to_bytes();
        let server = if lives { owner } else { Some(self.server()) };
        plan.put(&picked.due, &put_claim(server));
        if lives {
            return Ok(Prepared::Waits(plan));
        }
        picked.orphaned = owner.is_some();
        Ok(Prepared::Claimed(picked, plan))
    }
}

/// What there was to pick.
enum Pick {
    Entry(Picked),
    /// somebody else has it, or was faster: the next look finds another one
    Again,
    Idle(Option<i64>),
    SetAside,
}

enum Prepared {
    Idle(i64),
    /// the server that has it in hand lives: it is looked at again later
    Waits(Plan),
    Deliver(Picked),
    Claimed(Picked, Plan),
    Message(Picked, Plan),
}

pub(super) fn params_of(
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
pub(super) fn close(key: OutboxKey<'_>, entry: &OutboxEntry, plan: &mut Plan) {
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
