//! Calls as texts of JSON, for those who make very many of them: parameters are read straight into
//! words, and the answer is written straight into bytes. Only what is plain and right is read here;
//! for everything else the caller falls back on a [`crate::Request`], which also says what is wrong.

use std::fmt;

use design::model::{Design, Key, Operation, OperationId, OperationKind, Param, SubjectId, Type};
use engine::{NULL, Word};
use layout::Pool;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use store::Ticket;
use telemetry::Trace;

use super::ask::{Ask, Terms, Told};
use super::reply::CallError;
use super::request::Arguments;
use crate::core::{Runtime, Schema};
use crate::sight::Viewer;
use crate::values::{MAX_KEY_TEXT, MAX_TEXT, within};

/// One call of one step.
#[derive(Clone, Copy, Debug)]
pub struct TextCall<'a> {
    pub operation: OperationId,
    /// one flat JSON object
    pub params: &'a [u8],
    /// who calls
    pub principal: &'a str,
    /// whose eyes a refusal is for
    pub viewer: Option<&'a Viewer>,
    /// which request this is a part of
    pub trace: Option<&'a Trace>,
}

/// The answer may be told once the ticket is durable.
pub type TextBegun = Result<(Ticket, Result<(), CallError>), CallError>;

/// More parameters than these are rare, and are read the other way.
const PARAMS_MAX: usize = 16;

impl Runtime {
    /// The same as [`Runtime::begin`]; what is done is answered in JSON at the end of `out`. A refusal
    /// tells what is legal instead. None: nothing was done, and it is to be asked as a
    /// [`crate::Request`].
    pub fn begin_text(&self, call: &TextCall<'_>, out: &mut Vec<u8>) -> Option<TextBegun> {
        let mut calls = self.calls();
        if !calls.text(call, out) {
            return None;
        }
        Some(calls.begin().map(|(ticket, mut answers)| {
            let answer = answers.take(0).map(|told| match told {
                Told::Text(text) => *out = text,
                Told::Reply(_) => unreachable!("it was asked for as a text"),
            });
            (ticket, answer)
        }))
    }
}

/// Reads a call. None: it is not plain.
pub fn read(runtime: &Runtime, call: &TextCall<'_>, ask: &mut Ask) -> Option<()> {
    let schema = &*runtime.schema;
    let operation = schema.design.operations.get(call.operation.index())?;
    let plain = matches!(operation.kind, OperationKind::Step { keyed: false })
        && schema.is_callable(call.operation);
    if !plain || !operation.memory.is_empty() || runtime.eye(call.viewer).is_some() {
        return None;
    }
    ask.begin(call.operation);
    arguments(schema, call, ask.pool.get_mut(), &mut ask.arguments)?;
    let (viewer, trace) = (call.viewer.cloned(), call.trace.cloned());
    ask.terms = Terms { viewer, trace, legal: true, ..Terms::default() };
    Some(())
}

fn arguments(
    schema: &Schema,
    call: &TextCall<'_>,
    pool: &mut Pool,
    into: &mut Arguments,
) -> Option<()> {
    let operation = &schema.design.operations[call.operation.index()];
    if operation.params.len() > PARAMS_MAX {
        return None;
    }
    let mut given = Given { words: [NULL; PARAMS_MAX], seen: 0 };
    let mut text = serde_json::Deserializer::from_slice(call.params);
    let object = Object { design: &schema.design, operation, pool, given: &mut given };
    text.deserialize_map(object).ok()?;
    text.end().ok()?;
    for (at, param) in operation.params.iter().enumerate() {
        if given.seen & (1 << at) != 0 {
            into.params.push(given.words[at]);
        } else {
            match schema.program.param_default(call.operation, at) {
                Some(words) => into.params.extend_from_slice(words),
                None if param.ty.is_optional() => into.params.push(NULL),
                None => return None,
            }
        }
    }
    into.me = pool.text(call.principal.as_bytes());
    Some(())
}

/// The parameters that were read: each is one word.
struct Given {
    words: [Word; PARAMS_MAX],
    /// a bit for each
    seen: u32,
}

