//! Keys as the runtime lays them out: the design's number, the letter of a space, then the parts,
//! each of which sorts as its value does.

use std::fmt;

use design::model::{Design, OperationId, StateId, Subject, SubjectId, Type};
use serde::{Serialize, Serializer};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyForm(pub Vec<Part>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// the number of the design in the store, two bytes
    Design,
    /// the space, one byte
    Letter(char),
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
    pub fn record(design: &Design, subject: SubjectId, path: &str) -> KeyForm {
        let mut parts = vec![Part::Design, Part::Letter('r'), Part::Number(subject.0 as u16)];
        parts_of(design, &design.subjects[subject.index()], path, &mut parts);
        KeyForm(parts)
    }

    pub fn log_entry(record: &KeyForm, log: StateId, path: &str) -> KeyForm {
        let mut parts = record.0.clone();
        parts[1] = Part::Letter('l');
        parts.push(Part::Byte(log.0 as u8));
        parts.push(Part::Offset(format!("{path}.end")));
        KeyForm(parts)
    }

    /// In an index by time: of a repair (`t`), of the outbox (`p`), of idempotency (`j`).
    pub fn due(letter: char, at: &str, operation: OperationId, tail: &[Part]) -> KeyForm {
        let mut parts = vec![Part::Design, Part::Letter(letter), Part::Sorted(at.into())];
        parts.push(Part::Number(operation.0 as u16));
        parts.extend_from_slice(tail);
        KeyForm(parts)
    }

    pub fn outbox(operation: OperationId, tail: &str) -> KeyForm {
        let number = Part::Number(operation.0 as u16);
        KeyForm(vec![Part::Design, Part::Letter('o'), number, Part::Tail(tail.into())])
    }

    pub fn idempotency() -> KeyForm {
        let hash = Part::Hash("actor, operation, principal, key".into(), 16);
        KeyForm(vec![Part::Design, Part::Letter('i'), hash])
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
                Part::Design => out.extend_from_slice(&design.to_be_bytes()),
                Part::Letter(letter) => out.push(*letter as u8),
                Part::Number(number) => out.extend_from_slice(&number.to_be_bytes()),
                Part::Byte(byte) => out.push(*byte),
                Part::Text(name) => {
                    for byte in value(name) {
                        out.push(byte);
                        if byte == 0 {
                            out.push(0xff);
                        }
                    }
                    out.extend_from_slice(&[0, 1]);
                }
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
                Part::Letter(_) | Part::Byte(_) => bytes += 1,
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
        match &key.ty {
            Type::Ref(other) => parts_of(design, &design.subjects[other.index()], &name, parts),
            Type::Text | Type::Bytes | Type::Actor | Type::Digest(_) | Type::PublicKey => {
                parts.push(Part::Text(name))
            }
            _ => parts.push(Part::Sorted(name)),
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
                Part::Letter(letter) => write!(f, "'{letter}'")?,
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
