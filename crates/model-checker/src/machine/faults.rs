//! Faults that strike by themselves, not in the course of a call.

use design::model::{BlobId, Fault};
use engine::{NULL, Word};

use super::{Machine, Move, NOW, Sink, Worker};
use crate::world::plan::SlotName;
use crate::world::sorts::SortDomain;

impl Machine {
    pub(super) fn faults<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        if self.may(worker, Fault::Crash) {
            self.crashes(worker, sink);
        }
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
        self.puts(worker, sink);
    }

    /// A principal forgets everything; its calls in flight remain.
    fn crashes<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        for principal in 0..self.universe.principals.len() as u32 {
            for (at, name) in self.plan.names.iter().enumerate() {
                if let SlotName::Memory { principal: held, .. } = name
                    && *held == principal
                {
                    self.set(worker, at as u32, NULL);
                }
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
                continue;
            }
            self.charge(worker, Fault::Crash);
            self.emit(worker, sink, Move::Crash { principal }, NOW);
        }
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
