//! Outcomes that are kept for an idempotency key, and their index by the time they are forgotten.

use design::model::OperationId;
use engine::Word;

use super::parts::{from_sortable, sortable};
use super::{parse, put_operation, take_operation};
use crate::damaged::Damaged;
use crate::space::{DesignNumber, Space};

/// A kept outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutcomeKey {
    pub design: DesignNumber,
    /// of the operation, the principal and the idempotency key
    pub hash: [u8; 16],
}

impl OutcomeKey {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(19);
        out.extend_from_slice(&Space::Idempotency.prefix(self.design));
        out.extend_from_slice(&self.hash);
        out
    }

    pub fn parse(key: &[u8]) -> Result<OutcomeKey, Damaged> {
        parse(key, Space::Idempotency, |design, reader| {
            Ok(OutcomeKey { design, hash: reader.array()? })
        })
    }

    /// Where it stands in the index.
    pub fn due(&self, at: Word) -> OutcomeDueKey {
        OutcomeDueKey { at, outcome: *self }
    }
}

/// A kept outcome that is to be forgotten at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutcomeDueKey {
    /// milliseconds
    pub at: Word,
    pub outcome: OutcomeKey,
}

/// All indexes of due times have an operation after the time; here it says nothing.
const NO_OPERATION: OperationId = OperationId(0);

impl OutcomeDueKey {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(29);
        out.extend_from_slice(&Space::IdempotencyDue.prefix(self.outcome.design));
        out.extend_from_slice(&sortable(self.at));
        put_operation(&mut out, NO_OPERATION);
        out.extend_from_slice(&self.outcome.hash);
        out
    }

    pub fn parse(key: &[u8]) -> Result<OutcomeDueKey, Damaged> {
        parse(key, Space::IdempotencyDue, |design, reader| {
            let at = from_sortable(reader.array()?);
            take_operation(reader)?;
            Ok(OutcomeDueKey { at, outcome: OutcomeKey { design, hash: reader.array()? } })
        })
    }
}
