//! One entry of the outbox: a call to the world outside that must be made.
//!
//! | state | send | attempt without an answer | answer | retry by hand |
//! | --- | --- | --- | --- | --- |
//! | closed (or none) | open, no attempts | dropped | dropped | no change |
//! | open | no change | one attempt more, next later; dead after the last | closed, commits | at once |
//! | dead | open, no attempts | dropped | closed, commits | open, no attempts |
//!
//! An entry is identified by (effect, key). It is delivered at least once under that key; the
//! first answer closes it, `unknown` too where the effect handles it. A dead letter still waits
//! for its answer: the world may have decided, and a late answer is welcome. It is no longer
//! tried, and everyone can see that.

use crate::Word;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum EntryState {
    Open,
    #[default]
    Closed,
    /// all attempts were made; visible, and can be retried
    Dead,
}

/// An outbox entry, as stored. The default is the entry that was never sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Entry {
    pub state: EntryState,
    /// attempts that ended without an answer since it was opened
    pub attempts: u32,
    /// when to try (again), in milliseconds
    pub next_at: Word,
}

/// How often and when to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// the wait after the first failed attempt, doubled after each further one
    pub backoff_first_ms: Word,
    pub backoff_max_ms: Word,
    /// 0: never gives up
    pub attempts_max: u32,
}

/// What became of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answered {
    /// commit the handler's writes together with this entry
    Commit(Entry),
    /// the entry is not open: the answer is dropped
    Dropped,
}

impl Entry {
    /// Does it wait for an answer?
    pub fn is_open(self) -> bool {
        self.state != EntryState::Closed
    }

    /// Is an attempt to be made now?
    pub fn is_ready(self, now: Word) -> bool {
        self.state == EntryState::Open && self.next_at <= now
    }

    /// A step or a repair sends it.
    pub fn send(self, now: Word) -> Entry {
        match self.state {
            EntryState::Open => self,
            EntryState::Closed | EntryState::Dead => {
                Entry { state: EntryState::Open, attempts: 0, next_at: now }
            }
        }
    }

    /// An attempt ended without an answer. `jitter` is any number; `retry_after` is what the
    /// other side asked for, in milliseconds from now.
    pub fn attempt_failed(
        self,
        policy: &Policy,
        now: Word,
        jitter: u64,
        retry_after: Option<Word>,
    ) -> Entry {
        if self.state != EntryState::Open {
            return self;
        }
        let attempts = self.attempts.saturating_add(1);
        if policy.attempts_max != 0 && attempts >= policy.attempts_max {
            return Entry { state: EntryState::Dead, attempts, next_at: self.next_at };
        }
        let wait = policy.wait(attempts, jitter).max(retry_after.unwrap_or(0));
        Entry { state: EntryState::Open, attempts, next_at: now.saturating_add(wait) }
    }

    /// An answer arrives.
    pub fn answer(self) -> Answered {
        match self.state {
            EntryState::Closed => Answered::Dropped,
            EntryState::Open | EntryState::Dead => {
                Answered::Commit(Entry { state: EntryState::Closed, ..self })
            }
        }
    }

    /// Someone asks for another try at once.
    pub fn retry(self, now: Word) -> Entry {
        match self.state {
            EntryState::Closed => self,
            EntryState::Open => Entry { next_at: self.next_at.min(now), ..self },
            EntryState::Dead => self.send(now),
        }
    }
}

impl Policy {
    /// The wait after so many failed attempts: between half of the backoff and all of it.
    fn wait(&self, attempts: u32, jitter: u64) -> Word {
        let doublings = attempts.saturating_sub(1).min(62);
        let whole = self
            .backoff_first_ms
            .max(1)
            .checked_mul(1 << doublings)
            .unwrap_or(Word::MAX)
            .min(self.backoff_max_ms.max(1));
        let half = whole / 2;
        let spread = (whole - half).unsigned_abs().saturating_add(1);
        half.saturating_add((jitter % spread) as Word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy { backoff_first_ms: 100, backoff_max_ms: 1_000, attempts_max: 4 };

    #[test]
    fn sending_an_open_entry_again_changes_nothing() {
        let entry = Entry::default().send(5);
        let failed = entry.attempt_failed(&POLICY, 5, 0, None);
        assert_eq!(failed.send(6), failed);
        assert!(entry.is_ready(5));
        assert!(!failed.is_ready(5));
    }

    #[test]
    fn the_first_answer_closes_and_the_second_is_dropped() {
        let Answered::Commit(closed) = Entry::default().send(5).answer() else { panic!() };
        assert!(!closed.is_open());
        assert_eq!(closed.answer(), Answered::Dropped);
        assert!(closed.send(9).is_ready(9));
    }

    #[test]
    fn waits_double_up_to_a_bound_and_heed_the_other_side() {
        let mut entry = Entry::default().send(0);
        let mut waits = Vec::new();
        for attempt in 0..3 {
            entry = entry.attempt_failed(&POLICY, 0, u64::from(attempt > 0) * 50, None);
            waits.push(entry.next_at);
        }
        assert_eq!(waits, [50, 150, 250]);
        assert_eq!(POLICY.wait(40, u64::MAX), 500 + (u64::MAX % 501) as Word);
        let asked = Entry::default().send(0).attempt_failed(&POLICY, 10, 0, Some(9_000));
        assert_eq!(asked.next_at, 9_010);
    }

    #[test]
    fn a_dead_letter_is_seen_and_can_be_retried_or_answered() {
        let mut entry = Entry::default().send(0);
        for _ in 0..4 {
            entry = entry.attempt_failed(&POLICY, 0, 0, None);
        }
        assert_eq!(entry.state, EntryState::Dead);
        assert!(!entry.is_ready(Word::MAX));
        assert_eq!(entry.retry(7), Entry { state: EntryState::Open, attempts: 0, next_at: 7 });
        assert_eq!(entry.send(7), entry.retry(7));
        assert!(matches!(entry.answer(), Answered::Commit(_)));
    }

    #[test]
    fn extreme_policies_and_times_do_not_panic() {
        for first in [Word::MIN, -1, 0, 1, Word::MAX] {
            for max in [Word::MIN, 0, 1, Word::MAX] {
                let policy =
                    Policy { backoff_first_ms: first, backoff_max_ms: max, attempts_max: 0 };
                for attempts in [0, 1, 63, u32::MAX] {
                    let entry = Entry { state: EntryState::Open, attempts, next_at: 0 };
                    for now in [Word::MIN, 0, Word::MAX] {
                        let next = entry.attempt_failed(&policy, now, u64::MAX, Some(Word::MAX));
                        assert!(next.is_open());
                    }
                }
            }
        }
    }
}
