//! Outcomes of steps that read few bits, remembered: the engine is asked once for each value of
//! what a step reads and writes.
//!
//! A step is a pure function of the records it names. Where these are the records of its
//! parameters, their parents and their children, the words it can read or write are known
//! beforehand: its footprint. Steps that write the same records make a group. If the footprint of
//! a group is a few bits, what its steps do is looked up by them, all at once.
//!
//! Two groups are apart if neither touches what the other writes: their steps can be taken in
//! either order, with the same result. Of the two orders only one needs to be gone. A state that
//! was found by a step of one group leaves out the steps of every earlier group that is apart
//! from it. No state is missed, and none is found later than it could be. For let T be left out by
//! all that lead to it: it follows a state C by a step `a`, and `a` is left out there because a
//! step `b` of a later group led from a state P to C. Then `a` is possible in P, and `b` after it,
//! and that leads to T, as early: T is also reached by `b`, of a later group than `a`. As there
//! are only so many groups, one of them is the last, and it is not left out.

mod gather;
mod looks;
mod trail;

use design::model::OperationId;
use engine::{Outcome, Reason};

use super::{How, InstanceKind, Machine, Move, NOW, Sink, Worker};
use crate::search::Mark;
pub(crate) use gather::Gather;
use trail::{Footprint, Trail};

/// Footprints of more bits are not worth a table.
const BITS_MAX: u32 = 14;
/// Steps are not put together if that takes more bits.
const GROUP_BITS_MAX: u32 = 12;
/// All tables together.
const TABLE_MAX: usize = 1 << 20;
/// As many groups as there are marks.
const MARKS_MAX: usize = 255;

struct Group {
    gather: Gather,
    /// where its part of the table begins
    table: usize,
    footprint: Footprint,
    /// numbers of calls
    members: Vec<u32>,
}

/// A set of groups.
type Groups = [u64; 4];

/// Calls whose outcomes can be remembered, in groups.
pub(crate) struct Memo {
    groups: Vec<Group>,
    /// calls that are left to the engine
    loose: Vec<u32>,
    /// for each mark: the groups that are left out
    left_out: Vec<Groups>,
    /// how many values all footprints have together
    len: usize,
}

/// Who listens to what is looked up.
pub(crate) trait Leaps: Sink {
    /// This happens for the first time.
    fn happened(&mut self, machine: &Machine, what: Move);

    /// So many transitions there are.
    fn counted(&mut self, transitions: u32);

    /// One of them; `change` is what becomes different.
    fn leapt(&mut self, state: &[u64], change: &[u64], mark: Mark);
}

enum Known {
    Refused(OperationId, Reason),
    Done(Move, Vec<u64>),
    /// it changes something else too, or leaves the small world
    Other,
}

/// What all steps of a group do.
#[derive(Clone, Copy)]
struct Entry {
    transitions: u32,
    /// those of them that change something
    changes: (u32, u32),
    /// calls that are left to the engine
    others: (u32, u32),
}

/// What one thread remembers.
#[derive(Default)]
pub(crate) struct Recall {
    /// for each group, for each value of its footprint, a number plus one into `entries`
    table: Vec<u32>,
    entries: Vec<Entry>,
    changes: Vec<u64>,
    others: Vec<u32>,
}

impl Memo {
    /// None where faults, symmetry and the like leave nothing to a step alone.
    pub(super) fn of(machine: &Machine) -> Option<Memo> {
        let plan = &machine.plan;
        let alone = machine.settings.faults.is_empty()
            && machine.symmetry.is_none()
            && machine.ranks.is_empty()
            && plan.effects.iter().all(Option::is_none)
            && plan.messages.is_empty()
            && plan.times.is_empty()
            && machine.forgetful.is_empty()
            && plan.blobs.iter().all(Option::is_none)
            && plan.caches.is_empty();
        if !alone {
            return None;
        }
        let mut memo =
            Memo { groups: Vec::new(), loose: Vec::new(), left_out: vec![[0; 4]], len: 0 };
        for (index, instance) in machine.instances.iter().enumerate() {
            let footprint = Trail::of(machine, instance);
            if footprint.is_none_or(|footprint| !memo.add(machine, index as u32, footprint)) {
                memo.loose.push(index as u32);
            }
        }
        for group in &mut memo.groups {
            group.table = memo.len;
            memo.len += 1 << group.gather.bits;
        }
        for later in memo.groups.iter().take(MARKS_MAX) {
            let mut left_out = [0; 4];
            for (at, group) in memo.groups.iter().take(memo.left_out.len() - 1).enumerate() {
                if group.footprint.is_apart(&later.footprint) {
                    left_out[at / 64] |= 1 << (at % 64);
                }
            }
            memo.left_out.push(left_out);
        }
        Some(memo)
    }

