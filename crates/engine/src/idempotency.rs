//! What happens to a call that carries an idempotency key.
//!
//! | stored under (principal, operation, key) | the call | verdict |
//! | --- | --- | --- |
//! | nothing, or older than the retention | any | proceed; if accepted, store the outcome in the same commit |
//! | an outcome | the same payload | replay the stored answer, change nothing |
//! | an outcome | another payload | refuse |
//!
//! Refusals are not stored: they are evaluated anew.

use crate::{NULL, Word};

/// An accepted outcome, stored under (principal, operation, key) in the same commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored<A> {
    /// a hash of the arguments
    pub payload: u128,
    /// given again as it was
    pub answer: A,
    /// the `now` of the step, in milliseconds
    pub at: Word,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict<'a, A> {
    /// nothing is stored (or it is too old): evaluate the step
    Proceed,
    /// the same call: give the same answer, change nothing
    Replay(&'a A),
    /// another call under the same key: refuse
    OtherPayload,
}

impl<A> Stored<A> {
    /// From when on it may be forgotten.
    pub fn expires_at(&self, retention_ms: Word) -> Word {
        if self.at == NULL { NULL } else { self.at.saturating_add(retention_ms.max(0)) }
    }
}

/// What to do with a call under a key.
pub fn check<A>(
    stored: Option<&Stored<A>>,
    payload: u128,
    now: Word,
    retention_ms: Word,
) -> Verdict<'_, A> {
    match stored {
        None => Verdict::Proceed,
        Some(stored) if stored.expires_at(retention_ms) <= now => Verdict::Proceed,
        Some(stored) if stored.payload == payload => Verdict::Replay(&stored.answer),
        Some(_) => Verdict::OtherPayload,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_call_has_the_same_answer_and_another_is_refused() {
        let stored = Stored { payload: 7, answer: "epoch 3", at: 100 };
        assert_eq!(check::<&str>(None, 7, 100, 50), Verdict::Proceed);
        assert_eq!(check(Some(&stored), 7, 149, 50), Verdict::Replay(&"epoch 3"));
        assert_eq!(check(Some(&stored), 8, 149, 50), Verdict::OtherPayload);
    }

    #[test]
    fn what_is_older_than_the_retention_is_forgotten() {
        let stored = Stored { payload: 7, answer: (), at: 100 };
        assert_eq!(check(Some(&stored), 8, 150, 50), Verdict::Proceed);
        assert_eq!(check(Some(&stored), 7, Word::MAX - 1, Word::MAX), Verdict::Replay(&()));
    }

    #[test]
    fn a_clock_behind_the_record_still_replays() {
        let stored = Stored { payload: 7, answer: (), at: 100 };
        assert_eq!(check(Some(&stored), 7, 20, 50), Verdict::Replay(&()));
    }
}
