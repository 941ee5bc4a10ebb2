//! Within a transaction: a call is given its kept outcome again, refused, or done and planned.

use design::model::{OperationKind, StateKind};
use engine::idempotency::{Stored, Verdict, check};
use engine::{Command, Word};
use layout::Space;
use layout::key::put_parts;
use serde_json::{Map, Value};
use store::{Cursor, Decision, Partition, Transaction};

use super::apart;
use super::ask::{Ask, Told};
use super::ephemeral::TTL_MS;
use super::idempotency::{self, Outcome};
use super::legal;
use super::perform::{Done, Performed, Refused, Room, perform};
use super::reply::{self, CallError, Reply};
use super::request::memory_name;
use super::result::{self, Tree};
use super::text_answer;
use crate::core::{
    Got, HotTouches, Newest, Plan, ReadError, Records, Runtime, Seen, Source, apply,
};
use crate::sight::{Eye, Looked, Mask};
use crate::values;

/// What a transaction came to.
pub(crate) enum Finished {
    /// what was kept, and its version
    Replay(Box<Outcome>, u64),
    /// what is kept, or what of each changed record is seen
    Done(Box<Done>, Option<Box<Outcome>>, Vec<Mask>),
    Read(Box<(Outcome, Tree)>),
}

impl Runtime {
    /// Decides a call and writes what it changes into the transaction.
    pub(crate) fn run(
        &self,
        ask: &Ask,
        now: Word,
        number: u64,
        transaction: &mut dyn Transaction,
        room: &mut Room,
    ) -> (Decision, Result<Finished, CallError>) {
        let decided = self.decide(ask, now, number, transaction, room);
        let Ok(Finished::Done(done, ..)) = &decided else {
            return (Decision::Abandon, decided);
        };
        if done.plan.is_empty() {
            return (Decision::Abandon, decided);
        }
        apply(&done.plan, transaction);
        (Decision::Commit, decided)
    }

