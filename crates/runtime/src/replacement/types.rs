//! From a value of one design to a value of the other.

use design::model::{Design, Range, Type};
use engine::{NULL, Word};
use layout::{Pool, Reader, Wrong, value};

use crate::values;

/// How values of one type become values of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// they are stored alike
    Same,
    /// each value is looked at
    Each,
    Never,
}

pub fn rule(old: &Design, new: &Design, was: &Type, is: &Type) -> Rule {
    match (was, is) {
        (Type::Optional(was), Type::Optional(is)) => rule(old, new, was, is),
        (Type::Optional(was), is) => rule(old, new, was, is).at_least_each(),
        (was, Type::Optional(is)) => rule(old, new, was, is).at_least_each(),
        (Type::Enum(a), Type::Enum(b)) => {
            let was = &old.enumerations[a.index()].constants;
            let is = &new.enumerations[b.index()].constants;
            // they are stored by their places
            if is.starts_with(was) { Rule::Same } else { Rule::Each }
        }
        (Type::Ref(a), Type::Ref(b)) => {
            let (was, is) = (&old.subjects[a.index()], &new.subjects[b.index()]);
            let same = was.name == is.name && same_key(old, new, was, is);
            if same { Rule::Same } else { Rule::Never }
        }
        (Type::Digest(a), Type::Digest(b)) => {
            let same = old.blobs[a.index()].name == new.blobs[b.index()].name;
            if same { Rule::Same } else { Rule::Never }
        }
        (Type::List { of: was, max: a }, Type::List { of: is, max: b })
        | (Type::Set { of: was, max: a }, Type::Set { of: is, max: b }) => {
            let inner = rule(old, new, was, is);
            if b < a { inner.at_least_each() } else { inner }
        }
        (Type::Map { key: k, value: v, max: a }, Type::Map { key: l, value: w, max: b }) => {
            let inner = rule(old, new, k, l).worse(rule(old, new, v, w));
            if b < a { inner.at_least_each() } else { inner }
        }
        (Type::Record(was), Type::Record(is)) => {
            let names = |fields: &[(String, Type)]| -> Vec<String> {
                fields.iter().map(|(name, _)| name.clone()).collect()
            };
            if names(was) != names(is) {
                return Rule::Never;
            }
            let rules = was.iter().zip(is).map(|((_, a), (_, b))| rule(old, new, a, b));
            rules.fold(Rule::Same, Rule::worse)
        }
        (Type::Int, Type::Decimal) => Rule::Each,
        (was, is) if was == is => Rule::Same,
        _ => Rule::Never,
    }
}

/// Are records of the two found under the same keys?
pub fn same_key(
    old: &Design,
    new: &Design,
    was: &design::model::Subject,
    is: &design::model::Subject,
) -> bool {
    was.keys.len() == is.keys.len()
        && was.keys.iter().zip(&is.keys).all(|(a, b)| rule(old, new, &a.ty, &b.ty) == Rule::Same)
}

impl Rule {
    fn at_least_each(self) -> Rule {
        if self == Rule::Same { Rule::Each } else { self }
    }

    pub fn worse(self, other: Rule) -> Rule {
        match (self, other) {
            (Rule::Never, _) | (_, Rule::Never) => Rule::Never,
            (Rule::Each, _) | (_, Rule::Each) => Rule::Each,
            _ => Rule::Same,
        }
    }
}

/// Takes a value of `was` off the front and appends it as one of `is`. The inner error says what
/// stands in the way.
pub fn carry(
    reader: &mut Reader<'_>,
    (old, was): (&Design, &Type),
    (new, is, range): (&Design, &Type, Option<Range>),
    pools: &mut (Pool, Pool),
    out: &mut Vec<u8>,
) -> Result<Result<(), String>, Wrong> {
    let before = reader.rest();
    let mut words: Vec<Word> = Vec::new();
    value::take(reader, old, was, &mut pools.0, &mut words)?;
    match rule(old, new, was, is) {
        Rule::Same => {
            if let Err(bad) = values::within(is, range, words.first().copied().unwrap_or(NULL)) {
                return Ok(Err(bad.message));
            }
            out.extend_from_slice(&before[..before.len() - reader.rest().len()]);
        }
        Rule::Never => return Ok(Err("there is no rule from the one type to the other".into())),
        // it is not told, not even here
        Rule::Each if is.is_secret() => {
            let carried = match words.first() {
                Some(word) if *word != NULL => pools.1.text(pools.0.content(*word)),
                _ if is.is_optional() => NULL,
                _ => return Ok(Err("there is no secret".into())),
            };
            value::put(out, new, is, &[carried], &pools.1);
        }
        Rule::Each => {
            let json = values::write(old, was, &words, &pools.0);
            let mut carried = Vec::new();
            let read = values::read(new, is, &json, &mut pools.1, &mut carried);
            let read = read.and_then(|()| values::within(is, range, carried[0]));
            if let Err(bad) = read {
                return Ok(Err(bad.message));
            }
            // an optional value of several words is null as a whole
            carried.resize(engine::width_of(is) as usize, 0);
            value::put(out, new, is, &carried, &pools.1);
        }
    }
    Ok(Ok(()))
}
