//! Calls from outside, and repairs.

use design::model::{Fault, OperationKind};
use engine::{AnswerKind, Command, Outcome, Word};

use super::apply::{ALL, Takes};
use super::{How, Instance, InstanceKind, Machine, Move, NOW, Sink, View, Worker};
use crate::world::effects::decision;

impl Machine {
    /// Runs the engine on the loaded state; the memory given along is `worker.memory`.
    pub(super) fn run(
        &self,
        worker: &mut Worker,
        operation: design::model::OperationId,
        me: Word,
        params: &[Word],
        now: Word,
        answer: Option<(AnswerKind, Word)>,
    ) -> Outcome {
        let view = View { machine: self, words: &worker.before, now };
        let command = Command { operation, params, memory: &worker.memory, me, now, answer };
        engine::step(&self.program, &view, &command, &mut worker.scratch)
    }

    pub(super) fn remember(&self, worker: &mut Worker, instance: &Instance) {
        worker.memory.clear();
        for slots in &instance.memory {
            let word = worker.before[slots.slot as usize];
            worker.memory.push(word);
        }
    }

    pub(super) fn steps<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        for (index, instance) in self.instances.iter().enumerate() {
            if instance.kind != InstanceKind::Repair {
                self.step(worker, sink, index as u32, instance);
            }
        }
    }

    /// Nobody shows a signature that was not made. Whoever makes one up is the call with a
    /// signature of nothing.
    fn can_show(&self, worker: &Worker, instance: &Instance) -> bool {
        instance.shows.iter().all(|signature| {
            let (effect, key) = self.universe.signs[*signature as usize - 1];
            self.plan.effects[effect.index()].as_ref().is_some_and(|plan| {
                worker.before[plan.world(key as usize) as usize] >= decision::DONE
            })
        })
    }

    pub(super) fn step<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        index: u32,
        instance: &Instance,
    ) {
        if !self.can_show(worker, instance) {
            return;
        }
        self.remember(worker, instance);
        let operation = instance.operation;
        match self.run(worker, operation, instance.me, &instance.params, NOW, None) {
            Outcome::Done => self.accepted(worker, sink, index, instance),
            Outcome::Refused(refusal) => sink.refused(operation, refusal.reason),
            Outcome::Need => {}
        }
        if instance.kind == InstanceKind::Step
            && self.may(worker, Fault::Late)
            && self.leave(worker, index)
        {
            self.charge(worker, Fault::Late);
            self.emit(worker, sink, Move::Leave { instance: index }, NOW);
        }
        self.clock_steps(worker, sink, index, instance);
        if !instance.memory.is_empty() && self.settings.on(Fault::Pause) {
            self.stale(worker, sink, index, instance);
        }
        if instance.kind == InstanceKind::Read {
            self.read_older(worker, sink, index, instance);
        }
    }

    /// The ways in which an accepted call can go.
    fn accepted<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        index: u32,
        instance: &Instance,
    ) {
        let call = |how| Move::Call { instance: index, how };
        let plain = instance.kind != InstanceKind::Step;
        self.give(worker, sink, instance, ALL, call(How::Plain));
        if self.program.outbox_removed(instance.operation)
            && worker.scratch.sends().next().is_some()
        {
            let takes = Takes { calls: false, ..ALL };
            self.give(worker, sink, instance, takes, call(How::CallLost));
        }
        if self.may(worker, Fault::Stale) && worker.scratch.cache_writes().next().is_some() {
            if self.apply(worker, &instance.memory, instance.place, Takes { caches: false, ..ALL })
            {
                self.charge(worker, Fault::Stale);
                self.emit(worker, sink, call(How::StaleCache), NOW);
            } else {
                self.undo(worker);
            }
        }
        if plain {
            return;
        }
        if self.may(worker, Fault::LostReply) {
            if worker.scratch.memory().next().is_none() {
                sink.struck(Fault::LostReply);
            } else if self.apply(
                worker,
                &instance.memory,
                instance.place,
                Takes { memory: false, ..ALL },
            ) {
                self.charge(worker, Fault::LostReply);
                self.emit(worker, sink, call(How::LostReply), NOW);
            } else {
                self.undo(worker);
            }
        }
        let keyed = matches!(
            self.design.operations[instance.operation.index()].kind,
            OperationKind::Step { keyed: true }
        );
        if self.may(worker, Fault::Duplicate) {
            if keyed {
                // The second time, the outcome of the first is given again.
                sink.struck(Fault::Duplicate);
            } else if self.apply(worker, &instance.memory, instance.place, ALL)
                && self.leave(worker, index)
            {
                self.charge(worker, Fault::Duplicate);
                self.emit(worker, sink, call(How::Duplicate), NOW);
            } else {
                self.undo(worker);
            }
        }
        if self.may(worker, Fault::Pause) {
            self.pause(worker, sink, index, instance);
        }
    }

    fn give<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        instance: &Instance,
        takes: Takes,
        what: Move,
    ) {
        if self.apply(worker, &instance.memory, instance.place, takes) {
            self.emit(worker, sink, what, NOW);
        } else {
            self.undo(worker);
            sink.beyond(u32::MAX);
        }
    }

    /// Memory that is overwritten may be kept by someone who does not know yet.
    fn pause<S: Sink>(&self, worker: &mut Worker, sink: &mut S, index: u32, instance: &Instance) {
        if !self.apply(worker, &instance.memory, instance.place, ALL) {
            self.undo(worker);
            return;
        }
        let mut kept = false;
        for slots in &instance.memory {
            let (old, new) =
                (worker.before[slots.slot as usize], worker.after[slots.slot as usize]);
            if old != new
                && old != engine::NULL
                && let Some(stale) = slots.stale
            {
                self.set(worker, stale, old);
                kept = true;
            }
        }
        if kept {
            self.charge(worker, Fault::Pause);
            self.emit(worker, sink, Move::Call { instance: index, how: How::Pause }, NOW);
        } else {
            self.undo(worker);
        }
    }

    /// A call with older memory, for the last time; its answer is not heard.
    fn stale<S: Sink>(&self, worker: &mut Worker, sink: &mut S, index: u32, instance: &Instance) {
        let mut any = false;
        for (at, slots) in instance.memory.iter().enumerate() {
            let old = slots.stale.map_or(engine::NULL, |stale| worker.before[stale as usize]);
            if old != engine::NULL && slots.read {
                worker.memory[at] = old;
                any = true;
            }
        }
        if !any {
            return;
        }
        let outcome =
            self.run(worker, instance.operation, instance.me, &instance.params, NOW, None);
        if outcome != Outcome::Done {
            return;
        }
        let takes = Takes { memory: false, ..ALL };
        if self.apply(worker, &instance.memory, instance.place, takes) {
            for slots in &instance.memory {
                if let Some(stale) = slots.stale
                    && slots.read
                {
                    self.set(worker, stale, engine::NULL);
                }
            }
            self.emit(worker, sink, Move::Call { instance: index, how: How::Stale }, NOW);
        } else {
            self.undo(worker);
        }
    }

    fn clock_steps<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        index: u32,
        instance: &Instance,
    ) {
        if !self.has_time() || !self.may(worker, Fault::ClockStep) {
            return;
        }
        for (shift, how) in [(1, How::ClockAhead), (-1, How::ClockBehind)] {
            self.remember(worker, instance);
            let (me, now) = (instance.me, NOW + shift);
            let outcome = self.run(worker, instance.operation, me, &instance.params, now, None);
            if outcome != Outcome::Done {
                continue;
            }
            let what = match instance.kind {
                InstanceKind::Repair => Move::Repair { instance: index, how },
                _ => Move::Call { instance: index, how },
            };
            if self.apply(worker, &instance.memory, instance.place, ALL) {
                self.charge(worker, Fault::ClockStep);
                self.emit(worker, sink, what, NOW);
            } else {
                self.undo(worker);
            }
        }
        self.remember(worker, instance);
    }

    pub(super) fn repairs<S: Sink>(&self, worker: &mut Worker, sink: &mut S, recovery: bool) {
        for (index, instance) in self.instances.iter().enumerate() {
            if instance.kind == InstanceKind::Repair {
                self.repair(worker, sink, index as u32, recovery);
            }
        }
    }

    pub(super) fn repair<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        index: u32,
        recovery: bool,
    ) {
        let instance = &self.instances[index as usize];
        self.remember(worker, instance);
        let operation = instance.operation;
        match self.run(worker, operation, instance.me, &instance.params, NOW, None) {
            Outcome::Done => {
                let what = Move::Repair { instance: index, how: How::Plain };
                self.give(worker, sink, instance, ALL, what);
                if self.program.outbox_removed(operation)
                    && worker.scratch.sends().next().is_some()
                    && !recovery
                {
                    let what = Move::Repair { instance: index, how: How::CallLost };
                    self.give(worker, sink, instance, Takes { calls: false, ..ALL }, what);
                }
            }
            Outcome::Refused(refusal) => sink.refused(operation, refusal.reason),
            Outcome::Need => {}
        }
        if !recovery {
            self.clock_steps(worker, sink, index, instance);
        }
    }
}
