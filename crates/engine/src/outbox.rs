//! One entry of the outbox: a call to the world outside that must be made.
//!
//! | state | send | attempt fails | answer |
//! | --- | --- | --- | --- |
//! | closed (or none) | open, attempts 0 | dropped | dropped |
//! | open | no change | attempts + 1, next attempt later; dead after the last | closed, commits |
//! | dead | open, attempts 0 | dropped | closed, commits |
//!
//! An entry is identified by (effect, key). It is delivered at least once under that key; the
//! first answer closes it. A dead letter is still open as far as answers go: the world may have
//! decided, and its late answer is welcome.

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
