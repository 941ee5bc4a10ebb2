//! States in the order found, with their parents: append only, in blocks, so that growth never
//! copies and memory is what is used.

/// How many states a block holds.
const BLOCK: usize = 1 << 8;

#[derive(Clone)]
pub(crate) struct Arena {
    width: usize,
    len: usize,
    states: Vec<Box<[u64]>>,
    parents: Vec<Box<[u32]>>,
}

impl Arena {
    pub(crate) fn new(width: usize) -> Arena {
        Arena { width, len: 0, states: Vec::new(), parents: Vec::new() }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn state(&self, index: usize) -> &[u64] {
        let at = (index % BLOCK) * self.width;
        &self.states[index / BLOCK][at..at + self.width]
    }

    pub(crate) fn parent(&self, index: usize) -> u32 {
        self.parents[index / BLOCK][index % BLOCK]
    }

    #[inline]
    pub(crate) fn push(&mut self, state: &[u64], parent: u32) {
        let at = self.len % BLOCK;
        if at == 0 {
            self.states.push(vec![0; BLOCK * self.width].into_boxed_slice());
            self.parents.push(vec![0; BLOCK].into_boxed_slice());
        }
        let block = self.len / BLOCK;
        let room = &mut self.states[block][at * self.width..(at + 1) * self.width];
        for (room, word) in room.iter_mut().zip(state) {
            *room = *word;
        }
        self.parents[block][at] = parent;
        self.len += 1;
    }

    pub(crate) fn bytes(&self) -> usize {
        Arena::bytes_for(self.width, self.states.len() * BLOCK)
    }

    /// What so many states take, whole blocks.
    pub(crate) fn bytes_for(width: usize, states: usize) -> usize {
        states.div_ceil(BLOCK) * BLOCK * (width * 8 + 4)
    }
}
