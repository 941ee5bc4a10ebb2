//! Tokens: what became of a commit whose answer was lost can be asked for. Only of stores that are not in this process:
//! the others lose no answers.

use super::expect::{all_fed, commit, conflict, equal, holds, value};
use super::{Check, Outcome};
use crate::commit::Token;
use crate::contract::Store;
use crate::surroundings::block_on;
use crate::{Commit, Error};

pub const CHECKS: &[Check] = &[
    Check { name: "the outcome of a commit can be asked for", run: asked_for },
    Check { name: "a commit is carried out once for each token", run: once },
    Check { name: "a commit that was said not to hold never will", run: given_up },
    Check { name: "the store's clock does not go back", run: clock },
];

fn asked_for(store: &dyn Store) -> Outcome {
    if store.local().is_some() {
        return Ok(());
    }
    let cursor = commit(store, Commit::new().put("a", "1").feed("a").token(Token(1)))?;
    for n in 0..200 {
        commit(store, Commit::new().put("b", n.to_string()).token(Token(1_000 + n)))?;
    }
    equal("the outcome", block_on(store.outcome(Token(1)))?, Some(cursor))?;
    let refused = Commit::new().absent("a").put("a", "2").token(Token(2));
    equal("a conflict", commit(store, refused), conflict("a"))?;
    equal("its outcome", block_on(store.outcome(Token(2)))?, None)
}

fn once(store: &dyn Store) -> Outcome {
    if store.local().is_some() {
        return Ok(());
    }
    let sent = || Commit::new().put("a", "1").feed("once").token(Token(7));
    let cursor = commit(store, sent())?;
    commit(store, Commit::new().put("a", "2"))?;
    equal("the second answer", commit(store, sent()), Ok(cursor))?;
    equal("what is there", value(store, "a")?, Some("2".into()))?;
    equal("the feed", all_fed(store, 10)?, vec!["once".into()])
}

fn given_up(store: &dyn Store) -> Outcome {
    if store.local().is_some() {
        return Ok(());
    }
    equal("one that was never sent", block_on(store.outcome(Token(9)))?, None)?;
    // it was under way all the time
    let late = commit(store, Commit::new().put("late", "1").feed("late").token(Token(9)));
    holds("it is refused", matches!(late, Err(Error::Invalid(_) | Error::Conflict(_))))?;
    equal("what is there", value(store, "late")?, None)?;
    equal("the feed", all_fed(store, 10)?.len(), 0)?;
    equal("the outcome still", block_on(store.outcome(Token(9)))?, None)
}

fn clock(store: &dyn Store) -> Outcome {
    let first = block_on(store.clock())?;
    let second = block_on(store.clock())?;
    holds("the later time is not the earlier", first <= second)
}
