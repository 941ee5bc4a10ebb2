//! One way to exchange interchangeable things, and what becomes of a state by it.

use std::sync::{PoisonError, RwLock};

use design::model::{SubjectId, Type};
use engine::{HashPart, NULL, Word};
use rustc_hash::FxHashMap;

use super::Machine;
use super::calls::sort_blocks;
use crate::world::flow::{PlaceOf, fields_of};
use crate::world::plan::SlotName;
use crate::world::slots::Kind;

/// Things that are interchangeable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alike {
    /// the opaque values of a sort
    Values { sort: usize, len: usize },
    /// the principals of an actor
    Principals { first: usize, len: usize },
}

impl Alike {
    pub(super) fn len(self) -> usize {
        match self {
            Alike::Values { len, .. } | Alike::Principals { len, .. } => len,
        }
    }
}

/// One way to exchange them, worked out for every slot.
pub(super) struct Permutation {
    /// where the value of each slot goes
    pub(super) to: Vec<u32>,
    /// what each value of a sort becomes; empty: what it is
    pub(super) values: Vec<Vec<Word>>,
    pub(super) principals: Vec<Word>,
    pub(super) keys: Vec<Vec<Word>>,
    signatures: Vec<Word>,
    /// what each digest becomes, as far as it was asked
    digests: RwLock<FxHashMap<Word, Word>>,
    calls: Vec<Word>,
    /// for each kind of thing that is exchanged: which of them takes each place
    pub(super) from: Vec<Vec<usize>>,
    /// for each step that messages go to, where the bit of each message goes
    pub(super) sent: Vec<Vec<u32>>,
}

pub(super) type Numbers = FxHashMap<(u32, Word, Vec<Word>), Word>;

/// The number of each call, by what it is.
pub(super) fn numbers(machine: &Machine) -> Numbers {
    machine
        .instances
        .iter()
        .enumerate()
        .map(|(at, call)| ((call.operation.0, call.me, call.params.to_vec()), at as Word))
        .collect()
}

/// Which of them goes to each place.
fn inverse(way: &[usize]) -> Vec<usize> {
    let mut from = vec![0; way.len()];
    way.iter().enumerate().for_each(|(at, to)| from[*to] = at);
    from
}

impl Permutation {
    pub(super) fn of(
        machine: &Machine,
        chosen: &[Alike],
        order: &[Vec<usize>],
        numbers: &Numbers,
    ) -> Permutation {
        let universe = &machine.universe;
        let mut permutation = Permutation {
            to: (0..machine.plan.names.len() as u32).collect(),
            values: vec![Vec::new(); universe.sorts.list.len()],
            principals: (0..universe.principals.len() as Word).collect(),
            keys: vec![Vec::new(); machine.design.subjects.len()],
            signatures: Vec::new(),
            digests: RwLock::default(),
            calls: Vec::new(),
            from: order.iter().map(|way| inverse(way)).collect(),
            sent: Vec::new(),
        };
        for (alike, way) in chosen.iter().zip(order) {
            match alike {
                Alike::Values { sort, .. } => {
                    permutation.values[*sort] = way.iter().map(|to| *to as Word).collect();
                }
                Alike::Principals { first, .. } => {
                    for (at, to) in way.iter().enumerate() {
                        permutation.principals[first + at] = (first + to) as Word;
                    }
                }
            }
        }
        for index in 0..machine.design.subjects.len() {
            permutation.exchange_keys(machine, SubjectId::of(index));
        }
        permutation.exchange_signatures(machine);
        for call in &machine.instances {
            let operation = &machine.design.operations[call.operation.index()];
            let mut params = Vec::new();
            let mut at = 0;
            for param in &operation.params {
                let width = engine::width_of(&param.ty) as usize;
                let sort = universe.sorts.local(call.operation, param.local);
                params.extend(permutation.value(
                    machine,
                    &param.ty,
                    sort,
                    &call.params[at..at + width],
                ));
                at += width;
            }
            let me = permutation.principals[call.me as usize];
            let number = numbers
                .get(&(call.operation.0, me, params.clone()))
                // Where it does not matter who calls, always the same one does.
                .or_else(|| numbers.get(&(call.operation.0, call.me, params)));
            permutation.calls.push(number.copied().unwrap_or(0));
        }
        permutation.exchange_slots(machine);
        permutation.sent = permutation.exchange_sent(machine);
        permutation
    }

