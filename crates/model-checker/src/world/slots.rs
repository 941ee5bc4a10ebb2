//! How a state packs into bits: each slot holds one word of it, from a finite domain.

use engine::{NULL, Word};

use super::universe::BASE;
use crate::clock::REGION_UNIT;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Codec {
    /// `low`, `low + 1`, …, so many
    Range { low: Word, count: u64 },
    /// sorted
    Listed(Box<[Word]>),
    /// distance from now
    Time { low: Word, high: Word },
    /// distance from now: whole units, and so many places within each
    Region { low: Word, high: Word, places: u64 },
    /// nothing looks at it
    Ignored,
    /// an index into the values of its class; at most so many
    Rank { sort: usize, count: u64 },
}

/// What permuting interchangeable things does to the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Plain,
    /// an opaque value of a sort
    Opaque(u32),
    /// the handle of a key of a subject
    Ref(u32),
    Principal,
    /// of `Terms`
    Digest,
    /// of `Universe::signs`
    Signature,
    /// the number of a call, plus one; 0: none
    Call,
}

#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) codec: Codec,
    pub(crate) nullable: bool,
    pub(crate) kind: Kind,
    /// for the room of a collection: where its length is, and how many must be in use for this
    /// word to be
    pub(crate) room: Option<(u32, Word)>,
    pub(crate) bits: u32,
    word: u32,
    shift: u32,
    mask: u64,
    /// what each code stands for, where there are few; none otherwise
    words: Box<[Word]>,
}

/// The codes of a slot with so many bits are listed.
const LISTED_BITS: u32 = 6;

/// How far apart ranks lie when a state is unpacked: what is not a multiple was computed.
pub(crate) const RANK_STRIDE: Word = 1 << 10;

#[derive(Default)]
pub(crate) struct Slots {
    pub(crate) list: Vec<Slot>,
    /// bits used in each word
    used: Vec<u32>,
}

impl Codec {
    /// The codec of exactly these values: a range where they have no gaps.
    pub(crate) fn of_values(values: &[Word]) -> Codec {
        let mut values = values.to_vec();
        values.sort_unstable();
        values.dedup();
        match (values.first(), values.last()) {
            (Some(&low), Some(&high)) if high - low + 1 == values.len() as Word => {
                Codec::Range { low, count: values.len() as u64 }
            }
            (None, None) => Codec::Range { low: 0, count: 1 },
            _ => Codec::Listed(values.into_boxed_slice()),
        }
    }

    fn count(&self) -> u64 {
        match self {
            Codec::Range { count, .. } | Codec::Rank { count, .. } => *count,
            Codec::Listed(values) => values.len() as u64,
            Codec::Time { low, high } => (high - low + 1) as u64,
            Codec::Region { low, high, places } => (high - low) as u64 * places + 1,
            Codec::Ignored => 1,
        }
    }

    fn code(&self, word: Word) -> Option<u64> {
        match self {
            Codec::Range { low, count } => {
                let code = word.wrapping_sub(*low) as u64;
                (code < *count).then_some(code)
            }
            Codec::Listed(values) => values.iter().position(|v| *v == word).map(|at| at as u64),
            Codec::Time { low, high } => {
                let distance = word - BASE;
                (distance >= *low && distance <= *high).then(|| (distance - low) as u64)
            }
            Codec::Region { low, high, places } => {
                let units = (word - BASE).div_euclid(REGION_UNIT) - low;
                let place = (word - BASE).rem_euclid(REGION_UNIT) as u64 / 2;
                let fits = units >= 0 && (units < high - low || units == high - low && place == 0);
                (fits && place < *places).then(|| units as u64 * places + place)
            }
            Codec::Ignored => Some(0),
            Codec::Rank { count, .. } => {
                let rank = (word / RANK_STRIDE) as u64;
                (word >= 0 && rank < *count).then_some(rank)
            }
        }
    }

    fn word(&self, code: u64) -> Word {
        match self {
            Codec::Range { low, .. } => low + code as Word,
            Codec::Listed(values) => values.get(code as usize).copied().unwrap_or(0),
            Codec::Time { low, .. } => BASE + low + code as Word,
            Codec::Region { low, places, .. } => {
                BASE + (low + (code / places) as Word) * REGION_UNIT + 2 * (code % places) as Word
            }
            Codec::Ignored => BASE,
            Codec::Rank { .. } => code as Word * RANK_STRIDE,
        }
    }
}

impl Slots {
    pub(crate) fn add(&mut self, codec: Codec, nullable: bool, kind: Kind) -> u32 {
        self.add_in(codec, nullable, kind, None)
    }

