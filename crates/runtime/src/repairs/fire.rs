//! Repairs fire when they are due: the index is read in the order of time, nothing is scanned.

use std::ops::ControlFlow;

use design::model::{OperationId, OperationKind};
use engine::{Command, Due, Word};
use layout::{
    Damaged, Head, Pool, Reader, RecordKey, RepairDueKey, Space, Wrong, log_of, put_head, take_head,
};
use serde_json::Value;
use store::{Decision, KeyRange, Transaction};
use telemetry::Trace;

use super::elsewhere::{PATIENCE_MAX, again};
use crate::aside::{attempt, move_aside};
use crate::calls::{CallError, Performed, fetch, perform, reindex};
use crate::core::{Desk, Loaded, NOBODY, Newest, Plan, ReadError, Runtime, apply};
use crate::logs::{self, Forgotten};
use crate::servers::Turn;
use crate::values;

/// What a look at the index came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fired {
    /// the repair was done
    Done,
    /// it was not due after all, and stands at another time now
    Moved,
    /// the entry could not be worked on: it stands apart from the index now, with the reason
    SetAside,
    /// nothing is due before this time
    Idle(Option<i64>),
}

/// The first entry of the index that is accepted, and from when on it is this server's turn.
struct First {
    key: Vec<u8>,
    from: i64,
}

impl Runtime {
    /// Fires the repair that has been due longest, if one is due.
    pub fn fire_one(&self) -> Result<Fired, CallError> {
        self.fire_first(&mut |_| true, false)
    }

    /// Fires this repair of this record, though it may stand in the index for a later time. For
    /// tests that choose the order in which things happen; `Idle`: it does not stand there at all.
    pub fn fire_early(&self, repair: &str, key: &[Value]) -> Result<Fired, CallError> {
        let (id, record) = self.repair_of(repair, key)?;
        let record = RecordKey::parse(&record)?;
        let mut chosen = |key: &[u8]| {
            RepairDueKey::parse(key).is_ok_and(|due| due.repair == id && due.record == record)
        };
        self.fire_first(&mut chosen, true)
    }

    /// This repair, and the key of this record of its subject.
    fn repair_of(&self, repair: &str, key: &[Value]) -> Result<(OperationId, Vec<u8>), CallError> {
        let schema = &*self.schema;
        let found = schema.design.operations.iter().enumerate().find_map(|(at, known)| {
            let subject = known.params.first()?.ty.subject()?;
            let is_repair = matches!(known.kind, OperationKind::Repair { .. });
            (is_repair && known.name == repair).then_some((OperationId::of(at), subject))
        });
        let Some((id, subject)) = found else {
            return Err(CallError::Unknown(format!(
                "`{}` has no repair `{repair}`",
                schema.design.name
            )));
        };
        let mut pool = Pool::new(schema.program.texts());
        let handle = values::read_key(&schema.design, subject, &mut key.iter(), &mut pool)
            .map_err(CallError::Bad)?;
        Ok((id, schema.codec().record_key(subject, handle, &pool)))
    }

    /// Fires the first entry of the index that is accepted; `early`: whenever it is due.
    fn fire_first(
        &self,
        accept: &mut dyn FnMut(&[u8]) -> bool,
        early: bool,
    ) -> Result<Fired, CallError> {
        self.attend()?;
        let turn = self.whose_turn();
        let mut desk = self.desk();
        let mut outcome: Result<Fired, CallError> = Ok(Fired::Idle(None));
        let mut fired = None;
        let mut mistaken = None;
        let mut wake = None;
        let mut forgotten = 0;
        let mut moved = None;
        let ticket = self.transact(&mut |transaction| {
            desk.pool.borrow_mut().reset();
            (fired, mistaken, wake, forgotten, moved) = (None, None, None, 0, None);
            let now = self.now_in(transaction);
            let first = self.first_due(&*transaction, now, &turn, accept);
            let Some(First { key, from }) = first else {
                outcome = Ok(Fired::Idle(None));
                return Decision::Abandon;
            };
            if from > now && !early {
                outcome = Ok(Fired::Idle(Some(from)));
                return Decision::Abandon;
            }
            // it was only glanced at: it counts as read now, and somebody else may have been faster
            if self.fence.is_some() && transaction.get(&key).is_none() {
                outcome = Ok(Fired::Moved);
                return Decision::Abandon;
            }
            let attempted =
                attempt(|| self.fire(&key, (now, early), &*transaction, &mut desk, &mut mistaken));
            match attempted {
                Ok(Ok((result, plan))) => {
                    if let (Fired::Done, Ok(due)) = (result, RepairDueKey::parse(&key)) {
                        fired = Some(due.repair);
                    }
                    outcome = Ok(result);
                    match plan {
                        Some(plan) => {
                            let entry = Some(Space::LogEntry);
                            forgotten = plan.writes().filter(|w| Space::of(w.0) == entry).count();
                            apply(&plan, transaction);
                            wake = plan.wake;
                            Decision::Commit
                        }
                        None => Decision::Abandon,
                    }
                }
                Ok(Err(error)) => {
                    outcome = Err(error);
                    Decision::Abandon
                }
                Err(trouble) => {
                    moved = move_aside(self.schema.number, &[key], &trouble, now, transaction);
                    outcome = Ok(Fired::SetAside);
                    Decision::Commit
                }
            }
        });
        // a panic may have left it in the middle of something
        if moved.is_none() {
            self.give_back(desk);
        }
        ticket?;
        if let Some(moved) = &moved {
            self.tell_moved(moved);
        }
        match fired {
            Some(repair) if log_of(repair).is_none() => self.counters.done(repair),
            _ => self.counters.forgot(forgotten),
        }
        if let Some((repair, reason)) = mistaken {
            self.counters.refused(repair, reason);
        }
        if let Some(at) = wake {
            self.alarm.ring(at);
        }
        outcome
    }

