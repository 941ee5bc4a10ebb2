//! The keys of records and of the entries of their logs.

use design::model::{OperationId, StateId, SubjectId};
use engine::Word;

use super::{RepairDueKey, parse, put_subject, take_all, take_subject};
use crate::bytes::Reader;
use crate::damaged::{Damaged, Wrong};
use crate::space::{DesignNumber, Space};

/// A record of a subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordKey<'k> {
    pub design: DesignNumber,
    pub subject: SubjectId,
    /// encoded
    pub parts: &'k [u8],
}

impl<'k> RecordKey<'k> {
    /// How the keys of all records of a subject begin.
    pub fn prefix(design: DesignNumber, subject: SubjectId) -> Vec<u8> {
        RecordKey { design, subject, parts: &[] }.to_bytes()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(5 + self.parts.len());
        out.extend_from_slice(&Space::Record.prefix(self.design));
        put_subject(&mut out, self.subject);
        out.extend_from_slice(self.parts);
        out
    }

    pub fn parse(key: &'k [u8]) -> Result<RecordKey<'k>, Damaged> {
        parse(key, Space::Record, |design, reader| {
            let subject = take_subject(reader)?;
            Ok(RecordKey { design, subject, parts: take_all(reader) })
        })
    }

    pub fn log_entry(&self, log: StateId, offset: u64) -> LogKey<'k> {
        LogKey { design: self.design, subject: self.subject, parts: self.parts, log, offset }
    }

    /// Where a repair of this record stands in the index of due times.
    pub fn due(&self, repair: OperationId, at: Word) -> RepairDueKey<'k> {
        RepairDueKey { at, repair, record: *self }
    }
}

/// An entry of a log of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogKey<'k> {
    pub design: DesignNumber,
    pub subject: SubjectId,
    /// of the record's key, encoded
    pub parts: &'k [u8],
    pub log: StateId,
    pub offset: u64,
}

/// The log and the offset, at the end of the key.
const LOG_END_BYTES: usize = 9;

impl<'k> LogKey<'k> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(5 + self.parts.len() + LOG_END_BYTES);
        out.extend_from_slice(&Space::LogEntry.prefix(self.design));
        put_subject(&mut out, self.subject);
        out.extend_from_slice(self.parts);
        out.push(self.log.0 as u8);
        out.extend_from_slice(&self.offset.to_be_bytes());
        out
    }

    pub fn parse(key: &'k [u8]) -> Result<LogKey<'k>, Damaged> {
        parse(key, Space::LogEntry, |design, reader| {
            let subject = take_subject(reader)?;
            let rest = take_all(reader);
            // the parts are as long as they are; what follows them has one length
            let end = rest.len().checked_sub(LOG_END_BYTES).ok_or(Wrong::EndsEarly)?;
            let (parts, end) = rest.split_at(end);
            let mut end = Reader::new(end);
            let log = StateId(u32::from(end.byte()?));
            let offset = u64::from_be_bytes(end.array()?);
            Ok(LogKey { design, subject, parts, log, offset })
        })
    }

    pub fn record(&self) -> RecordKey<'k> {
        RecordKey { design: self.design, subject: self.subject, parts: self.parts }
    }
}
