//! The way of a call: its arguments, the transaction, the answer.

use design::model::{OperationId, OperationKind, StateKind};
use engine::idempotency::{Stored, Verdict, check};
use engine::{Command, Word};
use layout::key::put_parts;
use layout::{OutcomeKey, Space};
use serde_json::{Map, Value};
use store::{Cursor, Decision, Partition, Ticket, Transaction, Version};

use super::apart;
use super::ephemeral::TTL_MS;
use super::idempotency::{self, Outcome, Payload};
use super::legal;
use super::perform::{Done, Performed, Refused, perform};
use super::reply::{self, CallError, Reply};
use super::request::{Arguments, Asked, Request, arguments, memory_name};
use super::result::{self, Tree};
use super::taking;
use super::text_answer;
use crate::core::{Desk, Newest, ReadError, Records, Runtime, Seen, Source, apply};
use crate::sight::{Eye, Looked, Mask};
use crate::values;

/// So often another id is chosen for a call.
const CHOSEN_AGAIN_MAX: u32 = 4;

impl Runtime {
    /// Calls a step or a read, and waits until the answer is durable.
    pub fn call(&self, request: &Request) -> Result<Reply, CallError> {
        let (ticket, answer) = self.begin(request)?;
        ticket.wait()?;
        answer
    }

    /// The same without a thread that waits.
    pub async fn call_async(&self, request: &Request) -> Result<Reply, CallError> {
        let (ticket, answer) = self.begin_async(request).await?;
        ticket.durable().await?;
        answer
    }

    /// Runs the call; its answer may be told once the ticket is durable. That holds for a refusal,
    /// too: it may rest on something that a crash would take back. On a store that does not keep its
    /// state in this process, this waits until it is.
    pub fn begin(
        &self,
        request: &Request,
    ) -> Result<(Ticket, Result<Reply, CallError>), CallError> {
        self.block_on(self.begin_async(request))
    }

    async fn begin_async(
        &self,
        request: &Request,
    ) -> Result<(Ticket, Result<Reply, CallError>), CallError> {
        let id = self.operation(request)?;
        let mut desk = self.desk();
        let mut outcome = self.try_call(id, request, &mut desk).await;
        // an id that was met before: another one is chosen
        let mut again = 0;
        while again < CHOSEN_AGAIN_MAX && self.met_before(id, &outcome) {
            again += 1;
            desk.pool.borrow_mut().reset();
            outcome = self.try_call(id, request, &mut desk).await;
        }
        self.give_back(desk);
        outcome
    }

    async fn try_call(
        &self,
        id: OperationId,
        request: &Request,
        desk: &mut Desk,
    ) -> Result<(Ticket, Result<Reply, CallError>), CallError> {
        let surroundings = &*self.settings.surroundings;
        let arguments =
            arguments(&self.schema, id, request, surroundings, &mut desk.pool.borrow_mut())?;
        if self.schema.design.operations[id.index()].takes().is_some() {
            return self.take_next(id, request, arguments, desk).await;
        }
        self.run(id, request, &arguments, desk, None).await
    }

    /// Was it refused because there is a record under an id that the server chose?
    fn met_before(
        &self,
        id: OperationId,
        outcome: &Result<(Ticket, Result<Reply, CallError>), CallError>,
    ) -> bool {
        let mut params = self.schema.design.operations[id.index()].params.iter();
        params.any(|param| param.new && param.generated.is_some())
            && matches!(outcome, Ok((_, Err(CallError::Refused(it)))) if it.clause == "fresh")
    }

    fn operation(&self, request: &Request) -> Result<OperationId, CallError> {
        let id = self.callable(request)?;
        let operation = &self.schema.design.operations[id.index()];
        let keyed = matches!(operation.kind, OperationKind::Step { keyed: true });
        if keyed && request.idempotency_key.is_none() {
            return Err(CallError::KeyNeeded);
        }
        Ok(id)
    }

    pub(crate) fn callable(&self, request: &Request) -> Result<OperationId, CallError> {
        let design = &self.schema.design;
        let found = self.schema.operation(&request.actor, &request.operation);
        let callable = found.filter(|id| self.schema.is_callable(*id));
        callable.ok_or_else(|| {
            CallError::Unknown(format!(
                "`{}` has no step or read `{}` that `{}` could call",
                design.name, request.operation, request.actor
            ))
        })
    }

    /// Steps and reads that somebody may call; repairs, effects and messages are the engine's own.
    pub fn is_callable(&self, operation: OperationId) -> bool {
        self.schema.is_callable(operation)
    }

