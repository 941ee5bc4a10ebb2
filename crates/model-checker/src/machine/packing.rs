//! States as they are kept: in bits, and of those that differ only in names the least.

use engine::Word;

use super::ranks::Touched;
use super::{Beyond, Machine, Worker};

impl Machine {
    /// Sets out from a packed state.
    pub(crate) fn load(&self, worker: &mut Worker, packed: &[u64]) {
        self.load_folded(worker, packed);
        self.unfold(worker);
    }

    /// The same, for who may not need to know what it holds.
    pub(crate) fn load_folded(&self, worker: &mut Worker, packed: &[u64]) {
        worker.ranked = true;
        worker.packs = true;
        worker.packed.copy_from_slice(packed);
        worker.journal.clear();
        worker.barred = false;
        worker.folded = true;
    }

    /// Finds out what the loaded state holds.
    #[inline]
    pub(crate) fn unfold(&self, worker: &mut Worker) {
        if worker.folded {
            worker.folded = false;
            self.plan.slots.unpack(&worker.packed, &mut worker.before);
            worker.after.clear();
            worker.after.extend_from_slice(&worker.before);
            worker.memo.forget();
        }
    }

    /// Sets out from a state that is not packed (its counters are what they are).
    pub(crate) fn load_words(&self, worker: &mut Worker, words: &[Word]) -> Result<(), Beyond> {
        worker.before.clear();
        worker.before.extend_from_slice(words);
        worker.after.clear();
        worker.after.extend_from_slice(words);
        worker.journal.clear();
        worker.normal.clear();
        worker.normal.extend_from_slice(words);
        worker.ranked = false;
        worker.packs = true;
        (worker.folded, worker.barred) = (false, false);
        worker.memo.forget();
        let Worker { normal, room, .. } = worker;
        self.ranks.normalise(self, normal, Touched::ALL, &mut Vec::new(), room);
        self.plan.slots.pack(&worker.normal, &mut worker.packed).map_err(Beyond::Slot)
    }

    /// Sets out from a state with times as they are: those long ago may have no room in a packed state,
    /// so nothing of it is packed, nor of what comes next.
    pub(crate) fn load_as_it_is(&self, worker: &mut Worker, words: &[Word]) {
        for held in [&mut worker.before, &mut worker.after] {
            held.clear();
            held.extend_from_slice(words);
        }
        worker.journal.clear();
        worker.ranked = false;
        worker.packs = false;
        (worker.folded, worker.barred) = (false, false);
        worker.memo.forget();
    }

    /// The packed form of a state.
    pub(crate) fn pack(&self, worker: &mut Worker, words: &[Word]) -> Result<Vec<u64>, Beyond> {
        self.load_words(worker, words)?;
        let mut packed = worker.packed.clone();
        if let Some(symmetry) = &self.symmetry {
            let mut best = packed.clone();
            match &symmetry.exchange {
                Some(exchange) => {
                    exchange.least(&packed, &mut best, &mut worker.third, &mut worker.codes);
                }
                None => {
                    symmetry.least(self, &worker.normal.clone(), &mut packed, &mut best, worker);
                }
            }
            packed = best;
        }
        Ok(packed)
    }

    /// Packs the state that follows: times and counters made dense, the least of those that differ
    /// only in the names of interchangeable things.
    pub(super) fn pack_next(&self, worker: &mut Worker) -> Result<(), Beyond> {
        worker.next.copy_from_slice(&worker.packed);
        worker.exchanged = false;
        let ranked = !self.ranks.is_empty();
        let timed = self.times.moved(&worker.journal);
        let unpacks = self.symmetry.as_ref().is_some_and(|held| held.exchange.is_none());
        let normal = ranked || timed || unpacks;
        if normal {
            worker.normal.clear();
            worker.normal.extend_from_slice(&worker.after);
        }
        if timed {
            let Worker { normal, journal, room, .. } = worker;
            self.times.settle(self, normal, journal, room);
        }
        if ranked {
            let touched = match worker.ranked {
                true => self.ranks.touched(self, &worker.journal),
                false => Touched::ALL,
            };
            let Worker { normal, journal, room, .. } = worker;
            self.ranks.normalise(self, normal, touched, journal, room);
        }
        let from = if normal { &worker.normal } else { &worker.after };
        for slot in &worker.journal {
            self.plan.slots.repack(*slot, from, &mut worker.next).map_err(Beyond::Slot)?;
        }
        worker.plain.copy_from_slice(&worker.next);
        self.least_of_next(worker, true);
        Ok(())
    }

    /// Of the states that differ from the next one only in the names of interchangeable things, puts the least
    /// in its place. What it holds is not known.
    pub(super) fn least_next(&self, worker: &mut Worker) {
        worker.exchanged = false;
        self.least_of_next(worker, false);
    }

    /// A packed state with interchangeable things exchanged in every way, itself among them. None: they cannot be
    /// exchanged without unpacking it.
    pub(crate) fn exchanged(&self, packed: &[u64]) -> Option<Vec<Box<[u64]>>> {
        let exchange = self.symmetry.as_ref()?.exchange.as_ref()?;
        let mut all = exchange.all(packed);
        all.push(packed.into());
        Some(all)
    }

    /// `unpacked`: what it holds is in `worker.normal`.
    fn least_of_next(&self, worker: &mut Worker, unpacked: bool) {
        // What is kept is the least already.
        let unchanged = worker.ranked && worker.next == worker.packed;
        let (Some(symmetry), false) = (&self.symmetry, unchanged) else { return };
        let mut next = std::mem::take(&mut worker.next);
        let mut spare = std::mem::take(&mut worker.spare);
        if let (Some(exchange), false) = (&symmetry.exchange, symmetry.has_many_ways()) {
            exchange.least(&next, &mut spare, &mut worker.third, &mut worker.codes);
            worker.exchanged = next != spare;
            (worker.next, worker.spare) = (spare, next);
            return;
        }
        spare.copy_from_slice(&next);
        let at = worker.forms.place(&next);
        if worker.forms.find(at, &mut next) {
            worker.exchanged = next != spare;
            (worker.next, worker.spare) = (next, spare);
            return;
        }
        worker.forms.keep(at, &next);
        if let Some(exchange) = &symmetry.exchange {
            exchange.least(&next, &mut spare, &mut worker.third, &mut worker.codes);
        } else {
            let mut normal = std::mem::take(&mut worker.normal);
            if !unpacked {
                self.plan.slots.unpack(&next, &mut normal);
            }
            symmetry.least(self, &normal, &mut next, &mut spare, worker);
            worker.normal = normal;
        }
        worker.exchanged = worker.forms.answer(at, &spare);
        worker.next = spare;
        worker.spare = next;
    }
}
