//! Calls as texts of JSON, for those who make very many of them: parameters are read straight into
//! words, and the answer is written straight into bytes. Only what is plain and right is read here;
//! for everything else the caller falls back on a [`Request`], which also says what is wrong.

use std::fmt;

use design::model::{Design, Key, Operation, OperationId, OperationKind, Param, SubjectId, Type};
use engine::{NULL, Word};
use layout::Pool;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use store::Ticket;
use telemetry::Trace;

use super::reply::CallError;
use super::request::{Arguments, Chosen, Request};
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
    /// tells what is legal instead. None: nothing was done, and it is to be asked as a [`Request`].
    pub fn begin_text(&self, call: &TextCall<'_>, out: &mut Vec<u8>) -> Option<TextBegun> {
        let operation = self.schema.design.operations.get(call.operation.index())?;
        let plain = matches!(operation.kind, OperationKind::Step { keyed: false })
            && self.schema.is_callable(call.operation);
        let secret = operation.has_secrets() || operation.is_given();
        if !plain || secret || !operation.memory.is_empty() || self.eye(call.viewer).is_some() {
            return None;
        }
        let mut desk = self.desk();
        let arguments = arguments(&self.schema, call, &mut desk.pool.borrow_mut());
        let outcome = arguments.map(|arguments| {
            let (viewer, trace) = (call.viewer.cloned(), call.trace.cloned());
            let request = Request { viewer, trace, legal: true, ..Request::default() };
            let run = self.run(call.operation, &request, &arguments, &mut desk, Some(out));
            self.block_on(run).map(|(ticket, answer)| (ticket, answer.map(drop)))
        });
        self.give_back(desk);
        outcome
    }
}

fn arguments(schema: &Schema, call: &TextCall<'_>, pool: &mut Pool) -> Option<Arguments> {
    let operation = &schema.design.operations[call.operation.index()];
    if operation.params.len() > PARAMS_MAX {
        return None;
    }
    let mut given = Given { words: [NULL; PARAMS_MAX], seen: 0 };
    let mut text = serde_json::Deserializer::from_slice(call.params);
    let object = Object { design: &schema.design, operation, pool, given: &mut given };
    text.deserialize_map(object).ok()?;
    text.end().ok()?;
    let mut params = Vec::with_capacity(operation.params.len());
    for (at, param) in operation.params.iter().enumerate() {
        if given.seen & (1 << at) != 0 {
            params.push(given.words[at]);
        } else {
            match schema.program.param_default(call.operation, at) {
                Some(words) => params.extend_from_slice(words),
                None if param.ty.is_optional() => params.push(NULL),
                None => return None,
            }
        }
    }
    let me = pool.text(call.principal.as_bytes());
    let (memory, chosen) = (Vec::new(), Chosen::default());
    Some(Arguments { params, memory, me, chosen, none_left: false })
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
