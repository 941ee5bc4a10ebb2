//! Messages between places: delivered in any order, perhaps not at all, perhaps twice. Events to their handlers: in the
//! order of their key, each at least once.

use design::model::Fault;
use engine::{Outcome, Send, Word};

use super::apply::ALL;
use super::calls::sort_blocks_by;
use super::instances::{memory_slots, offsets, place_of};
use super::memo::Asked;
use super::{Beyond, How, Machine, Move, NOW, Sink, Worker};
use crate::world::plan::MessagePlan;

const EACH_OF_RECORDS: &str = "what is done for each of a set takes its record first";

impl Machine {
    /// Puts a message on its way, if not too many are. Where each message may be
    /// delivered any number of times, a second one that is the same adds nothing.
    pub(super) fn post(
        &self,
        after: &mut [Word],
        journal: &mut Vec<u32>,
        send: &Send<'_>,
        from: Word,
    ) -> Result<(), Beyond> {
        if self.is_set() {
            return self.put(after, journal, send, from);
        }
        let plan = self.plan.messages.iter().find(|plan| plan.operation == send.operation);
        let Some(plan) = plan else { return Err(Beyond::Messages) };
        if plan.each {
            return self.post_each(after, journal, plan, send);
        }
        // An event comes from nowhere: no partition keeps it.
        let from = if plan.ordered { 0 } else { from };
        let same = |block: &[Word]| block[0] == from + 1 && block[1..] == *send.args;
        if !plan.ordered
            && self.settings.faults.contains(&(Fault::DoubledMessage, None))
            && blocks(plan, after).any(same)
        {
            return Ok(());
        }
        let one_by_one = self.plan.messages.iter().filter(|plan| !plan.each);
        let on_the_way: usize = one_by_one.map(|plan| blocks(plan, after).count()).sum();
        if on_the_way >= self.plan.messages_max as usize {
            return Err(Beyond::Messages);
        }
        let words = std::iter::once(from + 1).chain(send.args.iter().copied());
        plan.add(after, journal, words)?;
        plan.sort(after, &mut |slot| journal.push(slot));
        Ok(())
    }

    /// From now on every record of the set has a turn ahead of it, whether it is there yet or not: who is there is seen
    /// when the turn comes. Turns come in any order, as the server goes by keys, and any key may be the smallest.
    fn post_each(
        &self,
        after: &mut [Word],
        journal: &mut Vec<u32>,
        plan: &MessagePlan,
        send: &Send<'_>,
    ) -> Result<(), Beyond> {
        let record = self.design.operations[plan.operation.index()].params[0].ty.subject();
        let keys = &self.universe.keys[record.expect(EACH_OF_RECORDS).index()];
        let mut fine = Ok(());
        for key in (0..keys.len as Word).filter(|key| keys.part(*key, 0) == send.args[1]) {
            let words = || [1, key].into_iter().chain(send.args[1..].iter().copied());
            if blocks(plan, after).any(|block| block.iter().copied().eq(words())) {
                continue;
            }
            fine = fine.and(plan.add(after, journal, words()));
        }
        plan.sort(after, &mut |slot| journal.push(slot));
        fine
    }

    fn taken(&self, worker: &mut Worker, plan: &MessagePlan, slot: u32) {
        let stride = plan.stride as usize;
        let block = worker.before[slot as usize..slot as usize + stride].to_vec();
        let at = (0..plan.count)
            .map(|at| (plan.first + plan.stride * at) as usize)
            .find(|at| worker.after[*at..at + stride] == block[..]);
        let Some(at) = at else { return };
        self.set(worker, at as u32, 0);
        for word in at + 1..at + stride {
            self.set(worker, word as u32, self.plan.slots.blank(word as u32));
        }
        let Worker { after, journal, .. } = worker;
        plan.sort(after, &mut |slot| journal.push(slot));
    }

    /// Can these two hear each other? Places are numbered from 1; 0 hears everyone.
    fn apart(&self, worker: &Worker, from: Word, to: Word) -> bool {
        let Some(cut) = self.plan.cut else { return false };
        let side = |place: Word| worker.before[cut as usize] >> (place - 1) & 1;
        from > 0 && to > 0 && side(from) != side(to)
    }

    pub(super) fn deliveries<S: Sink>(&self, worker: &mut Worker, sink: &mut S, recovery: bool) {
        if let Some(cut) = self.plan.cut
            && worker.before[cut as usize] != 0
        {
            self.set(worker, cut, 0);
            self.emit(worker, sink, Move::Heal, NOW);
        }
        for (number, plan) in self.plan.messages.iter().enumerate() {
            let mut last: Option<usize> = None;
            for at in 0..plan.count {
                let slot = plan.first + plan.stride * at;
                let block = slot as usize..(slot + plan.stride) as usize;
                if worker.before[slot as usize] == 0 {
                    continue;
                }
                // Of two that are the same one is enough; of the events of one key the first is next.
                let compared = plan.sorted as usize;
                if last.is_some_and(|last| {
                    let own = block.start..block.start + compared;
                    worker.before[last..last + compared] == worker.before[own]
                }) {
                    continue;
                }
                last = Some(block.start);
                self.delivery(worker, sink, (number as u32, at), slot, recovery);
            }
        }
    }

