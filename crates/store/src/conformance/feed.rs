//! The feed: everything that was committed, once, in order.

use std::thread;

use super::expect::{all_fed, commit, equal, feed, follow, holds, partitions};
use super::{Check, Outcome};
use crate::contract::Store;
use crate::surroundings::block_on;
use crate::{Commit, Cursor, Error};

pub const CHECKS: &[Check] = &[
    Check { name: "the feed gives every entry once, in commit order", run: complete },
    Check { name: "the feed gives commits whole", run: whole },
    Check { name: "the feed can be resumed at every cursor", run: resumed },
    Check { name: "who waits for news is woken", run: woken },
    Check { name: "a reader below the floor is told so", run: floor },
];

const COUNT: usize = 40;

/// Commits whose entries go to whichever partitions the store chooses.
fn fill(store: &dyn Store) -> Result<Vec<Cursor>, Error> {
    (0..COUNT)
        .map(|n| {
            let filling = Commit::new().put(format!("k{}", n % 7), n.to_string());
            commit(store, if n % 5 == 4 { filling } else { filling.feed(format!("{n:03}")) })
        })
        .collect()
}

fn complete(store: &dyn Store) -> Outcome {
    for partition in partitions(store) {
        let page = feed(store, Cursor::start(partition), 10)?;
        equal("an empty feed", page.commits.len(), 0)?;
    }
    let cursors = fill(store)?;
    for partition in partitions(store) {
        let entries = follow(store, Cursor::start(partition), 3)?;
        for (cursor, text) in &entries {
            let n: usize = text.parse().unwrap_or(usize::MAX);
            equal("the cursor of an entry", Some(cursor), cursors.get(n))?;
        }
    }
    let mut texts = all_fed(store, 3)?;
    texts.sort();
    let expected = (0..COUNT).filter(|n| n % 5 != 4).map(|n| format!("{n:03}")).collect();
    equal("the entries of all partitions", texts, expected)
}

fn whole(store: &dyn Store) -> Outcome {
    let first = commit(store, Commit::new().put("w", "").feed("1").feed("2").feed("3"))?;
    commit(store, Commit::new().put("w", "").feed("4"))?;
    let page = feed(store, Cursor::start(first.partition()), 2)?;
    let entries: Vec<_> = page.commits.iter().map(|commit| commit.entries.len()).collect();
    equal("commits within two entries", entries, vec![3])?;
    equal("where to go on", page.next, first)?;
    let page = feed(store, Cursor::start(first.partition()), 4)?;
    equal("commits within four entries", page.commits.len(), 2)
}

fn resumed(store: &dyn Store) -> Outcome {
    fill(store)?;
    for partition in partitions(store) {
        let all = follow(store, Cursor::start(partition), 100)?;
        for (n, (cursor, _)) in all.iter().enumerate() {
            equal("what follows a cursor", &follow(store, *cursor, 7)?[..], &all[n + 1..])?;
        }
        let head = block_on(store.head(partition))?;
        let beyond = Cursor::at(partition, head.position() + 1_000_000);
        let found = feed(store, beyond, 1).map(|_| ());
        equal("a cursor that was never given out", found, Err(Error::Ahead(beyond)))?;
    }
    Ok(())
}

fn woken(store: &dyn Store) -> Outcome {
    let before = commit(store, Commit::new().put("n", "1").feed("1"))?;
    thread::scope(|scope| {
        let waiting = scope.spawn(|| block_on(store.changed(before)));
        thread::yield_now();
        let news = commit(store, Commit::new().put("n", "2").feed("2"))?;
        let seen = waiting.join().expect("the waiting thread panicked")?;
        holds("the news is the commit or later", seen >= news)
    })?;
    let seen = block_on(store.changed(before))?;
    holds("news that is there already is given at once", seen > before)
}

fn floor(store: &dyn Store) -> Outcome {
    let cursors = fill(store)?;
    let below = cursors[COUNT / 2];
    let all = follow(store, Cursor::start(below.partition()), 100)?;
    let floor = block_on(store.trim(below))?;
    holds("the floor is not above what was asked", floor <= below)?;
    let kept: Vec<_> = all.iter().filter(|(cursor, _)| *cursor > floor).cloned().collect();
    equal("what is above the floor", follow(store, floor, 5)?, kept)?;
    let start = Cursor::start(below.partition());
    if floor > start {
        let found = feed(store, start, 5).map(|_| ());
        equal("a reader from the start", found, Err(Error::BelowFloor(floor)))?;
    }
    let next = commit(store, Commit::new().put("k0", "").feed("after"))?;
    let after = follow(store, floor, 5)?;
    equal("the newest", after.last(), Some(&(next, "after".to_owned())))
}
