//! Most permutations of a state are seen not to be the least by their first few slots. Those that
//! hold one word, which goes to one place, are looked at one by one and in one order; only where none
//! of them is larger the state is permuted as a whole.

use engine::Word;

use super::Machine;
use super::permutation::Permutation;
use crate::world::plan::SlotName;
use crate::world::slots::{Kind, Slot};

/// No slot says whether the record is there.
const ALWAYS: u32 = u32::MAX;

/// The slots that are looked at: those that some permutation changes.
pub(super) struct Glance {
    slots: Vec<u32>,
    /// what each holds where its record is absent
    blanks: Vec<Word>,
    /// for each permutation and each slot, where its word comes from, and what says whether that
    /// record is there
    sources: Vec<Vec<(u32, u32)>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Seen {
    Larger,
    Same,
    Smaller,
}

impl Glance {
    pub(super) fn of(machine: &Machine, permutations: &[Permutation]) -> Glance {
        let plan = &machine.plan;
        let mut present = vec![ALWAYS; plan.names.len()];
        for (record, keys) in plan.records.iter().zip(&machine.universe.keys) {
            for key in 0..keys.len {
                let Some(slot) = record.present(key) else { continue };
                for word in record.words(key) {
                    present[word] = slot;
                }
            }
        }
        let changed = |slot: usize| {
            plan.slots.list[slot].kind != Kind::Plain
                || permutations.iter().any(|permutation| permutation.target(slot) != slot)
        };
        let slots: Vec<u32> = (0..plan.names.len())
            .filter(|slot| is_plain(&plan.names[*slot], &plan.slots.list[*slot]) && changed(*slot))
            .map(|slot| slot as u32)
            .collect();
        let blanks = slots.iter().map(|slot| plan.slots.blank(*slot)).collect();
        let sources = permutations
            .iter()
            .map(|permutation| {
                let mut from = vec![ALWAYS; plan.names.len()];
                for slot in 0..plan.names.len() {
                    from[permutation.target(slot)] = slot as u32;
                }
                let source = |slot: &u32| {
                    let from = from[*slot as usize];
                    (from, present[from as usize])
                };
                slots.iter().map(source).collect()
            })
            .collect();
        Glance { slots, blanks, sources }
    }

    /// The codes of a state itself.
    pub(super) fn own(&self, machine: &Machine, words: &[Word], codes: &mut Vec<u64>) {
        codes.clear();
        codes.extend(self.slots.iter().map(|slot| {
            let slot = *slot as usize;
            machine.plan.slots.list[slot].code(words[slot])
        }));
    }

    /// Compares a permuted state with the least codes so far, and writes down its own unless it is
    /// larger.
    pub(super) fn look(
        &self,
        machine: &Machine,
        (number, permutation): (usize, &Permutation),
        words: &[Word],
        least: &[u64],
        codes: &mut Vec<u64>,
    ) -> Seen {
        codes.clear();
        let mut seen = Seen::Same;
        let slots = &machine.plan.slots.list;
        for (at, (from, present)) in self.sources[number].iter().enumerate() {
            let slot = &slots[self.slots[at] as usize];
            let absent = *present != ALWAYS && words[*present as usize] == 0;
            let word = match absent {
                true => self.blanks[at],
                false => permutation.word(machine, slot.kind, words[*from as usize]),
            };
            let code = slot.code(word);
            if seen == Seen::Same && code != least[at] {
                if code > least[at] {
                    return Seen::Larger;
                }
                seen = Seen::Smaller;
            }
            codes.push(code);
        }
        seen
    }
}

/// Does it hold one word that stays one word, wherever it goes?
pub(super) fn is_plain(name: &SlotName, slot: &Slot) -> bool {
    slot.room.is_none()
        && matches!(
            name,
            SlotName::Present { .. }
                | SlotName::Attr { .. }
                | SlotName::Counter { .. }
                | SlotName::Log { .. }
                | SlotName::StoredTime
                | SlotName::Memory { .. }
        )
}
