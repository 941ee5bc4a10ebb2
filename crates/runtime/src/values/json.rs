//! Values as clients write and read them.
//!
//! `int` is a number, `decimal` a text such as `"12.50"`, `time` a text in RFC 3339, `duration` a
//! text such as `"10m"` (a number of milliseconds is taken, too), an enumeration its constant, a
//! record its key: one value, or a list of them where the key has several parts.

use design::model::{Design, Range, StructField, SubjectId, Type, quantity_text};
use engine::{NULL, Word, width_of};
use layout::Pool;
use layout::key::MAX_PARTS;
use serde_json::{Map, Value, json};

use super::{proofs, schedules, time};

/// What is wrong with a value, and where: a JSON pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadValue {
    pub pointer: String,
    pub message: String,
}

impl BadValue {
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> BadValue {
        BadValue { pointer: pointer.into(), message: message.into() }
    }

    pub(crate) fn under(mut self, step: &str) -> BadValue {
        let step = step.replace('~', "~0").replace('/', "~1");
        self.pointer = format!("/{step}{}", self.pointer);
        self
    }
}

/// The longest text, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// The longest part of a key, in bytes.
pub const MAX_KEY_TEXT: usize = 512;

/// Appends the words of `value`.
pub fn read(
    design: &Design,
    ty: &Type,
    value: &Value,
    pool: &mut Pool,
    words: &mut Vec<Word>,
) -> Result<(), BadValue> {
    match ty {
        Type::Optional(inner) => {
            if value.is_null() {
                words.push(NULL);
                return Ok(());
            }
            read(design, inner, value, pool, words)
        }
        Type::Set { of, max } | Type::List { of, max } => {
            let items = value.as_array().ok_or_else(|| expected("a list", value))?;
            if items.len() > *max as usize {
                return Err(BadValue::new("", format!("at most {max} elements fit")));
            }
            let start = words.len();
            words.push(items.len() as Word);
            for (at, item) in items.iter().enumerate() {
                read(design, of, item, pool, words).map_err(|bad| bad.under(&at.to_string()))?;
            }
            if matches!(ty, Type::Set { .. }) {
                words[start + 1..].sort_unstable();
                let mut unique = words.split_off(start + 1);
                unique.dedup();
                words[start] = unique.len() as Word;
                words.append(&mut unique);
            }
            words.resize(start + width_of(ty) as usize, 0);
            Ok(())
        }
        Type::Struct(fields) => read_struct(design, fields, value, pool, words),
        Type::Map { key, value: inner, max } => {
            let items = value.as_object().ok_or_else(|| expected("an object", value))?;
            if items.len() > *max as usize {
                return Err(BadValue::new("", format!("at most {max} entries fit")));
            }
            let mut pairs = Vec::new();
            for (name, item) in items {
                let mut pair = Vec::new();
                let read_key = read(design, key, &Value::String(name.clone()), pool, &mut pair);
                read_key.map_err(|bad| bad.under(name))?;
                read(design, inner, item, pool, &mut pair).map_err(|bad| bad.under(name))?;
                pairs.push([pair[0], pair[1]]);
            }
            pairs.sort_unstable();
            let start = words.len();
            words.push(pairs.len() as Word);
            words.extend(pairs.into_iter().flatten());
            words.resize(start + 1 + 2 * *max as usize, 0);
            Ok(())
        }
        Type::Ref(subject) => {
            let mut parts = match value {
                Value::Array(parts) => parts.iter(),
                other => std::slice::from_ref(other).iter(),
            };
            let key = read_key(design, *subject, &mut parts, pool).map_err(|bad| match value {
                Value::Array(_) => bad,
                // the value itself is the only part
                _ => BadValue::new("", bad.message),
            });
            words.push(key?);
            match parts.next() {
                None => Ok(()),
                Some(_) => Err(BadValue::new("", "the key has more parts than its subject")),
            }
        }
        ty => {
            words.push(scalar(design, ty, value, pool)?);
            Ok(())
        }
    }
}

