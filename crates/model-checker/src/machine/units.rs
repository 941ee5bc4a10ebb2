//! What can happen next, unit by unit and in one order.

use design::model::{Fault, OperationId, OperationKind};
use engine::Word;
use rustc_hash::FxHashSet;

use super::moves::Unit;
use super::recall::Known;
use super::visible::Goals;
use super::{InstanceKind, Machine, Move, NOW, Sink, Worker, effects_of};
use crate::world::sorts::message_targets;

/// Who is about.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// clients are silent, and no fault strikes
    pub(super) recovery: bool,
    /// that was asked for: what was sent before they were is not delivered
    pub(super) asked: bool,
}

/// A transition that was worked out before, from a state in which it is the same.
pub(crate) struct Again<'a> {
    machine: &'a Machine,
    worker: &'a mut Worker,
    known: Known,
}

impl<'a> Again<'a> {
    pub(crate) fn machine(&self) -> &'a Machine {
        self.machine
    }

    pub(crate) fn what(&self) -> Move {
        self.known.what
    }

    /// The state from which it happens.
    pub(crate) fn before(&mut self) -> &[Word] {
        self.machine.unfold(self.worker);
        &self.worker.before
    }

    /// Is the state that follows kept with interchangeable things exchanged?
    pub(crate) fn exchanged(&self) -> bool {
        self.known.moves && self.worker.exchanged
    }

    /// Does it change the state?
    pub(crate) fn moves(&self) -> bool {
        self.known.moves
    }

    /// The state that follows.
    pub(crate) fn packed(&self) -> &[u64] {
        match self.known.moves {
            true => &self.worker.next,
            false => &self.worker.packed,
        }
    }

    /// Whenever this number is the same, so is what it writes.
    pub(crate) fn serial(&self) -> u64 {
        self.known.serial
    }

    /// The invariants that see what it changes.
    pub(crate) fn seen(&self) -> Goals {
        self.known.seen
    }

    /// Asks something of the state before it, the state after it, and the clock then.
    pub(crate) fn between(&mut self, asks: &mut dyn FnMut(&[Word], &[Word], Word) -> bool) -> bool {
        let (machine, known) = (self.machine, self.known);
        machine.unfold(self.worker);
        let Worker { after, before, recall, .. } = &mut *self.worker;
        for (slot, word) in recall.writes(&known) {
            after[*slot as usize] = *word;
        }
        let answer = asks(before, after, known.now);
        for (slot, _) in recall.writes(&known) {
            after[*slot as usize] = before[*slot as usize];
        }
        answer
    }
}

impl Machine {
    /// All of them, in the order in which they are gone through.
    pub(super) fn all_units(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        let instances = || self.instances.iter().zip(0..);
        let is_repair = |kind: InstanceKind| kind == InstanceKind::Repair;
        let calls = instances().filter(|(held, _)| !is_repair(held.kind));
        units.extend(calls.map(|(_, index)| Unit::Call(index)));
        if self.settings.on(Fault::Crash) {
            units.extend((0..self.universe.principals.len() as u32).map(Unit::Crash));
            units.extend((0..self.places.len() as u32).map(Unit::Down));
        }
        let plan = &self.plan;
        let partition = self.settings.on(Fault::Partition);
        if !plan.caches.is_empty() || plan.blobs.iter().any(Option::is_some) || partition {
            units.push(Unit::Faults);
        }
        units.extend(plan.silent.map(|_| Unit::Silence));
        let repairs = instances().filter(|(held, _)| is_repair(held.kind));
        units.extend(repairs.map(|(_, index)| Unit::Repair(index)));
        units.extend(self.forgetful.iter().map(|start| Unit::Forget(*start)));
        for effect in effects_of(&self.design) {
            let keys = plan.effects[effect.index()].as_ref().map_or(0, |plan| plan.keys.len());
            units.extend((0..keys as u32).map(|key| Unit::Effect(effect, key)));
        }
        units.extend((0..plan.calls.count).map(Unit::Land));
        if self.is_set() {
            units.push(Unit::Arrivals);
        } else {
            units.extend(plan.cut.map(|_| Unit::Heal));
            for (number, messages) in plan.messages.iter().enumerate() {
                units.extend((0..messages.count).map(|at| Unit::Deliver(number as u32, at)));
            }
        }
        if self.has_time() {
            units.push(Unit::Tick);
        }
        units
    }

