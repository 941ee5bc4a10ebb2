//! Outbox entries, and their index by the time of the next attempt.

use design::model::OperationId;
use engine::Word;

use super::parts::{from_sortable, sortable};
use super::{parse, put_operation, take_all, take_operation};
use crate::damaged::Damaged;
use crate::space::{DesignNumber, Space};

/// A call of an effect, or a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutboxKey<'k> {
    pub design: DesignNumber,
    pub operation: OperationId,
    /// what names the call: the key of the effect, encoded, or the number of the message
    pub name: &'k [u8],
}

impl<'k> OutboxKey<'k> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(5 + self.name.len());
        out.extend_from_slice(&Space::Outbox.prefix(self.design));
        put_operation(&mut out, self.operation);
        out.extend_from_slice(self.name);
        out
    }

    pub fn parse(key: &'k [u8]) -> Result<OutboxKey<'k>, Damaged> {
        parse(key, Space::Outbox, |design, reader| {
            let operation = take_operation(reader)?;
            Ok(OutboxKey { design, operation, name: take_all(reader) })
        })
    }

    /// Where it stands in the index.
    pub fn due(&self, at: Word) -> OutboxDueKey<'k> {
        OutboxDueKey { at, entry: *self }
    }
}

/// An outbox entry that is to be tried at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutboxDueKey<'k> {
    /// milliseconds
    pub at: Word,
    pub entry: OutboxKey<'k>,
}

impl<'k> OutboxDueKey<'k> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(13 + self.entry.name.len());
        out.extend_from_slice(&Space::OutboxDue.prefix(self.entry.design));
        out.extend_from_slice(&sortable(self.at));
        put_operation(&mut out, self.entry.operation);
        out.extend_from_slice(self.entry.name);
        out
    }

    pub fn parse(key: &'k [u8]) -> Result<OutboxDueKey<'k>, Damaged> {
        parse(key, Space::OutboxDue, |design, reader| {
            let at = from_sortable(reader.array()?);
            let operation = take_operation(reader)?;
            Ok(OutboxDueKey { at, entry: OutboxKey { design, operation, name: take_all(reader) } })
        })
    }
}