    /// Puts a call into its group, or into one of its own.
    fn add(&mut self, machine: &Machine, index: u32, footprint: Footprint) -> bool {
        for group in &mut self.groups {
            if group.footprint.records != footprint.records || group.footprint.is_apart(&footprint)
            {
                continue;
            }
            let mut slots = group.footprint.slots.clone();
            slots.extend(&footprint.slots);
            let gather = Gather::of(machine, &slots);
            if gather.bits <= GROUP_BITS_MAX.max(group.gather.bits) {
                group.gather = gather;
                group.footprint.join(footprint);
                group.members.push(index);
                return true;
            }
        }
        let gather = Gather::of(machine, &footprint.slots);
        let taken: usize = self.groups.iter().map(|group| 1 << group.gather.bits).sum();
        if gather.bits > BITS_MAX || taken + (1 << BITS_MAX) > TABLE_MAX {
            return false;
        }
        self.groups.push(Group { gather, table: 0, footprint, members: vec![index] });
        true
    }
}

impl Machine {
    /// Like `expand`, for a machine with a memo: looks up what it can. `mark`: how the state was
    /// found.
    pub(crate) fn expand_packed<S: Leaps>(
        &self,
        memo: &Memo,
        worker: &mut Worker,
        state: &[u64],
        mark: Mark,
        sink: &mut S,
    ) {
        if worker.recall.table.len() != memo.len {
            worker.recall.table = vec![0; memo.len];
        }
        let left_out = memo.left_out[usize::from(mark)];
        let mut loaded = false;
        for (number, group) in memo.groups.iter().enumerate() {
            let at = group.table + group.gather.number(state);
            if worker.recall.table[at] == 0 {
                self.load(worker, state);
                loaded = true;
                let entry = self.ask(worker, group, sink);
                worker.recall.entries.push(entry);
                worker.recall.table[at] = worker.recall.entries.len() as u32;
            }
            let recall = &worker.recall;
            let entry = recall.entries[recall.table[at] as usize - 1];
            sink.counted(entry.transitions);
            if number >= MARKS_MAX || left_out[number / 64] >> (number % 64) & 1 == 0 {
                let mark = Mark::try_from(number + 1).unwrap_or(0);
                let (mut from, end) = (entry.changes.0 as usize, entry.changes.1 as usize);
                while from < end {
                    sink.leapt(state, &recall.changes[from..from + state.len()], mark);
                    from += state.len();
                }
            }
            for other in entry.others.0..entry.others.1 {
                let index = worker.recall.others[other as usize];
                self.left_to_engine(worker, state, &mut loaded, index, sink);
            }
        }
        for index in &memo.loose {
            self.left_to_engine(worker, state, &mut loaded, *index, sink);
        }
    }

    fn left_to_engine<S: Sink>(
        &self,
        worker: &mut Worker,
        state: &[u64],
        loaded: &mut bool,
        index: u32,
        sink: &mut S,
    ) {
        if !*loaded {
            self.load(worker, state);
            *loaded = true;
        }
        let instance = &self.instances[index as usize];
        if instance.kind == InstanceKind::Repair {
            self.repair(worker, sink, index, false);
        } else {
            self.step(worker, sink, index, instance);
        }
    }

    /// Asks the engine what each step of a group does.
    fn ask<S: Leaps>(&self, worker: &mut Worker, group: &Group, sink: &mut S) -> Entry {
        let from = (worker.recall.changes.len() as u32, worker.recall.others.len() as u32);
        let mut transitions = 0;
        for index in &group.members {
            match self.ask_one(worker, *index, &group.footprint) {
                Known::Refused(operation, reason) => sink.refused(operation, reason),
                Known::Done(what, change) => {
                    sink.happened(self, what);
                    transitions += 1;
                    if change.iter().any(|word| *word != 0) {
                        worker.recall.changes.extend(change);
                    }
                }
                Known::Other => worker.recall.others.push(*index),
            }
        }
        let recall = &worker.recall;
        Entry {
            transitions,
            changes: (from.0, recall.changes.len() as u32),
            others: (from.1, recall.others.len() as u32),
        }
    }

    fn ask_one(&self, worker: &mut Worker, index: u32, footprint: &Footprint) -> Known {
        let instance = &self.instances[index as usize];
        self.remember(worker, instance);
        match self.run(worker, instance.operation, instance.me, &instance.params, NOW, None) {
            Outcome::Refused(refusal) => Known::Refused(instance.operation, refusal.reason),
            Outcome::Need => Known::Other,
            Outcome::Done => {
                self.apply_all(worker, instance);
                let fits = worker.beyond.is_none()
                    && worker
                        .journal
                        .iter()
                        .all(|slot| footprint.writes.binary_search(slot).is_ok());
                let mut next = worker.packed.clone();
                let packs = worker
                    .journal
                    .iter()
                    .all(|slot| self.plan.slots.repack(*slot, &worker.after, &mut next).is_ok());
                self.undo(worker);
                if !fits || !packs {
                    return Known::Other;
                }
                let what = match instance.kind {
                    InstanceKind::Repair => Move::Repair { instance: index, how: How::PLAIN },
                    _ => Move::Call { instance: index, how: How::PLAIN },
                };
                let change = next.iter().zip(&worker.packed).map(|(next, held)| next ^ held);
                Known::Done(what, change.collect())
            }
        }
    }
}
