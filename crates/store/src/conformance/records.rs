//! Single records: what is read is what was written last.

use super::expect::{commit, equal, holds, read, value, version};
use super::{Check, Outcome};
use crate::contract::Store;
use crate::key::Key;
use crate::surroundings::block_on;
use crate::{Commit, Cursor, Error};

pub const CHECKS: &[Check] = &[
    Check { name: "a record that was never written is absent", run: absent },
    Check { name: "a record is read as it was written", run: written },
    Check { name: "an empty value is not an absent record", run: empty },
    Check { name: "every write changes the version", run: versions },
    Check { name: "a version never returns", run: fresh_versions },
    Check { name: "many keys are read in the order asked", run: many },
    Check { name: "a read waits for the cursor that it is given", run: at_least },
];

fn absent(store: &dyn Store) -> Outcome {
    equal("a read of nothing", read(store, "nothing")?, None)?;
    equal("a read without keys", block_on(store.read(&[], None))?.records.len(), 0)
}

fn written(store: &dyn Store) -> Outcome {
    commit(store, Commit::new().put("a", "one"))?;
    equal("after a put", value(store, "a")?, Some("one".into()))?;
    commit(store, Commit::new().put("a", "two"))?;
    equal("after a second put", value(store, "a")?, Some("two".into()))?;
    commit(store, Commit::new().delete("a"))?;
    equal("after a delete", value(store, "a")?, None)?;
    commit(store, Commit::new().delete("a"))?;
    equal("after a delete of nothing", value(store, "a")?, None)
}

fn empty(store: &dyn Store) -> Outcome {
    commit(store, Commit::new().put("e", ""))?;
    equal("an empty value", value(store, "e")?, Some(String::new()))
}

fn versions(store: &dyn Store) -> Outcome {
    commit(store, Commit::new().put("v", "same").put("other", "x"))?;
    let first = version(store, "v")?;
    let other = version(store, "other")?;
    holds("a version is not zero", first.0 > 0)?;
    commit(store, Commit::new().put("v", "same"))?;
    let second = version(store, "v")?;
    holds("the same value written again is a new version", second > first)?;
    equal("the version of a record that was not written", version(store, "other")?, other)
}

fn fresh_versions(store: &dyn Store) -> Outcome {
    let mut seen = Vec::new();
    for _ in 0..5 {
        commit(store, Commit::new().put("again", "x"))?;
        seen.push(version(store, "again")?);
        let stale = Commit::new().expect("again", seen[0]).put("again", "stale");
        if seen.len() > 1 {
            let refused = Err(Error::Conflict("again".into()));
            equal("a commit that expects the first version", commit(store, stale), refused)?;
        }
        commit(store, Commit::new().delete("again"))?;
    }
    let mut distinct = seen.clone();
    distinct.sort_unstable();
    distinct.dedup();
    equal("versions that differ", distinct.len(), seen.len())
}

fn many(store: &dyn Store) -> Outcome {
    let odd: &[u8] = b"\x00\xff\n";
    commit(store, Commit::new().put("b", "2").put("a", "1").put(odd, "bytes"))?;
    let keys = ["b".into(), "none".into(), Key::from(odd), "a".into(), "b".into()];
    let records = block_on(store.read(&keys, None))?.records;
    let values: Vec<_> = records.into_iter().map(|r| r.map(|r| r.value)).collect();
    let expected = ["2", "", "bytes", "1", "2"].map(|v| (!v.is_empty()).then(|| v.into()));
    equal("values", values, expected.to_vec())
}

fn at_least(store: &dyn Store) -> Outcome {
    let key = ["k".into()];
    for n in 0..20 {
        let cursor = commit(store, Commit::new().put("k", n.to_string()).feed("k"))?;
        let records = block_on(store.read(&key, Some(cursor)))?.records;
        let found = records[0].as_ref().map(|record| record.value.clone());
        equal("a read of at least this commit", found, Some(n.to_string().into()))?;
    }
    let head = block_on(store.head(Default::default()))?;
    let beyond = Cursor::at(head.partition(), head.position() + 1_000_000);
    let found = block_on(store.read(&key, Some(beyond))).map(|_| ());
    equal("a read of a cursor that was never given out", found, Err(Error::Ahead(beyond)))
}
