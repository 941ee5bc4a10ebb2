//! What was set aside, for people: what it is, another try, and throwing it away.

use std::fmt;
use std::ops::ControlFlow;

use layout::{AsideKey, Damaged, OutboxDueKey, OutboxKey, RepairDueKey, SetAside, Space, log_of};
use store::{Decision, KeyRange, Transaction};

use crate::calls::CallError;
use crate::core::{ReadError, Runtime, Schema};
use crate::logs;

/// An entry that was taken out of its queue.
#[derive(Clone, PartialEq, Debug)]
pub struct Aside {
    /// names it in `try_again` and `discard`
    pub id: String,
    /// what kind of entry it is: `due repair`, `outbox entry`
    pub space: &'static str,
    /// its key in the store, with bytes that are no letters escaped
    pub key: String,
    /// the operation that it calls, as far as that can be read
    pub operation: Option<String>,
    pub reason: String,
    /// when it was set aside, in milliseconds
    pub at: i64,
    /// false: it was set aside under an earlier version of the design, and cannot go back
    pub can_go_back: bool,
}

/// Why an entry was not put back or discarded. Nothing has changed.
#[derive(Clone, PartialEq, Debug)]
pub enum AsideError {
    /// nothing is set aside under this id
    Unknown(String),
    /// it was set aside under an earlier version of the design
    EarlierVersion,
    /// something else stands under its key by now
    Taken(String),
    Call(CallError),
}

impl fmt::Display for AsideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AsideError::Unknown(id) => write!(f, "nothing is set aside under `{id}`"),
            AsideError::EarlierVersion => write!(
                f,
                "it was set aside under an earlier version of the design, and this one cannot work on \
                 it; it can be discarded"
            ),
            AsideError::Taken(key) => write!(
                f,
                "another entry stands under `{key}` by now; once that is gone this one can be tried \
                 again, or it can be discarded"
            ),
            AsideError::Call(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for AsideError {}

impl From<CallError> for AsideError {
    fn from(error: CallError) -> AsideError {
        AsideError::Call(error)
    }
}

impl From<store::Error> for AsideError {
    fn from(error: store::Error) -> AsideError {
        AsideError::Call(error.into())
    }
}

impl Runtime {
    /// What was set aside, at most `limit` of it, the oldest first.
    pub fn set_aside(&self, limit: usize) -> Result<Vec<Aside>, CallError> {
        let mut list = Vec::new();
        self.transact(&mut |transaction| {
            list.clear();
            let start = Space::Aside.prefix(self.schema.number).to_vec();
            transaction.scan(&KeyRange::prefix(start), false, &mut |key, _, value| {
                if list.len() >= limit {
                    return ControlFlow::Break(());
                }
                list.push(self.described_aside(key, value));
                ControlFlow::Continue(())
            });
            Decision::Abandon
        })?;
        list.sort_by_key(|aside| aside.at);
        Ok(list)
    }

    /// Puts an entry back in its queue exactly as it was: it is worked on again at once. Durable when
    /// this returns.
    pub fn try_again(&self, id: &str) -> Result<(), AsideError> {
        self.resolve(id, |aside, transaction| {
            let aside = aside.map_err(CallError::from)?;
            if aside.design != self.schema.number {
                return Err(AsideError::EarlierVersion);
            }
            let full = |rest: &[u8]| [&self.schema.number.prefix(), rest].concat();
            for (rest, _) in &aside.taken {
                if transaction.get(&full(rest)).is_some() {
                    return Err(AsideError::Taken(full(rest).escape_ascii().to_string()));
                }
            }
            for (rest, value) in &aside.taken {
                let key = full(rest);
                // whoever had it in hand has it no more
                let claimed = Space::of(&key) == Some(Space::OutboxDue);
                transaction.put(&key, if claimed { &[][..] } else { &value[..] });
            }
            Ok(())
        })?;
        tracing::info!(design = %self.schema.design.name, id, "an entry set aside is tried again");
        self.alarm.ring(i64::MIN);
        Ok(())
    }

    /// Throws an entry away. Durable when this returns.
    pub fn discard(&self, id: &str) -> Result<(), AsideError> {
        self.resolve(id, |_, _| Ok(()))?;
        tracing::info!(design = %self.schema.design.name, id, "an entry set aside was discarded");
        Ok(())
    }

    /// Takes an entry out of what was set aside, after `finish` has done with it what is to be done.
    fn resolve(
        &self,
        id: &str,
        mut finish: impl FnMut(
            Result<SetAside, ReadError>,
            &mut dyn Transaction,
        ) -> Result<(), AsideError>,
    ) -> Result<(), AsideError> {
        let unknown = || AsideError::Unknown(id.to_string());
        let hash = from_hex(id).ok_or_else(unknown)?;
        let key = AsideKey { design: self.schema.number, hash }.to_bytes();
        let mut outcome = Ok(());
        let ticket = self.transact(&mut |transaction| {
            let stored = transaction.get(&key).map(|(_, bytes)| SetAside::take(bytes));
            outcome = match stored {
                None => Err(unknown()),
                Some(read) => {
                    finish(read.map_err(|wrong| ReadError::value(&key, wrong)), transaction)
                }
            };
            if outcome.is_err() {
                return Decision::Abandon;
            }
            transaction.delete(&key);
            Decision::Commit
        })?;
        ticket.wait()?;
        outcome
    }

    fn described_aside(&self, key: &[u8], value: &[u8]) -> Aside {
        let id = AsideKey::parse(key).map_or_else(|_| String::new(), |key| to_hex(&key.hash));
        match SetAside::take(value) {
            Ok(SetAside { at, reason, design, taken }) => {
                let entry = [&design.prefix(), &taken[0].0[..]].concat();
                let can_go_back = design == self.schema.number;
                Aside {
                    id,
                    space: Space::of(&entry).map_or("unknown", Space::name),
                    key: entry.escape_ascii().to_string(),
                    operation: operation(&self.schema, &entry).filter(|_| can_go_back),
                    reason,
                    at,
                    can_go_back,
                }
            }
            Err(wrong) => Aside {
                id,
                space: Space::Aside.name(),
                key: key.escape_ascii().to_string(),
                operation: None,
                reason: Damaged::value(key, wrong).to_string(),
                at: 0,
                can_go_back: false,
            },
        }
    }
}

/// The operation that an entry of a queue calls.
fn operation(schema: &Schema, entry: &[u8]) -> Option<String> {
    let id = match Space::of(entry)? {
        Space::Outbox => OutboxKey::parse(entry).ok()?.operation,
        Space::OutboxDue => OutboxDueKey::parse(entry).ok()?.entry.operation,
        Space::RepairDue => {
            let due = RepairDueKey::parse(entry).ok()?;
            if let Some(log) = log_of(due.repair) {
                return logs::name(&schema.design, due.record.subject, log).ok();
            }
            due.repair
        }
        _ => return None,
    };
    schema.codec().operation(id).ok().map(|operation| operation.name.clone())
}

fn to_hex(hash: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*hash))
}

fn from_hex(id: &str) -> Option<[u8; 16]> {
    let digits = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u128::from_str_radix(id, 16).ok().map(u128::to_be_bytes)).flatten()
}
