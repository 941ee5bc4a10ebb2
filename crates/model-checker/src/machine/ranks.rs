//! Counters that only advance and are only compared: what matters is their order, so that is
//! what is kept. 0 is always there: a default, or a literal to compare with.

use design::model::Design;
use engine::{NULL, Word};

use super::{Instance, Machine, Room};
use crate::world::plan::{Plan, SlotName};
use crate::world::slots::{Codec, RANK_STRIDE};
use crate::world::sorts::SortDomain;
use crate::world::universe::Universe;

/// Slots whose values are ordered among themselves.
#[derive(Debug)]
struct Group {
    sort: usize,
    /// none: all records together
    record: Option<u32>,
    slots: Vec<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Ranks {
    groups: Vec<Group>,
    /// for each slot, its group
    of_slot: Vec<Option<u32>>,
    /// for each call, the groups of its memory: (place among the call's slots, group)
    of_call: Vec<Vec<(u32, u32)>>,
}

/// Groups whose values may have changed. The last bit stands for all from there on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Touched(u64);

impl Touched {
    pub(crate) const ALL: Touched = Touched(u64::MAX);

    fn has(self, group: usize) -> bool {
        self.0 >> group.min(63) & 1 == 1
    }
}

impl Ranks {
    pub(super) fn of(
        design: &Design,
        universe: &Universe,
        plan: &Plan,
        instances: &[Instance],
    ) -> Ranks {
        let mut ranks = Ranks { of_slot: vec![None; plan.names.len()], ..Ranks::default() };
        for (at, (slot, name)) in plan.slots.list.iter().zip(&plan.names).enumerate() {
            let Codec::Rank { sort, .. } = slot.codec else { continue };
            let SortDomain::Ranked { global } = universe.sorts.list[sort].domain else { continue };
            let record = match name {
                _ if global => None,
                SlotName::Attr { key, .. } | SlotName::CacheAttr { key, .. } => Some(*key),
                SlotName::Memory { record, .. } | SlotName::Older { key: record } => *record,
                // depends on the call
                _ => continue,
            };
            let group = ranks.group(sort, record);
            ranks.groups[group as usize].slots.push(at as u32);
            ranks.of_slot[at] = Some(group);
        }
        if ranks.groups.is_empty() {
            return ranks;
        }
        for instance in instances {
            let operation = &design.operations[instance.operation.index()];
            let mut own = Vec::new();
            for (usage, slots) in operation.memory.iter().zip(&instance.memory) {
                debug_assert!(usage.field.index() < usize::MAX);
                if let Some(group) = ranks.of_slot[slots.slot as usize]
                    && ranks.groups[group as usize].record.is_some()
                {
                    own.push((slots.in_call, group));
                }
            }
            ranks.of_call.push(own);
        }
        ranks
    }

    fn group(&mut self, sort: usize, record: Option<u32>) -> u32 {
        let at = self.groups.iter().position(|group| group.sort == sort && group.record == record);
        at.unwrap_or_else(|| {
            self.groups.push(Group { sort, record, slots: Vec::new() });
            self.groups.len() - 1
        }) as u32
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups that these slots, and the calls in flight among them, belong to.
    pub(super) fn touched(&self, machine: &Machine, changed: &[u32]) -> Touched {
        let calls = &machine.plan.calls;
        let calls = calls.first..calls.first + calls.stride * calls.count;
        let mut touched = 0;
        for slot in changed {
            if calls.contains(slot) {
                return Touched::ALL;
            }
            if let Some(group) = self.of_slot[*slot as usize] {
                touched |= 1 << group.min(63);
            }
        }
        Touched(touched)
    }

    /// The slots whose values are made dense again where this one changes.
    pub(super) fn beside(&self, plan: &Plan, slot: u32) -> Vec<u32> {
        let calls = &plan.calls;
        if (calls.first..calls.first + calls.stride * calls.count).contains(&slot) {
            return self.groups.iter().flat_map(|group| group.slots.iter().copied()).collect();
        }
        let group = self.of_slot[slot as usize].map(|group| &self.groups[group as usize]);
        group.map_or(Vec::new(), |group| group.slots.clone())
    }

    /// The slots of calls in flight that hold values of this group.
    fn in_flight<'a>(
        &'a self,
        machine: &'a Machine,
        words: &'a [Word],
        group: u32,
    ) -> impl Iterator<Item = usize> + 'a {
        let plan = &machine.plan.calls;
        (0..plan.count).flat_map(move |call| {
            let slot = (plan.first + plan.stride * call) as usize;
            let number = words[slot];
            let own: &[(u32, u32)] =
                if number > 0 { &self.of_call[number as usize - 1] } else { &[] };
            own.iter()
                .filter(move |(_, held)| *held == group)
                .map(move |(at, _)| slot + *at as usize)
        })
    }

