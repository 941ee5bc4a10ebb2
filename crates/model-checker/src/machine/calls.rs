//! Calls in flight: they left, and land at any later time, or never.

use engine::{NULL, Outcome, Word};

use super::apply::{ALL, Takes};
use super::{How, Machine, Move, NOW, Sink, Worker};

impl Machine {
    fn call_slot(&self, call: u32) -> u32 {
        self.plan.calls.first + self.plan.calls.stride * call
    }

    /// Puts a call in flight, with the memory it was made with. Answers `false` if there is no room.
    pub(super) fn leave(&self, worker: &mut Worker, index: u32) -> bool {
        let free = (0..self.plan.calls.count)
            .find(|call| worker.before[self.call_slot(*call) as usize] == 0);
        let Some(call) = free else { return false };
        let slot = self.call_slot(call);
        self.set(worker, slot, Word::from(index) + 1);
        for (at, slots) in self.instances[index as usize].memory.iter().enumerate() {
            // What is not given along does not travel.
            if slots.read {
                let word = worker.memory[at];
                self.set(worker, slot + slots.in_call, word);
            }
        }
        self.sort_calls(worker);
        true
    }

    fn sort_calls(&self, worker: &mut Worker) {
        let Worker { after, journal, .. } = worker;
        let plan = &self.plan.calls;
        sort_blocks(after, plan.first, plan.stride, plan.count, &mut |slot| journal.push(slot));
    }

    fn take(&self, worker: &mut Worker, call: u32) {
        let slot = self.call_slot(call);
        self.set(worker, slot, 0);
        for at in 1..self.plan.calls.stride {
            self.set(worker, slot + at, NULL);
        }
        self.sort_calls(worker);
    }

    pub(super) fn landings<S: Sink>(&self, worker: &mut Worker, sink: &mut S, recovery: bool) {
        for call in 0..self.plan.calls.count {
            let slot = self.call_slot(call) as usize;
            let number = worker.before[slot];
            if number == 0 {
                continue;
            }
            let stride = self.plan.calls.stride as usize;
            if call > 0 && worker.before[slot..slot + stride] == worker.before[slot - stride..slot]
            {
                continue;
            }
            let instance = &self.instances[number as usize - 1];
            worker.memory.clear();
            for slots in &instance.memory {
                let word = worker.before[slot + slots.in_call as usize];
                worker.memory.push(word);
            }
            let mut lands = false;
            for clock in self.clocks(worker, recovery) {
                lands |= self.landing(worker, sink, call, number as u32 - 1, *clock);
            }
            // One that is refused is gone as if it had been dropped.
            if lands {
                self.take(worker, call);
                self.emit(worker, sink, Move::Drop { call }, NOW);
            }
        }
    }

    /// A call lands. Answers whether it was accepted.
    fn landing<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        call: u32,
        index: u32,
        how: How,
    ) -> bool {
        let instance = &self.instances[index as usize];
        let operation = instance.operation;
        let outcome = self.run(worker, &instance.asked(index, self.now(how)));
        match outcome {
            Outcome::Done => {
                // nobody waits for this answer
                let takes = Takes { memory: false, caches: false, ..ALL };
                self.apply(worker, &instance.memory, instance.place, takes);
            }
            Outcome::Refused(refusal) => self.turned_down(sink, operation, refusal.reason),
            Outcome::Need => {}
        }
        self.take(worker, call);
        for fault in how.faults() {
            self.charge(worker, fault);
        }
        let refused = outcome != Outcome::Done;
        self.emit(worker, sink, Move::Land { call, operation, refused, how }, NOW);
        !refused
    }
}

/// Puts blocks of slots into one order, so that it does not matter which came first.
pub(super) fn sort_blocks(
    words: &mut [Word],
    first: u32,
    stride: u32,
    count: u32,
    changed: &mut dyn FnMut(u32),
) {
    sort_blocks_by(words, first, (stride, stride), count, changed);
}

/// The same by the first few words of each block: of those that agree in them, the first stays first.
pub(super) fn sort_blocks_by(
    words: &mut [Word],
    first: u32,
    (stride, compared): (u32, u32),
    count: u32,
    changed: &mut dyn FnMut(u32),
) {
    if count < 2 {
        return;
    }
    let (first, stride, count) = (first as usize, stride as usize, count as usize);
    let compared = compared as usize;
    // There are few, and most are in order.
    for end in 1..count {
        for at in (1..=end).rev() {
            let (before, own) = (first + stride * (at - 1), first + stride * at);
            if words[before..before + compared] >= words[own..own + compared] {
                break;
            }
            for word in 0..stride {
                if words[before + word] != words[own + word] {
                    words.swap(before + word, own + word);
                    changed((before + word) as u32);
                    changed((own + word) as u32);
                }
            }
        }
    }
}
