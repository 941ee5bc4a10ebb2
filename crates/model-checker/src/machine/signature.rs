//! Interchangeable things are told apart by what stands in their own slots, whatever the others are
//! called. Of all permutations of a state only those are looked at that bring these signatures into
//! order: mostly one.

use std::hash::Hasher;

use engine::Word;
use rustc_hash::FxHasher;

use super::glance::is_plain;
use super::permutation::Permutation;
use crate::world::plan::Plan;
use crate::world::slots::Kind;

/// The slots of each thing, one kind of thing after the other.
pub(super) struct Signatures {
    kinds: Vec<Things>,
}

/// Things that are interchangeable with each other.
struct Things {
    /// which of those that are exchanged
    number: usize,
    /// for each of them, the slots that go where it goes
    slots: Vec<Vec<u32>>,
}

impl Signatures {
    /// `lens`: how many there are of each kind.
    pub(super) fn of(plan: &Plan, permutations: &[Permutation], lens: &[usize]) -> Signatures {
        let plain: Vec<u32> = (0..plan.names.len())
            .filter(|at| is_plain(&plan.names[*at], &plan.slots.list[*at]))
            .filter(|at| plan.slots.list[*at].kind == Kind::Plain)
            // What is not kept may hold anything.
            .filter(|at| plan.slots.list[*at].bits > 0)
            .map(|at| at as u32)
            .collect();
        let kinds = lens
            .iter()
            .enumerate()
            .map(|(number, len)| Things::of(&plain, permutations, number, *len))
            .filter(|things| !things.slots[0].is_empty())
            .collect();
        Signatures { kinds }
    }

    /// Each kind that has slots of its own, by its number: for each thing, these slots.
    pub(super) fn slots(&self) -> Vec<(usize, &[Vec<u32>])> {
        self.kinds.iter().map(|things| (things.number, &things.slots[..])).collect()
    }

    /// The signatures of a state, one after the other.
    pub(super) fn read(&self, words: &[Word], signatures: &mut Vec<u64>) {
        signatures.clear();
        for slots in self.kinds.iter().flat_map(|things| &things.slots) {
            let mut hasher = FxHasher::default();
            slots.iter().for_each(|slot| hasher.write_i64(words[*slot as usize]));
            signatures.push(hasher.finish());
        }
    }

    /// Are they in order as they stand?
    pub(super) fn are_sorted(&self, signatures: &[u64]) -> bool {
        let mut rest = signatures;
        self.kinds.iter().all(|things| {
            let (own, others) = rest.split_at(things.slots.len());
            rest = others;
            own.is_sorted()
        })
    }

    /// Does this permutation bring them into order?
    pub(super) fn are_sorted_by(&self, signatures: &[u64], permutation: &Permutation) -> bool {
        let mut rest = signatures;
        self.kinds.iter().all(|things| {
            let (own, others) = rest.split_at(things.slots.len());
            rest = others;
            permutation.from[things.number].iter().map(|from| own[*from]).is_sorted()
        })
    }
}

impl Things {
    /// Slots that every permutation takes where it takes the thing, and nowhere else.
    fn of(plain: &[u32], permutations: &[Permutation], number: usize, len: usize) -> Things {
        let mut slots = vec![Vec::new(); len];
        // Those of the first thing, and where they go with each of the others.
        for slot in plain {
            let mut column = vec![None; len];
            column[0] = Some(*slot);
            let fits = permutations.iter().all(|permutation| {
                let to = permutation.target(*slot as usize) as u32;
                let thing = permutation.from[number].iter().position(|from| *from == 0);
                let held = &mut column[thing.unwrap_or(0)];
                *held.get_or_insert(to) == to
            });
            let column: Option<Vec<u32>> = column.into_iter().collect();
            let Some(column) = column.filter(|_| fits) else { continue };
            // What stays where it is belongs to nobody.
            if column[1..].contains(slot) || !follows(&column, permutations, number) {
                continue;
            }
            slots.iter_mut().zip(column).for_each(|(own, slot)| own.push(slot));
        }
        Things { number, slots }
    }
}

/// Do these slots, one for each thing, always go together with them?
fn follows(column: &[u32], permutations: &[Permutation], number: usize) -> bool {
    permutations.iter().all(|permutation| {
        let from = &permutation.from[number];
        from.iter()
            .enumerate()
            .all(|(to, from)| permutation.target(column[*from] as usize) as u32 == column[to])
    })
}
