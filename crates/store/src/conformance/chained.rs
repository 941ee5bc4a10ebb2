//! Commits that expect what others write which are not answered yet. Only of stores that are not in this process: there
//! a transaction is alone with the newest state.

use std::task::Poll;

use super::expect::{all_fed, commit, conflict, equal, value, version};
use super::{Check, Outcome};
use crate::contract::Store;
use crate::cursor::Cursor;
use crate::error::Result;
use crate::pending::Pending;
use crate::surroundings::block_on;
use crate::{Commit, Error, Version};

pub const CHECKS: &[Check] = &[
    Check { name: "what a commit writes gets the version that it names", run: named },
    Check { name: "a commit holds if the one holds that it builds upon", run: together },
    Check { name: "of commits that build upon one the first holds", run: one_of_many },
];

/// Versions that somebody chose.
const FIRST: u64 = 1 << 52;

fn named(store: &dyn Store) -> Outcome {
    if store.local().is_some() {
        return Ok(());
    }
    commit(store, Commit::new().absent("a").put("a", "1").put("b", "1").version(Version(FIRST)))?;
    equal("the version", version(store, "a")?, Version(FIRST))?;
    equal("the version beside it", version(store, "b")?, Version(FIRST))?;
    let next = Commit::new().expect("a", Version(FIRST)).put("a", "2").version(Version(FIRST + 1));
    commit(store, next.clone())?;
    equal("the same again", commit(store, next), conflict("a"))?;
    commit(store, Commit::new().expect("a", Version(FIRST + 1)).put("a", "3"))?;
    let chosen = version(store, "a")?;
    equal("a version that the store chose", chosen.0 < FIRST, true)
}

/// All are sent at once, in this order.
fn sent(store: &dyn Store, commits: Vec<Commit>) -> Vec<Result<Cursor>> {
    let mut under_way: Vec<Pending<'_, Cursor>> =
        commits.into_iter().map(|commit| store.commit(commit)).collect();
    let mut answers: Vec<Option<Result<Cursor>>> = vec![None; under_way.len()];
    block_on(std::future::poll_fn(|context| {
        for (pending, answer) in under_way.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(ready) = pending.as_mut().poll(context)
            {
                *answer = Some(ready);
            }
        }
        if answers.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    }));
    answers.into_iter().flatten().collect()
}

fn together(store: &dyn Store) -> Outcome {
    if store.local().is_some() {
        return Ok(());
    }
    for round in 0..20_u64 {
        let key = format!("chain-{round}");
        let at = |n: u64| Version(FIRST + round * 100 + n);
        // a third of the way somebody expects what never was: whatever builds upon it fails as well
        let broken = (round % 2 == 1).then_some(10);
        let chain = (0..30).map(|n: u64| {
            let expects = match n {
                0 => Commit::new().absent(&*key),
                _ if n % 7 == 6 => Commit::new().absent(&*key),
                _ => Commit::new().expect(&*key, at(n - 1)),
            };
            let expects = match broken == Some(n) {
                true => expects.expect("nothing", at(99)),
                false => expects,
            };
            let fed = format!("{round} {n}");
            // every seventh finds it deleted, and the one before it deletes it
            let written = match n % 7 {
                5 => expects.delete(&*key),
                _ => expects.put(&*key, n.to_string()),
            };
            written.feed(fed).version(at(n))
        });
        let answers = sent(store, chain.collect());
        let held: Vec<u64> =
            (0..).zip(&answers).filter(|(_, it)| it.is_ok()).map(|(n, _)| n).collect();
        let mut fed: Vec<String> = all_fed(store, 1_000)?;
        fed.retain(|it| it.starts_with(&format!("{round} ")));
        let mut own: Vec<String> = held.iter().map(|n| format!("{round} {n}")).collect();
        fed.sort();
        own.sort();
        equal("the feed", fed, own)?;
        for (n, answer) in answers.iter().enumerate() {
            let is_conflict = matches!(answer, Ok(_) | Err(Error::Conflict(_)));
            equal("an answer that is one or the other", is_conflict, true)?;
            if n > 0 && n % 7 != 6 && answer.is_ok() {
                equal("the one that it builds upon", answers[n - 1].is_ok(), true)?;
            }
        }
        if let Some(broken) = broken {
            equal("one that expects what never was", answers[broken as usize].is_ok(), false)?;
        }
        let last = held.last().filter(|n| *n % 7 != 5).map(u64::to_string);
        equal("what is there", value(store, &key)?, last)?;
    }
    Ok(())
}

fn one_of_many(store: &dyn Store) -> Outcome {
    if store.local().is_some() {
        return Ok(());
    }
    commit(store, Commit::new().put("a", "0").version(Version(FIRST)))?;
    let next = |n: u64| {
        let next = Commit::new().expect("a", Version(FIRST)).put("a", n.to_string());
        next.put(&*format!("by-{n}"), "").version(Version(FIRST + n))
    };
    let answers = sent(store, (1..=20).map(next).collect());
    let held = (1..).zip(&answers).filter(|(_, answer)| answer.is_ok());
    let held: Vec<u64> = held.map(|(n, _)| n).collect();
    equal("how many hold", held.len(), 1)?;
    equal("what is there", value(store, "a")?, Some(held[0].to_string()))?;
    for n in 1..=20 {
        let found = value(store, &format!("by-{n}"))?.is_some();
        equal("what else it writes", found, n == held[0])?;
    }
    Ok(())
}
