//! Exchanging interchangeable things in a packed state: bits that go elsewhere as they are, all that go
//! equally far at once, and the codes of slots that name such a thing, each by a table.
//!
//! Collections, digests and what has too many codes are not exchanged here; a world that has some of them is
//! unpacked for it.

use super::Machine;
use super::permutation::Permutation;
use super::signature::Signatures;
use crate::world::plan::{Plan, ROWS};
use crate::world::slots::{Kind, Place};

/// A table has so many codes, at most.
const CODES_MAX: u64 = 1 << 12;

/// Bits that go from one word to another, turned by so much.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: u32,
    to: u32,
    turn: u32,
    mask: u64,
}

/// A slot whose code becomes another one.
#[derive(Debug)]
struct Renamed {
    from: Place,
    to: Place,
    /// it holds nothing where this slot does
    unless: Option<Place>,
    codes: Box<[u16]>,
}

#[derive(Debug)]
struct Way {
    /// the bits of each word that stay
    stay: Box<[u64]>,
    runs: Vec<Run>,
    renamed: Vec<Renamed>,
}

/// Blocks that are kept in order, the largest first: for each, its slots.
type Sorted = Vec<Vec<Place>>;

pub(super) struct Exchange {
    ways: Vec<Way>,
    sorted: Vec<Sorted>,
    /// how many kinds of things are exchanged
    kinds: usize,
    /// for each kind that has bits of its own, and each thing of it: where these are
    signatures: Vec<Vec<Vec<Place>>>,
    /// for each way and each kind of thing: which of them takes each place
    from: Vec<Vec<Vec<u8>>>,
}

impl Exchange {
    /// None: some of the world cannot be exchanged without unpacking it.
    pub(super) fn of(
        machine: &Machine,
        permutations: &[Permutation],
        signatures: &Signatures,
        kinds: usize,
    ) -> Option<Exchange> {
        let plan = &machine.plan;
        let guards = guards(machine);
        let ways = permutations.iter().map(|held| Way::of(machine, held, &guards));
        let ways: Option<Vec<Way>> = ways.collect();
        let blocks = std::iter::once((plan.calls.first, plan.calls.stride, plan.calls.count))
            .chain(plan.messages.iter().map(|held| (held.first, held.stride, held.count)));
        let sorted = blocks
            .filter(|(_, _, count)| *count > 1)
            .map(|(first, stride, count)| {
                let block = |at: u32| {
                    let from = first + stride * at;
                    (from..from + stride).map(|slot| plan.slots.place(slot)).collect()
                };
                (0..count).map(block).collect()
            })
            .collect();
        let own = signatures.slots();
        let from = permutations.iter().map(|held| {
            let of_kind = |number: usize| held.from[number].iter().map(|at| *at as u8).collect();
            own.iter().map(|(number, _)| of_kind(*number)).collect()
        });
        Some(Exchange {
            ways: ways?,
            sorted,
            kinds,
            signatures: own.iter().map(|(_, things)| joined(plan, things)).collect(),
            from: from.collect(),
        })
    }