struct Object<'a> {
    design: &'a Design,
    operation: &'a Operation,
    pool: &'a mut Pool,
    given: &'a mut Given,
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Object { design, operation, pool, given } = self;
        while let Some(at) = map.next_key_seed(Name(operation))? {
            let Param { ty, range, .. } = &operation.params[at];
            let word = map.next_value_seed(Plain { design, ty, pool: &mut *pool })?;
            if within(ty, *range, word).is_err() {
                return Err(A::Error::custom("outside its range"));
            }
            // of two the last one counts: not here
            if given.seen & (1 << at) != 0 {
                return Err(A::Error::custom("twice"));
            }
            given.seen |= 1 << at;
            given.words[at] = word;
        }
        Ok(())
    }
}

/// The name of a parameter; gives which it is.
struct Name<'a>(&'a Operation);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, text: D) -> Result<usize, D::Error> {
        text.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a parameter")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let found = self.0.params.iter().position(|param| param.name == name);
        found.ok_or_else(|| E::custom("unknown"))
    }
}

/// A value that is one word.
struct Plain<'a> {
    design: &'a Design,
    ty: &'a Type,
    pool: &'a mut Pool,
}

impl<'de> DeserializeSeed<'de> for Plain<'_> {
    type Value = Word;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Word, D::Error> {
        match self.ty {
            Type::Int => value.deserialize_i64(self),
            Type::Bool => value.deserialize_bool(self),
            Type::Optional(_) => value.deserialize_option(self),
            Type::Enum(_)
            | Type::Text
            | Type::Bytes
            | Type::Document
            | Type::Actor
            | Type::Digest(_) => value.deserialize_str(self),
            Type::Ref(subject) => {
                let key =
                    only_part(self.design, *subject).ok_or_else(|| D::Error::custom("key"))?;
                let part = Part { design: self.design, ty: &key.ty, pool: &mut *self.pool };
                let word = part.deserialize(value)?;
                if within(&key.ty, key.range, word).is_err() {
                    return Err(D::Error::custom("outside its range"));
                }
                Ok(self.pool.key(*subject, &[word]))
            }
            _ => Err(D::Error::custom("not plain")),
        }
    }
}

/// The part of a key that has only one, which is no record itself.
fn only_part(design: &Design, subject: SubjectId) -> Option<&Key> {
    match design.subjects[subject.index()].keys.as_slice() {
        [part] if matches!(part.ty, Type::Int | Type::Text | Type::Enum(_)) => Some(part),
        _ => None,
    }
}

/// The part of a key, which is shorter than other texts.
struct Part<'a> {
    design: &'a Design,
    ty: &'a Type,
    pool: &'a mut Pool,
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Word;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Word, D::Error> {
        match self.ty {
            Type::Text => value.deserialize_str(self),
            ty => Plain { design: self.design, ty, pool: self.pool }.deserialize(value),
        }
    }
}

impl Visitor<'_> for Part<'_> {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of a key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Word, E> {
        if text.is_empty() || text.len() > MAX_KEY_TEXT {
            return Err(E::custom("empty, or too long"));
        }
        Ok(self.pool.text(text.as_bytes()))
    }
}

impl<'de> Visitor<'de> for Plain<'_> {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Word, E> {
        Ok(Word::from(value))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Word, E> {
        // the word that stands for null is no number
        if number == NULL { Err(E::custom("out of range")) } else { Ok(number) }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Word, E> {
        Word::try_from(number).map_err(|_| E::custom("out of range"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Word, E> {
        if let Type::Enum(id) = self.ty {
            let constants = &self.design.enumerations[id.index()].constants;
            let found = constants.iter().position(|constant| constant == text);
            return found.map(|at| at as Word).ok_or_else(|| E::custom("no constant"));
        }
        if text.len() > MAX_TEXT {
            return Err(E::custom("too long"));
        }
        Ok(self.pool.text(text.as_bytes()))
    }

    fn visit_none<E: Error>(self) -> Result<Word, E> {
        Ok(NULL)
    }

    fn visit_unit<E: Error>(self) -> Result<Word, E> {
        Ok(NULL)
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<Word, D::Error> {
        match self.ty {
            Type::Optional(inner) => {
                Plain { design: self.design, ty: inner, pool: self.pool }.deserialize(value)
            }
            _ => Err(D::Error::custom("not plain")),
        }
    }
}
