//! Outcomes of steps that read few bits, remembered: the engine is asked once for each value of
//! what a step reads and writes.
//!
//! A step is a pure function of the records it names. Where these are the records of its
//! parameters and their parents, the words it can read or write are known beforehand: its
//! footprint. If that is a few bits, its outcome is looked up by them.

use design::model::{
    AttrId, Expr, ExprKind, LocalId, Operation, OperationKind, Stmt, StmtKind, SubjectId, Target,
};
use engine::{Outcome, Reason, Word};

use super::{How, InstanceKind, Machine, Move, NOW, Sink, Step, Worker};
use crate::visit;

/// Footprints of more bits are not worth a table.
const BITS_MAX: u32 = 14;

/// A footprint of more pieces than this is not worth a table either.
const STRETCHES_MAX: usize = 6;

/// Neighbouring bits of a packed state.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    word: u32,
    shift: u32,
    mask: u64,
    to: u32,
}

/// Some slots of a packed state, gathered into one small number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gather {
    stretches: Vec<Stretch>,
    pub(crate) bits: u32,
}

/// The same, for few pieces, in one place.
struct Near {
    stretches: [Stretch; STRETCHES_MAX],
    len: usize,
}

impl Near {
    #[inline]
    fn number(&self, packed: &[u64]) -> usize {
        let mut number = 0;
        for stretch in &self.stretches[..self.len] {
            let bits = (packed[stretch.word as usize] >> stretch.shift) & stretch.mask;
            number |= bits << stretch.to;
        }
        number as usize
    }
}

impl Gather {
    pub(crate) fn of(machine: &Machine, slots: &[u32]) -> Gather {
        let mut gather = Gather::default();
        let mut masks = vec![0_u64; machine.plan.slots.width()];
        for slot in slots {
            let (word, mask) = machine.plan.slots.mask(*slot);
            masks[word] |= mask;
        }
        for (word, mask) in masks.into_iter().enumerate() {
            let mut left = mask;
            while left != 0 {
                let shift = left.trailing_zeros();
                let len = (left >> shift).trailing_ones();
                let mask = if len == 64 { u64::MAX } else { (1 << len) - 1 };
                let to = gather.bits;
                gather.stretches.push(Stretch { word: word as u32, shift, mask, to });
                gather.bits += len;
                left &= !(mask << shift);
            }
        }
        gather
    }

    #[inline]
    pub(crate) fn number(&self, packed: &[u64]) -> usize {
        let mut number = 0;
        for stretch in &self.stretches {
            let bits = (packed[stretch.word as usize] >> stretch.shift) & stretch.mask;
            number |= bits << stretch.to;
        }
        number as usize
    }
}

struct Footprint {
    near: Near,
    /// where its part of the table begins
    table: usize,
    slots: Vec<u32>,
}

/// For each call whose outcome can be remembered, its footprint.
pub(crate) struct Memo {
    footprints: Vec<Option<Footprint>>,
    /// how many values all footprints have together
    len: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Known {
    Refused(Reason),
    /// the word that changes, which of its bits, what they become
    DoneIn(u32, u64, u64),
    /// the same, for several words
    Done(Vec<(u32, u64, u64)>),
    /// it changes something else too, or leaves the small world
    Other,
}

/// What one thread remembers.
#[derive(Default)]
pub(crate) struct Recall {
    /// for each call, for each value of its footprint, a number plus one into `known`
    table: Vec<u32>,
    known: Vec<Known>,
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
            && plan.blobs.iter().all(Option::is_none)
            && plan.caches.is_empty();
        if !alone {
            return None;
        }
        let mut len = 0;
        let footprints = machine
            .instances
            .iter()
            .map(|instance| {
                let operation = &machine.design.operations[instance.operation.index()];
                let mut slots =
                    Trail { machine, operation, params: &instance.params, slots: vec![] }
                        .of_operation()?;
                slots.sort_unstable();
                slots.dedup();
                let gather = Gather::of(machine, &slots);
                if gather.bits > BITS_MAX || gather.stretches.len() > STRETCHES_MAX {
                    return None;
                }
                let mut near = Near { stretches: Default::default(), len: gather.stretches.len() };
                near.stretches[..near.len].copy_from_slice(&gather.stretches);
                let table = len;
                len += 1 << gather.bits;
                Some(Footprint { near, table, slots })
            })
            .collect();
        Some(Memo { footprints, len })
    }
}

