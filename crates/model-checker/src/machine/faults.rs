//! Faults that strike by themselves, not in the course of a call.

use design::model::{BlobId, Design, Fault, SubjectId};
use engine::{NULL, Program, Word};

use super::{Machine, Move, NOW, Sink, Worker};
use crate::slice::LeftOut;
use crate::world::plan::{Plan, SlotName};
use crate::world::sorts::SortDomain;
use crate::world::universe::Universe;

/// A word that a place loses.
pub(super) struct Lost {
    /// whether the record is there
    present: Option<u32>,
    slot: u32,
    /// what it is made with
    word: Word,
}

impl Lost {
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> {
        self.present.into_iter().chain([self.slot])
    }
}

/// For each principal, the slots of its memory.
pub(super) fn memory_of(universe: &Universe, plan: &Plan) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new(); universe.principals.len()];
    for (at, name) in plan.names.iter().enumerate() {
        if let SlotName::Memory { principal, .. } = name {
            all[*principal as usize].push(at as u32);
        }
    }
    all
}

/// For each place, what a crash takes away.
pub(super) fn volatile(
    design: &Design,
    program: &Program,
    universe: &Universe,
    plan: &Plan,
    left: &LeftOut,
    places: &[Word],
) -> Vec<Vec<Lost>> {
    let mut all: Vec<Vec<Lost>> = places.iter().map(|_| Vec::new()).collect();
    for (index, subject) in design.subjects.iter().enumerate() {
        let id = SubjectId::of(index);
        let layout = program.layout(id);
        let attributes = subject.states.iter().filter(|state| state.volatile);
        let fields: Vec<_> = attributes
            .flat_map(|state| &state.attributes)
            .filter_map(|attr| layout.attribute(*attr))
            .collect();
        // Of what a slice leaves out there is nothing to lose.
        if fields.is_empty() || left.subject(id) {
            continue;
        }
        let record = &plan.records[index];
        for key in 0..universe.keys[index].len {
            let place = place_of_record(design, universe, id, key as Word);
            let Some(place) = places.iter().position(|held| Some(*held) == place) else { continue };
            let from = record.words(key).start;
            for at in fields.iter().flat_map(|field| field.range()) {
                let word = program.defaults(id)[at];
                let lost = Lost { present: record.present(key), slot: (from + at) as u32, word };
                all[place].push(lost);
            }
        }
    }
    all
}

/// Where a record lives; a child lives where its parent lives.
fn place_of_record(
    design: &Design,
    universe: &Universe,
    subject: SubjectId,
    key: Word,
) -> Option<Word> {
    let held = &design.subjects[subject.index()];
    let keys = &universe.keys[subject.index()];
    match (held.place, held.parent) {
        (Some(part), _) => Some(keys.part(key, part)),
        (None, Some(parent)) => place_of_record(design, universe, parent, keys.part(key, 0)),
        (None, None) => None,
    }
}

impl Machine {
    /// Those that are not of one principal or one place.
    pub(super) fn faults<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        if self.may(worker, Fault::Evict) {
            self.evictions(worker, sink);
        }
        if let Some(cut) = self.plan.cut
            && worker.before[cut as usize] == 0
            && self.may(worker, Fault::Partition)
        {
            for side in 1..1_u32 << (self.places.len() - 1) {
                self.set(worker, cut, Word::from(side));
                self.charge(worker, Fault::Partition);
                self.emit(worker, sink, Move::Cut { side }, NOW);
            }
        }
        if self.is_set() && self.places.len() > 1 && self.settings.on(Fault::Partition) {
            self.unmoved(worker, sink, Fault::Partition, Move::Cut { side: 1 });
        }
        self.puts(worker, sink);
    }

    /// A principal forgets everything; its calls in flight remain.
    pub(super) fn crash<S: Sink>(&self, worker: &mut Worker, sink: &mut S, principal: u32) {
        if !self.may(worker, Fault::Crash) {
            return;
        }
        for slot in &self.memory_of[principal as usize] {
            self.set(worker, *slot, NULL);
        }
        let caches = if self.plan.caches.is_empty() { &[][..] } else { &self.plan.names[..] };
        for (at, name) in caches.iter().enumerate() {
            if let SlotName::CachePresent { principal: held, state, subject, .. } = name
                && *held == principal
                && worker.before[at] != 0
            {
                let width = self.program.state(*subject, *state).width;
                self.set(worker, at as u32, 0);
                for slot in at as u32 + 1..=at as u32 + width {
                    self.set(worker, slot, self.plan.slots.blank(slot));
                }
            }
        }
        if worker.journal.is_empty() {
            sink.struck(Fault::Crash);
            return;
        }
        self.charge(worker, Fault::Crash);
        self.emit(worker, sink, Move::Crash { principal }, NOW);
    }

    /// A place goes down and comes up again: what is volatile in its records is as it was made.
    pub(super) fn down<S: Sink>(&self, worker: &mut Worker, sink: &mut S, place: u32) {
        if !self.may(worker, Fault::Crash) {
            return;
        }
        for lost in &self.volatile[place as usize] {
            let there = lost.present.is_none_or(|slot| worker.before[slot as usize] == 1);
            if there {
                self.set(worker, lost.slot, lost.word);
            }
        }
        if worker.journal.is_empty() {
            return;
        }
        self.charge(worker, Fault::Crash);
        self.emit(worker, sink, Move::Down { place }, NOW);
    }

    fn evictions<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        for (number, cache) in self.plan.caches.iter().enumerate() {
            for key in 0..cache.keys {
                for principal in cache.principals.iter().copied() {
                    let slot = cache.slot(key as usize, principal);
                    if worker.before[slot as usize] == 0 {
                        continue;
                    }
                    self.set(worker, slot, 0);
                    for at in slot + 1..=slot + cache.width {
                        self.set(worker, at, self.plan.slots.blank(at));
                    }
                    self.charge(worker, Fault::Evict);
                    let what = Move::Evict { cache: number as u32, key, principal };
                    self.emit(worker, sink, what, NOW);
                }
            }
        }
    }

    /// Anyone may put content into the store; no truth refers to it yet.
    fn puts<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        for (index, plan) in self.plan.blobs.iter().enumerate() {
            let Some((first, sort)) = plan else { continue };
            let SortDomain::Finite(values) = &self.universe.sorts.list[*sort].domain else {
                continue;
            };
            for digest in 0..values.len() as u32 {
                if worker.before[(first + digest) as usize] == 0 {
                    self.set(worker, first + digest, 1);
                    self.emit(worker, sink, Move::Put { blob: BlobId::of(index), digest }, NOW);
                }
            }
        }
    }
}
