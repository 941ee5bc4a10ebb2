//! The shorter way, for the stores that have it: it must tell the same story.

use std::ops::ControlFlow;
use std::sync::mpsc;

use super::expect::{all_fed, commit, equal, holds, value, version};
use super::{Check, Outcome};
use crate::contract::Store;
use crate::key::KeyRange;
use crate::local::{Decision, Transaction};
use crate::{Commit, Error, Version};

pub const CHECKS: &[Check] = &[
    Check { name: "a transaction sees the records and its own writes", run: own_writes },
    Check { name: "a transaction may delete a record and write it anew", run: anew },
    Check { name: "an abandoned transaction leaves nothing", run: abandoned },
    Check { name: "a transaction is read and fed like a commit", run: same_story },
    Check { name: "a transaction over the limit leaves nothing", run: too_large },
];

fn keys(transaction: &dyn Transaction, range: &KeyRange, reverse: bool) -> String {
    let mut found = Vec::new();
    transaction.scan(range, reverse, &mut |key, _, value| {
        found.push(format!("{}={}", key.escape_ascii(), value.escape_ascii()));
        ControlFlow::Continue(())
    });
    found.join(" ")
}

fn own_writes(store: &dyn Store) -> Outcome {
    let Some(local) = store.local() else { return Ok(()) };
    commit(store, Commit::new().put("a", "1").put("b", "1").put("d", "1"))?;
    let a = version(store, "a")?;
    let mut outcome = Ok(());
    let ticket = local.transact(&mut |transaction| {
        outcome = (|| {
            equal("what was there", transaction.get(b"a"), Some((a, &b"1"[..])))?;
            transaction.put(b"a", b"2");
            transaction.delete(b"b");
            transaction.put(b"c", b"2");
            transaction.put(b"c", b"3");
            transaction.put(b"e", b"2");
            transaction.delete(b"e");
            let own = Version(transaction.number());
            equal("an own write", transaction.get(b"a"), Some((own, &b"2"[..])))?;
            equal("an own delete", transaction.get(b"b"), None)?;
            let all = KeyRange::all();
            equal("a scan", &*keys(transaction, &all, false), "a=2 c=3 d=1")?;
            equal("a scan backwards", &*keys(transaction, &all, true), "d=1 c=3 a=2")?;
            equal("a range", &*keys(transaction, &KeyRange::new("b", "d"), false), "c=3")?;
            let mut visited = 0;
            transaction.scan(&all, false, &mut |_, _, _| {
                visited += 1;
                ControlFlow::Break(())
            });
            equal("a scan that stops", visited, 1)
        })();
        Decision::Commit
    })?;
    outcome?;
    ticket.wait()?;
    holds("a ticket that was waited for is durable", ticket.is_durable())?;
    for (key, expected) in [("a", Some("2")), ("b", None), ("c", Some("3")), ("e", None)] {
        equal(key, value(store, key)?, expected.map(str::to_owned))?;
    }
    equal("the version", version(store, "a")?, Version(ticket.position()))
}

/// What a transaction has read may be gone, and something else in its place, when it is written.
fn anew(store: &dyn Store) -> Outcome {
    let Some(local) = store.local() else { return Ok(()) };
    commit(store, Commit::new().put("a", "1").put("b", "1"))?;
    let ticket = local.transact(&mut |transaction| {
        let seen = transaction.get(b"a").is_some() && transaction.get(b"b").is_some();
        transaction.delete(b"a");
        transaction.put(b"c", b"3");
        transaction.put(b"a", b"2");
        transaction.delete(b"b");
        if seen { Decision::Commit } else { Decision::Abandon }
    })?;
    ticket.wait()?;
    for (key, expected) in [("a", Some("2")), ("b", None), ("c", Some("3"))] {
        equal(key, value(store, key)?, expected.map(str::to_owned))?;
    }
    let mut all = String::new();
    local.transact(&mut |transaction| {
        all = keys(transaction, &KeyRange::all(), false);
        Decision::Abandon
    })?;
    equal("a scan", &*all, "a=2 c=3")
}

fn abandoned(store: &dyn Store) -> Outcome {
    let Some(local) = store.local() else { return Ok(()) };
    let last = commit(store, Commit::new().put("a", "1").feed("a"))?;
    let ticket = local.transact(&mut |transaction| {
        transaction.put(b"a", b"2");
        transaction.delete(b"a");
        transaction.put(b"b", b"2");
        transaction.feed(b"b");
        Decision::Abandon
    })?;
    ticket.wait()?;
    equal("the position that it saw", ticket.cursor(), last)?;
    equal("`a`", value(store, "a")?, Some("1".into()))?;
    equal("`b`", value(store, "b")?, None)?;
    equal("the feed", all_fed(store, 10)?, vec!["a".into()])
}

fn same_story(store: &dyn Store) -> Outcome {
    let Some(local) = store.local() else { return Ok(()) };
    let (sender, receiver) = mpsc::channel();
    let mut last = 0;
    for n in 0..50 {
        let ticket = local.transact(&mut |transaction| {
            let next = transaction.get(b"n").map_or(0, |(_, value)| value[0] + 1);
            transaction.put(b"n", &[next]);
            transaction.feed(format!("{n:02}").as_bytes());
            Decision::Commit
        })?;
        holds("positions grow", ticket.position() > last)?;
        last = ticket.position();
        let sender = sender.clone();
        local.on_durable(last, Box::new(move |outcome| drop(sender.send(outcome))));
    }
    drop(sender);
    equal("callbacks", receiver.iter().filter(Result::is_ok).count(), 50)?;
    equal("the counter", value(store, "n")?, Some(char::from(49).to_string()))?;
    equal("the feed", all_fed(store, 7)?, (0..50).map(|n| format!("{n:02}")).collect())
}

fn too_large(store: &dyn Store) -> Outcome {
    let Some(local) = store.local() else { return Ok(()) };
    let outcome = local.transact(&mut |transaction| {
        transaction.put(b"small", b"x");
        transaction.feed(&vec![0; store.limits().commit_bytes_max as usize + 1]);
        Decision::Commit
    });
    holds("it is refused as too large", matches!(outcome, Err(Error::TooLarge { .. })))?;
    equal("what is there", value(store, "small")?, None)
}