/// One of the records of a list: every field once, and nothing else; what is optional may be left out.
fn read_struct(
    design: &Design,
    fields: &[StructField],
    value: &Value,
    pool: &mut Pool,
    words: &mut Vec<Word>,
) -> Result<(), BadValue> {
    let given = value.as_object().ok_or_else(|| expected("an object", value))?;
    for field in fields {
        let held = match given.get(&field.name) {
            Some(held) => held,
            None if field.ty.is_optional() => &Value::Null,
            None => return Err(BadValue::new("", "is missing").under(&field.name)),
        };
        read(design, &field.ty, held, pool, words)
            .and_then(|()| within(field.ty.required(), field.range, words[words.len() - 1]))
            .map_err(|bad| bad.under(&field.name))?;
    }
    match given.keys().find(|name| fields.iter().all(|field| field.name != **name)) {
        Some(other) => {
            let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            let message = format!("no such field; there are {}", names.join(", "));
            Err(BadValue::new("", message).under(other))
        }
        None => Ok(()),
    }
}

/// A key from its parts, those of the records it refers to among them. What is wrong with a part is
/// told under its number.
pub fn read_key(
    design: &Design,
    subject: SubjectId,
    values: &mut dyn Iterator<Item = &Value>,
    pool: &mut Pool,
) -> Result<Word, BadValue> {
    read_parts(design, subject, &mut values.enumerate(), pool)
}

fn read_parts(
    design: &Design,
    subject: SubjectId,
    values: &mut dyn Iterator<Item = (usize, &Value)>,
    pool: &mut Pool,
) -> Result<Word, BadValue> {
    let declared = &design.subjects[subject.index()];
    // more are refused when a design is loaded
    let mut parts = [0; MAX_PARTS];
    for (part, key) in parts.iter_mut().zip(&declared.keys) {
        if let Type::Ref(other) = key.ty {
            *part = read_parts(design, other, values, pool)?;
            continue;
        }
        let Some((at, value)) = values.next() else {
            let message = format!("the key of `{}` also needs `{}`", declared.name, key.name);
            return Err(BadValue::new("", message));
        };
        *part = read_part(design, &key.ty, value, pool)
            .and_then(|word| within(&key.ty, key.range, word).map(|()| word))
            .map_err(|bad| bad.under(&at.to_string()))?;
    }
    Ok(pool.key(subject, &parts[..declared.keys.len()]))
}

/// One part of a key: not empty, not too long, and in its one spelling, so that a record has one key.
fn read_part(design: &Design, ty: &Type, value: &Value, pool: &mut Pool) -> Result<Word, BadValue> {
    if let Some(text) = value.as_str() {
        if text.is_empty() {
            return Err(BadValue::new("", "a part of a key is not empty"));
        }
        if text.len() > MAX_KEY_TEXT {
            let message = format!("a part of a key has at most {MAX_KEY_TEXT} bytes");
            return Err(BadValue::new("", message));
        }
    }
    let word = scalar(design, ty, value, pool)?;
    in_one_spelling(design, ty, value, &[word], pool)?;
    Ok(word)
}

/// A value that was given as a text, in an address or as a part of a key, is spelled as it is
/// answered: `0`, not `00` or `+0`.
pub fn in_one_spelling(
    design: &Design,
    ty: &Type,
    value: &Value,
    words: &[Word],
    pool: &Pool,
) -> Result<(), BadValue> {
    let Some(text) = value.as_str() else { return Ok(()) };
    let spelled = match write(design, ty, words, pool) {
        Value::String(spelled) => spelled,
        // a reference: its parts were looked at one by one
        Value::Array(_) | Value::Object(_) | Value::Null => return Ok(()),
        other => other.to_string(),
    };
    if spelled == text {
        return Ok(());
    }
    Err(BadValue::new("", format!("write `{spelled}`, not `{text}`: a value has one spelling")))
}

/// Does a word lie in the range that the design gives it? Null does.
pub fn within(ty: &Type, range: Option<Range>, word: Word) -> Result<(), BadValue> {
    match range {
        Some(range) if word != NULL && !range.contains(word) => {
            let (range, found) = (range.text(ty), quantity_text(ty, word));
            Err(BadValue::new("", format!("expected a value in {range}, found {found}")))
        }
        _ => Ok(()),
    }
}

