//! From a value of one design to a value of the other.

use design::model::{Range, StructField, Type};
use engine::{NULL, Word};
use layout::following::{Rule, Site};
use layout::{Following, Pool, Reader, Wrong, value};
use serde_json::Value;

use crate::values;

/// What a value is carried to.
#[derive(Clone, Copy)]
pub struct Target<'t> {
    pub ty: &'t Type,
    pub range: Option<Range>,
    /// where the old one stands
    pub site: Site,
}

/// Takes a value of `was` off the front and appends it as one of the target. The inner error says what
/// stands in the way.
pub fn carry(
    reader: &mut Reader<'_>,
    following: &Following<'_>,
    was: &Type,
    target: Target<'_>,
    pools: &mut (Pool, Pool),
    out: &mut Vec<u8>,
) -> Result<Result<(), String>, Wrong> {
    let before = reader.rest();
    let mut words: Vec<Word> = Vec::new();
    value::take(reader, following.old, was, &mut pools.0, &mut words)?;
    if following.rule(was, target.ty, target.site) == Rule::Same {
        let first = words.first().copied().unwrap_or(NULL);
        if let Err(bad) = values::within(target.ty, target.range, first) {
            return Ok(Err(bad.message));
        }
        out.extend_from_slice(&before[..before.len() - reader.rest().len()]);
        return Ok(Ok(()));
    }
    Ok(carried(following, (was, &words[..]), target, pools).map(|carried| {
        value::put(out, following.new, target.ty, &carried, &pools.1);
    }))
}

/// The words of a value in the new design.
pub fn carried(
    following: &Following<'_>,
    (was, words): (&Type, &[Word]),
    target: Target<'_>,
    pools: &mut (Pool, Pool),
) -> Result<Vec<Word>, String> {
    let Target { ty, range, site } = target;
    if following.rule(was, ty, site) == Rule::Never {
        return Err("there is no rule from the one type to the other".into());
    }
    // it is not told, not even here
    if ty.is_secret() {
        return match words.first() {
            Some(word) if *word != NULL => Ok(vec![pools.1.text(pools.0.content(*word))]),
            _ if ty.is_optional() => Ok(vec![NULL]),
            _ => Err("there is no secret".into()),
        };
    }
    let mut json = values::write(following.old, was, words, &pools.0);
    reword(&mut json, following, was, ty, site);
    let mut carried = Vec::new();
    let read = values::read(following.new, ty, &json, &mut pools.1, &mut carried);
    let read = read.and_then(|()| values::within(ty, range, carried[0]));
    read.map_err(|bad| bad.message)?;
    // an optional value of several words is null as a whole
    carried.resize(engine::width_of(ty) as usize, 0);
    Ok(carried)
}

/// Words of enumerations as the new design has them.
fn reword(json: &mut Value, following: &Following<'_>, was: &Type, is: &Type, site: Site) {
    match (was.required(), is.required(), json) {
        (Type::Enum(_), Type::Enum(id), Value::String(word)) => {
            let constants = &following.new.enumerations[id.index()].constants;
            let new = following.word(word, constants, site).to_string();
            *word = new;
        }
        (
            Type::List { of: was, .. } | Type::Set { of: was, .. },
            Type::List { of: is, .. } | Type::Set { of: is, .. },
            Value::Array(items),
        ) => items.iter_mut().for_each(|item| reword(item, following, was, is, site)),
        (Type::Struct(was), Type::Struct(is), Value::Object(held)) => {
            for (name, value) in held.iter_mut() {
                let of = |fields: &[StructField]| {
                    fields.iter().find(|field| field.name == *name).map(|field| field.ty.clone())
                };
                if let (Some(was), Some(is)) = (of(was), of(is)) {
                    reword(value, following, &was, &is, site);
                }
            }
        }
        (Type::Map { key, value, .. }, Type::Map { key: k, value: v, .. }, Value::Object(map)) => {
            let entries = std::mem::take(map).into_iter().map(|(name, mut held)| {
                reword(&mut held, following, value, v, site);
                let mut name = Value::String(name);
                reword(&mut name, following, key, k, site);
                (name.as_str().unwrap_or_default().to_string(), held)
            });
            *map = entries.collect();
        }
        _ => {}
    }
}
