//! The outbox and the world outside, which decides each key at most once, perhaps late, perhaps
//! with its answer lost.

use design::model::OperationId;
use engine::outbox::{Answered, Entry, EntryState};
use engine::{AnswerKind, Command, NULL, Outcome, Send, Word};

use super::apply::ALL;
use super::memo::Asked;
use super::{Beyond, How, Machine, Move, NOW, Sink, View, Worker};
use crate::world::effects::decision;

const CLOSED: Word = 0;
const OPEN: Word = 1;

/// The checker never gives up: how often an attempt was made does not matter to it.
fn entry(state: Word) -> Entry {
    let state = if state == OPEN { EntryState::Open } else { EntryState::Closed };
    Entry { state, ..Entry::default() }
}

impl Machine {
    /// Sends a call to the world outside, if its key is of the small world.
    pub(super) fn open(
        &self,
        after: &mut [Word],
        journal: &mut Vec<u32>,
        send: &Send<'_>,
    ) -> Result<(), Beyond> {
        let beyond = Beyond::EffectKey(send.operation);
        let plan = self.plan.effects[send.operation.index()].as_ref().ok_or(beyond)?;
        let key = *plan.index.get(send.key).ok_or(beyond)?;
        let slot = plan.entry(key as usize);
        let held = entry(after[slot as usize]);
        if held.send(NOW) == held {
            return Ok(());
        }
        after[slot as usize] = OPEN;
        journal.push(slot);
        for (slot, word) in plan.args(key as usize).zip(send.args) {
            after[slot] = *word;
            journal.push(slot as u32);
        }
        Ok(())
    }

    /// What becomes of a call to the world outside.
    pub(super) fn effect<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        effect: OperationId,
        key: usize,
        recovery: bool,
    ) {
        let Some(plan) = &self.plan.effects[effect.index()] else { return };
        let open = worker.before[plan.entry(key) as usize] == OPEN;
        let world = worker.before[plan.world(key) as usize];
        if open {
            self.attempts(worker, sink, effect, key, world);
        }
        if world == decision::ASKED {
            self.decides(worker, sink, effect, key);
        }
        if open {
            self.answers(worker, sink, (effect, key), world, recovery);
        }
    }

    fn attempts<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        effect: OperationId,
        key: usize,
        world: Word,
    ) {
        let Some(plan) = &self.plan.effects[effect.index()] else { return };
        let number = key as u32;
        if world == decision::UNSEEN {
            self.set(worker, plan.world(key), decision::ASKED);
            for (to, from) in plan.world_args(key).zip(plan.args(key)) {
                let word = worker.before[from];
                self.set(worker, to as u32, word);
            }
            if plan.signs.is_some() {
                self.asked_to_sign(worker, effect, key);
            }
            self.emit(worker, sink, Move::Attempt { effect, key: number }, NOW);
        } else if self.program.key_removed(effect)
            && matches!(world, decision::DONE | decision::REFUSED)
        {
            let again = if world == decision::DONE { decision::DONE_TWICE } else { decision::DONE };
            self.set(worker, plan.world(key), again);
            self.emit(worker, sink, Move::Again { effect, key: number }, NOW);
        }
    }

    /// Keeps what the keystore is asked to sign: that is in the body of the call, as truth is now.
    fn asked_to_sign(&self, worker: &mut Worker, effect: OperationId, key: usize) {
        let Some(plan) = &self.plan.effects[effect.index()] else { return };
        let params = worker.before[plan.args(key)].to_vec();
        let me = self.universe.of_actor[self.design.operations[effect.index()].actor.index()].0;
        let view = View::new(self, &worker.before, NOW);
        let command = Command {
            operation: effect,
            params: &params,
            memory: &[],
            me: Word::from(me),
            now: NOW,
            answer: None,
        };
        let called = engine::call(&self.program, &view, &command, &mut worker.scratch);
        let body = worker.scratch.result();
        let asked = match (called, body) {
            (Outcome::Done, [.., digest, key]) => [*digest, *key],
            _ => [NULL, NULL],
        };
        for (slot, word) in (plan.signed(key)..).zip(asked) {
            self.set(worker, slot, word);
        }
    }

    fn decides<S: Sink>(&self, worker: &mut Worker, sink: &mut S, effect: OperationId, key: usize) {
        let Some(plan) = &self.plan.effects[effect.index()] else { return };
        let number = key as u32;
        for (at, answer) in plan.answers.iter().enumerate() {
            self.set(worker, plan.world(key), decision::DONE);
            self.set(worker, plan.answer(key), *answer);
            let what = Move::Decide { effect, key: number, yes: true, answer: at as u32 };
            self.emit(worker, sink, what, NOW);
        }
        self.set(worker, plan.world(key), decision::REFUSED);
        let what = Move::Decide { effect, key: number, yes: false, answer: 0 };
        self.emit(worker, sink, what, NOW);
    }

    /// The answers that may come: what the world has decided, or, as long as clients are about, that
    /// nobody knows.
    fn answers<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        (effect, key): (OperationId, usize),
        world: Word,
        recovery: bool,
    ) {
        let Some(plan) = &self.plan.effects[effect.index()] else { return };
        let value = match plan.signs {
            Some(first) => Word::from(first) + key as Word + 1,
            None => worker.before[plan.answer(key) as usize],
        };
        let decided = match world {
            decision::DONE | decision::DONE_TWICE => Some((AnswerKind::Ok, value)),
            decision::REFUSED => Some((AnswerKind::Refused, NULL)),
            _ => None,
        };
        let unknown = (self.settings.unknowns && !recovery).then_some((AnswerKind::Unknown, NULL));
        for answer in [decided, unknown].into_iter().flatten() {
            for clock in self.clocks(worker, recovery) {
                self.answer(worker, sink, (effect, key), answer, *clock);
            }
        }
    }

    fn answer<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        (effect, key): (OperationId, usize),
        answer: (AnswerKind, Word),
        how: How,
    ) {
        let Some(plan) = &self.plan.effects[effect.index()] else { return };
        let me = Word::from(
            self.universe.of_actor[self.design.operations[effect.index()].actor.index()].0,
        );
        let held = entry(worker.before[plan.entry(key) as usize]);
        let Answered::Commit(closed) = held.answer() else { return };
        worker.words.clear();
        worker.words.extend_from_slice(&worker.before[plan.args(key)]);
        let args = std::mem::take(&mut worker.words);
        worker.memory.clear();
        let (params, now) = (&args[..], self.now(how));
        let asked =
            Asked { instance: None, operation: effect, me, params, now, answer: Some(answer) };
        let outcome = self.run(worker, &asked);
        worker.words = args;
        let dropped = match outcome {
            Outcome::Done => {
                self.apply(worker, &[], 0, ALL);
                false
            }
            Outcome::Refused(refusal) => {
                self.turned_down(sink, effect, refusal.reason);
                true
            }
            Outcome::Need => return,
        };
        // A handler may have sent the same call again: the entry is closed before that.
        let own = &plan.keys[key][..];
        let reopened = !dropped && worker.sends(|send| send.operation == effect && send.key == own);
        if !reopened {
            let state = if closed.state == EntryState::Open { OPEN } else { CLOSED };
            self.set(worker, plan.entry(key), state);
            for slot in plan.args(key) {
                self.set(worker, slot as u32, self.plan.slots.blank(slot as u32));
            }
        }
        for fault in how.faults() {
            self.charge(worker, fault);
        }
        let (key, kind) = (key as u32, answer.0);
        self.emit(worker, sink, Move::Answer { effect, key, kind, dropped, how }, NOW);
    }
}
