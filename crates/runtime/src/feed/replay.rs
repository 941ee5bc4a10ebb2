//! A recorded history, walked again: every transition must be one that the engine allows from
//! the truth that the ones before it left, and must leave exactly what was recorded.

use std::cell::RefCell;

use design::model::{Design, StateId};
use engine::{Command, NULL, Word};
use layout::feed::of_any;
use layout::{DesignNumber, FeedEntry, Pool, Space, Wrong, log_of};
use rustc_hash::FxHashMap;

use crate::calls::{Expected, Performed, Room, perform};
use crate::core::{Got, Plan, ReadError, Schema, Source};
use crate::logs::{self, Forgotten};

/// Where a history departs from the design.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Departure {
    /// from 0
    pub transition: usize,
    pub operation: String,
    pub what: &'static str,
}

impl std::fmt::Display for Departure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "transition {} (`{}`): {}", self.transition, self.operation, self.what)
    }
}

/// The truth that the walk has come to. Outbox entries are not part of it: they are closed by
/// attempts, which leave no trace in the feed when they fail.
#[derive(Default)]
struct Walked {
    values: FxHashMap<Vec<u8>, Vec<u8>>,
}

impl Source for Walked {
    fn get(&self, key: &[u8]) -> Got<'_> {
        match self.values.get(key) {
            Some(value) => Got::Present(1, value),
            None => Got::Absent,
        }
    }

    fn stored(&self, _digest: &[u8]) -> Option<bool> {
        Some(false)
    }
}

impl Walked {
    fn take(&mut self, plan: &Plan) {
        for (key, value) in plan.writes() {
            if Space::of(key) == Some(Space::Outbox) {
                continue;
            }
            match value {
                Some(value) => self.values.insert(key.to_vec(), value.to_vec()),
                None => self.values.remove(key),
            };
        }
    }
}

/// What becomes of the log that a transition forgot entries of, and its name; no plan: nothing does.
fn forgotten(
    schema: &Schema,
    recorded: &FeedEntry<'_>,
    (log, now): (StateId, Word),
    pool: &RefCell<Pool>,
    walked: &Walked,
    room: &mut Room,
) -> Result<(String, Option<Plan>), ReadError> {
    let wrong = |wrong| ReadError::feed(recorded.principal, wrong);
    let change = recorded.changes.first().ok_or(wrong(Wrong::UnknownSubject))?;
    let name = logs::name(&schema.design, change.subject, log).map_err(wrong)?;
    let codec = schema.codec();
    let key = codec.handle(codec.key_of(change.subject, change.key), &mut pool.borrow_mut())?;
    match logs::forget(schema, (change.subject, key), log, now, pool, walked, room)? {
        Forgotten::Done(plan) => Ok((name, Some(plan))),
        Forgotten::Nothing(_) => Ok((name, None)),
    }
}

/// Walks a history from its beginning: the entries of one design, in the order of the feed. Gives
/// how many transitions it has.
pub fn replay<'e>(
    design: Design,
    entries: impl IntoIterator<Item = &'e [u8]>,
) -> Result<usize, Departure> {
    let number = DesignNumber(0);
    let departure = |transition, operation: &str, what| Departure {
        transition,
        operation: operation.to_string(),
        what,
    };
    let schema = Schema::new(design, number).map_err(|_| departure(0, "", "no design to run"))?;
    let pool = RefCell::new(Pool::new(schema.program.texts()));
    let mut room = Room::default();
    let mut walked = Walked::default();
    let mut count = 0;
    for entry in entries {
        let Some(recorded) = of_any(entry) else {
            return Err(departure(count, "", "an entry that cannot be read"));
        };
        pool.borrow_mut().reset();
        let damaged = |_: ReadError| departure(count, "", "an entry that cannot be read");
        let wrong = |wrong| damaged(ReadError::feed(entry, wrong));
        let read = FeedEntry::parse(recorded).map_err(wrong)?;
        let asked = schema.codec().take_asked(&read, &mut pool.borrow_mut()).map_err(wrong)?;
        if let Some(log) = log_of(asked.operation) {
            let (name, plan) =
                forgotten(&schema, &read, (log, asked.now), &pool, &walked, &mut room)
                    .map_err(damaged)?;
            let Some(plan) = plan else {
                return Err(departure(count, &name, "nothing is old enough to be forgotten"));
            };
            if of_any(&plan.feed) != Some(recorded) {
                return Err(departure(count, &name, "the design leaves another truth"));
            }
            walked.take(&plan);
            count += 1;
            continue;
        }
        let name = schema.design.operations[asked.operation.index()].name.clone();
        let me = match &asked.principal {
            Some(principal) => pool.borrow_mut().text(principal),
            None => NULL,
        };
        let command = Command {
            operation: asked.operation,
            params: &asked.params,
            memory: &asked.memory,
            me,
            now: asked.now,
            answer: asked.answer,
        };
        let (none, number) = (Expected::default(), count as u64);
        let performed = perform(&schema, &command, &pool, &none, &walked, number, &mut room)
            .map_err(damaged)?;
        let Performed::Done(done) = performed else {
            return Err(departure(count, &name, "the design refuses this"));
        };
        if of_any(&done.plan.feed) != Some(recorded) {
            return Err(departure(count, &name, "the design leaves another truth"));
        }
        walked.take(&done.plan);
        room.reuse(done);
        count += 1;
    }
    Ok(count)
}