    /// The entry that has been due longest of those whose turn is this server's; if there is none yet, the one whose
    /// turn comes first. An entry that cannot be read is anybody's.
    fn first_due(
        &self,
        transaction: &dyn Transaction,
        now: i64,
        turn: &Turn,
        accept: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<First> {
        let start = Space::RepairDue.prefix(self.schema.number).to_vec();
        let mut first: Option<First> = None;
        transaction.glance(&KeyRange::prefix(start), false, &mut |key, _, _| {
            if !accept(key) {
                return ControlFlow::Continue(());
            }
            let (due, from) = match RepairDueKey::parse(key) {
                Ok(due) if turn.is_alone() => (due.at, due.at),
                Ok(due) => (due.at, turn.from(&due.record.to_bytes(), due.at)),
                Err(_) => (i64::MIN, i64::MIN),
            };
            if first.as_ref().is_none_or(|first| from < first.from) {
                first = Some(First { key: key.to_vec(), from });
            }
            // nothing that follows is due earlier
            let found = first.as_ref().is_some_and(|first| first.from <= now.max(due));
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        first
    }

    /// Fires what is due, at most `repair_batch` of them. Gives how many were done, and when the
    /// next is due.
    pub fn fire_due(&self) -> Result<(usize, Option<i64>), CallError> {
        let mut done = 0;
        for _ in 0..self.settings.repair_batch {
            match self.fire_one()? {
                Fired::Done => done += 1,
                Fired::Moved | Fired::SetAside => {}
                Fired::Idle(next) => return Ok((done, next)),
            }
        }
        Ok((done, Some(self.clock.now_ms())))
    }

    fn fire(
        &self,
        key: &[u8],
        (now, early): (Word, bool),
        transaction: &dyn Transaction,
        desk: &mut Desk,
        mistaken: &mut Option<(OperationId, &'static str)>,
    ) -> Result<(Fired, Option<Plan>), ReadError> {
        let schema = &*self.schema;
        let RepairDueKey { at, repair, record: record_key } = RepairDueKey::parse(key)?;
        if at > now && !early {
            return Ok((Fired::Idle(Some(at)), None));
        }
        let subject = record_key.subject;
        let record = schema.codec().handle(record_key, &mut desk.pool.borrow_mut())?;
        if let Some(log) = log_of(repair) {
            let source = Newest(transaction, schema.number);
            let (pool, room) = (&desk.pool, &mut desk.room);
            return match logs::forget(schema, (subject, record), log, now, pool, &source, room)? {
                Forgotten::Done(plan) => Ok((Fired::Done, Some(plan))),
                Forgotten::Nothing(next) => {
                    let mut plan = Plan::default();
                    reschedule(record_key, repair, next, transaction, &mut plan)?;
                    Ok((Fired::Moved, Some(plan)))
                }
            };
        }
        let declared =
            schema.codec().operation(repair).map_err(|wrong| Damaged::key(key, wrong))?;
        let of = declared.params.first().and_then(|param| param.ty.subject());
        let OperationKind::Repair { every, .. } = declared.kind else {
            return Err(Damaged::key(key, Wrong::OtherKind).into());
        };
        if of != Some(subject) {
            return Err(Damaged::key(key, Wrong::OtherKind).into());
        }
        let params = [record];
        let command = Command::of_nobody(repair, &params, now);
        let source = Newest(transaction, schema.number);
        let number = transaction.number();
        // as far as it is known: an index that was made anew does not say
        desk.room.trace = transaction.get(key).and_then(|(_, cause)| Trace::take(cause));
        let performed = perform(schema, &command, &desk.pool, &source, number, &mut desk.room)?;
        match performed {
            Performed::Later => Err(ReadError::NotFetched),
            Performed::Done(mut done) => {
                let own = done.changed.iter().any(|c| c.subject == subject && c.key == record);
                if !own {
                    // it changed other things only: its own record still says that it is due
                    let next =
                        now.saturating_add(every.unwrap_or(0).max(self.settings.reexamine_ms));
                    reschedule(record_key, repair, Some(next), transaction, &mut done.plan)?;
                }
                Ok((Fired::Done, Some(done.plan)))
            }
            Performed::Refused(refused) => {
                if refused.refusal.clause.is_none() {
                    // the guard holds and the body fails: a mistake of the design, to be seen
                    *mistaken = Some((repair, refused.refusal.reason.name()));
                }
                let soon = now.saturating_add(self.patience(record_key, now, transaction)?);
                let next = self.next_due((repair, record), (now, soon), transaction, desk)?;
                let mut plan = Plan::default();
                let known = reschedule(record_key, repair, next, transaction, &mut plan)?;
                // An entry that its record does not know of would be met again and again.
                if known != Some(at) && next != Some(at) {
                    let record = self.key_of(record_key).map(Value::from).unwrap_or_default();
                    let name = &declared.name;
                    tracing::error!(repair = %name, %record, "an entry of the index of repairs was left over; it is removed");
                    plan.delete(key);
                }
                Ok((Fired::Moved, Some(plan)))
            }
        }
    }

    /// How long a repair waits that something else may make due: as long as its record has waited already, so
    /// that one that waits for days does not cost a commit a second.
    fn patience(
        &self,
        record: RecordKey<'_>,
        now: Word,
        transaction: &dyn Transaction,
    ) -> Result<Word, ReadError> {
        let key = record.to_bytes();
        let Some((_, bytes)) = transaction.get(&key) else {
            return Err(ReadError::absent(transaction, &key));
        };
        let head = take_head(&mut Reader::new(bytes)).map_err(|it| ReadError::value(&key, it))?;
        let least = self.settings.reexamine_ms.max(1);
        Ok(now.saturating_sub(head.written_at).clamp(least, least.saturating_mul(PATIENCE_MAX)))
    }

    /// When a repair that was refused is to be looked at again: not before `soon`, if its record has not changed.
    fn next_due(
        &self,
        (repair, record): (OperationId, Word),
        (now, soon): (Word, Word),
        transaction: &dyn Transaction,
        desk: &mut Desk,
    ) -> Result<Option<Word>, ReadError> {
        let schema = &*self.schema;
        let source = Newest(transaction, schema.number);
        let mut loaded = Loaded::new(&desk.pool);
        let mut words = Vec::new();
        loop {
            let scratch = &mut desk.room.scratch;
            match engine::due(&schema.program, &loaded, repair, record, NOBODY, now, scratch) {
                Due::Need => {
                    if !fetch(schema, &mut loaded, scratch.needs(), &source, &mut words)? {
                        return Err(ReadError::NotFetched);
                    }
                }
                // the guard holds and the repair was refused all the same: a mistake in its body
                Due::Now => return Ok(Some(soon)),
                Due::At(at) => return Ok(Some(at)),
                Due::Never => {
                    return Ok(again(schema, &loaded, (repair, record), (now, soon), scratch));
                }
            }
        }
    }
}

/// Moves one repair of one record to another time, in the record and in the index. Gives the time that the record knew.
fn reschedule(
    record: RecordKey<'_>,
    repair: OperationId,
    next: Option<Word>,
    transaction: &dyn Transaction,
    plan: &mut Plan,
) -> Result<Option<Word>, ReadError> {
    let stored_key = record.to_bytes();
    let wrong = |wrong| ReadError::value(&stored_key, wrong);
    let Some((_, bytes)) = transaction.get(&stored_key) else {
        return Err(ReadError::absent(transaction, &stored_key));
    };
    let mut reader = Reader::new(bytes);
    let before = take_head(&mut reader).map_err(wrong)?;
    let mut after = Head { written_at: before.written_at, due: before.due.clone() };
    after.due.retain(|(known, _)| *known != repair);
    if let Some(at) = next {
        after.due.push((repair, at));
    }
    let mut value = Vec::new();
    put_head(&mut value, &after);
    value.extend_from_slice(reader.rest());
    reindex(&before, &after, record, None, plan);
    plan.put(&stored_key, &value);
    Ok(before.due_of(repair))
}