    pub(crate) fn add_in(
        &mut self,
        codec: Codec,
        nullable: bool,
        kind: Kind,
        room: Option<(u32, Word)>,
    ) -> u32 {
        let codes = codec.count() + u64::from(nullable);
        let bits = 64 - codes.saturating_sub(1).leading_zeros();
        let word = self.used.iter().position(|used| used + bits <= 64).unwrap_or_else(|| {
            self.used.push(0);
            self.used.len() - 1
        });
        let shift = self.used[word];
        self.used[word] += bits;
        let mask = ((1_u128 << bits) - 1) as u64;
        let (word, words) = (word as u32, Box::default());
        let mut slot = Slot { codec, nullable, kind, room, bits, word, shift, mask, words };
        let placed = !matches!(slot.codec, Codec::Region { places: 0, .. });
        if bits <= LISTED_BITS && room.is_none() && placed {
            slot.words = (0..codes).map(|code| slot.word_of(code, &[])).collect();
        }
        self.list.push(slot);
        self.list.len() as u32 - 1
    }

    /// How many words a packed state takes.
    pub(crate) fn width(&self) -> usize {
        self.used.len().max(1)
    }

    /// Those that hold digests.
    pub(crate) fn digests(&self) -> Vec<u32> {
        let slots = (0..self.list.len() as u32).zip(&self.list);
        slots.filter(|(_, slot)| slot.kind == Kind::Digest).map(|(at, _)| at).collect()
    }

    /// The least distance that a slot for a time can hold.
    pub(crate) fn lowest_time(&self, at: u32) -> Word {
        match self.list[at as usize].codec {
            Codec::Time { low, .. } => low,
            Codec::Region { low, .. } => low * REGION_UNIT,
            _ => unreachable!("a slot that holds a time"),
        }
    }

    /// Is this the place of an element that a collection has, or of none?
    #[inline]
    pub(crate) fn in_use(&self, at: u32, words: &[Word]) -> bool {
        self.list[at as usize].in_use(words)
    }

    pub(crate) fn bits(&self) -> u32 {
        self.used.iter().sum()
    }

    pub(crate) fn unpack(&self, packed: &[u64], words: &mut Vec<Word>) {
        words.clear();
        for slot in &self.list {
            let code = (packed[slot.word as usize] >> (slot.shift & 63)) & slot.mask;
            let word = match slot.words.get(code as usize) {
                Some(word) => *word,
                None => slot.word_of(code, words),
            };
            words.push(word);
        }
    }

    /// The slot whose value has no code, if there is one: the history goes beyond a bound there.
    pub(crate) fn pack(&self, words: &[Word], packed: &mut [u64]) -> Result<(), u32> {
        packed.fill(0);
        for (at, slot) in self.list.iter().enumerate() {
            let Some(code) = slot.code_of(words[at], words) else { return Err(at as u32) };
            packed[slot.word as usize] |= code << (slot.shift & 63);
        }
        Ok(())
    }

    /// Packs one slot anew, with the room of the collection whose length it is.
    pub(crate) fn repack(&self, at: u32, words: &[Word], packed: &mut [u64]) -> Result<(), u32> {
        self.repack_one(at, words, packed)?;
        let mut next = at + 1;
        while let Some(slot) = self.list.get(next as usize)
            && slot.room.is_some_and(|(len, _)| len == at)
        {
            self.repack_one(next, words, packed)?;
            next += 1;
        }
        Ok(())
    }

    #[inline]
    fn repack_one(&self, at: u32, words: &[Word], packed: &mut [u64]) -> Result<(), u32> {
        let slot = &self.list[at as usize];
        let Some(code) = slot.code_of(words[at as usize], words) else { return Err(at) };
        let word = &mut packed[slot.word as usize];
        *word = (*word & !(slot.mask << (slot.shift & 63))) | (code << (slot.shift & 63));
        Ok(())
    }

    /// What a slot holds where there is nothing: the word of code 0.
    pub(crate) fn blank(&self, at: u32) -> Word {
        let slot = &self.list[at as usize];
        if slot.nullable {
            NULL
        } else if slot.room.is_some() {
            0
        } else {
            slot.codec.word(0)
        }
    }
}

impl Slot {
    fn in_use(&self, words: &[Word]) -> bool {
        self.room.is_none_or(|(len, needed)| words[len as usize] >= needed)
    }

    fn word_of(&self, code: u64, words: &[Word]) -> Word {
        if !self.in_use(words) {
            return 0;
        }
        match (self.nullable, code) {
            (true, 0) => NULL,
            (true, code) => self.codec.word(code - 1),
            (false, code) => self.codec.word(code),
        }
    }

    #[inline]
    fn code_of(&self, word: Word, words: &[Word]) -> Option<u64> {
        if self.in_use(words) { self.used_code(word) } else { Some(0) }
    }

    /// The code of a word that is in use; what has none comes last.
    #[inline]
    pub(crate) fn code(&self, word: Word) -> u64 {
        self.used_code(word).unwrap_or(u64::MAX)
    }

    #[inline]
    fn used_code(&self, word: Word) -> Option<u64> {
        if self.nullable {
            return if word == NULL { Some(0) } else { self.codec.code(word).map(|code| code + 1) };
        }
        self.codec.code(word)
    }
}
