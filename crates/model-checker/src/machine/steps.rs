//! Calls from outside, and repairs.

use design::model::{Fault, OperationId, OperationKind};
use engine::{Command, NULL, Outcome, Reason, Word};

use super::apply::{ALL, Takes};
use super::memo::{Asked, Known};
use super::{Beyond, How, Instance, InstanceKind, Machine, Move, NOW, Sink, View, Worker};
use crate::world::effects::decision;

impl Machine {
    /// Runs the engine on the loaded state; the memory given along is `worker.memory`.
    pub(super) fn run(&self, worker: &mut Worker, asked: &Asked<'_>) -> Outcome {
        let Asked { operation, me, params, now, answer, .. } = *asked;
        worker.operation = operation;
        (worker.done, worker.took_gap) = (None, false);
        let Worker { memo, before, memory, scratch, .. } = worker;
        let known = match memo.is_on() && now == NOW {
            true => memo.look(self, before, asked, memory),
            false => Known::Never,
        };
        match known {
            Known::Refused(refusal) => return Outcome::Refused(refusal),
            Known::Done(number) => {
                worker.done = Some(number);
                return Outcome::Done;
            }
            Known::Not | Known::Never => {}
        }
        let view = View::new(self, before, now).with_gap(worker.gap);
        let command = Command { operation, params, memory, me, now, answer };
        let outcome = engine::step(&self.program, &view, &command, scratch);
        worker.took_gap = view.took_gap();
        if matches!(known, Known::Not) {
            memo.keep(self, before, scratch, outcome);
        }
        outcome
    }

    /// What time it is for something that happens in this way.
    pub(super) fn now(&self, how: How) -> Word {
        NOW + how.shift() * self.times.unit
    }

    /// A step was refused; or it could not be computed in this world.
    pub(super) fn turned_down<S: Sink>(&self, sink: &mut S, operation: OperationId, why: Reason) {
        if why == Reason::CollectionFull && self.short_lists.contains(&operation) {
            sink.unjudged(Beyond::List(operation));
        } else {
            sink.refused(operation, why);
        }
    }

    pub(super) fn remember(&self, worker: &mut Worker, instance: &Instance) {
        worker.memory.clear();
        for slots in &instance.memory {
            let word = worker.before[slots.slot as usize];
            worker.memory.push(word);
        }
    }

    /// Takes older memory instead, where there is some.
    fn remember_older(&self, worker: &mut Worker, instance: &Instance) -> bool {
        let mut any = false;
        for (at, slots) in instance.memory.iter().enumerate() {
            let old = slots.stale.map_or(NULL, |stale| worker.before[stale as usize]);
            if old != NULL && slots.read {
                worker.memory[at] = old;
                any = true;
            }
        }
        any
    }

    /// Is it known that this call is refused, and need nobody be told?
    fn is_barred<S: Sink>(&self, worker: &Worker, instance: usize) -> bool {
        !S::EVERY_REFUSAL && worker.memo.is_barred(instance as u32)
    }

    pub(super) fn steps<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        // A call that leaves lands later: it may be accepted then.
        let leaves = self.settings.on(Fault::Late);
        for (index, instance) in self.instances.iter().enumerate() {
            let barred = !leaves && self.is_barred::<S>(worker, index);
            if instance.kind != InstanceKind::Repair && !barred {
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

    /// The clocks that something may go by: the right one, or one that is ahead or behind.
    pub(super) fn clocks(&self, worker: &Worker, recovery: bool) -> &'static [How] {
        if !recovery && self.has_time() && self.may(worker, Fault::ClockStep) {
            &[How::PLAIN, How::CLOCK_AHEAD, How::CLOCK_BEHIND]
        } else {
            &[How::PLAIN]
        }
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
        let pauses = !instance.memory.is_empty() && self.settings.on(Fault::Pause);
        for clock in self.clocks(worker, false) {
            self.remember(worker, instance);
            self.call(worker, sink, index, instance, *clock);
            if pauses && self.remember_older(worker, instance) {
                self.call(worker, sink, index, instance, clock.and(How::STALE));
            }
        }
        self.remember(worker, instance);
        if instance.kind == InstanceKind::Step
            && self.may(worker, Fault::Late)
            && self.leave(worker, index)
        {
            self.charge(worker, Fault::Late);
            self.emit(worker, sink, Move::Leave { instance: index }, NOW);
        }
        if instance.kind == InstanceKind::Read {
            self.read_older(worker, sink, index, instance);
        }
    }

    /// One call. `how`: what is wrong already, the clock or the caller's memory.
    fn call<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        index: u32,
        instance: &Instance,
        how: How,
    ) {
        let operation = instance.operation;
        match self.run(worker, &instance.asked(index, self.now(how))) {
            Outcome::Done => self.accepted(worker, sink, index, instance, how),
            Outcome::Refused(refusal) => self.turned_down(sink, operation, refusal.reason),
            Outcome::Need => {}
        }
    }

