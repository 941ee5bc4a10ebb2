//! The outbox, for people: what waits in it, and another attempt where somebody asks for one.

use std::ops::ControlFlow;

use engine::Word;
use engine::outbox::EntryState;
use layout::{Damaged, OutboxEntry, OutboxKey, Space};
use store::{Decision, KeyRange, Transaction};

use super::deliver::move_entry;
use super::naming::key_text;
use crate::aside::{Trouble, move_aside};
use crate::calls::CallError;
use crate::core::{Plan, Runtime, Schema, apply};

const OPEN: &str = "open";
const DEAD: &str = "dead letter";

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

impl Waiting {
    /// It is tried when its time comes.
    pub fn is_open(&self) -> bool {
        self.state == OPEN
    }

    /// All attempts were made: somebody has to ask for another one.
    pub fn is_dead(&self) -> bool {
        self.state == DEAD
    }
}

impl Runtime {
    /// Everything that waits in the outbox, dead letters among it. An entry that cannot be read is
    /// listed as `unreadable`, and its trouble says why.
    pub fn outbox(&self, limit: usize) -> Result<Vec<Waiting>, CallError> {
        let mut list = Vec::new();
        self.transact(&mut |transaction| {
            list.clear();
            let start = Space::Outbox.prefix(self.schema.number).to_vec();
            transaction.scan(&KeyRange::prefix(start), false, &mut |key, _, value| {
                if list.len() >= limit {
                    return ControlFlow::Break(());
                }
                let entry = waiting(&self.schema, key, value);
                list.push(entry.unwrap_or_else(|damaged| unreadable(key, &damaged)));
                ControlFlow::Continue(())
            });
            Decision::Abandon
        })?;
        Ok(list)
    }

    /// A person asks for another attempt, of a dead letter or of one that waits. One that cannot be read
    /// is set aside, and the error says what is wrong with it.
    pub fn retry(&self, waiting: &Waiting) -> Result<(), CallError> {
        let now = self.clock.now_ms();
        let mut outcome: Result<(), CallError> = Ok(());
        let mut moved = None;
        let ticket = self.transact(&mut |transaction| {
            (outcome, moved) = (Ok(()), None);
            match retried(&waiting.id, now, &*transaction) {
                Ok(Some(plan)) => {
                    apply(&plan, transaction);
                    Decision::Commit
                }
                Ok(None) => Decision::Abandon,
                Err(damaged) => {
                    let trouble = Trouble::Damaged(Box::new(damaged.clone()));
                    let keys = [waiting.id.clone()];
                    moved = move_aside(self.schema.number, &keys, &trouble, now, transaction);
                    outcome = Err(damaged.into());
                    Decision::Commit
                }
            }
        })?;
        self.alarm.ring(now);
        ticket.wait()?;
        if let Some(moved) = &moved {
            self.tell_moved(moved);
        }
        outcome
    }
}

/// The entry with another attempt ahead of it; none: it is gone.
fn retried(id: &[u8], now: Word, transaction: &dyn Transaction) -> Result<Option<Plan>, Damaged> {
    let key = OutboxKey::parse(id)?;
    let Some((_, bytes)) = transaction.get(id) else { return Ok(None) };
    let entry = OutboxEntry::take(bytes).map_err(|wrong| Damaged::value(id, wrong))?;
    let moved = OutboxEntry { entry: entry.entry.retry(now), ..entry.clone() };
    let mut plan = Plan::default();
    move_entry(key, &entry, &moved, &mut plan);
    Ok(Some(plan))
}

fn unreadable(key: &[u8], damaged: &Damaged) -> Waiting {
    Waiting {
        effect: "unknown".into(),
        key: key.escape_ascii().to_string(),
        state: "unreadable",
        attempts: 0,
        next_at: 0,
        trouble: damaged.to_string(),
        id: key.to_vec(),
    }
}

fn waiting(schema: &Schema, key: &[u8], value: &[u8]) -> Result<Waiting, Damaged> {
    let OutboxKey { operation, name, .. } = OutboxKey::parse(key)?;
    let wrong = |wrong| Damaged::value(key, wrong);
    let entry = OutboxEntry::take(value).map_err(wrong)?;
    Ok(Waiting {
        effect: schema.codec().operation(operation).map_err(wrong)?.name.clone(),
        key: key_text(schema, operation, name),
        state: match entry.entry.state {
            EntryState::Open => OPEN,
            EntryState::Closed => "closed",
            EntryState::Dead => DEAD,
        },
        attempts: entry.entry.attempts,
        next_at: entry.entry.next_at,
        trouble: entry.trouble,
        id: key.to_vec(),
    })
}
