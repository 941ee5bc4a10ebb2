//! What a step that the engine accepted does to the state.

use design::model::{AttrId, Counter, CounterId, Expr, ExprKind, Goal, OperationKind, SubjectId};
use engine::{Change, Send, Word};

use super::outside::Extra;
use super::{Beyond, Machine, View, Worker};
use crate::world::universe::BASE;

/// What of a step's outcome takes place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Takes {
    /// its actor learns of it
    pub(crate) memory: bool,
    /// calls to the world outside get into the outbox
    pub(crate) calls: bool,
    /// caches are refreshed
    pub(crate) caches: bool,
}

pub(crate) const ALL: Takes = Takes { memory: true, calls: true, caches: true };

impl Machine {
    /// Puts what the scratch holds into `worker.after`. `memory`: the slots of each use. What leaves
    /// the small world is put into `worker.beyond`, and the rest is done all the same.
    pub(super) fn apply(
        &self,
        worker: &mut Worker,
        memory: &[super::instances::MemorySlots],
        place: Word,
        takes: Takes,
    ) {
        if let Some(number) = worker.done {
            self.apply_known(worker, number, memory, takes);
            self.sends(worker, place, takes.calls);
            return;
        }
        let Worker { after, before, journal, scratch, beyond, extra, .. } = worker;
        let mut set = |after: &mut Vec<Word>, slot: u32, word: Word| {
            let held = &mut after[slot as usize];
            if *held != word {
                *held = word;
                journal.push(slot);
            }
        };
        *beyond = beyond.or_else(|| self.moved_on(worker.operation, before));
        for write in scratch.writes() {
            let subject = write.subject.index();
            if write.key < 0 || write.key as usize >= self.universe.keys[subject].len {
                *beyond = beyond.or(Some(Beyond::Key(write.subject)));
                let words = match write.change {
                    Change::Put(words) => Some(words.to_vec()),
                    Change::Delete => None,
                };
                extra.push(Extra { subject: write.subject, key: write.key, words });
                continue;
            }
            let key = write.key as usize;
            let record = &self.plan.records[subject];
            let range = record.words(key);
            match write.change {
                Change::Put(words) => {
                    if let Some(present) = record.present(key) {
                        set(after, present, 1);
                    }
                    for (slot, word) in range.zip(words) {
                        set(after, slot as u32, *word);
                    }
                }
                Change::Delete => {
                    if let Some(present) = record.present(key) {
                        set(after, present, 0);
                        for slot in range {
                            set(after, slot as u32, self.plan.slots.blank(slot as u32));
                        }
                    } else {
                        let defaults = self.program.defaults(write.subject);
                        for (slot, word) in range.zip(defaults) {
                            set(after, slot as u32, *word);
                        }
                    }
                }
            }
            if let Some(slot) = record.stored_time(key) {
                set(after, slot, scratch.now().max(before[slot as usize]));
            }
        }
        if takes.memory {
            for (usage, word) in scratch.memory() {
                set(after, memory[usage.index()].slot, word);
            }
        }
        if takes.caches {
            for write in scratch.cache_writes() {
                let cache = self
                    .plan
                    .caches
                    .iter()
                    .find(|cache| cache.subject == write.subject && cache.state == write.state);
                let Some(cache) = cache else { continue };
                if write.key < 0 || write.key >= Word::from(cache.keys) {
                    *beyond = beyond.or(Some(Beyond::Key(write.subject)));
                    continue;
                }
                let slot = cache.slot(write.key as usize, write.principal as u32);
                set(after, slot, 1);
                for (at, word) in write.words.iter().enumerate() {
                    set(after, slot + 1 + at as u32, *word);
                }
            }
        }
        self.sends(worker, place, takes.calls);
    }

    /// The same for a step that was known. What it writes has room.
    fn apply_known(
        &self,
        worker: &mut Worker,
        number: u32,
        memory: &[super::instances::MemorySlots],
        takes: Takes,
    ) {
        let Worker { after, before, journal, beyond, memo, .. } = worker;
        *beyond = beyond.or_else(|| self.moved_on(worker.operation, before));
        let done = &memo.done[number as usize];
        let learned = done.memory.iter().filter(|_| takes.memory);
        let learned = learned.map(|(usage, word)| (memory[*usage as usize].slot, *word));
        for (slot, word) in done.writes.iter().copied().chain(learned) {
            let held = &mut after[slot as usize];
            if *held != word {
                *held = word;
                journal.push(slot);
            }
        }
    }