    /// Can it be told by what the unit looks at what comes of it?
    fn can_recall(&self, unit: Unit) -> bool {
        match unit {
            Unit::Faults | Unit::Silence | Unit::Heal | Unit::Arrivals => false,
            // What a keystore signs is in the body of the call.
            Unit::Effect(effect, _) => {
                self.plan.effects[effect.index()].as_ref().is_some_and(|plan| plan.signs.is_none())
            }
            _ => true,
        }
    }

    fn unit<S: Sink>(&self, worker: &mut Worker, sink: &mut S, unit: Unit, way: Way) {
        let recovery = way.recovery;
        match unit {
            Unit::Call(index) => self.one_call(worker, sink, index),
            Unit::Crash(principal) => self.crash(worker, sink, principal),
            Unit::Down(place) => self.down(worker, sink, place),
            Unit::Faults => self.faults(worker, sink),
            Unit::Silence => self.silence(worker, sink),
            Unit::Repair(index) => self.one_repair(worker, sink, index, recovery),
            Unit::Forget(start) => self.forget(worker, sink, start),
            Unit::Effect(effect, key) => self.effect(worker, sink, effect, key as usize, recovery),
            Unit::Land(call) => self.land(worker, sink, call, recovery),
            Unit::Heal => self.heal(worker, sink),
            Unit::Deliver(plan, at) => self.deliver(worker, sink, (plan, at), recovery),
            Unit::Arrivals => self.arrivals(worker, sink, way.asked),
            Unit::Tick => self.tick(worker, sink),
        }
    }

    /// Hands every transition from the loaded state to `sink`. `recovery`: only those that happen
    /// with every client silent and no fault.
    pub(crate) fn expand<S: Sink>(&self, worker: &mut Worker, sink: &mut S, recovery: bool) {
        let recalls = S::RECALLS && self.plan.silent.is_none();
        if recalls && worker.recall.is_on_for(recovery) {
            return self.expand_recalling(worker, sink, recovery, None);
        }
        self.unfold(worker);
        self.bar(worker);
        let way = Way { recovery: recovery || self.is_silent(&worker.before), asked: recovery };
        for unit in &self.units {
            if !way.recovery || unit.is_of_recovery() {
                self.unit(worker, sink, *unit, way);
            }
        }
    }

    /// What these units alone bring.
    pub(crate) fn expand_only<S: Sink>(&self, worker: &mut Worker, sink: &mut S, only: &[bool]) {
        let recalls = S::RECALLS && self.plan.silent.is_none();
        if recalls && worker.recall.is_on_for(false) {
            return self.expand_recalling(worker, sink, false, Some(only));
        }
        self.unfold(worker);
        let way = Way { recovery: self.is_silent(&worker.before), asked: false };
        for (unit, wanted) in self.units.iter().zip(only) {
            if *wanted && (!way.recovery || unit.is_of_recovery()) {
                self.unit(worker, sink, *unit, way);
            }
        }
    }

    /// The units in which something may happen that is up to the guard of this operation, if nothing happens by
    /// its refusal.
    pub(crate) fn units_of(&self, operation: OperationId) -> Option<Vec<bool>> {
        let held = &self.design.operations[operation.index()];
        let refusal_tells = message_targets(&self.design)[operation.index()]
            || matches!(held.kind, OperationKind::Effect(_));
        let is_own = |unit: &Unit| match unit {
            Unit::Call(index) | Unit::Repair(index) => {
                self.instances[*index as usize].operation == operation
            }
            // A call in flight may be any.
            Unit::Land(_) => true,
            _ => false,
        };
        (!refusal_tells).then(|| self.units.iter().map(is_own).collect())
    }

