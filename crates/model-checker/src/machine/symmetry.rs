//! Things that can only be told apart are interchangeable: of the states that differ by a
//! permutation of them, the least is kept.

use std::sync::{PoisonError, RwLock};

use design::model::{ExprKind, OperationKind, SubjectId, Type, visit};
use engine::{HashPart, NULL, Word};
use rustc_hash::FxHashMap;

use super::calls::sort_blocks;
use super::glance::{Glance, Seen};
use super::{Machine, Worker};
use crate::world::flow::PlaceOf;
use crate::world::plan::SlotName;
use crate::world::slots::Kind;

/// More permutations than this are not tried.
const PERMUTATIONS_MAX: usize = 1_000;

/// Things that are interchangeable.
#[derive(Clone, Copy, Debug)]
enum Alike {
    /// the opaque values of a sort
    Values { sort: usize, len: usize },
    /// the principals of an actor
    Principals { first: usize, len: usize },
}

impl Alike {
    fn len(self) -> usize {
        match self {
            Alike::Values { len, .. } | Alike::Principals { len, .. } => len,
        }
    }
}

/// One way to exchange them, worked out for every slot.
pub(super) struct Permutation {
    /// where the value of each slot goes
    to: Vec<u32>,
    /// what each value of a sort becomes; empty: what it is
    values: Vec<Vec<Word>>,
    principals: Vec<Word>,
    keys: Vec<Vec<Word>>,
    signatures: Vec<Word>,
    /// what each digest becomes, as far as it was asked
    digests: RwLock<FxHashMap<Word, Word>>,
    calls: Vec<Word>,
    /// for each step that messages go to, where the bit of each message goes
    pub(super) sent: Vec<Vec<u32>>,
}

pub(crate) struct Symmetry {
    permutations: Vec<Permutation>,
    glance: Glance,
}

impl Symmetry {
    pub(super) fn of(machine: &Machine) -> (Option<Symmetry>, Vec<String>) {
        let mut notes = Vec::new();
        let mut chosen = Vec::new();
        let mut product = 1_usize;
        let numbers = numbers(machine);
        for (alike, name) in candidates(machine) {
            // In a slice there may be nothing left of them.
            if !machine.left.none && !matters(machine, alike, &numbers) {
                continue;
            }
            let ways = (1..=alike.len()).product::<usize>();
            if product.saturating_mul(ways) > PERMUTATIONS_MAX {
                notes.push(format!("{name}: interchangeable, but too many to exchange"));
                continue;
            }
            product *= ways;
            notes.push(format!("{name}: {} interchangeable", alike.len()));
            chosen.push(alike);
        }
        if chosen.is_empty() {
            return (None, notes);
        }
        let mut permutations = Vec::new();
        let mut orders: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
        for alike in &chosen {
            let ways = ways(alike.len());
            orders = orders
                .iter()
                .flat_map(|head| {
                    ways.iter().map(move |way| {
                        let mut order = head.clone();
                        order.push(way.clone());
                        order
                    })
                })
                .collect();
        }
        for order in orders {
            let same = order.iter().all(|way| way.iter().enumerate().all(|(at, to)| at == *to));
            if !same {
                permutations.push(Permutation::of(machine, &chosen, &order, &numbers));
            }
        }
        let glance = Glance::of(machine, &permutations);
        (Some(Symmetry { permutations, glance }), notes)
    }

    /// The least form among all permutations, packed; `best` holds that of `words` already. Least is
    /// what is least at a glance, and of those that look the same, the least packed form.
    pub(super) fn least(
        &self,
        machine: &Machine,
        words: &[Word],
        packed: &mut [u64],
        best: &mut [u64],
        worker: &mut Worker,
    ) {
        let mut moved = std::mem::take(&mut worker.words);
        let mut least = std::mem::take(&mut worker.least);
        let mut codes = std::mem::take(&mut worker.codes);
        self.glance.own(machine, words, &mut least);
        for of in self.permutations.iter().enumerate() {
            let seen = self.glance.look(machine, of, words, &least, &mut codes);
            if seen == Seen::Larger {
                continue;
            }
            moved.clear();
            moved.resize(words.len(), 0);
            of.1.apply(machine, words, &mut moved);
            if machine.plan.slots.pack(&moved, packed).is_ok()
                && (seen == Seen::Smaller || *packed < *best)
            {
                best.copy_from_slice(packed);
                std::mem::swap(&mut least, &mut codes);
            }
        }
        worker.words = moved;
        worker.least = least;
        worker.codes = codes;
    }
}

fn candidates(machine: &Machine) -> Vec<(Alike, String)> {
    let design = &machine.design;
    let mut list = Vec::new();
    for (number, sort) in machine.universe.sorts.list.iter().enumerate() {
        if sort.symmetric {
            let len = sort.opaque_len as usize;
            list.push((Alike::Values { sort: number, len }, sort.name.clone()));
        }
    }
    for (index, actor) in design.actors.iter().enumerate() {
        let (first, count) = machine.universe.of_actor[index];
        if actor.continues.is_some() || actor.is_world || count < 2 {
            continue;
        }
        // An effect is always made by the first of them.
        let told_apart = design.operations.iter().any(|operation| {
            let mut mentions = false;
            visit::operation_exprs(operation, &mut |expr| {
                visit::each(expr, &mut |expr| mentions |= matches!(expr.kind, ExprKind::Me));
            });
            let root = crate::world::universe::root_actor(design, operation.actor);
            mentions && root.index() == index && matches!(operation.kind, OperationKind::Effect(_))
        });
        if !told_apart {
            let alike = Alike::Principals { first: first as usize, len: count as usize };
            list.push((alike, actor.name.clone()));
        }
    }
    list
}

/// Does exchanging two of them ever change a state?
fn matters(machine: &Machine, alike: Alike, numbers: &Numbers) -> bool {
    let mut order: Vec<usize> = (0..alike.len()).collect();
    order.swap(0, 1);
    let swapped = Permutation::of(machine, &[alike], &[order], numbers);
    let moves = |words: &[Word]| words.iter().enumerate().any(|(at, to)| at as Word != *to);
    machine.plan.slots.list.iter().enumerate().any(|(at, slot)| {
        let changes = match slot.kind {
            Kind::Plain => false,
            Kind::Opaque(sort) => moves(&swapped.values[sort as usize]),
            Kind::Ref(subject) => moves(&swapped.keys[subject as usize]),
            Kind::Principal => moves(&swapped.principals),
            Kind::Digest | Kind::Signature | Kind::Call => true,
        };
        slot.bits > 0 && (changes || swapped.to[at] != at as u32)
    }) || swapped.sent.iter().flatten().enumerate().any(|(at, to)| at as u32 != *to)
}

/// Every order of so many things.
fn ways(len: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for at in 0..len {
        all = all
            .iter()
            .flat_map(|order: &Vec<usize>| {
                (0..=order.len()).map(move |place| {
                    let mut longer = order.clone();
                    longer.insert(place, at);
                    longer
                })
            })
            .collect();
    }
    all
}

type Numbers = FxHashMap<(u32, Word, Vec<Word>), Word>;

/// The number of each call, by what it is.
fn numbers(machine: &Machine) -> Numbers {
    machine
        .instances
        .iter()
        .enumerate()
        .map(|(at, call)| ((call.operation.0, call.me, call.params.to_vec()), at as Word))
        .collect()
}

impl Permutation {
    fn of(
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

    fn apply(&self, machine: &Machine, words: &[Word], moved: &mut [Word]) {
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
            sort_blocks(moved, message.first, message.stride, message.count, &mut |_| {});
        }
    }
}