    fn sends(&self, worker: &mut Worker, place: Word, calls: bool) {
        let Worker { after, journal, scratch, beyond, extra_sends, memo, done, .. } = worker;
        let mut one = |send: Send<'_>| {
            let target = &self.design.operations[send.operation.index()];
            let fine = match target.kind {
                OperationKind::Effect(_) if calls => self.open(after, journal, &send),
                OperationKind::Effect(_) => Ok(()),
                _ if target.each.is_some() && !calls => Ok(()),
                _ => self.post(after, journal, &send, place),
            };
            if let Err(what) = fine {
                *beyond = beyond.or(Some(what));
                extra_sends.push((send.operation, send.args.to_vec()));
            }
        };
        match done {
            Some(number) => memo.done[*number as usize].sends().for_each(&mut one),
            None => scratch.sends().for_each(&mut one),
        }
    }

    /// Counters over records that are there from the start.
    pub(super) fn start_counters(&self, words: &mut [Word]) {
        let mut scratch = engine::Scratch::new();
        let mut goal = self.goals as u32;
        for (index, subject) in self.design.subjects.iter().enumerate() {
            for (at, counter) in subject.counters.iter().enumerate() {
                let asked = counter.filter.as_ref().map(|_| {
                    goal += 1;
                    Goal::Invariant(goal - 1)
                });
                let child = &self.design.subjects[counter.child.index()];
                let left = self.left.counter(SubjectId::of(index), CounterId::of(at));
                if !child.implicit || !subject.implicit || left {
                    continue;
                }
                let layout = self.program.layout(SubjectId::of(index));
                let offset = layout.counter(CounterId::of(at)) as usize;
                for key in 0..self.universe.keys[counter.child.index()].len as Word {
                    let only = [key];
                    let view = Single { view: View::new(self, words, BASE), only: &only };
                    let counts = asked.is_none_or(|goal| {
                        engine::holds(&self.program, goal, &view, None, &mut scratch)
                            .unwrap_or(false)
                    });
                    if !counts {
                        continue;
                    }
                    let parent = self.universe.keys[counter.child.index()].part(key, 0);
                    let from = self.plan.records[index].words(parent as usize).start;
                    words[from + offset] += self.start_value(counter);
                }
            }
        }
    }

    /// What one child that is as it was made adds.
    fn start_value(&self, counter: &Counter) -> Word {
        let Some(value) = &counter.value else { return 1 };
        let ExprKind::Attr { attr, .. } = value.kind else { return 0 };
        let layout = self.program.layout(counter.child);
        let Some(field) = layout.attribute(AttrId::of(attr.index())) else { return 0 };
        let word = self.program.defaults(counter.child)[field.offset as usize];
        if word == engine::NULL { 0 } else { word }
    }
}

impl Worker {
    /// Does the step that was asked for last send such a call or message?
    pub(super) fn sends(&self, is: impl Fn(&Send<'_>) -> bool) -> bool {
        match self.done {
            Some(number) => self.memo.done[number as usize].sends().any(|send| is(&send)),
            None => self.scratch.sends().any(|send| is(&send)),
        }
    }

    /// Does its caller learn something?
    pub(super) fn remembers(&self) -> bool {
        match self.done {
            Some(number) => !self.memo.done[number as usize].memory.is_empty(),
            None => self.scratch.memory().next().is_some(),
        }
    }
}

/// For each counter with a filter, in order: a goal that holds where every child counts.
pub(crate) fn counter_goals(design: &design::model::Design) -> Vec<design::model::Invariant> {
    let mut goals = Vec::new();
    for subject in &design.subjects {
        for counter in &subject.counters {
            let Some(filter) = &counter.filter else { continue };
            let ty = design::model::Type::Bool;
            let domain = Box::new(design::model::Domain::All(counter.child));
            let kind = ExprKind::Quantifier {
                all: true,
                local: design::model::LocalId(0),
                domain,
                filter: None,
                body: Box::new(filter.clone()),
            };
            goals.push(design::model::Invariant {
                name: String::new(),
                body: Expr { kind, ty, span: filter.span },
                locals: counter.locals.clone(),
                uses_old: false,
                family: None,
                span: filter.span,
            });
        }
    }
    goals
}

/// A view in which one record of each subject can be ranged over.
struct Single<'a> {
    view: View<'a>,
    only: &'a [Word],
}

impl engine::Truth for Single<'_> {
    fn record(&self, subject: SubjectId, key: Word) -> engine::Fetch<'_> {
        self.view.record(subject, key)
    }

    fn cache(
        &self,
        subject: SubjectId,
        state: design::model::StateId,
        key: Word,
        principal: Word,
    ) -> engine::Fetch<'_> {
        self.view.cache(subject, state, key, principal)
    }

    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word {
        self.view.key_part(subject, key, part)
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        self.view.key_of(subject, parts)
    }

    fn stored(&self, blob: design::model::BlobId, digest: Word) -> Option<bool> {
        self.view.stored(blob, digest)
    }

    fn hash(&self, parts: &[engine::HashPart], words: &[Word]) -> Word {
        self.view.hash(parts, words)
    }

    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool {
        self.view.verified(signature, key, digest)
    }

    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool {
        self.view.included(leaf, root, proof)
    }

    fn next_of(&self, schedule: Word, after: Word) -> Option<Word> {
        self.view.next_of(schedule, after)
    }

    fn stored_time(&self, subject: SubjectId, key: Word) -> Word {
        self.view.stored_time(subject, key)
    }
}

impl engine::World for Single<'_> {
    fn now(&self) -> Word {
        self.view.now()
    }

    fn keys(&self, _subject: SubjectId) -> &[Word] {
        self.only
    }

    fn done(&self, effect: design::model::OperationId, row: usize) -> Option<&[Word]> {
        self.view.done(effect, row)
    }
}