    /// Do its states stand for the same, bit by bit, and can the same happen but for what guards say? The other
    /// may have more calls: in a slice with the same state, they are such that change nothing.
    pub(crate) fn is_like(&self, other: &Machine) -> bool {
        let calls = |machine: &Machine| -> Vec<_> {
            let calls = machine.instances.iter();
            calls.map(|held| (held.operation, held.me, held.params.clone())).collect()
        };
        let (own, others) = (calls(self), calls(other));
        // A call in flight is kept by its number.
        let same_calls = match self.plan.calls.count {
            0 => {
                let others: FxHashSet<_> = others.iter().collect();
                own.iter().all(|call| others.contains(call))
            }
            _ => own == others,
        };
        same_calls
            && self.plan.names == other.plan.names
            && self.plan.slots.is_like(&other.plan.slots)
            && self.settings.network == other.settings.network
            && self.symmetry_notes == other.symmetry_notes
            && self.symmetry.is_some() == other.symmetry.is_some()
            && self.left.open == other.left.open
    }

    /// Finds out which calls need not be asked for.
    fn bar(&self, worker: &mut Worker) {
        if !worker.barred {
            let Worker { memo, before, .. } = worker;
            memo.bar(self, before);
            worker.barred = true;
        }
    }

    /// The same transitions, those that were worked out before from the same bits as they were then.
    fn expand_recalling<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        recovery: bool,
        only: Option<&[bool]>,
    ) {
        let Worker { recall, packed, .. } = worker;
        recall.look(packed);
        let way = Way { recovery, asked: recovery };
        for first in (0..self.units.len()).step_by(64) {
            let count = (self.units.len() - first).min(64);
            let all = u64::MAX >> (64 - count);
            let active = worker.recall.is_active[first / 64];
            let mut left = all & (!worker.recall.is_told[first / 64] | active);
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let at = first + bit as usize;
                let unit = self.units[at];
                let silent = recovery && !unit.is_of_recovery();
                if silent || only.is_some_and(|only| !only[at]) {
                    continue;
                }
                if active >> bit & 1 == 1 {
                    self.again(worker, sink, at);
                    continue;
                }
                self.unfold(worker);
                if !self.can_recall(unit) || !worker.recall.is_worth_it(at) {
                    self.bar(worker);
                    self.unit(worker, sink, unit, way);
                    continue;
                }
                worker.recall.begin(self.reach.unit_at(at));
                self.unit(worker, sink, unit, way);
                let Worker { recall, packed, .. } = &mut *worker;
                recall.end(at, packed);
            }
        }
    }

    /// Hands out what came of a unit before.
    fn again<S: Sink>(&self, worker: &mut Worker, sink: &mut S, at: usize) {
        for number in worker.recall.of_unit(at) {
            let known = worker.recall.known(number);
            if known.moves {
                let Worker { recall, packed, next, .. } = &mut *worker;
                let change = recall.change(&known);
                for ((next, word), change) in next.iter_mut().zip(&*packed).zip(change) {
                    *next = word ^ change;
                }
                self.least_next(worker);
            }
            sink.again(&mut Again { machine: self, worker: &mut *worker, known });
        }
    }

    /// Notes a transition that is worked out: the first `written` slots of the journal were written by it.
    pub(super) fn note_move(
        &self,
        worker: &mut Worker,
        (what, written): (Move, usize),
        seen: Goals,
        now: Word,
        (idle, beyond): (bool, bool),
    ) {
        let Worker { recall, journal, after, packed, plain, .. } = worker;
        if beyond {
            recall.spoil();
            return;
        }
        let journal = &journal[..written];
        for slot in journal {
            recall.looks(self.reach.slot(*slot));
        }
        let change = packed.iter().zip(&*plain);
        let change = change.map(|(from, to)| if idle { 0 } else { from ^ to });
        // After a tick nothing has changed but the clock.
        let writes = journal.iter().filter(|_| now == NOW);
        let writes = writes.map(|slot| (*slot, after[*slot as usize]));
        recall.moved(what, change, writes, (seen, now));
    }
}
