//! Any stored key.

use super::{
    ActedKey, AsideKey, ContentKey, FollowerKey, LogKey, MetaKey, OutboxDueKey, OutboxKey,
    OutcomeDueKey, OutcomeKey, RecordKey, RepairDueKey,
};
use crate::damaged::{Damaged, Wrong};
use crate::space::{DesignNumber, Space};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoredKey<'k> {
    Record(RecordKey<'k>),
    Log(LogKey<'k>),
    RepairDue(RepairDueKey<'k>),
    Outbox(OutboxKey<'k>),
    OutboxDue(OutboxDueKey<'k>),
    Outcome(OutcomeKey),
    OutcomeDue(OutcomeDueKey),
    Content(ContentKey<'k>),
    Acted(ActedKey<'k>),
    Follower(FollowerKey<'k>),
    Meta(MetaKey),
    Aside(AsideKey),
}

impl<'k> StoredKey<'k> {
    pub fn parse(key: &'k [u8]) -> Result<StoredKey<'k>, Damaged> {
        let space = Space::of(key).ok_or_else(|| Damaged::key(key, Wrong::UnknownSpace))?;
        Ok(match space {
            Space::Record => StoredKey::Record(RecordKey::parse(key)?),
            Space::LogEntry => StoredKey::Log(LogKey::parse(key)?),
            Space::RepairDue => StoredKey::RepairDue(RepairDueKey::parse(key)?),
            Space::Outbox => StoredKey::Outbox(OutboxKey::parse(key)?),
            Space::OutboxDue => StoredKey::OutboxDue(OutboxDueKey::parse(key)?),
            Space::Idempotency => StoredKey::Outcome(OutcomeKey::parse(key)?),
            Space::IdempotencyDue => StoredKey::OutcomeDue(OutcomeDueKey::parse(key)?),
            Space::Blob => StoredKey::Content(ContentKey::parse(key)?),
            Space::Apart => StoredKey::Acted(ActedKey::parse(key)?),
            Space::Follower => StoredKey::Follower(FollowerKey::parse(key)?),
            Space::Meta => StoredKey::Meta(MetaKey::parse(key)?),
            Space::Aside => StoredKey::Aside(AsideKey::parse(key)?),
        })
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            StoredKey::Record(key) => key.to_bytes(),
            StoredKey::Log(key) => key.to_bytes(),
            StoredKey::RepairDue(key) => key.to_bytes(),
            StoredKey::Outbox(key) => key.to_bytes(),
            StoredKey::OutboxDue(key) => key.to_bytes(),
            StoredKey::Outcome(key) => key.to_bytes(),
            StoredKey::OutcomeDue(key) => key.to_bytes(),
            StoredKey::Content(key) => key.to_bytes(),
            StoredKey::Acted(key) => key.to_bytes(),
            StoredKey::Follower(key) => key.to_bytes(),
            StoredKey::Meta(key) => key.to_bytes(),
            StoredKey::Aside(key) => key.to_bytes(),
        }
    }

    /// The same key under the number of another design. Only for keys that do not refer to
    /// anything of the design by a number.
    #[must_use]
    pub fn of_design(mut self, number: DesignNumber) -> StoredKey<'k> {
        *match &mut self {
            StoredKey::Record(key) => &mut key.design,
            StoredKey::Log(key) => &mut key.design,
            StoredKey::RepairDue(key) => &mut key.record.design,
            StoredKey::Outbox(key) => &mut key.design,
            StoredKey::OutboxDue(key) => &mut key.entry.design,
            StoredKey::Outcome(key) => &mut key.design,
            StoredKey::OutcomeDue(key) => &mut key.outcome.design,
            StoredKey::Content(key) => &mut key.design,
            StoredKey::Acted(key) => &mut key.design,
            StoredKey::Follower(key) => &mut key.design,
            StoredKey::Meta(key) => &mut key.design,
            StoredKey::Aside(key) => &mut key.design,
        } = number;
        self
    }
}
