//! Whether a recorded history of concurrent operations could have happened one at a time.
//!
//! The search is that of Wing and Gong: take any operation that had begun before every operation
//! still open had ended, ask the model whether its answer fits, go on from there, and back up when
//! nothing fits. Lowe's addition keeps it quick: a set of operations and the state after them are
//! never tried twice.

mod events;
mod linearized;
mod recorder;
mod registers;

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use self::events::Events;
use self::linearized::{Front, Linearized};
pub use self::recorder::{Recording, record};
pub use self::registers::{Answer, Registers, Request};

/// What the operations should do, one at a time.
pub trait Model {
    type State: Clone + Eq + Hash + Debug;
    type Request: Debug;
    type Answer: Debug;

    fn initial(&self) -> Self::State;

    /// The state afterwards, if this answer is right here. Without an answer, the operation's end
    /// was never seen and any answer will do.
    fn step(
        &self,
        state: &Self::State,
        request: &Self::Request,
        answer: Option<&Self::Answer>,
    ) -> Option<Self::State>;
}

/// One operation: when it was asked, and when it was answered, if it was.
#[derive(Clone, Debug)]
pub struct Operation<Request, Answer> {
    pub request: Request,
    pub begun: u64,
    /// An operation without an end may have happened at any time after it began, or never.
    pub ended: Option<(u64, Answer)>,
}

pub type History<M> = Vec<Operation<<M as Model>::Request, <M as Model>::Answer>>;

/// The longest part that could be put into order, and what could not follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    pub ordered: usize,
    pub stuck: String,
}

/// Finds an order in which the operations could have happened one at a time, each between its
/// beginning and its end. Answers with how many steps the search took.
pub fn check<M: Model>(
    model: &M,
    history: &[Operation<M::Request, M::Answer>],
) -> Result<u64, Impossible> {
    let mut events = Events::new(history);
    let mut linearized = Linearized::new(history.len());
    let mut seen: HashSet<(Front, M::State)> = HashSet::new();
    let mut path: Vec<(usize, M::State)> = Vec::new();
    let mut state = model.initial();
    let mut best = Impossible { ordered: 0, stuck: String::new() };
    let mut steps = 0;
    let mut at = events.first();
    while let Some(event) = at {
        let operation = &history[events.operation(event)];
        if events.is_end(event) {
            if operation.ended.is_none() {
                // Ends that were never seen come last: everything that was answered is in order.
                return Ok(steps);
            }
            if path.len() >= best.ordered {
                best = Impossible { ordered: path.len(), stuck: format!("{operation:?}") };
            }
            let Some((begin, before)) = path.pop() else {
                return Err(best);
            };
            linearized.remove(events.operation(begin));
            events.restore(begin);
            state = before;
            at = events.next(begin);
            continue;
        }
        steps += 1;
        let answer = operation.ended.as_ref().map(|(_, answer)| answer);
        let after = model.step(&state, &operation.request, answer);
        at = events.next(event);
        if let Some(after) = after {
            linearized.insert(events.operation(event));
            if seen.insert((linearized.front(), after.clone())) {
                path.push((event, std::mem::replace(&mut state, after)));
                events.lift(event);
                at = events.first();
            } else {
                linearized.remove(events.operation(event));
            }
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests;