    /// With `told`, a step that is done is answered there, in JSON, and the reply is left empty; then
    /// nothing may be hidden from whoever calls.
    pub(crate) async fn run(
        &self,
        id: OperationId,
        request: &Request,
        arguments: &Arguments,
        desk: &mut Desk,
        told: Option<&mut Vec<u8>>,
    ) -> Result<(Ticket, Result<Reply, CallError>), CallError> {
        desk.room.trace.clone_from(&request.trace);
        let idempotent = match &request.idempotency_key {
            None => None,
            Some(key) => {
                let place = idempotency::key(self.schema.number, request, key);
                Some((place, Payload::of(&self.schema, id, request)?))
            }
        };
        let mut asked = Asked { id, request, arguments, idempotent, now: 0 };
        let mut answer: Option<Result<Finished, CallError>> = None;
        let mut wake = None;
        let mut run = |transaction: &mut dyn Transaction| {
            asked.now = self.now_in(transaction);
            let decided = self.decide(&asked, transaction, desk);
            let decision = match &decided {
                Ok(Finished::Done(done, _)) if !done.plan.is_empty() => {
                    apply(&done.plan, transaction);
                    wake = done.plan.wake;
                    Decision::Commit
                }
                _ => Decision::Abandon,
            };
            answer = Some(decided);
            decision
        };
        let ticket = self.transact_async(&mut run).await?;
        if let Some(at) = wake {
            self.alarm.ring(at);
        }
        self.touch(&answer);
        if let Some(Ok(Finished::Done(done, _))) = &answer {
            self.keep_soft(done, done.now, desk);
        }
        let answer = match (told, answer) {
            (Some(out), Some(Ok(Finished::Done(done, _)))) => {
                self.counters.done(id);
                let pool = desk.pool.borrow();
                text_answer::write(out, ticket.cursor(), &self.schema, &done.changed, &pool);
                drop(pool);
                desk.room.reuse(done);
                return Ok((ticket, Ok(Reply::default())));
            }
            (_, answer) => answer,
        };
        let revision = ticket.cursor().to_string();
        let answer = match answer.expect("a transaction that is over has decided") {
            Err(error) => Err(error),
            Ok(Finished::Replay(outcome, version)) => Ok(Reply {
                // elsewhere a version says nothing about the feed: what is said is not too early
                revision: match self.is_shared() {
                    true => revision,
                    false => Cursor::at(Partition::default(), version).to_string(),
                },
                memory: outcome.memory,
                truth: outcome.truth,
                result: outcome.result,
                replayed: true,
            }),
            Ok(Finished::Read(done, tree)) => {
                self.counters.done(id);
                let outcome = self.outcome(id, &done, false, &[], desk);
                let viewer = request.viewer.as_ref();
                self.answered_tree(tree, &request.principal, viewer).map(|result| Reply {
                    revision,
                    memory: outcome.memory,
                    truth: Value::Array(Vec::new()),
                    result,
                    replayed: false,
                })
            }
            Ok(Finished::Done(done, outcome)) => {
                self.counters.done(id);
                let outcome = match outcome {
                    Some(outcome) => outcome,
                    None if request.brief => self.outcome(id, &done, false, &[], desk),
                    None => {
                        let eye = self.eye(request.viewer.as_ref());
                        let masks = masks(eye.as_ref(), &done.changed, desk, None)?;
                        self.outcome(id, &done, true, &masks, desk)
                    }
                };
                desk.room.reuse(done);
                Ok(Reply {
                    revision,
                    memory: outcome.memory,
                    truth: outcome.truth,
                    result: arguments.chosen.first.clone(),
                    replayed: false,
                })
            }
        };
        // where another record may be taken, whoever asks for it counts
        if let Err(CallError::Refused(refused)) = &answer
            && !refused.of_taken
        {
            self.counters.refused(id, &refused.clause);
        }
        Ok((ticket, answer))
    }

