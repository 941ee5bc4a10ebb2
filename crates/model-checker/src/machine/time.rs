//! The clock: each time is kept as its distance from now, so a tick moves them all.
//!
//! By region: of a distance the whole units are kept, and of the fractions only their order. In a word
//! they stand as even numbers 2, 4, 6, …; 0 is a whole number of units. Between two of them there is
//! room for the moment after now.

use std::collections::BTreeSet;

use design::model::{Design, OperationId};
use engine::{HashPart, NULL, Word};

use super::durations::{self, Source};
use super::lengths::Lengths;
use super::together;
use super::{Beyond, Machine, Move, NOW, Room, Sink, Worker};
use crate::clock::{Clock, REGION_UNIT};
use crate::world::plan::{Plan, Settings, SlotName};
use crate::world::slots::Slots;
use crate::world::universe::BASE;

/// Where times are kept, and how they are told apart.
pub(crate) struct Times {
    /// words of a unit
    pub(crate) unit: Word,
    regions: bool,
    /// for each slot: does it hold a time?
    is_time: Vec<bool>,
    singles: Vec<Single>,
    groups: Vec<Group>,
    /// for each operation: slots of times that it may move on
    moved_on: Vec<Vec<u32>>,
    /// distances below this are beyond the horizon
    horizon: Word,
}

/// A time that is compared with now alone.
struct Single {
    slot: u32,
    /// the distance of what is not there
    nothing: Word,
    /// distances below this are one
    least: Word,
    /// that one
    floor: Word,
}

/// Times that are compared with each other.
struct Group {
    slots: Vec<u32>,
    /// how far apart they are told to be, in words: what is further is one
    apart: Word,
    /// is only their order looked at, not how far apart they are?
    ordered: bool,
    /// the distance of what is not there
    nothing: Word,
}

impl Times {
    pub(super) fn of(
        design: &Design,
        lengths: &Lengths<'_>,
        clock: &Clock,
        settings: &Settings,
        plan: &Plan,
    ) -> Times {
        let unit = clock.per_unit;
        let (horizon, step) = (-settings.horizon * unit, if clock.regions { unit } else { 1 });
        let mut is_time = vec![false; plan.names.len()];
        plan.times.iter().for_each(|slot| is_time[*slot as usize] = true);
        let groups: Vec<Group> = together::groups(design, lengths, plan)
            .into_iter()
            .map(|(slots, apart)| {
                let low = plan.slots.lowest_time(slots[0]);
                Group { slots, apart: apart + step, ordered: apart == 0, nothing: low }
            })
            .collect();
        let grouped: BTreeSet<u32> =
            groups.iter().flat_map(|group| group.slots.iter().copied()).collect();
        let singles = plan.times.iter().filter(|slot| !grouped.contains(slot)).map(|slot| {
            let nothing = plan.slots.lowest_time(*slot);
            let (least, floor) = match plan.names[*slot as usize] {
                // A clock may be a unit behind: what is longer ago makes no difference.
                SlotName::StoredTime => (1 - unit, nothing),
                _ => (horizon, horizon - step),
            };
            Single { slot: *slot, nothing, least, floor }
        });
        let moved_on = durations::moved_on(design)
            .into_iter()
            .map(|sources| slots_of(plan, &sources))
            .collect();
        let singles = singles.collect();
        Times { unit, regions: clock.regions, is_time, singles, groups, moved_on, horizon }
    }

    /// Is a time among these slots?
    pub(super) fn moved(&self, slots: &[u32]) -> bool {
        slots.iter().any(|slot| self.is_time[*slot as usize])
    }

    /// Makes one of all states that differ in nothing that is told apart. `changed` gets the slots
    /// that change.
    pub(super) fn settle(
        &self,
        machine: &Machine,
        words: &mut [Word],
        changed: &mut Vec<u32>,
        room: &mut Room,
    ) {
        debug_assert_eq!(words.len(), machine.plan.names.len());
        let slots = &machine.plan.slots;
        let mut set = |words: &mut [Word], slot: u32, word: Word| {
            if words[slot as usize] != word {
                words[slot as usize] = word;
                changed.push(slot);
            }
        };
        for single in &self.singles {
            let word = words[single.slot as usize];
            if word != NULL
                && word - BASE < single.least
                && word - BASE != single.nothing
                && slots.in_use(single.slot, words)
            {
                set(words, single.slot, BASE + single.floor);
            }
        }
        for group in &self.groups {
            for (slot, distance) in group.settled(&machine.plan.slots, words, self) {
                set(words, slot, BASE + distance);
            }
        }
        if self.regions {
            let Room { slots: live, values: fractions } = room;
            live.clear();
            fractions.clear();
            for slot in self.live(slots, words) {
                let fraction = self.fraction(words[slot as usize]);
                if fraction != 0 {
                    live.push(slot);
                    if let Err(at) = fractions.binary_search(&fraction) {
                        fractions.insert(at, fraction);
                    }
                }
            }
            for slot in live {
                let word = words[*slot as usize];
                let fraction = self.fraction(word);
                if let Ok(at) = fractions.binary_search(&fraction) {
                    set(words, *slot, word - fraction + 2 * (at as Word + 1));
                }
            }
        }
    }