    /// Puts the least form of a packed state into `least`: of those in which the signatures of all things are in
    /// order, the least.
    pub(super) fn least(
        &self,
        packed: &[u64],
        least: &mut [u64],
        spare: &mut [u64],
        room: &mut Vec<u64>,
    ) {
        room.clear();
        let (mut sorted, mut apart) = (true, true);
        for things in &self.signatures {
            let first = room.len();
            for places in things {
                let mut signature = 0_u64;
                for place in places {
                    let mixed =
                        (signature ^ place.code(packed)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    signature = mixed ^ (mixed >> 29);
                }
                if let Some(last) = room[first..].last() {
                    sorted &= *last <= signature;
                    apart &= *last < signature;
                }
                room.push(signature);
            }
        }
        least.copy_from_slice(packed);
        // Where all are told apart by their signatures, there is but one order.
        if apart && self.tells_all() {
            return;
        }
        let mut any = sorted;
        for (way, from) in self.ways.iter().zip(&self.from) {
            if !self.sorts(room, from) {
                continue;
            }
            way.apply(packed, spare);
            self.sorted.iter().for_each(|blocks| sort(blocks, spare));
            if !any || *spare < *least {
                least.copy_from_slice(spare);
                any = true;
            }
        }
    }

    /// A packed state in every other way.
    pub(super) fn all(&self, packed: &[u64]) -> Vec<Box<[u64]>> {
        let exchanged = |way: &Way| {
            let mut moved: Box<[u64]> = packed.into();
            way.apply(packed, &mut moved);
            self.sorted.iter().for_each(|blocks| sort(blocks, &mut moved));
            moved
        };
        self.ways.iter().map(exchanged).collect()
    }

    /// Do signatures tell apart all that is exchanged?
    fn tells_all(&self) -> bool {
        self.signatures.len() == self.kinds
    }

    fn sorts(&self, signatures: &[u64], from: &[Vec<u8>]) -> bool {
        let mut rest = signatures;
        from.iter().all(|order| {
            let (own, others) = rest.split_at(order.len());
            rest = others;
            order.iter().map(|at| own[usize::from(*at)]).is_sorted()
        })
    }
}

/// For each thing, its bits in as few pieces as can be: pieces of all things are cut in the same way.
fn joined(plan: &Plan, things: &[Vec<u32>]) -> Vec<Vec<Place>> {
    let mut all: Vec<Vec<Place>> = vec![Vec::new(); things.len()];
    for at in 0..things[0].len() {
        let next: Vec<Place> = things.iter().map(|slots| plan.slots.place(slots[at])).collect();
        let follows = all
            .iter()
            .zip(&next)
            .all(|(held, next)| held.last().is_some_and(|last| last.joined(next).is_some()));
        for (held, next) in all.iter_mut().zip(next) {
            match held.last_mut() {
                Some(last) if follows => *last = last.joined(&next).unwrap_or(next),
                _ => held.push(next),
            }
        }
    }
    all
}

/// For each slot: the one that says whether it holds anything.
fn guards(machine: &Machine) -> Vec<Option<u32>> {
    let plan = &machine.plan;
    let mut guards = vec![None; plan.names.len()];
    let mut guard = |slots: std::ops::Range<usize>, by: u32| guards[slots].fill(Some(by));
    for (record, keys) in plan.records.iter().zip(&machine.universe.keys) {
        for key in 0..keys.len {
            if let Some(present) = record.present(key) {
                guard(record.words(key), present);
            }
        }
    }
    for effect in plan.effects.iter().flatten() {
        for key in 0..effect.keys.len() {
            guard(effect.args(key), effect.entry(key));
            guard(effect.world_args(key), effect.world(key));
        }
    }
    for cache in &plan.caches {
        for copy in 0..cache.keys * cache.principals.len() as u32 {
            let slot = cache.first + copy * cache.stride;
            guard(slot as usize + 1..(slot + cache.width) as usize + 1, slot);
        }
    }
    for message in &plan.messages {
        for at in 0..message.count {
            let slot = message.first + message.stride * at;
            guard(slot as usize + 1..(slot + message.stride) as usize, slot);
        }
    }
    guards
}

impl Way {
    fn of(machine: &Machine, held: &Permutation, guards: &[Option<u32>]) -> Option<Way> {
        let plan = &machine.plan;
        let width = plan.slots.width();
        let mut way = Way { stay: vec![0; width].into(), runs: Vec::new(), renamed: Vec::new() };
        let mut is_sent = vec![false; plan.names.len()];
        for (sent, to) in plan.sent.iter().zip(&held.sent) {
            let count = sent.rows.len() as u32;
            for first in std::iter::once(sent.first).chain(sent.owed) {
                for row in 0..count {
                    is_sent[(first + row / ROWS) as usize] = true;
                    let place = |row: u32| plan.slots.place(first + row / ROWS).bit(row % ROWS);
                    way.carry(place(row), place(to[row as usize]));
                }
            }
        }
        for (at, slot) in plan.slots.list.iter().enumerate() {
            if is_sent[at] || slot.bits == 0 {
                continue;
            }
            let to = held.to[at];
            let target = &plan.slots.list[to as usize];
            if slot.room.is_some() || slot.kind == Kind::Digest || target.bits != slot.bits {
                return None;
            }
            let same = slot.codec == target.codec && slot.nullable == target.nullable;
            let (from, place) = (plan.slots.place(at as u32), plan.slots.place(to));
            let codes = slot.codes();
            if slot.kind == Kind::Plain && same {
                way.carry(from, place);
                continue;
            }
            if codes > CODES_MAX {
                return None;
            }
            let mut table = Vec::new();
            for code in 0..codes {
                let word = held.word(machine, slot.kind, slot.word_of(code, &[]));
                table.push(u16::try_from(target.code(word)).ok()?);
            }
            if table.iter().enumerate().all(|(code, to)| code == usize::from(*to)) {
                way.carry(from, place);
                continue;
            }
            let unless = guards[at].filter(|_| table[0] != 0);
            let unless = unless.map(|slot| plan.slots.place(slot));
            way.renamed.push(Renamed { from, to: place, unless, codes: table.into() });
        }
        Some(way)
    }

    /// These bits go there as they are.
    fn carry(&mut self, from: Place, to: Place) {
        if from == to {
            self.stay[from.word as usize] |= from.mask << from.shift;
            return;
        }
        let turn = (64 + to.shift - from.shift) % 64;
        let mask = from.mask << from.shift;
        let same = |run: &&mut Run| run.from == from.word && run.to == to.word && run.turn == turn;
        match self.runs.iter_mut().find(same) {
            Some(run) => run.mask |= mask,
            None => self.runs.push(Run { from: from.word, to: to.word, turn, mask }),
        }
    }

    fn apply(&self, packed: &[u64], moved: &mut [u64]) {
        for ((moved, word), stay) in moved.iter_mut().zip(packed).zip(&self.stay) {
            *moved = word & stay;
        }
        for run in &self.runs {
            moved[run.to as usize] |= (packed[run.from as usize] & run.mask).rotate_left(run.turn);
        }
        for slot in &self.renamed {
            if slot.unless.is_none_or(|guard| guard.code(packed) != 0) {
                let code = slot.codes[slot.from.code(packed) as usize];
                moved[slot.to.word as usize] |= u64::from(code) << slot.to.shift;
            }
        }
    }
}

fn codes<'a>(block: &'a [Place], packed: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
    block.iter().map(|place| place.code(packed))
}

/// Puts blocks into one order, the largest first.
fn sort(blocks: &Sorted, packed: &mut [u64]) {
    for end in 1..blocks.len() {
        for at in (1..=end).rev() {
            let (before, own) = (&blocks[at - 1], &blocks[at]);
            if codes(before, packed).ge(codes(own, packed)) {
                break;
            }
            for (one, other) in before.iter().zip(own) {
                let (left, right) = (one.code(packed), other.code(packed));
                one.set(packed, right);
                other.set(packed, left);
            }
        }
    }
}
