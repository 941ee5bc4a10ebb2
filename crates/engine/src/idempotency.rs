//! What happens to a call that carries an idempotency key.

use crate::Word;

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
