//! Which bits of a packed state the parts of it take. What follows from some of them follows again wherever
//! they are the same.

use design::model::{OperationId, SubjectId};

use super::Machine;
use super::moves::Unit;
use crate::world::plan::{Plan, ROWS, SlotName};

/// Bits of packed states, one after the other.
#[derive(Default)]
struct Rows {
    width: usize,
    words: Vec<u64>,
}

impl Rows {
    fn add(&mut self, row: &[u64]) {
        self.words.extend_from_slice(row);
    }

    fn get(&self, at: usize) -> &[u64] {
        &self.words[at * self.width..(at + 1) * self.width]
    }
}

#[derive(Default)]
pub(super) struct Reach {
    /// for each slot: what is looked at where it changes, to pack what follows
    slots: Rows,
    /// for each slot: its own bits
    own: Rows,
    records: Rows,
    /// where the records of each subject begin
    first: Vec<u32>,
    /// for each operation: what says whether it moves on a time that is too long ago
    moved_on: Rows,
    /// messages one by one
    messages: Vec<u64>,
    /// for each effect: where its keys begin in `entries`
    effects: Vec<u32>,
    entries: Rows,
    /// for each unit: what it looks at in any case
    units: Rows,
}

fn add(into: &mut [u64], bits: &[u64]) {
    into.iter_mut().zip(bits).for_each(|(into, bits)| *into |= bits);
}

/// The bits of these slots.
fn of(plan: &Plan, slots: impl IntoIterator<Item = u32>) -> Vec<u64> {
    let mut bits = vec![0; plan.slots.width()];
    slots.into_iter().for_each(|slot| plan.slots.mark(slot, &mut bits));
    bits
}

fn calls(plan: &Plan) -> Vec<u64> {
    let calls = &plan.calls;
    of(plan, calls.first..calls.first + calls.stride * calls.count)
}

impl Reach {
    pub(super) fn of(machine: &Machine) -> Reach {
        let plan = &machine.plan;
        let width = plan.slots.width();
        let rows = || Rows { width, words: Vec::new() };
        let mut reach = Reach {
            slots: rows(),
            own: rows(),
            records: rows(),
            moved_on: rows(),
            entries: rows(),
            units: rows(),
            ..Reach::default()
        };
        reach.messages = vec![0; width];
        for messages in &plan.messages {
            let last = messages.first + messages.stride * messages.count;
            add(&mut reach.messages, &of(plan, messages.first..last));
        }
        let times = of(plan, plan.times.iter().copied());
        let calls = calls(plan);
        for slot in 0..plan.names.len() as u32 {
            let mut bits = of(plan, plan.slots.with_room(slot));
            reach.own.add(&of(plan, [slot]));
            if machine.times.moved(&[slot]) {
                add(&mut bits, &times);
            }
            let ranked = machine.ranks.beside(plan, slot);
            if !ranked.is_empty() {
                add(&mut bits, &of(plan, ranked));
                add(&mut bits, &calls);
            }
            reach.slots.add(&bits);
        }
        for (record, keys) in plan.records.iter().zip(&machine.universe.keys) {
            reach.first.push((reach.records.words.len() / width) as u32);
            for key in 0..keys.len as u32 {
                let from = record.first + record.stride * key;
                reach.records.add(&of(plan, from..from + record.stride));
            }
        }
        for operation in 0..machine.design.operations.len() {
            let slots = machine.times.moved_on_by(OperationId::of(operation));
            let there = slots.iter().filter_map(|slot| machine.present_of(*slot));
            reach.moved_on.add(&of(plan, slots.iter().copied().chain(there)));
        }
        for effect in &plan.effects {
            reach.effects.push((reach.entries.words.len() / width) as u32);
            let Some(effect) = effect else { continue };
            for key in 0..effect.keys.len() {
                let from = effect.entry(key);
                reach.entries.add(&of(plan, from..from + effect.stride));
            }
        }
        let always = reach.always(machine);
        for unit in &machine.units {
            let mut bits = always.clone();
            reach.unit(machine, *unit, &calls, &mut bits);
            reach.units.add(&bits);
        }
        reach
    }