fn scalar(design: &Design, ty: &Type, value: &Value, pool: &mut Pool) -> Result<Word, BadValue> {
    match ty {
        Type::Int => number(value).ok_or_else(|| expected("a whole number", value)),
        Type::Bool => match value {
            Value::Bool(value) => Ok(Word::from(*value)),
            Value::String(text) if text == "true" => Ok(1),
            Value::String(text) if text == "false" => Ok(0),
            _ => Err(expected("true or false", value)),
        },
        Type::Decimal | Type::Money(_) => decimal(value).ok_or_else(|| {
            expected("a decimal with at most six places, as a text such as \"12.50\"", value)
        }),
        Type::Time => time::read_time(value)
            .ok_or_else(|| expected("a time, such as \"2026-11-15T12:00:00Z\"", value)),
        Type::Duration => time::read_duration(value)
            .ok_or_else(|| expected("a duration, such as \"10m\" or \"1500ms\"", value)),
        Type::Enum(id) => {
            let constants = &design.enumerations[id.index()].constants;
            let text = value.as_str().unwrap_or_default();
            match constants.iter().position(|constant| constant == text) {
                Some(at) => Ok(at as Word),
                None => Err(expected(&format!("one of {}", constants.join(", ")), value)),
            }
        }
        Type::Schedule => Ok(pool.text(schedules::read(value)?.as_bytes())),
        Type::Json => {
            let text = value.to_string();
            sized(&text)?;
            Ok(pool.text(text.as_bytes()))
        }
        Type::Point => {
            if point_of(value).is_none() {
                let point = "a point: [longitude, latitude] in degrees, up to 180 and 90";
                return Err(expected(point, value));
            }
            Ok(pool.text(value.to_string().as_bytes()))
        }
        Type::Hash | Type::PublicKey => match value.as_str() {
            Some(text) if proofs::bytes_of::<32>(text.as_bytes()).is_some() => {
                Ok(pool.text(text.as_bytes()))
            }
            _ => Err(expected("64 hexadecimal digits, in small letters", value)),
        },
        Type::Signature => match value.as_str() {
            Some(text) if proofs::bytes_of::<64>(text.as_bytes()).is_some() => {
                Ok(pool.text(text.as_bytes()))
            }
            _ => Err(expected("128 hexadecimal digits, in small letters", value)),
        },
        // whoever may give one is asked for it elsewhere, and what is wrong with it is told without it
        Type::Secret => Err(BadValue::new("", "a secret cannot be given here")),
        _ => {
            let Some(text) = value.as_str() else { return Err(expected("a text", value)) };
            sized(text)?;
            Ok(pool.text(text.as_bytes()))
        }
    }
}

/// Longitude and latitude, in degrees that a place on the earth can have.
pub fn point_of(value: &Value) -> Option<(f64, f64)> {
    let [longitude, latitude] = &value.as_array()?[..] else { return None };
    let (longitude, latitude) = (longitude.as_f64()?, latitude.as_f64()?);
    let fits = (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude);
    fits.then_some((longitude, latitude))
}

fn sized(text: &str) -> Result<(), BadValue> {
    if text.len() > MAX_TEXT {
        return Err(BadValue::new("", format!("a text has at most {MAX_TEXT} bytes")));
    }
    Ok(())
}

/// From a number, or from a text (as in a path); never the word that stands for null.
fn number(value: &Value) -> Option<Word> {
    let number = match value {
        Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?))?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    (number != NULL).then_some(number)
}

/// `3.0` is a whole number to JSON Schema, and some languages write it so; beyond the whole numbers
/// that a float tells apart it is not known which one was meant.
fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
}

fn decimal(value: &Value) -> Option<Word> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.as_str()),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(fraction) || fraction.len() > 6 {
        return None;
    }
    let whole = whole.parse::<i64>().ok()?.checked_mul(1_000_000)?;
    let fraction = format!("{fraction:0<6}").parse::<i64>().ok()?;
    Some(sign * whole.checked_add(fraction)?)
}

pub(super) fn expected(what: &str, found: &Value) -> BadValue {
    let found = match found {
        Value::Null => "null".to_string(),
        Value::Array(_) => "a list".to_string(),
        Value::Object(_) => "an object".to_string(),
        other => {
            let text = other.to_string();
            if text.chars().count() > 40 {
                format!("{}…", text.chars().take(40).collect::<String>())
            } else {
                text
            }
        }
    };
    BadValue::new("", format!("expected {what}, found {found}"))
}

