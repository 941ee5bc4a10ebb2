//! States as they are kept: in bits, and of those that differ only in names the least.

use engine::Word;

use super::ranks::Touched;
use super::{Beyond, Machine, Worker};

impl Machine {
    /// Sets out from a packed state.
    pub(crate) fn load(&self, worker: &mut Worker, packed: &[u64]) {
        worker.ranked = true;
        worker.packs = true;
        worker.packed.copy_from_slice(packed);
        self.plan.slots.unpack(packed, &mut worker.before);
        worker.after.clear();
        worker.after.extend_from_slice(&worker.before);
        worker.journal.clear();
        worker.memo.forget();
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
        worker.memo.forget();
    }

    /// The packed form of a state.
    pub(crate) fn pack(&self, worker: &mut Worker, words: &[Word]) -> Result<Vec<u64>, Beyond> {
        self.load_words(worker, words)?;
        let mut packed = worker.packed.clone();
        if let Some(symmetry) = &self.symmetry {
            let mut best = packed.clone();
            symmetry.least(self, &worker.normal.clone(), &mut packed, &mut best, worker);
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
        let normal = ranked || timed || self.symmetry.is_some();
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
        // What is kept is the least already.
        let unchanged = worker.ranked && worker.next == worker.packed;
        if let (Some(symmetry), false) = (&self.symmetry, unchanged) {
            let mut next = std::mem::take(&mut worker.next);
            let mut spare = std::mem::take(&mut worker.spare);
            spare.copy_from_slice(&next);
            let at = worker.forms.place(&next);
            if worker.forms.find(at, &mut next) {
                worker.exchanged = next != spare;
                (worker.next, worker.spare) = (next, spare);
                return Ok(());
            }
            let normal = std::mem::take(&mut worker.normal);
            worker.forms.keep(at, &next);
            symmetry.least(self, &normal, &mut next, &mut spare, worker);
            worker.exchanged = worker.forms.answer(at, &spare);
            worker.normal = normal;
            worker.next = spare;
            worker.spare = next;
        }
        Ok(())
    }
}
