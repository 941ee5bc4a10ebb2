//! The outbox, for people: what waits in it, and another attempt where somebody asks for one.

use std::ops::ControlFlow;

use engine::outbox::EntryState;
use layout::{OutboxEntry, OutboxKey, Space};
use store::{Decision, KeyRange};

use super::deliver::move_entry;
use super::naming::key_text;
use crate::calls::CallError;
use crate::core::{Plan, ReadError, Runtime, Schema, apply};

/// An entry of the outbox, for people.
#[derive(Clone, PartialEq, Debug)]
pub struct Waiting {
    pub effect: String,
    pub key: String,
    pub state: &'static str,
    pub attempts: u32,
    pub next_at: i64,
    pub trouble: String,
    id: Vec<u8>,
}

impl Runtime {
    /// Everything that waits in the outbox, dead letters among it.
    pub fn outbox(&self, limit: usize) -> Result<Vec<Waiting>, CallError> {
        let mut list = Vec::new();
        let mut trouble = None;
        self.transact(&mut |transaction| {
            list.clear();
            let start = Space::Outbox.prefix(self.schema.number).to_vec();
            transaction.scan(&KeyRange::prefix(start), false, &mut |key, _, value| {
                if list.len() >= limit {
                    return ControlFlow::Break(());
                }
                match waiting(&self.schema, key, value) {
                    Ok(entry) => list.push(entry),
                    Err(error) => trouble = Some(error),
                }
                ControlFlow::Continue(())
            });
            Decision::Abandon
        })?;
        match trouble {
            Some(error) => Err(error.into()),
            None => Ok(list),
        }
    }

    /// A person asks for another attempt, of a dead letter or of one that waits.
    pub fn retry(&self, waiting: &Waiting) -> Result<(), CallError> {
        let now = self.clock.now_ms();
        let mut outcome: Result<(), CallError> = Ok(());
        let ticket = self.transact(&mut |transaction| {
            let retried = (|| {
                let key = OutboxKey::parse(&waiting.id)?;
                let Some((_, bytes)) = transaction.get(&waiting.id) else { return Ok(None) };
                let entry = OutboxEntry::take(bytes)
                    .map_err(|wrong| ReadError::value(&waiting.id, wrong))?;
                let moved = OutboxEntry { entry: entry.entry.retry(now), ..entry.clone() };
                let mut plan = Plan::default();
                move_entry(key, &entry, &moved, &mut plan);
                Ok::<_, ReadError>(Some(plan))
            })();
            match retried {
                Ok(Some(plan)) => {
                    apply(&plan, transaction);
                    Decision::Commit
                }
                Ok(None) => Decision::Abandon,
                Err(error) => {
                    outcome = Err(error.into());
                    Decision::Abandon
                }
            }
        })?;
        self.alarm.ring(now);
        ticket.wait()?;
        outcome
    }
}

fn waiting(schema: &Schema, key: &[u8], value: &[u8]) -> Result<Waiting, ReadError> {
    let OutboxKey { operation, name, .. } = OutboxKey::parse(key)?;
    let wrong = |wrong| ReadError::value(key, wrong);
    let entry = OutboxEntry::take(value).map_err(wrong)?;
    Ok(Waiting {
        effect: schema.codec().operation(operation).map_err(wrong)?.name.clone(),
        key: key_text(schema, operation, name),
        state: match entry.entry.state {
            EntryState::Open => "open",
            EntryState::Closed => "closed",
            EntryState::Dead => "dead letter",
        },
        attempts: entry.entry.attempts,
        next_at: entry.entry.next_at,
        trouble: entry.trouble,
        id: key.to_vec(),
    })
}
