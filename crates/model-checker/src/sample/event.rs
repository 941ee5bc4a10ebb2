//! What a transition of the small world is called outside of it.

use design::model::{ClauseRef, OperationId, OperationKind};
use engine::{AnswerKind, Command, NULL, Outcome, Reason, Scratch, Word};

use super::value::{Reader, Value};
use super::{Answer, Answered, Call, Event, Refusal, Trouble};
use crate::machine::{How, Instance, InstanceKind, Machine, Move, NOW, View};
use crate::world::effects::decision;
use crate::world::plan::SlotName;
use crate::world::sorts::SortDomain;

/// A call as the engine takes it.
struct Asked {
    operation: OperationId,
    me: Word,
    params: Vec<Word>,
    memory: Vec<Word>,
}

impl Reader<'_> {
    /// None: it cannot be carried out anywhere else.
    pub(super) fn event(&self, what: Move, words: &[Word]) -> Option<Event> {
        let machine = self.machine;
        Some(match what {
            Move::Call { instance, how } => {
                let trouble = trouble(machine, how)?;
                let held = &machine.instances[instance as usize];
                let asked = self.asked(held, words, how.has(How::STALE));
                let (outcome, answer) = self.answer(&asked, words, trouble.clock);
                (outcome == Outcome::Done).then_some(())?;
                Event::Call(self.call(held, &asked), trouble, answer)
            }
            Move::Repair { instance, how } => {
                let held = &machine.instances[instance as usize];
                self.repair(held, trouble(machine, how)?.clock)?
            }
            Move::Leave { instance } => {
                let held = &machine.instances[instance as usize];
                Event::Leave(self.call(held, &self.asked(held, words, false)))
            }
            Move::Land { call, how, .. } => {
                let (held, asked) = self.in_flight(call, words);
                let clock = trouble(machine, how)?.clock;
                let (outcome, _) = self.answer(&asked, words, clock);
                let refusal = match outcome {
                    Outcome::Refused(refusal) => Some(self.refusal(asked.operation, &refusal)),
                    _ => None,
                };
                Event::Land(self.call(held, &asked), refusal, clock)
            }
            Move::Drop { call } => {
                let (held, asked) = self.in_flight(call, words);
                Event::Drop(self.call(held, &asked))
            }
            Move::Attempt { effect, key } => {
                let plan = machine.plan.effects[effect.index()].as_ref()?;
                let params = self.params(effect, &words[plan.args(key as usize)]);
                Event::Attempt { effect, params, signs: plan.signs.map(|_| (effect.0, key)) }
            }
            Move::Decide { effect, key, yes, .. } => {
                let plan = machine.plan.effects[effect.index()].as_ref()?;
                let params = self.params(effect, &words[plan.world_args(key as usize)]);
                Event::Decide { effect, params, yes }
            }
            Move::Answer { effect, key, kind, dropped, how } => {
                let clock = trouble(machine, how)?.clock;
                self.answered((effect, key as usize), kind, dropped, clock, words)?
            }
            Move::Deliver { plan, at, principal, how } => {
                // one that comes twice is delivered, and stays on its way
                let again = how.has(How::AGAIN) || how.has(How::DOUBLED);
                let clock = trouble(machine, how.but(How::DOUBLED))?.clock;
                let (operation, params) = self.message(plan, at, words);
                let asked = Asked {
                    operation,
                    me: Word::from(principal),
                    memory: vec![NULL; machine.design.operations[operation.index()].memory.len()],
                    params,
                };
                let (outcome, _) = self.answer(&asked, words, clock);
                let refused = match outcome {
                    Outcome::Refused(refusal) => Some(self.refusal(operation, &refusal)),
                    _ => None,
                };
                let params = self.params(operation, &asked.params);
                Event::Deliver { operation, params, refused, again, clock }
            }
            Move::Lose { plan, at } => {
                let (operation, params) = self.message(plan, at, words);
                Event::Lose { operation, params: self.params(operation, &params) }
            }
            Move::Tick => Event::Tick,
            Move::Crash { principal } => {
                let held = &machine.universe.principals[principal as usize];
                Event::Crash { principal: held.name.clone() }
            }
            Move::Cut { .. } => Event::Cut,
            Move::Heal => Event::Heal,
            // of messages that are kept as a set
            Move::Silence => return None,
            Move::Evict { .. } => Event::Evict,
            Move::Put { blob, digest } => {
                let (_, sort) = machine.plan.blobs[blob.index()]?;
                let SortDomain::Finite(values) = &machine.universe.sorts.list[sort].domain else {
                    return None;
                };
                let word = usize::try_from(*values.get(digest as usize)?).ok()?;
                let content = machine.universe.sorts.pool.get(word)?.clone();
                Event::Put { blob, content }
            }
            _ => return None,
        })
    }

    /// Every call and repair that is refused here.
    pub(super) fn refused(&self, words: &[Word], found: &mut dyn FnMut(u32)) {
        for (index, instance) in self.machine.instances.iter().enumerate() {
            if self.can_show(instance, words) {
                let asked = self.asked(instance, words, false);
                if let Outcome::Refused(_) = self.answer(&asked, words, 0).0 {
                    found(index as u32);
                }
            }
        }
    }

    /// One of them, with what refuses it.
    pub(super) fn refused_event(&self, number: u32, words: &[Word]) -> Option<(Event, Refusal)> {
        let instance = &self.machine.instances[number as usize];
        let asked = self.asked(instance, words, false);
        let Outcome::Refused(refusal) = self.answer(&asked, words, 0).0 else {
            return None;
        };
        let refusal = self.refusal(instance.operation, &refusal);
        let event = match instance.kind {
            InstanceKind::Repair => self.repair(instance, 0)?,
            _ => Event::Call(self.call(instance, &asked), Trouble::default(), Answer::default()),
        };
        Some((event, refusal))
    }

    /// Nobody shows a signature that was not made.
    fn can_show(&self, instance: &Instance, words: &[Word]) -> bool {
        instance.shows.iter().all(|signature| {
            let (effect, key) = self.machine.universe.signs[*signature as usize - 1];
            let plan = self.machine.plan.effects[effect.index()].as_ref();
            plan.is_some_and(|plan| words[plan.world(key as usize) as usize] >= decision::DONE)
        })
    }

    fn asked(&self, instance: &Instance, words: &[Word], older: bool) -> Asked {
        let memory = instance.memory.iter().map(|slots| {
            let kept = slots.stale.map_or(NULL, |slot| words[slot as usize]);
            let stale = older && slots.read && kept != NULL;
            if stale { kept } else { words[slots.slot as usize] }
        });
        Asked {
            operation: instance.operation,
            me: instance.me,
            params: instance.params.to_vec(),
            memory: memory.collect(),
        }
    }

    fn in_flight(&self, call: u32, words: &[Word]) -> (&Instance, Asked) {
        let plan = &self.machine.plan.calls;
        let slot = (plan.first + plan.stride * call) as usize;
        let instance = &self.machine.instances[words[slot] as usize - 1];
        let memory = instance.memory.iter().map(|slots| words[slot + slots.in_call as usize]);
        let asked = Asked {
            operation: instance.operation,
            me: instance.me,
            params: instance.params.to_vec(),
            memory: memory.collect(),
        };
        (instance, asked)
    }

    fn message(&self, plan: u32, at: u32, words: &[Word]) -> (OperationId, Vec<Word>) {
        let plan = &self.machine.plan.messages[plan as usize];
        let slot = (plan.first + plan.stride * at) as usize;
        (plan.operation, words[slot + 1..slot + plan.stride as usize].to_vec())
    }

    /// Asks the engine once more.
    fn answer(&self, asked: &Asked, words: &[Word], clock: i64) -> (Outcome, Answer) {
        let machine = self.machine;
        let now = NOW + clock;
        let view = View::new(machine, words, now);
        let Asked { operation, me, params, memory } = asked;
        let (operation, me) = (*operation, *me);
        let command = Command { operation, params, memory, me, now, answer: None };
        let mut scratch = Scratch::new();
        let outcome = engine::step(&machine.program, &view, &command, &mut scratch);
        if outcome != Outcome::Done {
            return (outcome, Answer::default());
        }
        let held = &machine.design.operations[operation.index()];
        let memory = scratch.memory().map(|(usage, word)| {
            let used = &held.memory[usage.index()];
            let ty = &machine.design.actors[used.actor.index()].memory[used.field.index()].ty;
            (usage.index(), self.value(ty, &[word]))
        });
        let memory = memory.collect();
        let result = match held.kind {
            OperationKind::Read { .. } => {
                machine.program.result(operation).map(|shape| self.shaped(shape, scratch.result()))
            }
            _ => None,
        };
        (outcome, Answer { memory, result })
    }

    fn call(&self, instance: &Instance, asked: &Asked) -> Call {
        let machine = self.machine;
        let operation = &machine.design.operations[instance.operation.index()];
        let memory = operation.memory.iter().zip(&instance.memory).zip(&asked.memory).map(
            |((usage, slots), word)| {
                let ty = &machine.design.actors[usage.actor.index()].memory[usage.field.index()].ty;
                let SlotName::Memory { actor, principal, field, record, .. } =
                    machine.plan.names[slots.slot as usize]
                else {
                    unreachable!("memory stands in slots of memory")
                };
                let given = if slots.read { self.value(ty, &[*word]) } else { Value::Null };
                (self.slot(actor, principal, field, record), given)
            },
        );
        let memory = memory.collect();
        let principal = machine.show_principal(instance.me);
        let params = self.params(instance.operation, &asked.params);
        Call { operation: instance.operation, principal, params, memory }
    }

    fn repair(&self, instance: &Instance, clock: i64) -> Option<Event> {
        let repair = instance.operation;
        let declared = &self.machine.design.operations[repair.index()];
        let subject = declared.params.first()?.ty.subject()?;
        let key = self.key(subject, *instance.params.first()?)?;
        Some(Event::Repair { repair, key, clock })
    }

    fn answered(
        &self,
        (effect, key): (OperationId, usize),
        kind: AnswerKind,
        dropped: bool,
        clock: i64,
        words: &[Word],
    ) -> Option<Event> {
        let plan = self.machine.plan.effects[effect.index()].as_ref()?;
        let operation = &self.machine.design.operations[effect.index()];
        let OperationKind::Effect(declared) = &operation.kind else { return None };
        let (kind, value) = match kind {
            AnswerKind::Ok => {
                let value = match (plan.signs, declared.on_ok.param) {
                    (Some(_), _) => Value::Signature(Some((effect.0, key as u32))),
                    (None, Some(local)) => {
                        let at = plan.answer(key) as usize;
                        self.value(&operation.locals[local.index()].ty, &words[at..=at])
                    }
                    (None, None) => Value::Null,
                };
                (Answered::Ok, value)
            }
            AnswerKind::Refused => (Answered::Refused, Value::Null),
            AnswerKind::Unknown => (Answered::Unknown, Value::Null),
        };
        let params = self.params(effect, &words[plan.args(key)]);
        Some(Event::Answer { effect, params, kind, value, dropped, clock })
    }

    fn refusal(&self, operation: OperationId, refusal: &engine::Refusal) -> Refusal {
        let guard = &self.machine.design.operations[operation.index()].guard;
        let named = |at: u32| guard.get(at as usize).map_or("", |clause| clause.name.as_str());
        let reason = refusal.reason.name();
        let clause = match (refusal.reason, refusal.clause) {
            (Reason::Clause(at), _) => named(at).to_string(),
            (_, Some(ClauseRef::Named(at))) => format!("{}.{reason}", named(at)),
            _ => reason.to_string(),
        };
        Refusal { clause, reason }
    }
}

/// None: it cannot be carried out anywhere else. A copy that is not refreshed is a matter of whoever
/// keeps it.
fn trouble(machine: &Machine, how: How) -> Option<Trouble> {
    let untold = How::CALL_LOST.and(How::OLDER).and(How::DOUBLED).and(How::PASSED);
    (!how.has(untold)).then_some(Trouble {
        lost_reply: how.has(How::LOST_REPLY),
        duplicate: how.has(How::DUPLICATE),
        pause: how.has(How::PAUSE),
        stale: how.has(How::STALE),
        clock: how.shift() * machine.times.unit,
    })
}
