//! Without `at_least`, a read may be answered from an older state: one is kept, whichever.

use engine::{Command, Outcome};

use super::{How, Instance, Machine, Move, NOW, Sink, View, Worker};

impl Machine {
    /// After a change of truth, what it was before may be the older state from now on. Answers
    /// whether there is such a change and the older state is another one then.
    pub(super) fn keep_older(&self, worker: &mut Worker, what: Move) -> bool {
        let Some(older) = self.plan.older else { return false };
        let moved = |slot: &u32| worker.after[*slot as usize] != worker.before[*slot as usize];
        let changed = worker.journal.iter().any(|slot| *slot < self.plan.truth && moved(slot));
        // A tick moves no truth, only its distance from now.
        if !changed || what == Move::Tick {
            return false;
        }
        let known = worker.journal.len();
        for slot in 0..self.plan.truth {
            self.set(worker, older + slot, worker.before[slot as usize]);
        }
        worker.journal.len() > known
    }

    /// A read whose answer is not held to be as new as what its caller has seen.
    pub(super) fn read_older<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        index: u32,
        instance: &Instance,
    ) {
        let Some(older) = self.plan.older else { return };
        let operation = instance.operation;
        if !self.program.at_least_removed(operation) {
            return;
        }
        self.remember(worker, instance);
        let mut words = worker.before.clone();
        let from = older as usize;
        words.copy_within(from..from + self.plan.truth as usize, 0);
        let view = View::new(self, &words, NOW);
        let (params, memory) = (&instance.params, &worker.memory);
        let command =
            Command { operation, params, memory, me: instance.me, now: NOW, answer: None };
        worker.done = None;
        if engine::step(&self.program, &view, &command, &mut worker.scratch) != Outcome::Done {
            return;
        }
        self.apply_all(worker, instance);
        self.emit(worker, sink, Move::Call { instance: index, how: How::OLDER }, NOW);
    }
}
