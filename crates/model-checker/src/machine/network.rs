//! The network as a set. Where each message may be lost, doubled and overtaken without end, what was sent
//! once may arrive at any later time, any number of times, or never. So a message stays in the set when it
//! is delivered, losing one changes nothing, and neither does a partition.
//!
//! For `recovers` there comes a moment from which on clients are silent. What was sent before it may be
//! lost; what is sent from then on is owed once, and consumed. A message of before that is delivered after it
//! all the same leads to a state that could be reached with clients silent a little later. So such a delivery
//! is explored, and is part of no history that goes on for ever.

use design::model::{Fault, OperationId};
use engine::{Outcome, Send, Word};

use super::apply::ALL;
use super::instances::{MemorySlots, callers, memory_slots, offsets, place_of};
use super::memo::Asked;
use super::permutation::Permutation;
use super::{Beyond, How, Machine, Move, NOW, Sink, Worker};
use crate::StateLine;
use crate::script::OWED;
use crate::world::plan::{Network, ROWS, SentPlan, SlotName, rows_in};

/// How a message of the set arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Arrival {
    /// with clients not silent: it stays
    Stays,
    /// sent since clients are silent: it is gone
    Owed,
    /// sent before clients were silent
    Earlier,
}

/// What it takes to deliver a message.
pub(crate) struct Delivery {
    place: Word,
    /// each with the slots of its memory
    callers: Vec<(Word, Vec<MemorySlots>)>,
}

impl Machine {
    pub(crate) fn is_set(&self) -> bool {
        self.settings.network.is_set()
    }

    pub(crate) fn has_messages(&self) -> bool {
        !self.plan.messages.is_empty() || !self.plan.sent.is_empty()
    }

    /// Whom the messages of this number go to.
    pub(crate) fn target(&self, plan: u32) -> OperationId {
        match self.is_set() {
            true => self.plan.sent[plan as usize].operation,
            false => self.plan.messages[plan as usize].operation,
        }
    }

    /// What a message carries.
    pub(crate) fn carried(&self, plan: u32, at: u32, words: &[Word]) -> Vec<Word> {
        if self.is_set() {
            return self.plan.sent[plan as usize].args(at).to_vec();
        }
        let plan = &self.plan.messages[plan as usize];
        let slot = (plan.first + plan.stride * at) as usize;
        words[slot + 1..slot + plan.stride as usize].to_vec()
    }