    /// Replayed, refused, or done and planned.
    pub(crate) fn decide(
        &self,
        ask: &Ask,
        now: Word,
        number: u64,
        transaction: &dyn Transaction,
        room: &mut Room,
    ) -> Result<Finished, CallError> {
        let Ask { id, arguments, terms, pool, .. } = ask;
        let (id, viewer) = (*id, terms.viewer.as_ref());
        let retention = self.settings.idempotency_retention_ms;
        let mut outdated = None;
        if let Some((key, payload)) = &terms.idempotent
            && let key = key.to_bytes()
            && let Some((version, bytes)) = transaction.get(&key)
        {
            let stored = idempotency::take(bytes);
            let stored = stored.map_err(|wrong| ReadError::value(&key, wrong))?;
            match check(Some(&stored), *payload, now, retention) {
                Verdict::Replay(outcome) => {
                    return Ok(Finished::Replay(Box::new(outcome.clone()), version.0));
                }
                Verdict::OtherPayload => return Err(CallError::OtherPayload),
                Verdict::Proceed => outdated = Some(stored.expires_at(retention)),
            }
        }
        if let Some(expected) = &terms.if_match {
            legal::precondition(&self.schema, ask, expected, transaction)?;
        }
        let command = Command {
            operation: id,
            params: &arguments.params,
            memory: &arguments.memory,
            me: arguments.me,
            now,
            answer: None,
        };
        let bond =
            apart::check(&self.schema, id, pool.borrow().content(arguments.me), transaction)?;
        let source = Newest(transaction, self.schema.number);
        room.trace.clone_from(&terms.trace);
        let expected = &ask.expected;
        let performed = perform(&self.schema, &command, pool, expected, &source, number, room)?;
        match performed {
            Performed::Later => Err(CallError::NotFetched),
            Performed::Refused(refused) => {
                let eye = self.eye(viewer);
                let masks = masks(eye.as_ref(), &refused.seen, ask, &source)?;
                let Refused { refusal, seen } = &refused;
                let mut refusal =
                    reply::refused(&self.schema, id, refusal, seen, &masks, &pool.borrow());
                if terms.legal {
                    let eye = eye.as_ref();
                    refusal.legal = legal::legal(&self.schema, &command, pool, &source, eye)?;
                }
                Err(CallError::Refused(Box::new(refusal)))
            }
            Performed::Done(mut done) => {
                if matches!(
                    self.schema.design.operations[id.index()].kind,
                    OperationKind::Read { .. }
                ) {
                    // a read changes nothing: there is nothing to give again
                    let scratch = &room.scratch;
                    let tree = result::tree(
                        &self.schema,
                        id,
                        scratch,
                        &mut pool.borrow_mut(),
                        transaction,
                    )?;
                    let memory = self.outcome(ask, &done, false, &[]);
                    let Some(eye) = self.eye(viewer) else {
                        return Ok(Finished::Read(Box::new((memory, tree))));
                    };
                    let read: Vec<Looked<'_>> = scratch
                        .reads()
                        .map(|it| Looked { subject: it.subject, key: it.key, words: it.record })
                        .collect();
                    let tree = eye.answer(id, tree, &read, pool, &source)?;
                    return Ok(Finished::Read(Box::new((memory, tree))));
                }
                bond.keep(done.now, &mut done.plan);
                let eye = self.eye(viewer);
                let Some((key, payload)) = &terms.idempotent else {
                    let masks = match (&eye, terms.brief) {
                        (Some(_), false) => {
                            // what is seen is asked of the truth as it is after the step
                            let after = After { plan: &done.plan, before: &source };
                            masks(eye.as_ref(), &done.changed, ask, &after)?
                        }
                        _ => Vec::new(),
                    };
                    return Ok(Finished::Done(done, None, masks));
                };
                let masks = masks(eye.as_ref(), &done.changed, ask, &source)?;
                let outcome = self.outcome(ask, &done, true, &masks);
                let stored = Stored { payload: *payload, answer: outcome, at: done.now };
                if let Some(expired) = outdated {
                    done.plan.delete(&key.due(expired).to_bytes());
                }
                done.plan.put(&key.to_bytes(), &idempotency::put(&stored));
                let due = key.due(stored.expires_at(retention));
                done.plan.put(&due.to_bytes(), &[]);
                Ok(Finished::Done(done, Some(Box::new(stored.answer)), Vec::new()))
            }
        }
    }

    /// After its transaction: the answer, with where it stands in the feed; and what is counted. The
    /// views that a read names are still to be asked, outside of all transactions.
    pub(crate) fn conclude(
        &self,
        ask: &mut Ask,
        finished: Result<Finished, CallError>,
        cursor: Cursor,
        hot: &mut HotTouches<'_>,
        room: &mut Room,
    ) -> Result<Concluded, CallError> {
        match finished {
            Err(error) => {
                if let CallError::Refused(refused) = &error {
                    self.counters.refused(ask.id, &refused.clause);
                }
                Err(error)
            }
            Ok(Finished::Replay(outcome, version)) => {
                // elsewhere a version says nothing about the feed: what is said is not too early
                let revision = match self.is_shared() {
                    true => cursor,
                    false => Cursor::at(Partition::default(), version),
                };
                Ok(Concluded::Told(Told::Reply(Reply {
                    revision: revision.text(),
                    memory: outcome.memory,
                    truth: outcome.truth,
                    result: outcome.result,
                    replayed: true,
                })))
            }
            Ok(Finished::Read(read)) => {
                let (outcome, tree) = *read;
                self.counters.done(ask.id);
                let reply = Reply {
                    revision: cursor.text(),
                    memory: outcome.memory,
                    truth: Value::Array(Vec::new()),
                    result: Value::Null,
                    replayed: false,
                };
                Ok(Concluded::Read(reply, tree))
            }
            Ok(Finished::Done(done, outcome, masks)) => {
                self.counters.done(ask.id);
                for (key, _) in done.plan.writes() {
                    if Space::of(key) == Some(Space::Record) {
                        hot.touch(key);
                    }
                }
                if !done.soft.is_empty() {
                    self.keep_soft(&done, ask);
                }
                let told = match ask.text.take() {
                    Some(mut out) => {
                        let pool = ask.pool.borrow();
                        text_answer::write(&mut out, cursor, &self.schema, &done.changed, &pool);
                        Told::Text(out)
                    }
                    None => {
                        let outcome = match outcome {
                            Some(outcome) => *outcome,
                            None => self.outcome(ask, &done, !ask.terms.brief, &masks),
                        };
                        Told::Reply(Reply {
                            revision: cursor.text(),
                            memory: outcome.memory,
                            truth: outcome.truth,
                            result: outcome.result,
                            replayed: false,
                        })
                    }
                };
                room.reuse(done);
                Ok(Concluded::Told(told))
            }
        }
    }

