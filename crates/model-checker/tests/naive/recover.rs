//! `recovers`, as plainly as it can be said: among the states where the goal does not hold, is
//! there a part that a fair history need never leave?

use std::collections::BTreeSet;

use super::explore::{Ways, Word};
use super::moves::Action;

pub fn word(ways: &[Ways], failing: &[bool], cut: bool) -> Word {
    if parts(ways, failing).iter().any(|part| fair(ways, part)) {
        return Word::Violated(0);
    }
    let cut_where_it_fails =
        (0..ways.len()).any(|at| failing[at] && ways[at].iter().any(|way| way.2.is_none()));
    match (cut_where_it_fails, cut) {
        (true, _) => Word::NotKnown,
        (false, true) => Word::HoldsWithin,
        (false, false) => Word::Proved,
    }
}

fn next(ways: &[Ways], at: usize, kept: &[bool]) -> Vec<usize> {
    ways[at].iter().filter_map(|way| way.2).filter(|to| kept[*to]).collect()
}

/// The strongly connected parts among the states that are kept: two states are in one part if
/// each can be reached from the other. (Kosaraju: forward for the order, backward for the parts.)
pub fn parts(ways: &[Ways], kept: &[bool]) -> Vec<Vec<usize>> {
    let mut order = Vec::new();
    let mut seen = vec![false; ways.len()];
    for start in (0..ways.len()).filter(|at| kept[*at]) {
        let mut stack = vec![(start, false)];
        while let Some((at, done)) = stack.pop() {
            if done {
                order.push(at);
            } else if !std::mem::replace(&mut seen[at], true) {
                stack.push((at, true));
                stack.extend(next(ways, at, kept).into_iter().map(|to| (to, false)));
            }
        }
    }
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); ways.len()];
    for at in (0..ways.len()).filter(|at| kept[*at]) {
        for to in next(ways, at, kept) {
            back[to].push(at);
        }
    }
    let mut parts = Vec::new();
    let mut taken = vec![false; ways.len()];
    for start in order.into_iter().rev() {
        let mut part = Vec::new();
        let mut stack = vec![start];
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut taken[at], true) {
                part.push(at);
                stack.extend(&back[at]);
            }
        }
        if !part.is_empty() {
            parts.push(part);
        }
    }
    parts
}

/// Can a history stay here for ever and be fair: is there no action that is owed, can always
/// happen here and only ever leads away? What is cut leads away, to where nobody knows.
pub fn fair(ways: &[Ways], part: &[usize]) -> bool {
    let inside: BTreeSet<usize> = part.iter().copied().collect();
    let owed = |at: usize, action: &Action| -> Vec<Option<usize>> {
        let own = ways[at].iter().filter(|way| way.1 && way.0 == *action);
        own.map(|way| way.2).collect()
    };
    let actions: BTreeSet<&Action> =
        part.iter().flat_map(|at| ways[*at].iter().filter(|way| way.1).map(|way| &way.0)).collect();
    actions.into_iter().all(|action| {
        part.iter().any(|at| owed(*at, action).is_empty())
            || part.iter().any(|at| {
                owed(*at, action).iter().any(|to| to.is_some_and(|to| inside.contains(&to)))
            })
    })
}
