//! A guarded transition: read an account, decide, write it back, and say so in the feed.

use std::fmt;

use store::{Decision, LocalStore, Seeded, Transaction};
use store_embedded::Embedded;

const VALUE_BYTES: usize = 100;
const ENTRY_BYTES: usize = 48;

/// What such a transition adds to the log, for the log that evaluates nothing.
pub const LOG_BYTES: usize = 4 + 3 + 16 + VALUE_BYTES + 2 + ENTRY_BYTES;

/// Which accounts are chosen.
#[derive(Clone, Copy)]
pub enum Keys {
    Uniform(u64),
    /// Of so many, only these few.
    Hot(u64, u64),
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keys::Uniform(_) => write!(f, "uniform"),
            Keys::Hot(_, hot) => write!(f, "{hot} hot keys"),
        }
    }
}

impl Keys {
    fn choose(self, seeded: &mut Seeded) -> u64 {
        match self {
            Keys::Uniform(records) => seeded.below(records),
            Keys::Hot(records, hot) => seeded.below(hot) * (records / hot),
        }
    }
}

fn key(number: u64) -> [u8; 16] {
    let mut key = *b"account/\0\0\0\0\0\0\0\0";
    // Spread over the whole range, as identifiers are.
    key[8..].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    key
}

/// Writes so many accounts.
pub fn fill(store: &Embedded, records: u64) {
    let mut value = [b'.'; VALUE_BYTES];
    value[..8].copy_from_slice(&1_000_000_u64.to_le_bytes());
    let mut last = None;
    for start in (0..records).step_by(5000) {
        let ticket = store.transact(&mut |transaction| {
            (start..records.min(start + 5000)).for_each(|n| transaction.put(&key(n), &value));
            Decision::Commit
        });
        last = Some(ticket.expect("room for the records"));
    }
    last.expect("at least one record").wait().expect("a disk that works");
}

/// One transition. Answers with the position that must be durable before the client is answered.
pub fn step(store: &Embedded, keys: Keys, seeded: &mut Seeded, client: usize) -> u64 {
    let key = key(keys.choose(seeded));
    let amount = seeded.below(3);
    let mut run = |transaction: &mut dyn Transaction| {
        let Some((_, value)) = transaction.get(&key) else { return Decision::Abandon };
        let mut after = [0; VALUE_BYTES];
        after.copy_from_slice(value);
        let balance = u64::from_le_bytes(after[..8].try_into().expect("eight bytes"));
        let Some(left) = balance.checked_sub(amount) else { return Decision::Abandon };
        after[..8].copy_from_slice(&left.to_le_bytes());
        transaction.put(&key, &after);
        let mut entry = [b' '; ENTRY_BYTES];
        entry[..16].copy_from_slice(&key);
        entry[16..24].copy_from_slice(&(client as u64).to_le_bytes());
        transaction.feed(&entry);
        Decision::Commit
    };
    store.transact(&mut run).expect("a store that takes commits").position()
}