/// The value of type `ty` that stands in `words`.
pub fn write(design: &Design, ty: &Type, words: &[Word], pool: &Pool) -> Value {
    match ty {
        Type::Optional(_) if words[0] == NULL => Value::Null,
        Type::Optional(inner) => write(design, inner, words, pool),
        Type::Set { of, .. } | Type::List { of, .. } => {
            let width = width_of(of) as usize;
            let length = (words[0].max(0) as usize).min((words.len() - 1) / width);
            let mut items: Vec<Value> = words[1..=length * width]
                .chunks_exact(width)
                .map(|element| write(design, of, element, pool))
                .collect();
            if matches!(ty, Type::Set { .. }) {
                // handles are those of one call; clients see one order
                items.sort_by_cached_key(Value::to_string);
            }
            Value::Array(items)
        }
        Type::Map { key, value, .. } => {
            let length = (words[0].max(0) as usize).min((words.len() - 1) / 2);
            let mut object = Map::new();
            for pair in words[1..=2 * length].chunks_exact(2) {
                let name = match write(design, key, &pair[..1], pool) {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                object.insert(name, write(design, value, &pair[1..], pool));
            }
            Value::Object(object)
        }
        Type::Struct(fields) => {
            let values = fields.iter().zip(words).map(|(field, word)| {
                let value = write(design, &field.ty, std::slice::from_ref(word), pool);
                (field.name.clone(), value)
            });
            Value::Object(values.collect())
        }
        Type::Record(fields) => {
            let mut object = Map::new();
            let mut at = 0;
            for (name, ty) in fields {
                let width = width_of(ty) as usize;
                object.insert(name.clone(), write(design, ty, &words[at..at + width], pool));
                at += width;
            }
            Value::Object(object)
        }
        Type::Ref(subject) => {
            let mut parts = Vec::new();
            write_key(design, *subject, words[0], pool, &mut parts);
            if parts.len() == 1 { parts.remove(0) } else { Value::Array(parts) }
        }
        // told to nobody
        Type::Secret => Value::Null,
        Type::Int => json!(words[0]),
        Type::Bool => json!(words[0] != 0),
        Type::Decimal | Type::Money(_) => Value::String(decimal_text(i128::from(words[0]))),
        Type::Time => Value::String(time::write_time(words[0])),
        Type::Duration => Value::String(time::write_duration(words[0])),
        Type::Enum(id) => {
            let constants = &design.enumerations[id.index()].constants;
            usize::try_from(words[0])
                .ok()
                .and_then(|at| constants.get(at))
                .map_or(Value::Null, |constant| Value::String(constant.clone()))
        }
        Type::Json | Type::Point => {
            serde_json::from_slice(pool.content(words[0])).unwrap_or(Value::Null)
        }
        _ => Value::String(String::from_utf8_lossy(pool.content(words[0])).into_owned()),
    }
}

/// The parts of a key, those of the records it refers to among them.
pub fn write_key(
    design: &Design,
    subject: SubjectId,
    key: Word,
    pool: &Pool,
    parts: &mut Vec<Value>,
) {
    let declared = &design.subjects[subject.index()].keys;
    for (part, key) in pool.parts(key).iter().zip(declared) {
        match key.ty {
            Type::Ref(other) => write_key(design, other, *part, pool, parts),
            ref ty => parts.push(write(design, ty, std::slice::from_ref(part), pool)),
        }
    }
}

/// With two places at least: it is money.
pub fn decimal_text(millionths: i128) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let value = millionths.unsigned_abs();
    let fraction = format!("{:06}", value % 1_000_000);
    let fraction = fraction.trim_end_matches('0');
    format!("{sign}{}.{fraction:0<2}", value / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact() {
        for (text, millionths, back) in [
            ("12.50", 12_500_000, "12.50"),
            ("-0.000001", -1, "-0.000001"),
            ("7", 7_000_000, "7.00"),
            ("0.1", 100_000, "0.10"),
        ] {
            assert_eq!(decimal(&json!(text)), Some(millionths), "{text}");
            assert_eq!(decimal_text(i128::from(millionths)), back);
        }
        for bad in ["", ".5", "1.0000001", "1e3", "--1", "1.-5", "9223372036855"] {
            assert_eq!(decimal(&json!(bad)), None, "{bad}");
        }
    }

    #[test]
    fn the_word_for_null_is_no_number() {
        assert_eq!(number(&json!(i64::MIN)), None);
        assert_eq!(number(&json!(i64::MIN + 1)), Some(i64::MIN + 1));
        assert_eq!(number(&json!(1.5)), None);
        assert_eq!(number(&json!(-2124.0)), Some(-2124));
        assert_eq!(number(&json!(1e300)), None);
    }
}