    /// What any step may look at besides the records that it reads.
    fn always(&self, machine: &Machine) -> Vec<u64> {
        let plan = &machine.plan;
        let mut bits = of(plan, plan.budgets.iter().map(|(_, slot)| *slot));
        add(&mut bits, &of(plan, plan.silent));
        for (first, sort) in plan.blobs.iter().flatten() {
            let domain = &machine.universe.sorts.list[*sort].domain;
            if let crate::world::sorts::SortDomain::Finite(values) = domain {
                add(&mut bits, &of(plan, *first..first + values.len() as u32));
            }
        }
        for cache in &plan.caches {
            let copies = cache.keys * cache.principals.len() as u32;
            add(&mut bits, &of(plan, cache.first..cache.first + copies * cache.stride));
        }
        for (effect, key) in &machine.universe.signs {
            add(&mut bits, self.entry(*effect, *key));
        }
        bits
    }

    fn unit(&self, machine: &Machine, unit: Unit, calls: &[u64], bits: &mut [u64]) {
        let plan = &machine.plan;
        match unit {
            Unit::Call(index) | Unit::Repair(index) => {
                let held = &machine.instances[index as usize].memory;
                let slots = held.iter().flat_map(|held| [Some(held.slot), held.stale]);
                add(bits, &of(plan, slots.flatten()));
                add(bits, calls);
            }
            Unit::Crash(principal) => {
                add(bits, &of(plan, machine.memory_of[principal as usize].iter().copied()));
            }
            Unit::Down(place) => {
                let lost = machine.volatile[place as usize].iter();
                add(bits, &of(plan, lost.flat_map(super::faults::Lost::slots)));
            }
            Unit::Forget(start) => add(bits, &of(plan, start..start + 2)),
            Unit::Effect(effect, key) => add(bits, self.entry(effect, key)),
            Unit::Land(_) => add(bits, calls),
            Unit::Deliver(..) => {
                add(bits, &self.messages);
                add(bits, &of(plan, plan.cut));
            }
            Unit::Tick => {
                add(bits, &of(plan, plan.times.iter().copied()));
                add(bits, &of(plan, machine.aging.iter().copied()));
            }
            Unit::Faults | Unit::Silence | Unit::Heal | Unit::Arrivals => {}
        }
    }

    pub(super) fn slot(&self, slot: u32) -> &[u64] {
        self.slots.get(slot as usize)
    }

    pub(super) fn own(&self, slot: u32) -> &[u64] {
        self.own.get(slot as usize)
    }

    pub(super) fn record(&self, subject: SubjectId, key: u32) -> &[u64] {
        self.records.get((self.first[subject.index()] + key) as usize)
    }

    pub(super) fn moved_on(&self, operation: OperationId) -> &[u64] {
        self.moved_on.get(operation.index())
    }

    pub(super) fn messages(&self) -> &[u64] {
        &self.messages
    }

    pub(super) fn entry(&self, effect: OperationId, key: u32) -> &[u64] {
        self.entries.get((self.effects[effect.index()] + key) as usize)
    }

    pub(super) fn unit_at(&self, at: usize) -> &[u64] {
        self.units.get(at)
    }
}

impl Machine {
    /// The bits of a state that an invariant sees.
    pub(crate) fn bits_seen(&self, goal: u32) -> Vec<u64> {
        let plan = &self.plan;
        // Of messages that are kept as a set others are seen once clients are silent.
        let is_cache = |name: &SlotName| {
            matches!(name, SlotName::CachePresent { .. } | SlotName::CacheAttr { .. })
        };
        let slots = (0..plan.names.len() as u32)
            .filter(|slot| self.visible.has(goal, *slot) || is_cache(&plan.names[*slot as usize]));
        of(plan, slots.chain(plan.silent))
    }
}

/// The slots with the bits of messages to this step, where they are kept as a set.
pub(super) fn sent(plan: &Plan, operation: OperationId) -> Vec<u64> {
    let mut bits = vec![0; plan.slots.width()];
    for held in plan.sent.iter().filter(|held| held.operation == operation) {
        let parts = (held.rows.len() as u32).div_ceil(ROWS);
        for first in std::iter::once(held.first).chain(held.owed) {
            add(&mut bits, &of(plan, first..first + parts));
        }
    }
    bits
}
