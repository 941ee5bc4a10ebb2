//! A state as the engine sees it.

use design::model::{BlobId, OperationId, StateId, SubjectId};
use engine::{Fetch, HashPart, NULL, Truth, Word, World};

use super::Machine;
use crate::world::effects::decision;
use crate::world::plan::SlotName;
use crate::world::sorts::SortDomain;

pub(crate) struct View<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) words: &'a [Word],
    pub(crate) now: Word,
}

/// Do invariants see what this slot holds?
pub(crate) fn is_visible(name: &SlotName) -> bool {
    matches!(
        name,
        SlotName::Present { .. }
            | SlotName::Attr { .. }
            | SlotName::Counter { .. }
            | SlotName::Log { .. }
            | SlotName::World { .. }
            | SlotName::WorldArg
            | SlotName::Signed
            | SlotName::Blob
    )
}

impl Truth for View<'_> {
    #[inline]
    fn record(&self, subject: SubjectId, key: Word) -> Fetch<'_> {
        let record = &self.machine.plan.records[subject.index()];
        if key < 0 || key as usize >= self.machine.universe.keys[subject.index()].len {
            return Fetch::Absent;
        }
        match record.present(key as usize) {
            Some(present) if self.words[present as usize] == 0 => Fetch::Absent,
            _ => Fetch::Present(&self.words[record.words(key as usize)]),
        }
    }

    fn cache(&self, subject: SubjectId, state: StateId, key: Word, principal: Word) -> Fetch<'_> {
        let plan = self
            .machine
            .plan
            .caches
            .iter()
            .find(|cache| cache.subject == subject && cache.state == state);
        let Some(cache) = plan else { return Fetch::Absent };
        let (first, count) = cache.principals;
        let keeps = principal >= Word::from(first) && principal < Word::from(first + count);
        if !keeps || key < 0 || key >= Word::from(cache.keys) {
            return Fetch::Absent;
        }
        let slot = cache.slot(key as usize, principal as usize) as usize;
        if self.words[slot] == 0 {
            return Fetch::Absent;
        }
        Fetch::Present(&self.words[slot + 1..slot + 1 + cache.width as usize])
    }

    #[inline]
    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word {
        self.machine.universe.keys[subject.index()].part(key, part)
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        self.machine.universe.keys[subject.index()].handle(parts)
    }

    fn stored(&self, blob: BlobId, digest: Word) -> Option<bool> {
        let Some((first, sort)) = self.machine.plan.blobs[blob.index()] else {
            return Some(false);
        };
        let SortDomain::Finite(values) = &self.machine.universe.sorts.list[sort].domain else {
            return Some(false);
        };
        let at = values.iter().position(|value| *value == digest);
        Some(at.is_some_and(|at| self.words[first as usize + at] == 1))
    }

    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word {
        self.machine.terms.hash(parts, words)
    }

    /// A signature is of what a keystore was asked to sign, once it has done so. There is no other
    /// way to come by one.
    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool {
        let sign =
            usize::try_from(signature - 1).ok().and_then(|at| self.machine.universe.signs.get(at));
        let Some((effect, of)) = sign else { return false };
        let Some(plan) = &self.machine.plan.effects[effect.index()] else { return false };
        let of = *of as usize;
        let at = plan.signed(of) as usize;
        self.words[plan.world(of) as usize] >= decision::DONE
            && self.words[at..at + 2] == [digest, key]
    }

    /// A proof is right, and then it shows what is so, or it is rubbish.
    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool {
        proof == 1 && self.machine.terms.included(leaf, root)
    }

    fn stored_time(&self, subject: SubjectId, key: Word) -> Word {
        let record = &self.machine.plan.records[subject.index()];
        if key < 0 || key as usize >= self.machine.universe.keys[subject.index()].len {
            return NULL;
        }
        record.stored_time(key as usize).map_or(NULL, |slot| self.words[slot as usize])
    }
}

impl World for View<'_> {
    fn now(&self) -> Word {
        self.now
    }

    fn keys(&self, subject: SubjectId) -> &[Word] {
        &self.machine.universe.keys[subject.index()].all
    }

    fn done(&self, effect: OperationId, row: usize) -> Option<&[Word]> {
        let plan = self.machine.plan.effects[effect.index()].as_ref()?;
        let mut left = row as Word;
        for key in 0..plan.keys.len() {
            let times = (self.words[plan.world(key) as usize] - decision::DONE + 1).max(0);
            if left < times {
                return Some(&self.words[plan.world_args(key)]);
            }
            left -= times;
        }
        None
    }
}