    /// Soft state is kept beside the commit.
    fn keep_soft(&self, done: &Done, ask: &Ask) {
        let schema = &*self.schema;
        let pool = ask.pool.borrow();
        for soft in &done.soft {
            let subject = &schema.design.subjects[soft.subject.index()];
            let state = &subject.states[soft.state.index()];
            let attribute = &subject.attributes[soft.attr.index()];
            let ttl = match state.kind {
                StateKind::Ephemeral { ttl } => ttl.unwrap_or(TTL_MS),
                _ => TTL_MS,
            };
            let mut record = Vec::new();
            put_parts(&mut record, &schema.design, soft.subject, soft.key, &pool);
            let value = values::write(&schema.design, &attribute.ty, &soft.words, &pool);
            self.ephemerals.set(&state.name, &record, &attribute.name, value, done.now, ttl);
        }
    }

    fn outcome(&self, ask: &Ask, done: &Done, truth: bool, masks: &[Mask]) -> Outcome {
        let schema = &self.schema;
        let operation = &schema.design.operations[ask.id.index()];
        let pool = ask.pool.borrow();
        let mut memory = Map::new();
        for (used, word) in &done.memory {
            let used = &operation.memory[used.index()];
            let field = &schema.design.actors[used.actor.index()].memory[used.field.index()];
            let value = values::write(&schema.design, &field.ty, std::slice::from_ref(word), &pool);
            memory.insert(memory_name(&schema.design, operation, used), value);
        }
        let truth = match truth {
            true => reply::records(schema, &done.changed, masks, &pool),
            false => Value::Array(Vec::new()),
        };
        Outcome { memory, truth, result: Value::Null }
    }
}

impl Finished {
    /// When something is due that was caused.
    pub fn wake(&self) -> Option<i64> {
        match self {
            Finished::Done(done, ..) => done.plan.wake,
            Finished::Replay(..) | Finished::Read(_) => None,
        }
    }
}

/// The truth as it is after a plan.
struct After<'a> {
    plan: &'a Plan,
    before: &'a dyn Source,
}

impl Source for After<'_> {
    fn get(&self, key: &[u8]) -> Got<'_> {
        match self.plan.pending(key) {
            Some(Some(value)) => Got::Present(u64::MAX, value),
            Some(None) => Got::Absent,
            None => self.before.get(key),
        }
    }

    fn stored(&self, digest: &[u8]) -> Option<bool> {
        self.before.stored(digest)
    }
}

/// An answer, or what it is still to be made of.
pub(crate) enum Concluded {
    Told(Told),
    /// the answer of a read, but for its result
    Read(Reply, Tree),
}

/// What is seen of each record; nothing is masked where everything is.
fn masks(
    eye: Option<&Eye<'_>>,
    records: &Records,
    ask: &Ask,
    source: &dyn Source,
) -> Result<Vec<Mask>, ReadError> {
    let Some(eye) = eye else { return Ok(Vec::new()) };
    let mask = |it: Seen<'_>| {
        let looked = Looked { subject: it.subject, key: it.key, words: it.words };
        eye.mask(looked, &ask.pool, Some(source))
    };
    records.iter().map(mask).collect()
}
