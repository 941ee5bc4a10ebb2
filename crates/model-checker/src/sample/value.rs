//! Values of the small world in the design's own words.

use design::model::{SubjectId, Type};
use engine::{HashPart, NULL, Shape, Word};

use crate::machine::Machine;
use crate::world::universe::BASE;

/// A value, as far from the checker's numbers as a design is.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// millionths
    Decimal(i64),
    /// of a type whose values can only be told apart
    Opaque(String),
    Constant(String),
    /// the parts of a key
    Ref(Vec<Value>),
    Principal(String),
    /// ticks since the beginning
    Time(i64),
    /// ticks
    Duration(i64),
    List(Vec<Value>),
    /// in any order
    Set(Vec<Value>),
    Map(Vec<(Value, Value)>),
    /// content of a blob store, which is known by its digest
    Content(String),
    /// what it is a digest of; of nothing: a digest that is made up
    Digest(Vec<(HashPart, Value)>),
    /// of what a keystore was asked to sign: this call of this effect; none: made up
    Signature(Option<(u32, u32)>),
    /// is it a right one?
    Proof(bool),
    Fields(Vec<(String, Value)>),
    /// cannot be told here
    Unknown,
}

impl Value {
    /// Is there something in it that cannot be told?
    pub fn is_whole(&self) -> bool {
        match self {
            Value::Unknown => false,
            Value::Ref(list) | Value::List(list) | Value::Set(list) => {
                list.iter().all(Value::is_whole)
            }
            Value::Map(pairs) => pairs.iter().all(|(k, v)| k.is_whole() && v.is_whole()),
            Value::Digest(parts) => parts.iter().all(|(_, part)| part.is_whole()),
            Value::Fields(fields) => fields.iter().all(|(_, value)| value.is_whole()),
            _ => true,
        }
    }
}

/// Reads the words of a state that is so many ticks after the beginning.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) machine: &'a Machine,
    pub(super) ticks: i64,
}

