//! What followed before from the same bits. A unit (a call, a repair, a message that arrives, the clock) looks at
//! a part of the state. While it is worked out, the bits that it looks at are noted. Wherever they are the same
//! again, so is what comes of it: nothing, or transitions that change the same bits in the same way.
//!
//! All units that look at the same bits are found together, by one look for each such part of the state. What
//! is found is exact: bits are compared, not their hashes.

use engine::Word;

use super::moves::Move;
use super::visible::Goals;

/// About so many bytes are kept. Then it begins anew: what comes up later is like what came up last.
const BYTES_MAX: usize = 12 << 20;
/// So many different parts of a state are told apart.
const MASKS_MAX: usize = 48;
/// After so many new contents of a part, it is seen whether that part is worth it.
const TRIAL: u32 = 1 << 10;

const NONE: u32 = u32::MAX;

/// A transition as it was worked out once.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) what: Move,
    /// of all that were ever worked out by this worker
    pub(super) serial: u64,
    /// into `changes`
    change: u32,
    /// does it change the state?
    pub(super) moves: bool,
    /// what is written, before times and counters are made dense: into `writes`
    writes: (u32, u32),
    pub(super) seen: Goals,
    pub(super) now: Word,
}

/// A part of the state.
struct Mask {
    bits: Box<[u64]>,
    on: bool,
    /// the units that something is known of by this part
    units: Box<[u64]>,
    found: u32,
    made: u32,
}

/// What a unit comes to, if that is not nothing.
#[derive(Clone, Copy)]
struct Active {
    unit: u32,
    /// into `known`
    first: u32,
    len: u32,
    next: u32,
}

#[derive(Default)]
pub(super) struct Recall {
    on: bool,
    /// is it kept what follows with every client silent?
    recovery: Option<bool>,
    width: usize,
    /// words for one bit of each unit
    stride: usize,
    masks: Vec<Mask>,
    /// open addressing: numbers of nodes, plus one; a power of two
    table: Vec<u32>,
    nodes: usize,
    /// for each node: the number of its mask, and the bits
    keys: Vec<u64>,
    /// for each node: the units that are known
    told: Vec<u64>,
    /// for each node: those that something comes of
    heads: Vec<u32>,
    active: Vec<Active>,
    known: Vec<Known>,
    changes: Vec<u64>,
    writes: Vec<(u32, Word)>,
    serial: u64,
    /// of the state at hand: units of which it is known what follows, and those of which something does
    pub(super) is_told: Vec<u64>,
    pub(super) is_active: Vec<u64>,
    found: Vec<(u32, u32)>,
    /// for each unit: how often it was kept what came of it, and how often not, by parts that are not worth it
    kept: Vec<(u32, u32)>,
    note: Note,
}

/// What is worked out just now.
#[derive(Default)]
struct Note {
    on: bool,
    /// it cannot be kept
    spoiled: bool,
    bits: Vec<u64>,
    known: usize,
    writes: usize,
}

fn masked<'a>(bits: &'a [u64], packed: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
    bits.iter().zip(packed).map(|(bits, word)| bits & word)
}

