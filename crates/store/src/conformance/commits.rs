//! Commits: all or nothing, and only if every check holds.

use super::expect::{all_fed, commit, conflict, equal, holds, value, version};
use super::{Check, Outcome};
use crate::contract::Store;
use crate::record::Version;
use crate::surroundings::block_on;
use crate::{Commit, Error};

pub const CHECKS: &[Check] = &[
    Check { name: "a commit that expects absence conflicts with a record", run: absence },
    Check { name: "a commit that expects a version conflicts with another", run: versions },
    Check { name: "a conflict names the key and writes nothing", run: nothing_written },
    Check { name: "a commit may check without writing", run: only_checks },
    Check { name: "a commit may check keys that it does not write", run: other_keys },
    Check { name: "cursors grow with every commit", run: cursors },
    Check { name: "a key is not written twice in one commit", run: twice },
    Check { name: "a closed store takes nothing", run: closed },
];

fn absence(store: &dyn Store) -> Outcome {
    let take = || Commit::new().absent("seat").put("seat", "taken");
    commit(store, take())?;
    equal("a second take", commit(store, take()), conflict("seat"))?;
    commit(store, Commit::new().delete("seat"))?;
    commit(store, take())?;
    Ok(())
}

fn versions(store: &dyn Store) -> Outcome {
    let wrong = Commit::new().expect("v", Version(1)).put("v", "x");
    equal("a version of nothing", commit(store, wrong), conflict("v"))?;
    commit(store, Commit::new().put("v", "1"))?;
    let first = version(store, "v")?;
    commit(store, Commit::new().expect("v", first).put("v", "2"))?;
    let stale = Commit::new().expect("v", first).put("v", "3");
    equal("a stale version", commit(store, stale), conflict("v"))?;
    let stale = Commit::new().expect("v", first).delete("v");
    equal("a stale delete", commit(store, stale), conflict("v"))?;
    equal("what is left", value(store, "v")?, Some("2".into()))
}

fn nothing_written(store: &dyn Store) -> Outcome {
    commit(store, Commit::new().put("a", "1").put("b", "1").feed("first"))?;
    let a = version(store, "a")?;
    let torn = Commit::new()
        .expect("a", a)
        .absent("b")
        .put("a", "2")
        .put("c", "2")
        .delete("b")
        .feed("second");
    equal("the conflict", commit(store, torn), conflict("b"))?;
    for (key, expected) in [("a", Some("1")), ("b", Some("1")), ("c", None)] {
        equal(key, value(store, key)?, expected.map(str::to_owned))?;
    }
    equal("the version of `a`", version(store, "a")?, a)?;
    equal("the feed", all_fed(store, 10)?, vec!["first".into()])
}

fn only_checks(store: &dyn Store) -> Outcome {
    commit(store, Commit::new().put("a", "1"))?;
    let a = version(store, "a")?;
    commit(store, Commit::new().expect("a", a).absent("b"))?;
    equal("a check that fails", commit(store, Commit::new().absent("a")), conflict("a"))?;
    equal("the version", version(store, "a")?, a)
}

fn other_keys(store: &dyn Store) -> Outcome {
    commit(store, Commit::new().put("guard", "open"))?;
    let guard = version(store, "guard")?;
    commit(store, Commit::new().expect("guard", guard).put("x", "1"))?;
    equal("the guard's version", version(store, "guard")?, guard)?;
    commit(store, Commit::new().put("guard", "shut"))?;
    let late = Commit::new().expect("guard", guard).put("x", "2");
    equal("after the guard changed", commit(store, late), conflict("guard"))?;
    equal("what was guarded", value(store, "x")?, Some("1".into()))
}

fn cursors(store: &dyn Store) -> Outcome {
    let mut last = None;
    for n in 0..20 {
        let cursor = commit(store, Commit::new().put("c", n.to_string()))?;
        holds("a later commit has a later cursor", last.is_none_or(|last| cursor > last))?;
        last = Some(cursor);
    }
    Ok(())
}

fn twice(store: &dyn Store) -> Outcome {
    let twice = Commit::new().put("t", "1").delete("t");
    holds("it is refused", matches!(commit(store, twice), Err(Error::Invalid(_))))?;
    equal("what is there", value(store, "t")?, None)
}

fn closed(store: &dyn Store) -> Outcome {
    commit(store, Commit::new().put("a", "1"))?;
    block_on(store.close())?;
    equal("a commit", commit(store, Commit::new().put("a", "2")), Err(Error::Closed))?;
    equal("a read", value(store, "a"), Err(Error::Closed))
}
