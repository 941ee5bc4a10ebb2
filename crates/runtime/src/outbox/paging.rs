//! `send each`: one entry goes through a set of any size, a page at a time.
//!
//! A page is one commit: those whose turn it is get entries of their own, and the round has come past them. So a kill
//! loses nothing and repeats nothing, whenever it comes. While many of those entries are still open, the round waits.

use std::ops::ControlFlow;

use design::model::{OperationId, OperationKind, StmtKind, SubjectId};
use engine::outbox::{Entry, EntryState};
use engine::round::{Key, Round};
use engine::{Command, Word};
use layout::key::put_parts;
use layout::{OutboxEntry, OutboxKey, Reader, RecordKey, Wrong, take_round, value};
use serde_json::Value;
use store::{KeyRange, Transaction};

use super::deliver::{close, move_entry};
use crate::calls::{Performed, perform};
use crate::core::{Desk, NOBODY, Newest, Plan, ReadError, Runtime, operations_left};

/// So many have their turn in one commit.
const PAGE: usize = 128;
/// Fewer, where what is sent to them is this much.
const PAGE_BYTES: usize = 64 << 10;
/// While so many entries of the effect are open, no further page is read.
const OPEN_MAX: usize = 1_024;
/// Then it is looked at again after this time.
const WAIT_MS: Word = 20;

impl Runtime {
    /// What the next page of a round writes.
    pub(super) fn page_of(
        &self,
        key: OutboxKey<'_>,
        entry: &OutboxEntry,
        now: Word,
        transaction: &dyn Transaction,
        desk: &mut Desk,
    ) -> Result<Plan, ReadError> {
        let schema = &*self.schema;
        let entry_key = key.to_bytes();
        let wrong = |wrong| ReadError::value(&entry_key, wrong);
        let operation = schema.codec().operation(key.operation).map_err(wrong)?;
        let mut plan = Plan::default();
        let later = |at: Word, args: Vec<u8>| OutboxEntry {
            entry: Entry { next_at: at, ..entry.entry },
            args,
            ..entry.clone()
        };
        if self.open_of(effect_of(&operation.body), transaction) >= OPEN_MAX {
            move_entry(key, entry, &later(now + WAIT_MS, entry.args.clone()), &mut plan);
            return Ok(plan);
        }
        let mut reader = Reader::new(&entry.args);
        let mut params = vec![NOBODY];
        for param in operation.carried() {
            let pool = &mut desk.pool.borrow_mut();
            value::take(&mut reader, &schema.design, &param.ty, pool, &mut params)
                .map_err(wrong)?;
        }
        let round = take_round(&mut reader).map_err(wrong)?;
        let carried = entry.args.len() - reader.rest().len();
        let record = operation.params[0].ty.subject().ok_or(Wrong::OtherKind).map_err(wrong)?;
        let parent = operation.params[1].ty.subject().ok_or(Wrong::OtherKind).map_err(wrong)?;
        let mut prefix = Vec::new();
        put_parts(&mut prefix, &schema.design, parent, params[1], &desk.pool.borrow());
        // of each turn: its record, what is sent, and when it is due
        let most = PAGE.min((operations_left(self.store.as_ref()) / 4).max(1));
        let turns = self.turns(record, &prefix, &round, most, transaction);
        let mut last = (turns.len() == most).then(|| turns[most - 1].clone());
        for (at, parts) in turns.iter().enumerate() {
            if plan.bytes() > PAGE_BYTES {
                last = Some(turns[at - 1].clone());
                break;
            }
            if self.is_passed_over(key.operation, parts, now) {
                continue;
            }
            let place = schema.codec().key_of(record, parts);
            params[0] = schema.codec().handle(place, &mut desk.pool.borrow_mut())?;
            let command = Command::of_nobody(key.operation, &params, now);
            let source = Newest(transaction, schema.number);
            let number = transaction.number();
            desk.room.trace.clone_from(&entry.trace);
            match perform(schema, &command, &desk.pool, &source, number, &mut desk.room)? {
                Performed::Done(done) => {
                    // each of them sends under another key; no truth changes, so nothing is fed
                    for (key, value) in done.plan.writes() {
                        plan.put(key, value.unwrap_or_default());
                    }
                    if let Some(at) = done.plan.wake {
                        plan.wake_at(at);
                    }
                    desk.room.reuse(done);
                }
                Performed::Refused(_) => {}
                Performed::Later => return Err(ReadError::NotFetched),
            }
        }
        let mut args = entry.args[..carried].to_vec();
        match round.turned(last) {
            Some(round) => {
                layout::put_round(&mut args, &round);
                move_entry(key, entry, &later(now, args), &mut plan);
            }
            None => close(key, entry, &mut plan),
        }
        Ok(plan)
    }

    /// The keys whose turn it is, without what all records have in front.
    fn turns(
        &self,
        record: SubjectId,
        prefix: &[u8],
        round: &Round,
        most: usize,
        transaction: &dyn Transaction,
    ) -> Vec<Key> {
        let number = self.schema.number;
        let key = |parts: &[u8]| RecordKey { design: number, subject: record, parts }.to_bytes();
        let mut range = KeyRange::prefix(key(prefix));
        if let Some(at) = &round.at {
            // the first key behind it
            let mut start = key(at);
            start.push(0);
            range.start = start.into();
        }
        let mut turns = Vec::new();
        transaction.scan(&range, false, &mut |key, _, _| {
            let parts = RecordKey::parse(key).map(|key| key.parts.to_vec()).unwrap_or_default();
            if !round.takes(&parts) {
                return ControlFlow::Break(());
            }
            turns.push(parts);
            if turns.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        turns
    }

    /// Does soft state say that this one is not to be told?
    fn is_passed_over(&self, operation: OperationId, parts: &[u8], now: Word) -> bool {
        let operation = &self.schema.design.operations[operation.index()];
        let soft = operation.each.as_ref().and_then(|each| each.soft);
        let (Some(attr), Some(subject)) = (soft, operation.params[0].ty.subject()) else {
            return false;
        };
        let subject = &self.schema.design.subjects[subject.index()];
        let attribute = &subject.attributes[attr.index()];
        let state = &subject.states[attribute.state.index()].name;
        let kept = self.ephemerals.get(state, parts, now);
        !kept.is_some_and(|kept| kept[&attribute.name] == Value::Bool(true))
    }

    /// How many entries of an effect wait for an answer and are tried; not more than matter.
    fn open_of(&self, effect: Option<OperationId>, transaction: &dyn Transaction) -> usize {
        let Some(operation) = effect else { return 0 };
        let prefix = OutboxKey { design: self.schema.number, operation, name: &[] }.to_bytes();
        let mut open = 0;
        transaction.glance(&KeyRange::prefix(prefix), false, &mut |_, _, value| {
            let entry = OutboxEntry::take(value);
            open += usize::from(entry.is_ok_and(|entry| entry.entry.state == EntryState::Open));
            if open >= OPEN_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        open
    }

    /// May an operation of this design be a page of a round?
    pub(super) fn is_each(&self, operation: OperationId) -> bool {
        let operation = self.schema.design.operations.get(operation.index());
        operation.is_some_and(|held| {
            held.each.is_some() && matches!(held.kind, OperationKind::Step { .. })
        })
    }
}

fn effect_of(body: &[design::model::Stmt]) -> Option<OperationId> {
    body.iter().find_map(|statement| match statement.kind {
        StmtKind::Send { operation, .. } => Some(operation),
        _ => None,
    })
}