    fn delivery<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        (number, at): (u32, u32),
        slot: u32,
        recovery: bool,
    ) {
        let plan = &self.plan.messages[number as usize];
        let operation = &self.design.operations[plan.operation.index()];
        let from = worker.before[slot as usize] - 1;
        let args: Vec<Word> =
            worker.before[slot as usize + 1..(slot + plan.stride) as usize].to_vec();
        let place = place_of(&self.design, &self.universe, &self.places, operation, &args);
        if !recovery && !plan.ordered && !plan.each && self.may(worker, Fault::LostMessage) {
            self.taken(worker, plan, slot);
            self.charge(worker, Fault::LostMessage);
            self.emit(worker, sink, Move::Lose { plan: number, at }, NOW);
        }
        if self.apart(worker, from, place) {
            return;
        }
        let offsets = offsets(operation);
        for me in self.callers[plan.operation.index()].iter().copied() {
            let memory =
                memory_slots(&self.universe, &self.plan, &|at| offsets[at], operation, me, &args);
            worker.memory.clear();
            for slots in &memory {
                let word = worker.before[slots.slot as usize];
                worker.memory.push(word);
            }
            for clock in self.clocks(worker, recovery) {
                let what = |how| Move::Deliver { plan: number, at, principal: me as u32, how };
                let (operation, now) = (plan.operation, self.now(*clock));
                let asked =
                    Asked { instance: None, operation, me, params: &args, now, answer: None };
                match self.run(worker, &asked) {
                    Outcome::Done => {
                        // It has arrived: what it makes others send finds room in its stead.
                        self.taken(worker, plan, slot);
                        self.apply(worker, &memory, place, ALL);
                        self.delivered(worker, sink, what(*clock), *clock);
                        if plan.each {
                            // its turn and what is sent are one commit: it never comes again
                            self.passed_over(
                                worker,
                                sink,
                                plan,
                                slot,
                                what(clock.and(How::PASSED)),
                            );
                            continue;
                        }
                        let again = match plan.ordered {
                            true => (Fault::DoubledEvent, How::AGAIN),
                            false => (Fault::DoubledMessage, How::DOUBLED),
                        };
                        if !recovery && self.may(worker, again.0) {
                            self.apply(worker, &memory, place, ALL);
                            let how = clock.and(again.1);
                            self.delivered(worker, sink, what(how), how);
                        }
                    }
                    Outcome::Refused(refusal) => {
                        self.turned_down(sink, plan.operation, refusal.reason);
                        self.taken(worker, plan, slot);
                        let how = clock.and(How::REFUSED);
                        self.delivered(worker, sink, what(how), *clock);
                    }
                    Outcome::Need => {}
                }
            }
        }
    }

    /// `where` says no. What it reads is nothing to rest on, so it may always say so.
    fn passed_over<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        plan: &MessagePlan,
        slot: u32,
        what: Move,
    ) {
        let each = self.design.operations[plan.operation.index()].each.as_ref();
        if each.is_some_and(|each| each.soft.is_some()) {
            self.taken(worker, plan, slot);
            self.emit(worker, sink, what, NOW);
        }
    }

    fn delivered<S: Sink>(&self, worker: &mut Worker, sink: &mut S, what: Move, how: How) {
        for fault in how.faults() {
            self.charge(worker, fault);
        }
        self.emit(worker, sink, what, NOW);
    }
}

impl MessagePlan {
    /// One block more, where there is room.
    fn add(
        &self,
        after: &mut [Word],
        journal: &mut Vec<u32>,
        words: impl Iterator<Item = Word>,
    ) -> Result<(), Beyond> {
        let free = (0..self.count)
            .map(|at| self.first + self.stride * at)
            .find(|slot| after[*slot as usize] == 0);
        let Some(slot) = free else { return Err(Beyond::Messages) };
        for (at, word) in words.enumerate() {
            after[slot as usize + at] = word;
            journal.push(slot + at as u32);
        }
        Ok(())
    }

    /// Puts the blocks into one order: messages as it does not matter which was sent first, events as they were
    /// emitted for each key.
    pub(super) fn sort(&self, words: &mut [Word], changed: &mut dyn FnMut(u32)) {
        sort_blocks_by(words, self.first, (self.stride, self.sorted), self.count, changed);
    }
}

fn blocks<'a>(plan: &'a MessagePlan, words: &'a [Word]) -> impl Iterator<Item = &'a [Word]> {
    (0..plan.count)
        .map(move |at| (plan.first + plan.stride * at) as usize)
        .filter(move |slot| words[*slot] != 0)
        .map(move |slot| &words[slot..slot + plan.stride as usize])
}