#[inline]
fn hash(number: usize, bits: &[u64], packed: &[u64]) -> u64 {
    let mut hash = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for word in masked(bits, packed) {
        let product = u128::from(hash ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        hash = (product as u64) ^ ((product >> 64) as u64);
    }
    hash
}

impl Recall {
    pub(super) fn new(on: bool, width: usize, units: usize) -> Recall {
        let stride = units.div_ceil(64);
        Recall {
            on,
            width,
            stride,
            table: vec![0; if on { 1 << 8 } else { 0 }],
            is_told: vec![0; stride],
            is_active: vec![0; stride],
            found: vec![(0, 0); units],
            kept: vec![(0, 0); units],
            note: Note { bits: vec![0; width], ..Note::default() },
            ..Recall::default()
        }
    }

    /// Is it on, and for this? `recovery`: with every client silent and no fault. What follows differs, so one of
    /// both is kept: the one that is asked for first.
    pub(super) fn is_on_for(&mut self, recovery: bool) -> bool {
        self.on && *self.recovery.get_or_insert(recovery) == recovery
    }

    /// Finds out what is known of the units in this state.
    pub(super) fn look(&mut self, packed: &[u64]) {
        if self.bytes() >= BYTES_MAX {
            self.forget();
        }
        self.is_told.fill(0);
        self.is_active.fill(0);
        for number in 0..self.masks.len() {
            let mask = &self.masks[number];
            let more = mask.units.iter().zip(&self.is_told).any(|(units, told)| units & !told != 0);
            if !mask.on || !more {
                continue;
            }
            let Ok(node) = self.find(number, packed) else { continue };
            self.masks[number].found += 1;
            let told = &self.told[node * self.stride..(node + 1) * self.stride];
            self.is_told.iter_mut().zip(told).for_each(|(held, told)| *held |= told);
            let mut at = self.heads[node];
            while at != NONE {
                let active = self.active[at as usize];
                self.is_active[active.unit as usize / 64] |= 1 << (active.unit % 64);
                self.found[active.unit as usize] = (active.first, active.len);
                at = active.next;
            }
        }
    }

    /// The node of a part with these contents; or where it would stand in the table.
    fn find(&self, number: usize, packed: &[u64]) -> Result<usize, usize> {
        let bits = &self.masks[number].bits;
        let last = self.table.len() - 1;
        let mut at = hash(number, bits, packed) as usize & last;
        loop {
            let held = self.table[at];
            if held == 0 {
                return Err(at);
            }
            let node = held as usize - 1;
            let key = &self.keys[node * (self.width + 1)..(node + 1) * (self.width + 1)];
            if key[0] == number as u64
                && masked(bits, packed).zip(&key[1..]).all(|(one, other)| one == *other)
            {
                return Ok(node);
            }
            at = (at + 1) & last;
        }
    }

    /// The transitions of a unit that something comes of: their numbers.
    pub(super) fn of_unit(&self, unit: usize) -> std::ops::Range<usize> {
        let (first, len) = self.found[unit];
        first as usize..(first + len) as usize
    }

    pub(super) fn known(&self, at: usize) -> Known {
        self.known[at]
    }

    /// The bits that a transition changes.
    pub(super) fn change(&self, known: &Known) -> &[u64] {
        let from = known.change as usize;
        &self.changes[from..from + self.width]
    }

    /// What it writes, before times and counters are made dense.
    pub(super) fn writes(&self, known: &Known) -> &[(u32, Word)] {
        &self.writes[known.writes.0 as usize..known.writes.1 as usize]
    }

    /// Is it worth it to keep what comes of this unit?
    pub(super) fn is_worth_it(&self, unit: usize) -> bool {
        let (kept, dropped) = self.kept[unit];
        dropped < TRIAL || dropped < kept * 4
    }

    /// From here on it is noted what is looked at, and what follows; `bits`: that is looked at in any case.
    pub(super) fn begin(&mut self, bits: &[u64]) {
        let (known, writes) = (self.known.len(), self.writes.len());
        self.note.bits.copy_from_slice(bits);
        self.note = Note {
            on: true,
            spoiled: false,
            bits: std::mem::take(&mut self.note.bits),
            known,
            writes,
        };
    }

    #[inline]
    pub(super) fn is_noting(&self) -> bool {
        self.note.on
    }

    /// These bits are looked at.
    pub(super) fn looks(&mut self, bits: &[u64]) {
        self.note.bits.iter_mut().zip(bits).for_each(|(held, bits)| *held |= bits);
    }

    /// What follows now depends on more than bits, or leads out of the small world.
    pub(super) fn spoil(&mut self) {
        self.note.spoiled = true;
    }

    /// A transition follows.
    pub(super) fn moved(
        &mut self,
        what: Move,
        change: impl Iterator<Item = u64>,
        writes: impl Iterator<Item = (u32, Word)>,
        (seen, now): (Goals, Word),
    ) {
        let (from, first) = (self.changes.len(), self.writes.len() as u32);
        self.changes.extend(change);
        self.writes.extend(writes);
        self.serial += 1;
        self.known.push(Known {
            what,
            serial: self.serial,
            change: from as u32,
            moves: self.changes[from..].iter().any(|word| *word != 0),
            writes: (first, self.writes.len() as u32),
            seen,
            now,
        });
    }

    /// That was all of this unit.
    pub(super) fn end(&mut self, unit: usize, packed: &[u64]) {
        self.note.on = false;
        let Note { spoiled, known, writes, .. } = self.note;
        let number = if spoiled { None } else { self.mask() };
        let Some(number) = number else {
            self.known.truncate(known);
            self.changes.truncate(known * self.width);
            self.writes.truncate(writes);
            self.kept[unit].1 += u32::from(!spoiled);
            return;
        };
        self.kept[unit].0 += 1;
        let node = self.find(number, packed).unwrap_or_else(|at| self.add(number, at, packed));
        let (word, bit) = (unit / 64, 1 << (unit % 64));
        self.told[node * self.stride + word] |= bit;
        self.masks[number].units[word] |= bit;
        let len = (self.known.len() - known) as u32;
        if len > 0 {
            let (unit, first, next) = (unit as u32, known as u32, self.heads[node]);
            self.heads[node] = self.active.len() as u32;
            self.active.push(Active { unit, first, len, next });
        }
    }

    /// The number of the part that was looked at, if it is told apart.
    fn mask(&mut self) -> Option<usize> {
        let held = self.masks.iter().position(|mask| *mask.bits == *self.note.bits);
        if held.is_none() && self.masks.len() < MASKS_MAX {
            self.masks.push(Mask {
                bits: self.note.bits.clone().into(),
                on: true,
                units: vec![0; self.stride].into(),
                found: 0,
                made: 0,
            });
            return Some(self.masks.len() - 1);
        }
        held.filter(|number| self.masks[*number].on)
    }

    fn add(&mut self, number: usize, at: usize, packed: &[u64]) -> usize {
        let node = self.nodes;
        self.nodes += 1;
        self.keys.push(number as u64);
        self.keys.extend(masked(&self.masks[number].bits, packed));
        self.told.resize(self.told.len() + self.stride, 0);
        self.heads.push(NONE);
        self.table[at] = node as u32 + 1;
        if self.nodes * 2 >= self.table.len() {
            self.grow();
        }
        let mask = &mut self.masks[number];
        mask.made += 1;
        if mask.made >= TRIAL {
            // Less than every second time it is known: to look takes longer than to work it out.
            mask.on = mask.found >= mask.made;
            (mask.found, mask.made) = (0, 0);
            self.on = self.masks.iter().any(|mask| mask.on);
        }
        node
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        self.table.clear();
        self.table.resize(size, 0);
        for node in 0..self.nodes {
            let key = &self.keys[node * (self.width + 1)..(node + 1) * (self.width + 1)];
            let number = key[0] as usize;
            // What is outside of the mask is 0 already.
            let mut at = hash(number, &self.masks[number].bits, &key[1..]) as usize & (size - 1);
            while self.table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = node as u32 + 1;
        }
    }

    fn bytes(&self) -> usize {
        let words = self.keys.len() + self.told.len() + self.changes.len() + 2 * self.writes.len();
        let lists = self.active.len() * size_of::<Active>() + self.known.len() * size_of::<Known>();
        words * 8 + lists + (self.table.len() + self.heads.len()) * 4
    }

    fn forget(&mut self) {
        self.table.fill(0);
        self.nodes = 0;
        self.keys.clear();
        self.told.clear();
        self.heads.clear();
        self.active.clear();
        self.known.clear();
        self.changes.clear();
        self.writes.clear();
    }
}
