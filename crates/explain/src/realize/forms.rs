//! One commit, before any engine: what is read, what must still be so, what is written.

use layout::{KeyForm, Size};
use serde::Serialize;

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CommitForm {
    pub operation: String,
    /// ranges of keys that are looked through, in order
    pub scans: Vec<ScanForm>,
    /// records that are read before the step is evaluated
    pub reads: Vec<Record>,
    pub writes: Vec<WriteForm>,
    /// one entry: the changed records and the events
    pub feed: Option<Size>,
    /// at most so many writes, loops unrolled
    pub writes_max: u64,
    pub events: Vec<String>,
}

/// A record that the guard or the body looks at; the commit checks that it is as it was read.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Record {
    /// fit for a placeholder: `seat`, `seat_booking`
    pub name: String,
    pub path: String,
    pub key: KeyForm,
    /// counted from 1: a record behind a reference is read in the round after, and an entry of the outbox that the step
    /// opens in the last one, when the step was evaluated
    pub round: u32,
    pub expected: Expected,
    /// only then is it read
    pub when: Option<String>,
    pub written: bool,
    /// at most so many of them, in a loop
    pub times: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    Version,
    Absent,
    /// either, as it was found
    AsRead,
}

/// A range of keys: what is due, or the entries of a log.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ScanForm {
    pub name: String,
    pub what: String,
    pub from: KeyForm,
    /// itself not in the range
    pub to: KeyForm,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WriteForm {
    pub name: String,
    pub what: String,
    pub key: KeyForm,
    pub kind: WriteKind,
    pub when: Option<String>,
    pub size: Size,
    /// how often, in one commit
    pub times: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteKind {
    /// of a record that was absent
    Create,
    /// of a record that was read, at the version it had
    Update,
    /// of a record that was read, at the version it had
    Remove,
    /// whatever was there: index entries
    Put,
    Delete,
}

/// Letters, digits and underscores.
pub fn plain(path: &str) -> String {
    let mut name = String::new();
    for letter in path.chars() {
        if letter.is_ascii_alphanumeric() {
            name.push(letter);
        } else if !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
    }
    name.trim_end_matches('_').to_owned()
}
