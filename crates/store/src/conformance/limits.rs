//! Limits: stated, kept, and refused with a clear error.

use super::expect::{commit, equal, holds, read};
use super::{Check, Outcome};
use crate::contract::Store;
use crate::{Commit, Error, Key};

pub const CHECKS: &[Check] = &[
    Check { name: "what is at the limit is taken", run: taken },
    Check { name: "what is over the limit is refused", run: refused },
    Check { name: "a commit has so many operations", run: operations },
    Check { name: "a store describes itself", run: described },
];

fn value_bytes(store: &dyn Store, key: &Key) -> usize {
    let limits = store.limits();
    limits.value_bytes_max.min(limits.commit_bytes_max - key.len() as u64) as usize
}

fn taken(store: &dyn Store) -> Outcome {
    let key = Key::from(vec![b'k'; store.limits().key_bytes_max as usize]);
    let bytes = value_bytes(store, &key);
    commit(store, Commit::new().put(key.clone(), vec![b'v'; bytes]))?;
    let found = read(store, std::str::from_utf8(&key).unwrap_or_default())?;
    equal("the value's length", found.map(|record| record.value.len()), Some(bytes))
}

fn refused(store: &dyn Store) -> Outcome {
    let limits = store.limits();
    let key = Key::from(vec![b'k'; limits.key_bytes_max as usize + 1]);
    let refused = |commit_: Commit| {
        let outcome = commit(store, commit_);
        holds("it is refused as too large", matches!(outcome, Err(Error::TooLarge { .. })))
    };
    refused(Commit::new().put(key.clone(), "v"))?;
    refused(Commit::new().delete(key))?;
    refused(Commit::new().put("v", vec![0; limits.value_bytes_max as usize + 1]))?;
    refused(Commit::new().feed(vec![0; limits.commit_bytes_max as usize + 1]))?;
    equal("what was refused", read(store, "v")?, None)?;
    commit(store, Commit::new().put("v", "fits"))?;
    Ok(())
}

fn operations(store: &dyn Store) -> Outcome {
    let most = store.limits().commit_operations_max;
    if most > 10_000 {
        // only its bytes are limited
        return Ok(());
    }
    // a key that is checked and written counts once
    let of = |count: usize| {
        let keys = (0..count).map(|n| format!("o/{n}"));
        keys.fold(Commit::new(), |commit, key| match commit.writes.len() < count / 2 {
            true => commit.absent(key.clone()).put(key, "x"),
            false => commit.absent(key),
        })
    };
    let outcome = commit(store, of(most + 1));
    let refused = Error::TooMany { operations: most + 1, operations_max: most };
    equal("one more", outcome.map(drop), Err(refused))?;
    equal("what was refused", read(store, "o/0")?, None)?;
    commit(store, of(most))?;
    Ok(())
}

fn described(store: &dyn Store) -> Outcome {
    let description = store.describe();
    holds("there is a partition", description.partitions > 0)?;
    let words = [description.name, &description.ordering, &description.durability];
    holds("nothing is left unsaid", words.iter().all(|text| !text.is_empty()))
}