    /// The messages under way, where `recovers` is asked: those that are owed.
    pub(crate) fn rows<'a>(
        &'a self,
        plan: &'a SentPlan,
        words: &'a [Word],
    ) -> impl Iterator<Item = u32> + 'a {
        let first = match plan.owed {
            Some(owed) if self.is_silent(words) => owed,
            _ => plan.first,
        };
        rows_in(words, first, plan.rows.len() as u32)
    }

    /// Is it a state from which `recovers` is asked?
    pub(crate) fn is_silent(&self, words: &[Word]) -> bool {
        self.plan.silent.is_some_and(|slot| words[slot as usize] == 1)
    }

    /// May `recovers` be asked of this state?
    pub(crate) fn is_asked(&self, words: &[Word]) -> bool {
        self.settings.network != Network::Owed || self.is_silent(words)
    }

    /// Puts a message into the set.
    pub(super) fn put(
        &self,
        after: &mut [Word],
        journal: &mut Vec<u32>,
        send: &Send<'_>,
        from: Word,
    ) -> Result<(), Beyond> {
        let plan = self.plan.sent.iter().find(|plan| plan.operation == send.operation);
        let plan = plan.expect("a step that messages go to");
        let row = match plan.placed {
            true => {
                let key: Vec<Word> = [from].iter().chain(send.args).copied().collect();
                plan.index.get(&key)
            }
            false => plan.index.get(send.args),
        };
        let Some(row) = row else { return Err(Beyond::Carried(send.operation)) };
        let first = match plan.owed {
            Some(owed) if self.is_silent(after) => owed,
            _ => plan.first,
        };
        let slot = first + row / ROWS;
        let bits = after[slot as usize] | 1 << (row % ROWS);
        if after[slot as usize] != bits {
            after[slot as usize] = bits;
            journal.push(slot);
        }
        Ok(())
    }

    /// From here on clients are silent.
    pub(super) fn silence<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        if let Some(slot) = self.plan.silent {
            self.set(worker, slot, 1);
            self.emit(worker, sink, Move::Silence, NOW);
        }
    }

    /// Something goes wrong and changes nothing. A goal about transitions may ask for it.
    pub(super) fn unmoved<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        fault: Fault,
        what: Move,
    ) {
        if self.design.invariants.iter().any(|held| held.uses_old) {
            self.emit(worker, sink, what, NOW);
        } else {
            sink.struck(fault);
        }
    }

    /// `recovery`: without those of before clients were silent.
    pub(super) fn arrivals<S: Sink>(&self, worker: &mut Worker, sink: &mut S, recovery: bool) {
        let silent = self.is_silent(&worker.before);
        let mut lost = false;
        for (number, plan) in self.plan.sent.iter().enumerate() {
            let number = number as u32;
            let count = plan.rows.len() as u32;
            for part in 0..count.div_ceil(ROWS) {
                let sent = worker.before[(plan.first + part) as usize];
                let owed = plan.owed.map_or(0, |owed| worker.before[(owed + part) as usize]);
                let mut bits = sent | owed;
                while bits != 0 {
                    let bit = bits.trailing_zeros();
                    bits &= bits - 1;
                    let arrival = match (silent, owed >> bit & 1 == 1) {
                        (false, _) => Arrival::Stays,
                        (true, true) => Arrival::Owed,
                        (true, false) if recovery => continue,
                        (true, false) => Arrival::Earlier,
                    };
                    let row = part * ROWS + bit;
                    self.arrival(worker, sink, (number, row), arrival);
                    if arrival == Arrival::Stays && !std::mem::replace(&mut lost, true) {
                        let what = Move::Lose { plan: number, at: row };
                        self.unmoved(worker, sink, Fault::LostMessage, what);
                    }
                }
            }
        }
    }

    fn arrival<S: Sink>(
        &self,
        worker: &mut Worker,
        sink: &mut S,
        (number, row): (u32, u32),
        arrival: Arrival,
    ) {
        let plan = &self.plan.sent[number as usize];
        let args = plan.args(row);
        let Delivery { place, callers } = &self.arriving[number as usize][row as usize];
        for (me, memory) in callers {
            worker.memory.clear();
            for slots in memory {
                let word = worker.before[slots.slot as usize];
                worker.memory.push(word);
            }
            for clock in self.clocks(worker, arrival != Arrival::Stays) {
                let deliver =
                    |how| Move::Deliver { plan: number, at: row, principal: *me as u32, how };
                let (operation, now) = (plan.operation, self.now(*clock));
                let asked =
                    Asked { instance: None, operation, me: *me, params: args, now, answer: None };
                let outcome = self.run(worker, &asked);
                if let (Arrival::Owed, Some(owed)) = (arrival, plan.owed) {
                    let slot = owed + row / ROWS;
                    let left = worker.after[slot as usize] & !(1 << (row % ROWS));
                    self.set(worker, slot, left);
                }
                match outcome {
                    Outcome::Done => {
                        self.apply(worker, memory, *place, ALL);
                        for fault in clock.faults() {
                            self.charge(worker, fault);
                        }
                        let how = match arrival {
                            Arrival::Earlier => How::DOUBLED,
                            Arrival::Stays | Arrival::Owed => *clock,
                        };
                        self.emit(worker, sink, deliver(how), NOW);
                        if arrival == Arrival::Stays {
                            sink.struck(Fault::DoubledMessage);
                        }
                    }
                    Outcome::Refused(refusal) => {
                        self.turned_down(sink, plan.operation, refusal.reason);
                        // Else it is as if it had not been delivered.
                        if arrival == Arrival::Owed {
                            self.emit(worker, sink, deliver(How::REFUSED), NOW);
                        }
                    }
                    Outcome::Need => self.undo(worker),
                }
            }
        }
    }

    /// For each message that can be sent: where it arrives, and who may act on it.
    pub(super) fn all_arriving(&self) -> Vec<Vec<Delivery>> {
        let of = |plan: &SentPlan| {
            let operation = &self.design.operations[plan.operation.index()];
            let offsets = offsets(operation);
            let delivery = |row: u32| {
                let args = plan.args(row);
                let place = place_of(&self.design, &self.universe, &self.places, operation, args);
                let callers = callers(&self.design, &self.universe, operation)
                    .into_iter()
                    .map(|me| {
                        let at = |at: usize| offsets[at];
                        let (universe, plan) = (&self.universe, &self.plan);
                        (me, memory_slots(universe, plan, &at, operation, me, args))
                    })
                    .collect();
                Delivery { place, callers }
            };
            (0..plan.rows.len() as u32).map(delivery).collect()
        };
        self.plan.sent.iter().map(of).collect()
    }

    /// What a state tells of the messages whose bits a slot holds.
    pub(crate) fn sent_lines(&self, name: SlotName, bits: Word, lines: &mut Vec<StateLine>) {
        let (operation, first, record) = match name {
            SlotName::Sent { operation, row } => (operation, row, "message"),
            SlotName::Owed { operation, row } => (operation, row, OWED),
            _ => return,
        };
        let plan = self.plan.sent.iter().find(|plan| plan.operation == operation);
        let Some(plan) = plan else { return };
        for row in first..(first + ROWS).min(plan.rows.len() as u32) {
            let from = if plan.placed { plan.rows[row as usize][0] } else { 0 };
            let way = if bits >> (row - first) & 1 == 1 { "under way" } else { "none" };
            lines.push(StateLine {
                record: record.into(),
                attribute: self.show_from(operation, from, plan.args(row)),
                value: way.into(),
            });
        }
    }
}

impl Permutation {
    /// Messages carry what is exchanged: where the bit of each of them goes.
    pub(super) fn exchange_sent(&self, machine: &Machine) -> Vec<Vec<u32>> {
        let of = |plan: &SentPlan| {
            let moved = |row: &Vec<Word>| {
                let words = row.iter().zip(&plan.kinds);
                let words = words.map(|(word, kind)| self.word(machine, *kind, *word));
                plan.index[&words.collect::<Vec<Word>>()]
            };
            plan.rows.iter().map(moved).collect()
        };
        machine.plan.sent.iter().map(of).collect()
    }

    pub(super) fn apply_to_sent(&self, machine: &Machine, words: &[Word], moved: &mut [Word]) {
        for (plan, to) in machine.plan.sent.iter().zip(&self.sent) {
            let count = plan.rows.len() as u32;
            for first in std::iter::once(plan.first).chain(plan.owed) {
                let parts = first as usize..(first + count.div_ceil(ROWS)) as usize;
                moved[parts].fill(0);
                for row in rows_in(words, first, count) {
                    let to = to[row as usize];
                    moved[(first + to / ROWS) as usize] |= 1 << (to % ROWS);
                }
            }
        }
    }
}
