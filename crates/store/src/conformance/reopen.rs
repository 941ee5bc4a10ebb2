//! Stores that keep what they hold when they are closed.

use super::expect::{all_fed, commit, equal, follow, holds, value, version};
use super::{Broken, Failure, Open, Outcome};
use crate::contract::Store;
use crate::hash::Hash;
use crate::surroundings::block_on;
use crate::{Commit, Cursor, Error};

const NAME: &str = "a store that is opened again holds what it held";

/// Like [`check_reopen`], and panics when it fails.
#[track_caller]
pub fn run_reopen(open: Open<'_>) {
    if let Err(failure) = check_reopen(open) {
        panic!("{failure}");
    }
}

/// For stores that outlive the process: `open` opens the same store each time, empty at first.
pub fn check_reopen(open: Open<'_>) -> Result<(), Failure> {
    rounds(open).map_err(|Broken(message)| Failure { check: NAME, message })
}

fn rounds(open: Open<'_>) -> Outcome {
    let mut last: Option<(Cursor, crate::Version)> = None;
    for round in 0..4_usize {
        let store = open();
        if let Some((cursor, version_before)) = last {
            kept(&*store, round, cursor, version_before)?;
        }
        let number = commit(&*store, Commit::new().put("round", round.to_string()))?;
        holds("cursors go on growing", last.is_none_or(|(cursor, _)| number > cursor))?;
        for n in 0..30 {
            let key = format!("{round}/{n}");
            commit(&*store, Commit::new().put(key.clone(), "x").feed(key))?;
        }
        let cursor = commit(&*store, Commit::new().delete(format!("{round}/7")))?;
        let blob = format!("blob {round}");
        block_on(async {
            let mut writer = store.blobs().begin().await?;
            writer.write(blob.clone().into()).await?;
            writer.finish(Some(Hash::of(blob.as_bytes()))).await
        })?;
        last = Some((cursor, version(&*store, "round")?));
        block_on(store.close())?;
    }
    Ok(())
}

fn kept(store: &dyn Store, round: usize, cursor: Cursor, before: crate::Version) -> Outcome {
    let last = round - 1;
    equal("the head", block_on(store.head(cursor.partition()))?, cursor)?;
    equal("the last round", value(store, "round")?, Some(last.to_string()))?;
    equal("the version", version(store, "round")?, before)?;
    equal("what was deleted", value(store, &format!("{last}/7"))?, None)?;
    equal("what was written", value(store, &format!("{last}/8"))?, Some("x".into()))?;
    equal("blobs", block_on(store.blobs().list(None, 100))?.len(), round)?;
    match follow(store, Cursor::start(cursor.partition()), 11) {
        Ok(_) => equal("the feed", all_fed(store, 11)?.len(), round * 30)?,
        Err(Broken(message)) => {
            let start = Cursor::start(cursor.partition());
            let floor = block_on(store.feed(start, 1)).map(drop);
            holds(&message, matches!(floor, Err(Error::BelowFloor(_))))?;
        }
    }
    let stale = Commit::new().absent("round").put("round", "stale");
    equal("a stale check", commit(store, stale), Err(Error::Conflict("round".into())))
}
