//! Some bits of a packed state, gathered into one small number.

use super::super::Machine;

/// Neighbouring bits of a packed state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Stretch {
    word: u32,
    shift: u32,
    mask: u64,
    to: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Gather {
    stretches: Vec<Stretch>,
    pub(crate) bits: u32,
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
            let bits = (packed[stretch.word as usize] >> (stretch.shift & 63)) & stretch.mask;
            number |= bits << (stretch.to & 63);
        }
        number as usize
    }
}