    /// Where the value of a slot goes.
    pub(super) fn target(&self, slot: usize) -> usize {
        self.to[slot] as usize
    }

    /// One word of a certain kind.
    pub(super) fn word(&self, machine: &Machine, kind: Kind, word: Word) -> Word {
        if word == NULL {
            return word;
        }
        match kind {
            Kind::Plain => word,
            Kind::Principal => self.principals.get(word as usize).copied().unwrap_or(word),
            Kind::Ref(subject) => {
                self.keys[subject as usize].get(word as usize).copied().unwrap_or(word)
            }
            Kind::Opaque(sort) => {
                let first = machine.universe.sorts.list[sort as usize].opaque_first;
                let to = self.values[sort as usize].get(word.wrapping_sub(first) as usize);
                to.map_or(word, |to| first + to)
            }
            Kind::Digest => self.digest(machine, word),
            Kind::Signature => self.signatures.get(word as usize).copied().unwrap_or(word),
            Kind::Call => {
                if word == 0 {
                    0
                } else {
                    self.calls[word as usize - 1] + 1
                }
            }
        }
    }

    fn digest(&self, machine: &Machine, word: Word) -> Word {
        let known = self.digests.read().unwrap_or_else(PoisonError::into_inner).get(&word).copied();
        known.unwrap_or_else(|| {
            let moved = machine.terms.changed(word, &|part, word| self.part(machine, part, word));
            let mut digests = self.digests.write().unwrap_or_else(PoisonError::into_inner);
            digests.insert(word, moved);
            moved
        })
    }

    /// One value in a digest. A text is known by its handle: each belongs to one sort.
    fn part(&self, machine: &Machine, part: &HashPart, word: Word) -> Word {
        match part {
            HashPart::Actor => self.word(machine, Kind::Principal, word),
            HashPart::Text | HashPart::Bytes | HashPart::PublicKey | HashPart::Blob => {
                let sorts = &machine.universe.sorts.list;
                let of = sorts.iter().position(|sort| {
                    let last = sort.opaque_first + Word::from(sort.opaque_len);
                    (sort.opaque_first..last).contains(&word)
                });
                of.map_or(word, |sort| self.word(machine, Kind::Opaque(sort as u32), word))
            }
            _ => word,
        }
    }

    fn exchange_signatures(&mut self, machine: &Machine) {
        let signs = &machine.universe.signs;
        self.signatures = std::iter::once(0)
            .chain(signs.iter().enumerate().map(|(at, (effect, key))| {
                let Some(plan) = &machine.plan.effects[effect.index()] else { return 0 };
                let moved: Vec<Word> = plan.keys[*key as usize]
                    .iter()
                    .zip(&plan.kinds)
                    .map(|(word, kind)| self.word(machine, *kind, *word))
                    .collect();
                let first = at as Word - Word::from(*key);
                let moved = plan.index.get(&moved).copied().unwrap_or(*key);
                first + Word::from(moved) + 1
            }))
            .collect();
    }

    fn kind(ty: &Type, sort: Option<usize>) -> Kind {
        match ty.required() {
            Type::Ref(subject) => Kind::Ref(subject.0),
            Type::Actor => Kind::Principal,
            Type::Hash => Kind::Digest,
            Type::Signature => Kind::Signature,
            Type::Proof => Kind::Plain,
            ty if ty.is_opaque() => sort.map_or(Kind::Plain, |sort| Kind::Opaque(sort as u32)),
            _ => Kind::Plain,
        }
    }