    /// The slots whose times are told apart from others.
    fn live<'a>(&'a self, slots: &'a Slots, words: &'a [Word]) -> impl Iterator<Item = u32> + 'a {
        let singles = self.singles.iter().filter(|single| {
            let word = words[single.slot as usize];
            word != NULL && word - BASE >= single.least && slots.in_use(single.slot, words)
        });
        let groups = self.groups.iter().flat_map(move |group| {
            group.slots.iter().copied().filter(move |slot| {
                let word = words[*slot as usize];
                // Of what is beyond the horizon perhaps only the order is kept.
                let least = if group.ordered { self.horizon - 1 } else { group.nothing };
                word != NULL && word - BASE > least && slots.in_use(*slot, words)
            })
        });
        singles.map(|single| single.slot).chain(groups)
    }

    fn fraction(&self, word: Word) -> Word {
        match self.regions {
            // A constant, so that nothing is divided.
            true => (word - BASE).rem_euclid(REGION_UNIT),
            false => (word - BASE).rem_euclid(self.unit),
        }
    }

    /// How far the clock moves until something can be told apart.
    fn step(&self, slots: &Slots, words: &[Word]) -> Word {
        if !self.regions {
            return 1;
        }
        let next = self.live(slots, words).map(|slot| self.fraction(words[slot as usize])).min();
        // A moment after what is a whole number of units away; else up to what is so next.
        next.map_or(0, |fraction| fraction.max(1))
    }
}

impl Group {
    /// Distances beyond the horizon, no further from the next newer one than can be told.
    fn settled(&self, slots: &Slots, words: &[Word], times: &Times) -> Vec<(u32, Word)> {
        let is_beyond = |slot: &u32| {
            let word = words[*slot as usize];
            word != NULL
                && word - BASE > self.nothing
                && word - BASE < times.horizon
                && slots.in_use(*slot, words)
        };
        if !self.slots.iter().any(is_beyond) {
            // All of them stay as they are.
            return Vec::new();
        }
        let mut list: Vec<(Word, u32)> = self
            .slots
            .iter()
            .map(|slot| (words[*slot as usize], *slot))
            .filter(|(word, slot)| {
                *word != NULL && *word - BASE > self.nothing && slots.in_use(*slot, words)
            })
            .map(|(word, slot)| (word - BASE, slot))
            .collect();
        list.sort_unstable_by(|a, b| b.cmp(a));
        let step = if times.regions { times.unit } else { 1 };
        let (mut before, mut newer): (Option<Word>, Option<Word>) = (None, None);
        let mut shift = 0;
        list.into_iter()
            .map(|(distance, slot)| {
                let beyond = times.horizon - step;
                if self.ordered && distance < times.horizon {
                    // Only the order counts.
                    let settled = match (before, newer) {
                        (Some(before), Some(newer)) if before < times.horizon => {
                            if before == distance { newer } else { newer - step }
                        }
                        _ => beyond,
                    };
                    (before, newer) = (Some(distance), Some(settled));
                    return (slot, settled);
                }
                before = Some(distance);
                let mut settled = distance + shift;
                let least = newer.map_or(beyond, |newer| beyond.min(newer - self.apart));
                if settled < least {
                    // By whole steps, so that fractions stay what they are.
                    let missing = (least - settled + step - 1) / step * step;
                    shift += missing;
                    settled += missing;
                }
                newer = Some(settled);
                (slot, settled)
            })
            .collect()
    }
}

/// The slots of truth and memory with times from these places.
pub(super) fn slots_of(plan: &Plan, sources: &BTreeSet<Source>) -> Vec<u32> {
    let slots = plan.times.iter().copied().filter(|slot| match plan.names[*slot as usize] {
        SlotName::Attr { subject, attr, .. } | SlotName::CacheAttr { subject, attr, .. } => {
            sources.contains(&Source::Attr(subject, attr))
        }
        SlotName::Memory { actor, field, .. } => sources.contains(&Source::Memory(actor, field)),
        SlotName::StoredTime => false,
        // of a call or a message: it came from somewhere
        _ => !sources.is_empty(),
    });
    if sources.contains(&Source::Other) {
        return plan.times.clone();
    }
    slots.collect()
}

impl Machine {
    pub(super) fn tick<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        if !self.has_time() {
            return;
        }
        let slots = &self.plan.slots;
        let step = self.times.step(slots, &worker.before);
        let live: Vec<u32> = if self.times.regions {
            self.times.live(slots, &worker.before).collect()
        } else {
            self.plan.times.clone()
        };
        for slot in live {
            let word = worker.before[slot as usize];
            if word != NULL && slots.in_use(slot, &worker.before) {
                self.set(worker, slot, word - step);
            }
        }
        let oldest = NOW + self.times.horizon - 1;
        for slot in &self.aging {
            let word = worker.before[*slot as usize];
            if word != NULL {
                let older = self.terms.changed(word, &|part, word| match part {
                    HashPart::Time => (word - 1).max(oldest),
                    _ => word,
                });
                self.set(worker, *slot, older);
            }
        }
        self.emit(worker, sink, Move::Tick, NOW + step);
    }

    /// Does this operation move a time on from beyond the horizon? Where it comes to is not known.
    pub(super) fn moved_on(&self, operation: OperationId, before: &[Word]) -> Option<Beyond> {
        let slots = self.times.moved_on[operation.index()].iter();
        let lost = |slot: &&u32| {
            let word = before[**slot as usize];
            word != NULL
                && word - BASE < self.times.horizon
                && self.plan.slots.in_use(**slot, before)
                && self.is_there(**slot, before)
        };
        slots.into_iter().find(lost).map(|slot| Beyond::MovedOn(*slot))
    }

    /// Is the record there whose time this slot holds?
    fn is_there(&self, slot: u32, words: &[Word]) -> bool {
        let SlotName::Attr { subject, key, .. } = self.plan.names[slot as usize] else {
            return true;
        };
        let present = self.plan.records[subject.index()].present(key as usize);
        present.is_none_or(|present| words[present as usize] == 1)
    }
}
