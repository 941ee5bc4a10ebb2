//! `recovers`, as plainly as it can be said: in the graph of repairs and ticks among the states
//! where the goal does not hold, is there a part that a fair history need never leave?

use std::collections::{BTreeSet, HashMap};

use design::model::OperationKind;

use super::{Naive, State, Value};

/// A repair of one record (operation, key), or the tick.
type Action = Option<(usize, usize)>;

/// A repair that may run, and need not: on a record that is there from the start, as it was then.
const NOT_OWED: Action = Some((usize::MAX, usize::MAX));

/// What can happen from one state: each action, and the state after it.
type Ways = Vec<(Action, usize)>;

pub(super) fn avoided(naive: &Naive<'_>, states: Vec<State>) -> BTreeSet<String> {
    let numbers: HashMap<&State, usize> = states.iter().zip(0..).collect();
    let ways: Vec<Ways> = states.iter().map(|state| ways(naive, state, &numbers)).collect();
    let mut avoided = BTreeSet::new();
    for goal in &naive.design.recoveries {
        let failing: Vec<bool> =
            states.iter().map(|state| !naive.holds(goal, state, None, 0)).collect();
        if parts(&ways, &failing).iter().any(|part| fair(&ways, part)) {
            avoided.insert(goal.name.clone());
        }
    }
    avoided
}

fn ways(naive: &Naive<'_>, state: &State, numbers: &HashMap<&State, usize>) -> Ways {
    let mut list = Vec::new();
    for (at, operation) in naive.design.operations.iter().enumerate() {
        if !matches!(operation.kind, OperationKind::Repair { .. }) {
            continue;
        }
        let subject = operation.params[0].ty.subject().expect("a repair binds a record").index();
        let defaults = naive.defaults(subject);
        let implicit = naive.design.subjects[subject].implicit;
        let root = naive.root(operation.actor.index());
        let me = naive.principals.iter().position(|held| *held == root).expect("there is one");
        for key in 0..naive.keys[subject].len() {
            let next = naive.step(state, operation, me, &[Value::Ref(key)]);
            if let Some(next) = next.and_then(|next| naive.settle(&next, 0)) {
                let untouched = implicit && state.records[&(subject, key)] == defaults;
                let action = if untouched { NOT_OWED } else { Some((at, key)) };
                list.push((action, numbers[&next]));
            }
        }
    }
    if naive.has_time
        && let Some(next) = naive.settle(state, 1)
    {
        list.push((None, numbers[&next]));
    }
    list
}

/// The strongly connected parts among the states that are kept: two states are in one part if
/// each can be reached from the other. (Kosaraju: forward for the order, backward for the parts.)
fn parts(ways: &[Ways], kept: &[bool]) -> Vec<Vec<usize>> {
    let mut order = Vec::new();
    let mut seen = vec![false; ways.len()];
    for start in (0..ways.len()).filter(|at| kept[*at]) {
        let mut stack = vec![(start, false)];
        while let Some((at, done)) = stack.pop() {
            if done {
                order.push(at);
            } else if !std::mem::replace(&mut seen[at], true) {
                stack.push((at, true));
                stack.extend(ways[at].iter().filter(|way| kept[way.1]).map(|way| (way.1, false)));
            }
        }
    }
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); ways.len()];
    for at in (0..ways.len()).filter(|at| kept[*at]) {
        for (_, to) in ways[at].iter().filter(|way| kept[way.1]) {
            back[*to].push(at);
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

/// Can a history stay here for ever and be fair: is there no action that can always happen here
/// and only ever leads away?
fn fair(ways: &[Ways], part: &[usize]) -> bool {
    let inside: BTreeSet<usize> = part.iter().copied().collect();
    let actions: BTreeSet<Action> =
        part.iter().flat_map(|at| ways[*at].iter().map(|way| way.0)).collect();
    actions.into_iter().filter(|action| *action != NOT_OWED).all(|action| {
        let of = |at: &usize| ways[*at].iter().filter(|way| way.0 == action).collect::<Vec<_>>();
        part.iter().any(|at| of(at).is_empty())
            || part.iter().any(|at| of(at).iter().any(|way| inside.contains(&way.1)))
    })
}
