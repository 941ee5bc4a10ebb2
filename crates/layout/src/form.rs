//! The form of a key in words, for people: which parts follow each other, and how each is written.

use std::fmt;

use design::model::{Design, OperationId, StateId, Subject, SubjectId};
use serde::{Serialize, Serializer};

use crate::key::{PartKind, put_text};
use crate::space::{DesignNumber, Space};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyForm(pub Vec<Part>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// the number of the design in the store, two bytes
    Design,
    /// the letter of the space, one byte
    Space(Space),
    /// two bytes, the high one first
    Number(u16),
    /// one byte
    Byte(u8),
    /// a text that ends in 00 01, with 00 inside written as 00 ff
    Text(String),
    /// eight bytes, sorted as the number they stand for
    Sorted(String),
    /// eight bytes, the high one first
    Offset(String),
    /// so many bytes of a hash
    Hash(String, u8),
    /// the rest of another key, or an encoded key of an effect
    Tail(String),
}

impl KeyForm {
    /// How every key of a space begins.
    pub fn begin(space: Space) -> KeyForm {
        KeyForm(vec![Part::Design, Part::Space(space)])
    }

    /// How every key of an index by time begins that stands at a time.
    pub fn until(space: Space, at: &str) -> KeyForm {
        let mut form = KeyForm::begin(space);
        form.0.push(Part::Sorted(at.into()));
        form
    }

    pub fn record(design: &Design, subject: SubjectId, path: &str) -> KeyForm {
        let mut form = KeyForm::begin(Space::Record);
        form.0.push(Part::Number(subject.0 as u16));
        parts_of(design, &design.subjects[subject.index()], path, &mut form.0);
        form
    }

    pub fn log_entry(record: &KeyForm, log: StateId, offset: &str) -> KeyForm {
        let mut form = KeyForm::begin(Space::LogEntry);
        form.0.extend_from_slice(record.tail());
        form.0.push(Part::Byte(log.0 as u8));
        form.0.push(Part::Offset(offset.into()));
        form
    }

    /// In an index by time: of repairs, of the outbox, of kept outcomes.
    pub fn due(space: Space, at: &str, operation: OperationId, tail: &[Part]) -> KeyForm {
        let mut form = KeyForm::until(space, at);
        form.0.push(Part::Number(operation.0 as u16));
        form.0.extend_from_slice(tail);
        form
    }

    pub fn outbox(operation: OperationId, name: &str) -> KeyForm {
        let mut form = KeyForm::begin(Space::Outbox);
        form.0.push(Part::Number(operation.0 as u16));
        form.0.push(Part::Tail(name.into()));
        form
    }

    pub fn idempotency() -> KeyForm {
        let mut form = KeyForm::begin(Space::Idempotency);
        form.0.push(Part::Hash("actor, operation, principal, key".into(), 16));
        form
    }

    /// The parts after the space, as an index has them.
    pub fn tail(&self) -> &[Part] {
        &self.0[2..]
    }

    /// The bytes of the key, for one design number and these values.
    pub fn bytes(&self, design: u16, value: &dyn Fn(&str) -> Vec<u8>) -> Vec<u8> {
        let mut out = Vec::new();
        for part in &self.0 {
            match part {
                Part::Design => out.extend_from_slice(&DesignNumber(design).prefix()),
                Part::Space(space) => out.push(space.letter()),
                Part::Number(number) => out.extend_from_slice(&number.to_be_bytes()),
                Part::Byte(byte) => out.push(*byte),
                Part::Text(name) => put_text(&mut out, &value(name)),
                Part::Sorted(name)
                | Part::Offset(name)
                | Part::Hash(name, _)
                | Part::Tail(name) => {
                    out.extend_from_slice(&value(name));
                }
            }
        }
        out
    }

    /// How many bytes at least, and how many parts are as long as their text.
    pub fn size(&self) -> (u64, u32) {
        let mut bytes = 0;
        let mut texts = 0;
        for part in &self.0 {
            match part {
                Part::Design | Part::Number(_) => bytes += 2,
                Part::Space(_) | Part::Byte(_) => bytes += 1,
                Part::Sorted(_) | Part::Offset(_) => bytes += 8,
                Part::Hash(_, length) => bytes += u64::from(*length),
                Part::Text(_) => {
                    bytes += 2;
                    texts += 1;
                }
                Part::Tail(_) => texts += 1,
            }
        }
        (bytes, texts)
    }
}

fn parts_of(design: &Design, subject: &Subject, path: &str, parts: &mut Vec<Part>) {
    for key in &subject.keys {
        let name =
            if subject.keys.len() == 1 { path.to_owned() } else { format!("{path}.{}", key.name) };
        match PartKind::of(&key.ty) {
            PartKind::Parts(other) => {
                parts_of(design, &design.subjects[other.index()], &name, parts);
            }
            PartKind::Text => parts.push(Part::Text(name)),
            PartKind::Number => parts.push(Part::Sorted(name)),
        }
    }
}

impl fmt::Display for KeyForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            match part {
                Part::Design => f.write_str("design:u16")?,
                Part::Space(space) => write!(f, "'{}'", char::from(space.letter()))?,
                Part::Number(number) => write!(f, "{number:04x}")?,
                Part::Byte(byte) => write!(f, "{byte:02x}")?,
                Part::Text(name) => write!(f, "text({name})")?,
                Part::Sorted(name) => write!(f, "sorted({name})")?,
                Part::Offset(name) => write!(f, "u64({name})")?,
                Part::Hash(name, bytes) => write!(f, "hash{bytes}({name})")?,
                Part::Tail(name) => write!(f, "encoded({name})")?,
            }
        }
        Ok(())
    }
}

impl Serialize for KeyForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}