    /// The words of an argument.
    fn value(
        &self,
        machine: &Machine,
        ty: &Type,
        sort: Option<usize>,
        words: &[Word],
    ) -> Vec<Word> {
        let mut moved = words.to_vec();
        let len = words[0].max(0) as usize;
        match ty.required() {
            Type::List { of, .. } if matches!(**of, Type::Struct(_)) => {
                let fields = fields_of(of);
                let kinds: Vec<Kind> = fields
                    .iter()
                    .enumerate()
                    .map(|(at, field)| {
                        let column = machine.universe.sorts.column(sort, at);
                        Permutation::kind(&field.ty, column)
                    })
                    .collect();
                let words = moved.iter_mut().skip(1).take(len * fields.len());
                for (word, kind) in words.zip(kinds.into_iter().cycle()) {
                    *word = self.word(machine, kind, *word);
                }
            }
            Type::Set { of, .. } | Type::List { of, .. } => {
                let kind = Permutation::kind(of, sort);
                for word in moved.iter_mut().skip(1).take(len) {
                    *word = self.word(machine, kind, *word);
                }
                if matches!(ty.required(), Type::Set { .. }) {
                    moved[1..=len].sort_unstable();
                }
            }
            Type::Map { .. } => {}
            ty => moved[0] = self.word(machine, Permutation::kind(ty, sort), words[0]),
        }
        moved
    }

    fn exchange_keys(&mut self, machine: &Machine, subject: SubjectId) {
        let keys = &machine.universe.keys[subject.index()];
        if !self.keys[subject.index()].is_empty() || keys.len == 0 {
            return;
        }
        let held = &machine.design.subjects[subject.index()];
        for key in &held.keys {
            if let Some(of) = key.ty.subject()
                && of != subject
            {
                self.exchange_keys(machine, of);
            }
        }
        let moved = (0..keys.len)
            .map(|handle| {
                let parts: Vec<Word> = held
                    .keys
                    .iter()
                    .enumerate()
                    .zip(keys.parts(handle))
                    .map(|((at, key), word)| {
                        let sort = machine.universe.sorts.place(PlaceOf::Key(subject, at as u32));
                        self.word(machine, Permutation::kind(&key.ty, sort), *word)
                    })
                    .collect();
                keys.handle(&parts)
            })
            .collect();
        self.keys[subject.index()] = moved;
    }

    fn exchange_slots(&mut self, machine: &Machine) {
        let plan = &machine.plan;
        let mut to = std::mem::take(&mut self.to);
        let mut block = |from: u32, at: u32, len: u32| {
            for slot in 0..len {
                to[(from + slot) as usize] = at + slot;
            }
        };
        for (subject, record) in plan.records.iter().enumerate() {
            for (key, moved) in self.keys[subject].iter().enumerate() {
                let slot = |key: u32| record.first + record.stride * key;
                block(slot(key as u32), slot(*moved as u32), record.stride);
            }
        }
        for plan in plan.effects.iter().flatten() {
            for (key, words) in plan.keys.iter().enumerate() {
                let moved: Vec<Word> = words
                    .iter()
                    .zip(&plan.kinds)
                    .map(|(word, kind)| self.word(machine, *kind, *word))
                    .collect();
                let moved = plan.index.get(&moved).copied().unwrap_or(key as u32);
                block(plan.entry(key), plan.entry(moved as usize), plan.stride);
            }
        }
        for cache in &plan.caches {
            for key in 0..cache.keys {
                for principal in cache.principals.iter().copied() {
                    let moved_key = self.keys[cache.subject.index()][key as usize];
                    let moved = self.principals[principal as usize];
                    block(
                        cache.slot(key as usize, principal),
                        cache.slot(moved_key as usize, moved as u32),
                        cache.stride,
                    );
                }
            }
        }
        for (first, sort) in plan.blobs.iter().flatten() {
            if let crate::world::sorts::SortDomain::Finite(values) =
                &machine.universe.sorts.list[*sort].domain
            {
                for (at, word) in values.iter().enumerate() {
                    let moved = self.word(machine, Kind::Opaque(*sort as u32), *word);
                    let moved = values.iter().position(|held| *held == moved).unwrap_or(at);
                    block(first + at as u32, first + moved as u32, 1);
                }
            }
        }
        for (at, name) in plan.names.iter().enumerate() {
            let SlotName::Memory { actor, principal, field, record, stale } = name else {
                continue;
            };
            let held = &plan.memory[actor.index()][field.index()];
            let of = machine.design.actors[actor.index()].memory[field.index()].of;
            let record = match (of, record) {
                (Some(of), Some(record)) => self.keys[of.index()][*record as usize] as u32,
                _ => 0,
            };
            let principal = machine.universe.turn(*actor, self.principals[*principal as usize]);
            let first = if *stale { held.stale.unwrap_or(held.first) } else { held.first };
            block(at as u32, first + principal * held.records + record, 1);
        }
        if let Some(older) = plan.older {
            for slot in 0..plan.truth {
                to[(older + slot) as usize] = older + to[slot as usize];
            }
        }
        self.to = to;
    }

