//! The beginnings and ends of all operations in the order of time, as a list from which an
//! operation can be lifted out and put back.

use super::Operation;

const NONE: usize = usize::MAX;

/// Event `2 * n` is the beginning of operation `n`, and `2 * n + 1` its end.
pub struct Events {
    before: Vec<usize>,
    after: Vec<usize>,
    first: usize,
}

impl Events {
    pub fn new<R, A>(history: &[Operation<R, A>]) -> Self {
        let mut order: Vec<(u64, usize)> = Vec::with_capacity(history.len() * 2);
        for (n, operation) in history.iter().enumerate() {
            let ended = operation.ended.as_ref().map_or(u64::MAX, |(ended, _)| *ended);
            assert!(operation.begun <= ended, "an operation ends before it begins");
            order.push((operation.begun, 2 * n));
            order.push((ended, 2 * n + 1));
        }
        // At one moment beginnings come first, which leaves the larger choice.
        order.sort_unstable_by_key(|(time, event)| (*time, event % 2, *event));
        let mut events = Events {
            before: vec![NONE; order.len()],
            after: vec![NONE; order.len()],
            first: order.first().map_or(NONE, |(_, event)| *event),
        };
        for pair in order.windows(2) {
            events.after[pair[0].1] = pair[1].1;
            events.before[pair[1].1] = pair[0].1;
        }
        events
    }

    pub fn first(&self) -> Option<usize> {
        (self.first != NONE).then_some(self.first)
    }

    pub fn next(&self, event: usize) -> Option<usize> {
        let next = self.after[event];
        (next != NONE).then_some(next)
    }

    pub fn is_end(&self, event: usize) -> bool {
        event % 2 == 1
    }

    pub fn operation(&self, event: usize) -> usize {
        event / 2
    }

    /// Takes the operation of this beginning out of the list.
    pub fn lift(&mut self, begin: usize) {
        self.unlink(begin);
        self.unlink(begin + 1);
    }

    /// Puts back what was lifted last.
    pub fn restore(&mut self, begin: usize) {
        self.relink(begin + 1);
        self.relink(begin);
    }

    fn unlink(&mut self, event: usize) {
        let (before, after) = (self.before[event], self.after[event]);
        match before {
            NONE => self.first = after,
            before => self.after[before] = after,
        }
        if after != NONE {
            self.before[after] = before;
        }
    }

    fn relink(&mut self, event: usize) {
        let (before, after) = (self.before[event], self.after[event]);
        match before {
            NONE => self.first = event,
            before => self.after[before] = event,
        }
        if after != NONE {
            self.before[after] = event;
        }
    }
}