    /// The ways in which an accepted call can go: as it should, with one fault more, with two.
    fn accepted<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        index: u32,
        instance: &Instance,
        how: How,
    ) {
        self.way(worker, sink, index, instance, how);
        if how == How::PLAIN
            && self.program.outbox_removed(instance.operation)
            && worker.sends(|_| true)
        {
            self.way(worker, sink, index, instance, How::CALL_LOST);
        }
        let struck = how.count();
        if struck >= 2 {
            return;
        }
        let (more, count) = self.faults_of_call(worker, sink, instance, how);
        let more = &more[..count];
        for (at, first) in more.iter().enumerate() {
            self.way(worker, sink, index, instance, how.and(*first));
            for second in if struck == 0 { &more[at + 1..] } else { &[] } {
                let both = first.and(*second);
                // Where the reply is lost, no memory is overwritten.
                if !(both.has(How::LOST_REPLY) && both.has(How::PAUSE)) {
                    self.way(worker, sink, index, instance, both);
                }
            }
        }
    }

    /// Does a repetition of this call get the first answer, because it carries the same key?
    pub(crate) fn answers_again(&self, operation: OperationId) -> bool {
        let kind = &self.design.operations[operation.index()].kind;
        matches!(kind, OperationKind::Step { keyed: true })
            && !self.program.keyed_removed(operation)
    }

    /// What may go wrong with a call that was accepted, and in how many ways.
    fn faults_of_call<S: Sink>(
        &self,
        worker: &Worker,
        sink: &mut S,
        instance: &Instance,
        how: How,
    ) -> ([How; 4], usize) {
        let (mut faults, mut count) = ([How::PLAIN; 4], 0);
        let mut add = |how: How| {
            faults[count] = how;
            count += 1;
        };
        let client = instance.kind == InstanceKind::Step;
        // The answer to a call with older memory is not heard anyway.
        let hears = !how.has(How::STALE) && worker.remembers();
        // Nothing is known beforehand where there are caches.
        let copies = !how.has(How::STALE)
            && worker.done.is_none()
            && worker.scratch.cache_writes().next().is_some();
        if copies && self.may(worker, Fault::Stale) {
            add(How::STALE_CACHE);
        }
        if client && self.may(worker, Fault::LostReply) {
            match hears || copies {
                true => add(How::LOST_REPLY),
                false => sink.struck(Fault::LostReply),
            }
        }
        if client && self.may(worker, Fault::Duplicate) {
            // The second time, the outcome of the first is given again.
            match self.answers_again(instance.operation) {
                true => sink.struck(Fault::Duplicate),
                false => add(How::DUPLICATE),
            }
        }
        let remembers = client || instance.kind == InstanceKind::Read;
        if remembers && hears && self.may(worker, Fault::Pause) {
            add(How::PAUSE);
        }
        (faults, count)
    }

    /// One way in which an accepted call goes.
    fn way<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        index: u32,
        instance: &Instance,
        how: How,
    ) {
        let takes = Takes {
            memory: !how.has(How::STALE.and(How::LOST_REPLY)),
            calls: !how.has(How::CALL_LOST),
            // a copy is in the memory of whoever hears the answer
            caches: !how.has(How::STALE_CACHE.and(How::STALE).and(How::LOST_REPLY)),
        };
        self.apply(worker, &instance.memory, instance.place, takes);
        if how.has(How::STALE) {
            // That was the last time.
            for slots in instance.memory.iter().filter(|slots| slots.read) {
                if let Some(stale) = slots.stale {
                    self.set(worker, stale, NULL);
                }
            }
        }
        let possible = (!how.has(How::PAUSE) || self.keep_memory(worker, instance))
            && (!how.has(How::DUPLICATE) || self.leave(worker, index));
        if !possible {
            self.undo(worker);
            return;
        }
        // Keeping the older memory was charged, using it is not.
        for fault in How(how.0 & !How::STALE.0 & !How::CALL_LOST.0).faults() {
            self.charge(worker, fault);
        }
        let what = match instance.kind {
            InstanceKind::Repair => Move::Repair { instance: index, how },
            _ => Move::Call { instance: index, how },
        };
        self.emit(worker, sink, what, NOW);
    }

    /// Memory that is overwritten may be kept by someone who does not know yet.
    fn keep_memory(&self, worker: &mut Worker, instance: &Instance) -> bool {
        let mut kept = false;
        for slots in &instance.memory {
            let (old, new) =
                (worker.before[slots.slot as usize], worker.after[slots.slot as usize]);
            if old != new
                && old != NULL
                && let Some(stale) = slots.stale
            {
                self.set(worker, stale, old);
                kept = true;
            }
        }
        kept
    }

    pub(super) fn repairs<S: Sink>(&self, worker: &mut Worker, sink: &mut S, recovery: bool) {
        for (index, instance) in self.instances.iter().enumerate() {
            if instance.kind == InstanceKind::Repair && !self.is_barred::<S>(worker, index) {
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
        let operation = instance.operation;
        for clock in self.clocks(worker, recovery) {
            self.remember(worker, instance);
            match self.run(worker, &instance.asked(index, self.now(*clock))) {
                Outcome::Done => {
                    self.way(worker, sink, index, instance, *clock);
                    if self.program.outbox_removed(operation)
                        && worker.sends(|_| true)
                        && !recovery
                        && *clock == How::PLAIN
                    {
                        self.way(worker, sink, index, instance, How::CALL_LOST);
                    }
                }
                Outcome::Refused(refusal) => self.turned_down(sink, operation, refusal.reason),
                Outcome::Need => {}
            }
        }
    }

    pub(super) fn apply_all(&self, worker: &mut Worker, instance: &Instance) {
        self.apply(worker, &instance.memory, instance.place, ALL);
    }
}

impl Instance {
    /// This call, at this time.
    pub(super) fn asked(&self, index: u32, now: Word) -> Asked<'_> {
        let (operation, me, params) = (self.operation, self.me, &self.params);
        Asked { instance: Some(index), operation, me, params, now, answer: None }
    }
}