impl Reader<'_> {
    /// A value of a type; a collection takes all its words.
    pub(super) fn value(&self, ty: &Type, words: &[Word]) -> Value {
        let Some(&word) = words.first() else { return Value::Unknown };
        if word == NULL && !matches!(ty, Type::Struct(_)) {
            return Value::Null;
        }
        let machine = self.machine;
        let list = |of: &Type| -> Vec<Value> {
            let held = words.get(1..=word.max(0) as usize).unwrap_or(&[]);
            held.iter().map(|word| self.value(of, &[*word])).collect()
        };
        match ty.required() {
            Type::Bool => Value::Bool(word != 0),
            Type::Int => Value::Int(word),
            Type::Decimal | Type::Money(_) => Value::Decimal(word),
            Type::Duration => Value::Duration(word),
            Type::Time => Value::Time(word - BASE + self.ticks),
            Type::Enum(id) => {
                let constants = &machine.design.enumerations[id.index()].constants;
                let constant = constants.get(word as usize);
                constant.map_or(Value::Unknown, |name| Value::Constant(name.clone()))
            }
            Type::Ref(subject) => match self.key(*subject, word) {
                Some(parts) => Value::Ref(parts),
                None => Value::Unknown,
            },
            Type::Actor => self.principal(word),
            Type::Hash => self.digest(word),
            Type::Signature => {
                let sign = usize::try_from(word - 1).ok();
                let sign = sign.and_then(|at| machine.universe.signs.get(at));
                Value::Signature(sign.map(|(effect, key)| (effect.0, *key)))
            }
            Type::Proof => Value::Proof(word == 1),
            Type::List { of, .. } if matches!(**of, Type::Struct(_)) => {
                let width = engine::width_of(of) as usize;
                let held = words.get(1..=word.max(0) as usize * width).unwrap_or(&[]);
                Value::List(held.chunks_exact(width).map(|held| self.value(of, held)).collect())
            }
            Type::Struct(fields) => Value::Fields(
                fields
                    .iter()
                    .zip(words)
                    .map(|(field, word)| (field.name.clone(), self.value(&field.ty, &[*word])))
                    .collect(),
            ),
            Type::List { of, .. } => Value::List(list(of)),
            Type::Set { of, .. } => Value::Set(list(of)),
            Type::Map { key, value, .. } => {
                let pairs = words.get(1..1 + 2 * word.max(0) as usize).unwrap_or(&[]);
                let pair =
                    |pair: &[Word]| (self.value(key, &pair[..1]), self.value(value, &pair[1..]));
                Value::Map(pairs.chunks_exact(2).map(pair).collect())
            }
            Type::Digest(_) => match self.text(word) {
                Some(text) => Value::Content(text),
                None => Value::Unknown,
            },
            _ => match self.text(word) {
                Some(text) => Value::Opaque(text),
                None => Value::Unknown,
            },
        }
    }

    fn text(&self, word: Word) -> Option<String> {
        self.machine.universe.sorts.pool.get(usize::try_from(word).ok()?).cloned()
    }

    pub(super) fn principal(&self, word: Word) -> Value {
        let principal = usize::try_from(word).ok();
        let principal = principal.and_then(|at| self.machine.universe.principals.get(at));
        principal.map_or(Value::Unknown, |held| Value::Principal(held.name.clone()))
    }

    /// The parts of a key, those of the records it refers to among them.
    pub(super) fn key(&self, subject: SubjectId, key: Word) -> Option<Vec<Value>> {
        let keys = &self.machine.universe.keys[subject.index()];
        let at = usize::try_from(key).ok().filter(|at| *at < keys.len)?;
        let mut parts = Vec::new();
        let declared = &self.machine.design.subjects[subject.index()].keys;
        for (part, word) in declared.iter().zip(keys.parts(at)) {
            match self.value(&part.ty, &[*word]) {
                Value::Ref(inner) => parts.extend(inner),
                value => parts.push(value),
            }
        }
        Some(parts)
    }

    /// A digest by what it was made of. Times in it that are further back than the horizon are
    /// all one to the checker.
    fn digest(&self, word: Word) -> Value {
        let Some(term) = self.machine.terms.term(word) else { return Value::Unknown };
        let oldest = BASE - self.machine.settings.horizon * self.machine.times.unit - 1;
        let parts = term.0.iter().zip(&term.1).map(|(part, word)| {
            let ty = match part {
                HashPart::Time if *word <= oldest => return (part.clone(), Value::Unknown),
                HashPart::Bool => Type::Bool,
                HashPart::Int => Type::Int,
                HashPart::Decimal => Type::Decimal,
                HashPart::Time => Type::Time,
                HashPart::Duration => Type::Duration,
                HashPart::Actor => Type::Actor,
                HashPart::Digest => Type::Hash,
                HashPart::Enum(constants) => {
                    let constant = constants.get(*word as usize).cloned();
                    let value = constant.map_or(Value::Unknown, Value::Constant);
                    return (part.clone(), value);
                }
                HashPart::Text | HashPart::Bytes | HashPart::PublicKey => Type::Text,
                HashPart::Blob => {
                    let value = self.text(*word).map_or(Value::Unknown, Value::Content);
                    return (part.clone(), value);
                }
            };
            (part.clone(), self.value(&ty, &[*word]))
        });
        Value::Digest(parts.collect())
    }

    /// The answer of a read; what the store would be asked for cannot be told.
    pub(super) fn shaped(&self, shape: &Shape, words: &[Word]) -> Value {
        match shape {
            Shape::Value { ty, field } => self.value(ty, words.get(field.range()).unwrap_or(&[])),
            Shape::Query { .. } => Value::Unknown,
            Shape::Record(fields) => Value::Fields(
                fields
                    .iter()
                    .map(|(name, shape)| (name.clone(), self.shaped(shape, words)))
                    .collect(),
            ),
        }
    }
}
