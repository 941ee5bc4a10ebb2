//! An outbox entry as it is stored: the pure machine's state, and what the call is made of.

use engine::Word;
use engine::outbox::{Entry, EntryState};
use telemetry::Trace;

use crate::bytes::{Reader, put_bytes, put_number, put_signed, put_sized};
use crate::damaged::Wrong;

const FORM: u8 = 1;
/// The same, and which request caused it.
const TRACED: u8 = 2;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutboxEntry {
    pub entry: Entry,
    /// the operation's arguments, encoded
    pub args: Vec<u8>,
    /// what went wrong last, for a person to read
    pub trouble: String,
    /// which request caused it
    pub trace: Option<Trace>,
}

impl OutboxEntry {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.args.len());
        match &self.trace {
            None => out.push(FORM),
            Some(trace) => {
                out.push(TRACED);
                put_sized(&mut out, |out| trace.put(out));
            }
        }
        out.push(match self.entry.state {
            EntryState::Open => 0,
            EntryState::Closed => 1,
            EntryState::Dead => 2,
        });
        put_number(&mut out, u64::from(self.entry.attempts));
        put_signed(&mut out, self.entry.next_at);
        put_bytes(&mut out, &self.args);
        put_bytes(&mut out, self.trouble.as_bytes());
        out
    }

    pub fn take(bytes: &[u8]) -> Result<OutboxEntry, Wrong> {
        let mut reader = Reader::new(bytes);
        let trace = match reader.byte()? {
            FORM => None,
            TRACED => Some(Trace::take(reader.bytes()?).ok_or(Wrong::Trace)?),
            _ => return Err(Wrong::UnknownForm),
        };
        let state = match reader.byte()? {
            0 => EntryState::Open,
            1 => EntryState::Closed,
            2 => EntryState::Dead,
            _ => return Err(Wrong::UnknownChoice),
        };
        let attempts = reader.id()?;
        let next_at: Word = reader.signed()?;
        let args = reader.bytes()?.to_vec();
        let trouble = String::from_utf8_lossy(reader.bytes()?).into_owned();
        Ok(OutboxEntry { entry: Entry { state, attempts, next_at }, args, trouble, trace })
    }
}

/// What names a message: it has no key of its own, and each is another one.
pub fn message_name(commit: u64, at: usize) -> Vec<u8> {
    let mut name = commit.to_be_bytes().to_vec();
    put_number(&mut name, at as u64);
    name
}

/// How many bytes at the end of the name of an event say when it was emitted.
const EMITTED: usize = 12;

/// What names an event on its way to its handler: its key, and when it was emitted. In the order of names, those of one key
/// stand together, the first one first.
pub fn event_name(key: &[u8], commit: u64, at: usize) -> Vec<u8> {
    let mut name = Vec::with_capacity(4 + key.len() + EMITTED);
    name.extend_from_slice(&(key.len() as u32).to_be_bytes());
    name.extend_from_slice(key);
    name.extend_from_slice(&commit.to_be_bytes());
    name.extend_from_slice(&(at as u32).to_be_bytes());
    name
}

/// What the names of all events of one key begin with.
pub fn event_key(name: &[u8]) -> &[u8] {
    &name[..name.len().saturating_sub(EMITTED)]
}

#[cfg(test)]
mod tests {
    #[test]
    fn events_of_one_key_stand_together_in_the_order_in_which_they_were_emitted() {
        let long = [7; 100];
        let keys: [&[u8]; 5] = [b"", b"a", b"ab", b"a\0", &long];
        for key in keys {
            let names = [(1, 0), (1, 2), (1, 300), (2, 0), (256, 0), (u64::MAX, 1)]
                .map(|(commit, at)| event_name(key, commit, at));
            assert!(names.is_sorted(), "{key:?}");
            for name in &names {
                assert_eq!(event_key(name), event_key(&names[0]));
                for other in keys.iter().filter(|other| **other != key) {
                    assert!(
                        !event_name(other, 1, 0).starts_with(event_key(name)),
                        "{key:?} {other:?}"
                    );
                }
            }
        }
    }

    use super::*;

    #[test]
    fn an_entry_comes_back() {
        let states = [EntryState::Open, EntryState::Closed, EntryState::Dead];
        for (state, trace) in states.into_iter().zip([None, Some(Trace::fresh()), None]) {
            let entry = OutboxEntry {
                trace,
                entry: Entry { state, attempts: 7, next_at: -3 },
                args: vec![1, 2, 0],
                trouble: "connection refused".into(),
            };
            let bytes = entry.to_bytes();
            assert_eq!(OutboxEntry::take(&bytes), Ok(entry));
            for end in 0..bytes.len() {
                assert!(OutboxEntry::take(&bytes[..end]).is_err(), "{end}");
            }
        }
    }
}