    /// Makes the values of these groups dense again, in the same order; `changed` gets the slots
    /// that move.
    pub(crate) fn normalise(
        &self,
        machine: &Machine,
        words: &mut [Word],
        groups: Touched,
        changed: &mut Vec<u32>,
        room: &mut Room,
    ) {
        if groups == Touched(0) {
            return;
        }
        let Room { slots, values } = room;
        for (number, group) in self.groups.iter().enumerate() {
            if !groups.has(number) {
                continue;
            }
            slots.clear();
            slots.extend_from_slice(&group.slots);
            slots.extend(self.in_flight(machine, words, number as u32).map(|slot| slot as u32));
            if by_bits(words, slots, changed) {
                continue;
            }
            values.clear();
            values.push(0);
            for slot in &*slots {
                let word = words[*slot as usize];
                // There are few of them: each is put where it belongs.
                if word != NULL
                    && let Err(at) = values.binary_search(&word)
                {
                    values.insert(at, word);
                }
            }
            let dense = |(at, value): (usize, &Word)| *value == at as Word * RANK_STRIDE;
            if values.iter().enumerate().all(dense) {
                continue;
            }
            for slot in &*slots {
                let word = &mut words[*slot as usize];
                if *word == NULL {
                    continue;
                }
                let rank = values.binary_search(word).unwrap_or(0) as Word * RANK_STRIDE;
                if *word != rank {
                    *word = rank;
                    changed.push(*slot);
                }
            }
        }
    }

    /// A sort of which a member was advanced that was not the largest, if there is one: the value
    /// lies between two others, and which it would meet is not known.
    pub(super) fn broken(
        &self,
        machine: &Machine,
        before: &[Word],
        after: &[Word],
        changed: &[u32],
    ) -> Option<usize> {
        for slot in changed {
            let Some(number) = self.of_slot[*slot as usize] else { continue };
            let word = after[*slot as usize];
            if word == NULL || word % RANK_STRIDE == 0 {
                continue;
            }
            let group = &self.groups[number as usize];
            let held = group.slots.iter().map(|slot| *slot as usize);
            let most = held
                .chain(self.in_flight(machine, before, number))
                .map(|slot| before[slot])
                .max()
                .unwrap_or(0);
            if word < most {
                return Some(group.sort);
            }
        }
        None
    }
}

/// Most values are ranks, or one more than a rank. Where all are, and small, each has a bit, and its new rank is
/// how many bits there are below it. Answers whether that is so.
fn by_bits(words: &mut [Word], slots: &[u32], changed: &mut Vec<u32>) -> bool {
    let bit = |word: Word| {
        let (rank, more) = (word / RANK_STRIDE, word % RANK_STRIDE);
        (word >= 0 && rank < 32 && more < 2).then_some((rank * 2 + more) as u32)
    };
    let mut seen = 1_u64;
    for slot in slots {
        let word = words[*slot as usize];
        if word != NULL {
            let Some(bit) = bit(word) else { return false };
            seen |= 1 << bit;
        }
    }
    // Only even bits, and all of them up to the last.
    let all = seen | seen << 1;
    if all & all.wrapping_add(1) == 0 && seen & 0xaaaa_aaaa_aaaa_aaaa == 0 {
        return true;
    }
    for slot in slots {
        let word = &mut words[*slot as usize];
        if *word == NULL {
            continue;
        }
        let Some(bit) = bit(*word) else { return false };
        let rank = Word::from((seen & ((1 << bit) - 1)).count_ones()) * RANK_STRIDE;
        if *word != rank {
            *word = rank;
            changed.push(*slot);
        }
    }
    true
}
