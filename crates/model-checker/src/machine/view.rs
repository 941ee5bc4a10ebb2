//! A state as the engine sees it.

use std::cell::Cell;

use design::model::{ActorId, BlobId, MemoryId, OperationId, StateId, SubjectId};
use engine::{Fetch, HashPart, NULL, Truth, Word, World};

use super::Machine;
use super::outside::{Extra, ExtraSend};
use crate::world::effects::decision;
use crate::world::sorts::SortDomain;

pub(crate) struct View<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) words: &'a [Word],
    pub(crate) now: Word,
    /// records that the small world has no room for, seen for one judgement
    extras: Option<&'a Extras>,
    /// which of the gaps of the machine a schedule has
    gap: usize,
    took_gap: Cell<bool>,
}

impl<'a> View<'a> {
    pub(crate) fn new(machine: &'a Machine, words: &'a [Word], now: Word) -> View<'a> {
        View { machine, words, now, extras: None, gap: 0, took_gap: Cell::new(false) }
    }

    pub(crate) fn with(self, extras: &'a Extras) -> View<'a> {
        let extras = (!extras.is_empty()).then_some(extras);
        View { extras, ..self }
    }

    /// Where the next instant of a schedule lies this far ahead.
    pub(super) fn with_gap(self, gap: usize) -> View<'a> {
        View { gap, ..self }
    }

    /// Was the next instant of a schedule asked for?
    pub(super) fn took_gap(&self) -> bool {
        self.took_gap.get()
    }

    /// What was sent for which there is no room.
    fn without_room(&self, operation: OperationId, row: usize) -> Option<&[Word]> {
        let sends = self.extras.map_or(&[][..], |extras| &extras.sends);
        let mut own = sends.iter().filter(|(held, _)| *held == operation);
        own.nth(row).map(|(_, words)| &words[..])
    }

    /// A record whose key is not of the world. One that is always there has its defaults.
    fn outside(&self, subject: SubjectId, key: Word) -> Fetch<'_> {
        let records = self.extras.map_or(&[][..], |extras| &extras.records);
        let held = records.iter().find(|held| held.subject == subject && held.key == key);
        match held.map(|held| &held.words) {
            Some(Some(words)) => Fetch::Present(words),
            Some(None) => Fetch::Absent,
            None if key >= 0 && self.machine.design.subjects[subject.index()].implicit => {
                Fetch::Present(self.machine.program.defaults(subject))
            }
            None => Fetch::Absent,
        }
    }
}

/// Records and messages without room, and the keys that there are with them.
#[derive(Default)]
pub(crate) struct Extras {
    pub(crate) records: Vec<Extra>,
    pub(crate) sends: Vec<ExtraSend>,
    /// for each subject
    keys: Vec<Vec<Word>>,
}

impl Extras {
    pub(super) fn of(machine: &Machine, records: &[Extra], sends: &[ExtraSend]) -> Extras {
        if records.is_empty() && sends.is_empty() {
            return Extras::default();
        }
        let mut keys: Vec<Vec<Word>> =
            machine.universe.keys.iter().map(|keys| keys.all.clone()).collect();
        for extra in records.iter().filter(|extra| extra.words.is_some() && extra.key >= 0) {
            keys[extra.subject.index()].push(extra.key);
        }
        Extras { records: records.to_vec(), sends: sends.to_vec(), keys }
    }

    fn is_empty(&self) -> bool {
        self.records.is_empty() && self.sends.is_empty()
    }
}

impl Truth for View<'_> {
    #[inline]
    fn record(&self, subject: SubjectId, key: Word) -> Fetch<'_> {
        let record = &self.machine.plan.records[subject.index()];
        if key < 0 || key as usize >= self.machine.universe.keys[subject.index()].len {
            return self.outside(subject, key);
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
        let keeps = cache.principals.contains(&(principal as u32));
        if !keeps || key < 0 || key >= Word::from(cache.keys) {
            return Fetch::Absent;
        }
        let slot = cache.slot(key as usize, principal as u32) as usize;
        if self.words[slot] == 0 {
            return Fetch::Absent;
        }
        Fetch::Present(&self.words[slot + 1..slot + 1 + cache.width as usize])
    }

    #[inline]
    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word {
        let keys = &self.machine.universe.keys[subject.index()];
        if key >= 0 && key as usize >= keys.len {
            return self.machine.outside.part(key as usize - keys.len, part).unwrap_or(NULL);
        }
        keys.part(key, part)
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        let keys = &self.machine.universe.keys[subject.index()];
        match keys.handle(parts) {
            // A key with nothing in it is no key.
            -1 if !parts.contains(&NULL) => {
                (keys.len + self.machine.outside.number(subject, parts)) as Word
            }
            handle => handle,
        }
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

    /// Any of the gaps, whatever the schedule is; not the same each time.
    fn next_of(&self, _schedule: Word, after: Word) -> Option<Word> {
        self.took_gap.set(true);
        let gap = *self.machine.gaps.get(self.gap)?;
        Some(if gap == NULL { NULL } else { after + gap })
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
        if let Some(extras) = self.extras {
            return &extras.keys[subject.index()];
        }
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

    fn under_way(&self, step: OperationId, row: usize) -> Option<&[Word]> {
        let sent = self.machine.plan.sent.iter().find(|plan| plan.operation == step);
        if let Some(plan) = sent {
            let mut rows = self.machine.rows(plan, self.words);
            return match rows.nth(row) {
                Some(row) => Some(plan.args(row)),
                None => {
                    let under_way = self.machine.rows(plan, self.words).count();
                    self.without_room(step, row - under_way)
                }
            };
        }
        let plan = self.machine.plan.messages.iter().find(|plan| plan.operation == step)?;
        let mut left = row;
        for at in 0..plan.count {
            let slot = (plan.first + plan.stride * at) as usize;
            if self.words[slot] == 0 {
                continue;
            }
            if left == 0 {
                return Some(&self.words[slot + 1..slot + plan.stride as usize]);
            }
            left -= 1;
        }
        self.without_room(step, left)
    }

    fn waiting(&self, effect: OperationId, row: usize) -> Option<&[Word]> {
        let plan = self.machine.plan.effects[effect.index()].as_ref()?;
        let mut left = row;
        for key in 0..plan.keys.len() {
            if self.words[plan.entry(key) as usize] == 0 {
                continue;
            }
            if left == 0 {
                return Some(&self.words[plan.args(key)]);
            }
            left -= 1;
        }
        self.without_room(effect, left)
    }

    fn principals(&self, actor: ActorId) -> &[Word] {
        &self.machine.universe.acting[actor.index()]
    }

    fn remembered(&self, principal: Word, (actor, field): (ActorId, MemoryId), of: Word) -> Word {
        let machine = self.machine;
        let plan = &machine.plan.memory[actor.index()][field.index()];
        let acting = &machine.universe.acting[actor.index()];
        let Some(turn) = acting.iter().position(|held| *held == principal) else { return NULL };
        let kept = machine.design.actors[actor.index()].memory[field.index()].of.is_some();
        let record = if kept { of } else { 0 };
        // Nothing is remembered of a record that there is no room for.
        if record < 0 || record >= Word::from(plan.records) {
            return NULL;
        }
        self.words[plan.first as usize + turn * plan.records as usize + record as usize]
    }
}