    pub(super) fn apply(&self, machine: &Machine, words: &[Word], moved: &mut [Word]) {
        let plan = &machine.plan;
        for (at, slot) in plan.slots.list.iter().enumerate() {
            let unused = slot.room.is_some_and(|(len, needed)| words[len as usize] < needed);
            let word = words[at];
            moved[self.to[at] as usize] =
                if unused { word } else { self.word(machine, slot.kind, word) };
        }
        // An absent record holds what it holds, whatever that is called.
        for record in plan.records.iter().zip(&machine.universe.keys) {
            let (record, keys) = record;
            for key in 0..keys.len {
                let Some(present) = record.present(key) else { continue };
                for first in std::iter::once(0).chain(plan.older) {
                    if moved[(first + present) as usize] == 0 {
                        for slot in record.words(key) {
                            let slot = first + slot as u32;
                            moved[slot as usize] = plan.slots.blank(slot);
                        }
                    }
                }
            }
        }
        for plan in plan.effects.iter().flatten() {
            for key in 0..plan.keys.len() {
                if moved[plan.entry(key) as usize] == 0 {
                    for slot in plan.args(key) {
                        moved[slot] = machine.plan.slots.blank(slot as u32);
                    }
                }
                if moved[plan.world(key) as usize] == 0 {
                    for slot in plan.world_args(key) {
                        moved[slot] = machine.plan.slots.blank(slot as u32);
                    }
                }
            }
        }
        for cache in &plan.caches {
            let copies = cache.keys * cache.principals.len() as u32;
            for copy in 0..copies {
                let slot = cache.first + copy * cache.stride;
                if moved[slot as usize] == 0 {
                    for at in slot + 1..=slot + cache.width {
                        moved[at as usize] = plan.slots.blank(at);
                    }
                }
            }
        }
        for message in &plan.messages {
            for at in 0..message.count {
                let slot = message.first + message.stride * at;
                if moved[slot as usize] == 0 {
                    for at in slot + 1..slot + message.stride {
                        moved[at as usize] = plan.slots.blank(at);
                    }
                }
            }
        }
        self.apply_to_sent(machine, words, moved);
        for (slot, width) in &plan.sorted {
            let len = moved[*slot as usize];
            if len <= 1 {
                continue;
            }
            let (from, width) = (*slot as usize + 1, *width as usize);
            let mut elements: Vec<Vec<Word>> = moved[from..from + len as usize * width]
                .chunks(width)
                .map(<[Word]>::to_vec)
                .collect();
            elements.sort_unstable();
            for (at, word) in elements.into_iter().flatten().enumerate() {
                moved[from + at] = word;
            }
        }
        let calls = &plan.calls;
        sort_blocks(moved, calls.first, calls.stride, calls.count, &mut |_| {});
        for message in &plan.messages {
            message.sort(moved, &mut |_| {});
        }
    }
}