    /// Soft state is kept beside the commit.
    fn keep_soft(&self, done: &Done, now: Word, desk: &Desk) {
        let schema = &*self.schema;
        let pool = desk.pool.borrow();
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
            self.ephemerals.set(&state.name, &record, &attribute.name, value, now, ttl);
        }
    }

    /// Counts the records that a call changed, for the hottest keys.
    fn touch(&self, answer: &Option<Result<Finished, CallError>>) {
        if let Some(Ok(Finished::Done(done, _))) = answer {
            for (key, _) in done.plan.writes() {
                if Space::of(key) == Some(Space::Record) {
                    self.hot.touch(key);
                }
            }
        }
    }

    /// What was kept for an idempotency key, under the name that the operation has or under one that it had.
    fn kept_outcome<'t>(
        &self,
        key: OutcomeKey,
        asked: &Asked<'_>,
        transaction: &'t dyn Transaction,
    ) -> Option<(Vec<u8>, Version, &'t [u8])> {
        let find = |key: OutcomeKey| {
            let key = key.to_bytes();
            let found = transaction.get(&key);
            found.map(|(version, bytes)| (key, version, bytes))
        };
        find(key).or_else(|| {
            let given = asked.request.idempotency_key.as_ref()?;
            self.former.operation(asked.id).iter().find_map(|(actor, operation)| {
                let (number, principal) = (self.schema.number, &asked.request.principal);
                find(idempotency::key_of(number, [actor, operation, principal], given))
            })
        })
    }

    /// Within the transaction: replayed, refused, or done and planned.
    pub(crate) fn decide(
        &self,
        asked: &Asked<'_>,
        transaction: &dyn Transaction,
        desk: &mut Desk,
    ) -> Result<Finished, CallError> {
        let Asked { id, request, arguments, ref idempotent, now } = *asked;
        let viewer = request.viewer.as_ref();
        let retention = self.settings.idempotency_retention_ms;
        let mut outdated = None;
        if let Some((key, payload)) = idempotent
            && let Some((key, version, bytes)) = self.kept_outcome(*key, asked, transaction)
        {
            let stored = idempotency::take(bytes);
            let stored = stored.map_err(|wrong| ReadError::value(&key, wrong))?;
            match check(Some(&stored), payload.beside(stored.payload), now, retention) {
                Verdict::Replay(outcome) => {
                    return Ok(Finished::Replay(outcome.clone(), version.0));
                }
                Verdict::OtherPayload => return Err(CallError::OtherPayload),
                Verdict::Proceed => outdated = Some(stored.expires_at(retention)),
            }
        }
        if let Some(expected) = &request.if_match {
            legal::precondition(&self.schema, asked, expected, transaction, &desk.pool.borrow())?;
        }
        let command = Command {
            operation: id,
            params: &arguments.params,
            memory: &arguments.memory,
            me: arguments.me,
            now,
            answer: None,
        };
        let bond = {
            let pool = desk.pool.borrow();
            apart::check(&self.schema, id, pool.content(arguments.me), transaction)?
        };
        if arguments.none_left {
            return Err(taking::none_left(&self.schema.design, id));
        }
        let source = Newest(transaction, self.schema.number);
        let number = transaction.number();
        let performed =
            perform(&self.schema, &command, &desk.pool, &source, number, &mut desk.room)?;
        match performed {
            Performed::Later => Err(CallError::NotFetched),
            Performed::Refused(refused) => {
                let eye = self.eye(viewer);
                let masks = masks(eye.as_ref(), &refused.seen, desk, Some(&source))?;
                let Refused { refusal, seen } = &refused;
                let mut refusal =
                    reply::refused(&self.schema, id, refusal, seen, &masks, &desk.pool.borrow());
                if request.legal && !refusal.of_taken {
                    let (pool, eye) = (&desk.pool, eye.as_ref());
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
                    let scratch = &desk.room.scratch;
                    let mut pool = desk.pool.borrow_mut();
                    let tree = result::tree(&self.schema, id, scratch, &mut pool, transaction)?;
                    drop(pool);
                    let Some(eye) = self.eye(viewer) else { return Ok(Finished::Read(done, tree)) };
                    let read: Vec<Looked<'_>> = scratch
                        .reads()
                        .map(|it| Looked { subject: it.subject, key: it.key, words: it.record })
                        .collect();
                    let tree = eye.answer(id, tree, &read, &desk.pool, &source)?;
                    return Ok(Finished::Read(done, tree));
                }
                bond.keep(done.now, &mut done.plan);
                let Some((key, payload)) = idempotent else {
                    return Ok(Finished::Done(done, None));
                };
                let eye = self.eye(viewer);
                let masks = masks(eye.as_ref(), &done.changed, desk, Some(&source))?;
                let outcome = self.outcome(id, &done, true, &masks, desk);
                // what is kept tells no secret: only the first answer does
                let kept = Outcome { result: arguments.chosen.again.clone(), ..outcome };
                let stored = Stored { payload: payload.newest(), answer: kept, at: done.now };
                if let Some(expired) = outdated {
                    done.plan.delete(&key.due(expired).to_bytes());
                }
                done.plan.put(&key.to_bytes(), &idempotency::put(&stored));
                let due = key.due(stored.expires_at(retention));
                done.plan.put(&due.to_bytes(), &[]);
                Ok(Finished::Done(done, Some(stored.answer)))
            }
        }
    }

    fn outcome(
        &self,
        id: OperationId,
        done: &Done,
        truth: bool,
        masks: &[Mask],
        desk: &Desk,
    ) -> Outcome {
        let schema = &self.schema;
        let operation = &schema.design.operations[id.index()];
        let pool = desk.pool.borrow();
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

/// What is seen of each record; nothing is masked where everything is.
fn masks(
    eye: Option<&Eye<'_>>,
    records: &Records,
    desk: &Desk,
    source: Option<&dyn Source>,
) -> Result<Vec<Mask>, ReadError> {
    let Some(eye) = eye else { return Ok(Vec::new()) };
    let mask = |it: Seen<'_>| {
        let looked = Looked { subject: it.subject, key: it.key, words: it.words };
        eye.mask(looked, &desk.pool, source)
    };
    records.iter().map(mask).collect()
}

/// What a transaction came to.
pub(crate) enum Finished {
    Replay(Outcome, u64),
    Done(Done, Option<Outcome>),
    Read(Done, Tree),
}
