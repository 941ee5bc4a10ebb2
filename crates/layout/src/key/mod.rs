//! One type for each kind of stored key, with `to_bytes` and `parse`.
//!
//! | space | after the design's number and the letter |
//! | --- | --- |
//! | `r` record | subject, parts |
//! | `l` log entry | subject, parts, log, offset |
//! | `t` due repair | time, repair, subject, parts |
//! | `o` outbox entry | operation, name |
//! | `p` due outbox entry | time, operation, name |
//! | `i` kept outcome | hash |
//! | `j` outcome to forget | time, 0, hash |
//! | `b` content mark | digest |
//! | `a` actor mark | hash of the principal, actor |
//! | `f` follower | name |
//! | `m` design entry | what it is about |
//! | `x` entry set aside | hash |

mod about;
mod aside;
mod due;
mod outbox;
mod outcome;
pub mod parts;
mod record;
mod stored;

pub use about::{About, ActedKey, ContentKey, FollowerKey, MetaKey};
pub use aside::AsideKey;
pub use due::RepairDueKey;
pub use outbox::{OutboxDueKey, OutboxKey};
pub use outcome::{OutcomeDueKey, OutcomeKey};
pub use parts::{
    MAX_PARTS, PartKind, from_sortable, has_empty_part, put_parts, put_text, sortable, take_parts,
};
pub use record::{LogKey, RecordKey};
pub use stored::StoredKey;

use design::model::{OperationId, SubjectId};

use crate::bytes::Reader;
use crate::damaged::{Damaged, Wrong};
use crate::space::{DesignNumber, Space};

/// Reads a key of one space: `take` reads what follows its letter, and must read all of it.
fn parse<'k, K>(
    key: &'k [u8],
    space: Space,
    take: impl FnOnce(DesignNumber, &mut Reader<'k>) -> Result<K, Wrong>,
) -> Result<K, Damaged> {
    let mut reader = Reader::new(key);
    let read = || {
        let design = DesignNumber(two(&mut reader)?);
        if reader.byte()? != space.letter() {
            return Err(Wrong::OtherSpace);
        }
        let parsed = take(design, &mut reader)?;
        reader.end()?;
        Ok(parsed)
    };
    read().map_err(|wrong| Damaged::key(key, wrong))
}

fn two(reader: &mut Reader<'_>) -> Result<u16, Wrong> {
    Ok(u16::from_be_bytes(reader.array()?))
}

fn take_subject(reader: &mut Reader<'_>) -> Result<SubjectId, Wrong> {
    Ok(SubjectId(u32::from(two(reader)?)))
}

fn put_subject(out: &mut Vec<u8>, subject: SubjectId) {
    out.extend_from_slice(&(subject.0 as u16).to_be_bytes());
}

fn take_operation(reader: &mut Reader<'_>) -> Result<OperationId, Wrong> {
    Ok(OperationId(u32::from(two(reader)?)))
}

fn put_operation(out: &mut Vec<u8>, operation: OperationId) {
    out.extend_from_slice(&(operation.0 as u16).to_be_bytes());
}

fn take_all<'k>(reader: &mut Reader<'k>) -> &'k [u8] {
    let rest = reader.rest();
    *reader = Reader::new(&[]);
    rest
}