/// Follows what an operation can read and write.
struct Trail<'a> {
    machine: &'a Machine,
    operation: &'a Operation,
    params: &'a [Word],
    slots: Vec<u32>,
}

impl Trail<'_> {
    fn of_operation(mut self) -> Option<Vec<u32>> {
        let operation = self.operation;
        if !operation.memory.is_empty() || operation.params.iter().any(|param| param.new) {
            return None;
        }
        for param in &operation.params {
            if param.ty.subject().is_some() {
                let (subject, key) = self.param(param.local)?;
                self.present(subject, key);
            }
        }
        for clause in &operation.guard {
            self.reads(&clause.body)?;
        }
        self.body(&operation.body)?;
        match &operation.kind {
            OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
            OperationKind::Read { .. } | OperationKind::Effect(_) => return None,
        }
        Some(self.slots)
    }

    fn param(&self, local: LocalId) -> Option<(SubjectId, usize)> {
        let at = self.operation.params.iter().position(|param| param.local == local)?;
        let subject = self.operation.params[at].ty.subject()?;
        let offsets = super::instances::offsets(self.operation);
        let key = self.params[offsets[at]];
        let known = key >= 0 && (key as usize) < self.machine.universe.keys[subject.index()].len;
        known.then_some((subject, key as usize))
    }

    /// The record that an expression refers to, if that is known beforehand.
    fn base(&self, expr: &Expr) -> Option<(SubjectId, usize)> {
        match &expr.kind {
            ExprKind::Local(local) => self.param(*local),
            ExprKind::KeyPart { base, part } => {
                let (subject, key) = self.base(base)?;
                let of = expr.ty.subject()?;
                let part = self.machine.universe.keys[subject.index()].part(key as Word, *part);
                (part >= 0).then_some((of, part as usize))
            }
            _ => None,
        }
    }

    fn present(&mut self, subject: SubjectId, key: usize) {
        self.slots.extend(self.machine.plan.records[subject.index()].present(key));
    }

    fn attribute(&mut self, subject: SubjectId, key: usize, attr: AttrId) -> Option<()> {
        let field = self.machine.program.layout(subject).attribute(attr)?;
        let from = self.machine.plan.records[subject.index()].words(key).start;
        self.present(subject, key);
        self.slots.extend(field.range().map(|at| (from + at) as u32));
        Some(())
    }

    fn reads(&mut self, expr: &Expr) -> Option<()> {
        match &expr.kind {
            ExprKind::Attr { base, attr } => {
                let (subject, key) = self.base(base)?;
                self.attribute(subject, key, *attr)
            }
            ExprKind::Counter { base, counter } => {
                let (subject, key) = self.base(base)?;
                let at = self.machine.program.layout(subject).counter(*counter);
                let from = self.machine.plan.records[subject.index()].words(key).start as u32;
                self.present(subject, key);
                self.slots.push(from + at);
                Some(())
            }
            ExprKind::Exists { base, cache: None } => {
                let (subject, key) = self.base(base)?;
                self.present(subject, key);
                Some(())
            }
            ExprKind::Exists { .. }
            | ExprKind::Memory(_)
            | ExprKind::LogEnd { .. }
            | ExprKind::LogStart { .. }
            | ExprKind::LogSlice { .. }
            | ExprKind::Stored(_)
            | ExprKind::Quantifier { .. }
            | ExprKind::Aggregate { .. }
            | ExprKind::View { .. } => None,
            _ => {
                let mut fine = Some(());
                visit::children(expr, &mut |child| fine = fine.and_then(|()| self.reads(child)));
                fine
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) -> Option<()> {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign { target: Target::Attr { base, attr }, value, .. } => {
                    self.reads(value)?;
                    let (subject, key) = self.base(base)?;
                    self.attribute(subject, key, *attr)?;
                    self.counted(subject, key, *attr)?;
                }
                StmtKind::Let { value, .. } => self.reads(value)?,
                StmtKind::Emit { fields, .. } => {
                    for (_, expr) in fields {
                        self.reads(expr)?;
                    }
                }
                StmtKind::If { condition, then, otherwise } => {
                    self.reads(condition)?;
                    self.body(then)?;
                    self.body(otherwise)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// A change of this attribute may move counters of the record's parent.
    fn counted(&mut self, subject: SubjectId, key: usize, attr: AttrId) -> Option<()> {
        let machine = self.machine;
        let Some(parent) = machine.design.subjects[subject.index()].parent else {
            return Some(());
        };
        let above = machine.universe.keys[subject.index()].part(key as Word, 0);
        for (at, counter) in machine.design.subjects[parent.index()].counters.iter().enumerate() {
            if counter.child != subject {
                continue;
            }
            let mut mentioned = Vec::new();
            for expr in counter.filter.iter().chain(&counter.value) {
                visit::deep(expr, &mut |expr| {
                    if let ExprKind::Attr { attr, .. } = &expr.kind {
                        mentioned.push(*attr);
                    }
                });
            }
            if !mentioned.contains(&attr) {
                continue;
            }
            for attr in mentioned {
                self.attribute(subject, key, attr)?;
            }
            if above < 0 {
                return None;
            }
            let from = machine.plan.records[parent.index()].words(above as usize).start as u32;
            let counter = design::model::CounterId::of(at);
            self.slots.push(from + machine.program.layout(parent).counter(counter));
            self.present(parent, above as usize);
        }
        Some(())
    }
}

impl Machine {
    /// Like `expand`, for a machine with a memo: looks up what it can. `Step::before` and its kin
    /// are not to be looked at.
    pub(crate) fn expand_packed<S: Sink>(
        &self,
        memo: &Memo,
        worker: &mut Worker,
        state: &[u64],
        sink: &mut S,
    ) {
        worker.packed.copy_from_slice(state);
        if worker.recall.table.len() != memo.len {
            worker.recall.table = vec![0; memo.len];
        }
        let mut loaded = false;
        for (index, footprint) in memo.footprints.iter().enumerate() {
            let instance = &self.instances[index];
            let known = footprint.as_ref().map(|footprint| {
                let number = footprint.table + footprint.near.number(&worker.packed);
                let held = worker.recall.table[number];
                if held != 0 {
                    return held - 1;
                }
                if !loaded {
                    self.load(worker, state);
                    loaded = true;
                }
                let known = self.ask(worker, index, footprint);
                let recall = &mut worker.recall;
                let at = recall.known.iter().position(|held| *held == known);
                let at = at.unwrap_or_else(|| {
                    recall.known.push(known);
                    recall.known.len() - 1
                }) as u32;
                recall.table[number] = at + 1;
                at
            });
            let index = index as u32;
            match known.map(|known| &worker.recall.known[known as usize]) {
                Some(Known::Refused(reason)) => sink.refused(instance.operation, *reason),
                Some(done @ (Known::Done(_) | Known::DoneIn(..))) => {
                    for (next, word) in worker.next.iter_mut().zip(&worker.packed) {
                        *next = *word;
                    }
                    let mut change = |word: u32, mask: u64, value: u64| {
                        let word = &mut worker.next[word as usize];
                        *word = (*word & !mask) | value;
                    };
                    match done {
                        Known::DoneIn(word, mask, value) => change(*word, *mask, *value),
                        Known::Done(bits) => {
                            bits.iter()
                                .for_each(|(word, mask, value)| change(*word, *mask, *value));
                        }
                        Known::Refused(_) | Known::Other => {}
                    }
                    let what = match instance.kind {
                        InstanceKind::Repair => Move::Repair { instance: index, how: How::Plain },
                        _ => Move::Call { instance: index, how: How::Plain },
                    };
                    let step = Step {
                        what,
                        before: &[],
                        after: &[],
                        now: NOW,
                        next: &[],
                        seen: true,
                        packed: &worker.next,
                    };
                    sink.moved(self, &step);
                }
                Some(Known::Other) | None => {
                    if !loaded {
                        self.load(worker, state);
                        loaded = true;
                    }
                    if instance.kind == InstanceKind::Repair {
                        self.repair(worker, sink, index, false);
                    } else {
                        self.step(worker, sink, index, instance);
                    }
                }
            }
        }
    }

    /// Asks the engine, and works out what it changes.
    fn ask(&self, worker: &mut Worker, index: usize, footprint: &Footprint) -> Known {
        let instance = &self.instances[index];
        self.remember(worker, instance);
        match self.run(worker, instance.operation, instance.me, &instance.params, NOW, None) {
            Outcome::Refused(refusal) => Known::Refused(refusal.reason),
            Outcome::Need => Known::Other,
            Outcome::Done => {
                let fits = self.apply(worker, &instance.memory, instance.place, super::apply::ALL)
                    && worker
                        .journal
                        .iter()
                        .all(|slot| footprint.slots.binary_search(slot).is_ok());
                let changed = worker.journal.clone();
                let mut next = worker.packed.clone();
                let packs = worker
                    .journal
                    .iter()
                    .all(|slot| self.plan.slots.repack(*slot, &worker.after, &mut next).is_ok());
                self.undo(worker);
                if !fits || !packs {
                    return Known::Other;
                }
                let mut bits: Vec<(u32, u64, u64)> = Vec::new();
                // What stays as it is need not be written again. (A collection's room goes with it.)
                let room = |slot: &&u32| {
                    let held = self.plan.slots.list[**slot as usize].room;
                    held.is_some_and(|(len, _)| changed.contains(&len))
                };
                let rooms = footprint.slots.iter().filter(room);
                for slot in changed.iter().chain(rooms) {
                    let (word, mask) = self.plan.slots.mask(*slot);
                    match bits.iter_mut().find(|(held, _, _)| *held == word as u32) {
                        Some((_, held, _)) => *held |= mask,
                        None => bits.push((word as u32, mask, 0)),
                    }
                }
                for (word, mask, value) in &mut bits {
                    *value = next[*word as usize] & *mask;
                }
                match bits[..] {
                    [(word, mask, value)] => Known::DoneIn(word, mask, value),
                    _ => Known::Done(bits),
                }
            }
        }
    }

    /// The slots that a goal about states looks at, if that is known beforehand: attributes of
    /// records that a quantifier ranges over.
    pub(crate) fn goal_slots(&self, goal: u32) -> Option<Gather> {
        let body = &self.design.invariants[goal as usize].body;
        let mut slots = Vec::new();
        self.ranged(body, &mut Vec::new(), &mut slots)?;
        slots.sort_unstable();
        slots.dedup();
        let gather = Gather::of(self, &slots);
        (gather.bits <= 20).then_some(gather)
    }

    fn ranged(
        &self,
        expr: &Expr,
        locals: &mut Vec<(LocalId, SubjectId)>,
        slots: &mut Vec<u32>,
    ) -> Option<()> {
        match &expr.kind {
            ExprKind::Attr { base, attr } => {
                let ExprKind::Local(local) = base.kind else { return None };
                let (_, subject) = locals.iter().find(|(held, _)| *held == local)?;
                let field = self.program.layout(*subject).attribute(*attr)?;
                let record = &self.plan.records[subject.index()];
                for key in 0..self.universe.keys[subject.index()].len {
                    slots.extend(record.present(key));
                    let from = record.words(key).start;
                    slots.extend(field.range().map(|at| (from + at) as u32));
                }
                Some(())
            }
            ExprKind::Quantifier { local, domain, .. }
            | ExprKind::Aggregate { local, domain, .. } => {
                let design::model::Domain::All(subject) = **domain else { return None };
                locals.push((*local, subject));
                let record = &self.plan.records[subject.index()];
                for key in 0..self.universe.keys[subject.index()].len {
                    slots.extend(record.present(key));
                }
                self.ranged_inside(expr, locals, slots)
            }
            ExprKind::Counter { .. }
            | ExprKind::Exists { .. }
            | ExprKind::Memory(_)
            | ExprKind::LogEnd { .. }
            | ExprKind::LogStart { .. }
            | ExprKind::LogSlice { .. }
            | ExprKind::Stored(_)
            | ExprKind::WorldArg { .. }
            | ExprKind::View { .. }
            | ExprKind::Old(_)
            | ExprKind::Now => None,
            _ => self.ranged_inside(expr, locals, slots),
        }
    }

    fn ranged_inside(
        &self,
        expr: &Expr,
        locals: &mut Vec<(LocalId, SubjectId)>,
        slots: &mut Vec<u32>,
    ) -> Option<()> {
        let mut fine = Some(());
        visit::children(expr, &mut |child| {
            fine = fine.and_then(|()| self.ranged(child, locals, slots));
        });
        fine
    }
}
