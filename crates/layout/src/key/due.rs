//! The index of repairs by the time they are due.

use design::model::OperationId;
use engine::Word;

use super::parts::{from_sortable, sortable};
use super::{RecordKey, parse, put_operation, put_subject, take_all, take_operation, take_subject};
use crate::damaged::Damaged;
use crate::space::Space;

/// A repair of a record, or the forgetting of one of its logs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepairDueKey<'k> {
    /// milliseconds
    pub at: Word,
    pub repair: OperationId,
    pub record: RecordKey<'k>,
}

impl<'k> RepairDueKey<'k> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(15 + self.record.parts.len());
        out.extend_from_slice(&Space::RepairDue.prefix(self.record.design));
        out.extend_from_slice(&sortable(self.at));
        put_operation(&mut out, self.repair);
        put_subject(&mut out, self.record.subject);
        out.extend_from_slice(self.record.parts);
        out
    }

    pub fn parse(key: &'k [u8]) -> Result<RepairDueKey<'k>, Damaged> {
        parse(key, Space::RepairDue, |design, reader| {
            let at = from_sortable(reader.array()?);
            let repair = take_operation(reader)?;
            let subject = take_subject(reader)?;
            let record = RecordKey { design, subject, parts: take_all(reader) };
            Ok(RepairDueKey { at, repair, record })
        })
    }
}
