//! Values of the small world as the runtime writes them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use design::model::{Design, SubjectId, Type};
use engine::HashPart;
use model_checker::sample::Value;
use runtime::{proofs, time};
use serde_json::{Map, Value as Json, json};

/// When every history begins.
pub const START: i64 = 1_700_000_000_000;

/// What is known outside of the runtime: how long a tick is, keys, and what was signed with them.
pub struct Evidence {
    pub tick_ms: i64,
    /// by the effect and its key
    pub signatures: BTreeMap<(u32, u32), String>,
    /// the names of the keys that were ever mentioned, by their public halves
    keys: RefCell<BTreeMap<String, String>>,
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The key pair that goes by this name.
pub fn pair(name: &str) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(blake3::hash(name.as_bytes()).as_bytes()).expect("32 bytes")
}

/// The types of the parts of a key, those of the records it refers to among them.
pub fn key_types(design: &Design, subject: SubjectId) -> Vec<&Type> {
    let keys = design.subjects[subject.index()].keys.iter();
    keys.flat_map(|key| match key.ty.subject() {
        Some(other) => key_types(design, other),
        None => vec![&key.ty],
    })
    .collect()
}

impl Evidence {
    pub fn new(tick_ms: i64) -> Evidence {
        Evidence { tick_ms, signatures: BTreeMap::new(), keys: RefCell::default() }
    }

    fn ms(&self, ticks: i64) -> i64 {
        START + ticks * self.tick_ms
    }

    fn public(&self, name: &str) -> String {
        let known = self.keys.borrow().iter().find(|(_, of)| *of == name).map(|it| it.0.clone());
        known.unwrap_or_else(|| {
            let public = hex(pair(name).public_key().as_ref());
            self.keys.borrow_mut().insert(public.clone(), name.to_string());
            public
        })
    }

    /// Whose key it is.
    pub fn holder(&self, public: &str) -> Option<String> {
        self.keys.borrow().get(public).cloned()
    }

    /// None: it cannot be told.
    pub fn json(&self, design: &Design, ty: &Type, value: &Value) -> Option<Json> {
        Some(match (ty.required(), value) {
            (_, Value::Unknown) => return None,
            (_, Value::Null) => Json::Null,
            (_, Value::Bool(held)) => json!(held),
            (_, Value::Int(number)) => json!(number),
            (_, Value::Decimal(millionths)) => Json::String(decimal(*millionths)),
            (Type::PublicKey, Value::Opaque(name)) => json!(self.public(name)),
            // any will do, as long as it is another one than that of another name: what is near is only read
            (Type::Point, Value::Opaque(name)) => {
                let number = name.chars().filter(char::is_ascii_digit).collect::<String>();
                let latitude = number.parse::<u32>().map_or(0, |number| number % 80);
                json!([name.len() % 180, latitude])
            }
            // any will do: nothing asks when it is due
            (Type::Schedule, Value::Opaque(name)) => {
                let number: String = name.chars().filter(char::is_ascii_digit).collect();
                json!(format!("every {number}h"))
            }
            (_, Value::Opaque(text) | Value::Constant(text) | Value::Principal(text)) => {
                json!(text)
            }
            (Type::Ref(subject), Value::Ref(_)) => {
                let mut parts = self.key(design, *subject, value)?;
                if parts.len() == 1 { parts.remove(0) } else { Json::Array(parts) }
            }
            (_, Value::Time(ticks)) => Json::String(time::write_time(self.ms(*ticks))),
            (_, Value::Duration(ticks)) => Json::String(time::write_duration(ticks * self.tick_ms)),
            (Type::List { of, .. }, Value::List(list)) => {
                Json::Array(list.iter().map(|it| self.json(design, of, it)).collect::<Option<_>>()?)
            }
            (Type::Set { of, .. }, Value::Set(list)) => {
                let mut list: Vec<Json> =
                    list.iter().map(|it| self.json(design, of, it)).collect::<Option<_>>()?;
                list.sort_by_cached_key(Json::to_string);
                Json::Array(list)
            }
            (Type::Map { key, value, .. }, Value::Map(pairs)) => {
                let mut object = Map::new();
                for (name, held) in pairs {
                    let name = match self.json(design, key, name)? {
                        Json::String(text) => text,
                        other => other.to_string(),
                    };
                    object.insert(name, self.json(design, value, held)?);
                }
                Json::Object(object)
            }
            (_, Value::Content(text)) => json!(store::Hash::of(text.as_bytes()).to_string()),
            (_, Value::Digest(_)) => json!(self.digest(value)?),
            (_, Value::Signature(None)) => json!("0".repeat(128)),
            (_, Value::Signature(Some(of))) => json!(self.signatures.get(of)?),
            (_, Value::Proof(_)) => json!(format!("l{}", "0".repeat(64))),
            (ty, value) => panic!("{value:?} is no {ty:?}"),
        })
    }

    /// The answer of a read.
    pub fn result(&self, design: &Design, ty: &Type, value: &Value) -> Option<Json> {
        match (ty, value) {
            (Type::Record(types), Value::Fields(fields)) => {
                let fields = types.iter().zip(fields).map(|((name, ty), (_, value))| {
                    Some((name.clone(), self.result(design, ty, value)?))
                });
                Some(Json::Object(fields.collect::<Option<_>>()?))
            }
            _ => self.json(design, ty, value),
        }
    }

    pub fn key(&self, design: &Design, subject: SubjectId, key: &Value) -> Option<Vec<Json>> {
        let Value::Ref(parts) = key else { return None };
        self.parts(design, subject, parts)
    }

    pub fn parts(&self, design: &Design, subject: SubjectId, key: &[Value]) -> Option<Vec<Json>> {
        let types = key_types(design, subject);
        types.into_iter().zip(key).map(|(ty, part)| self.json(design, ty, part)).collect()
    }

    /// What the runtime gives as the digest of these values.
    pub fn digest(&self, value: &Value) -> Option<String> {
        let Value::Digest(parts) = value else { return None };
        if parts.is_empty() {
            return Some("0".repeat(64));
        }
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let mut words = Vec::new();
        let mut kinds = Vec::new();
        for (part, value) in parts {
            let text = match (part, value) {
                (_, Value::Null) => return None,
                (HashPart::PublicKey, Value::Opaque(name)) => self.public(name),
                (_, Value::Opaque(text) | Value::Principal(text)) => text.clone(),
                (_, Value::Content(text)) => store::Hash::of(text.as_bytes()).to_string(),
                (_, Value::Digest(_)) => self.digest(value)?,
                (HashPart::Enum(constants), Value::Constant(name)) => {
                    words.push(constants.iter().position(|it| it == name)? as i64);
                    kinds.push(part.clone());
                    continue;
                }
                _ => {
                    words.push(self.number(value)?);
                    kinds.push(part.clone());
                    continue;
                }
            };
            words.push(texts.len() as i64);
            texts.push(text.into_bytes());
            kinds.push(part.clone());
        }
        Some(proofs::hash(&kinds, &words, &|word| &texts[word as usize]).to_hex().to_string())
    }

    /// Every way from something below a digest up to it, as proofs are written.
    pub fn proofs(&self, root: &Value, found: &mut Vec<String>) {
        let Value::Digest(parts) = root else { return };
        found.push(String::new());
        let [(HashPart::Digest, left), (HashPart::Digest, right)] = &parts[..] else { return };
        for (below, side, beside) in [(left, 'r', right), (right, 'l', left)] {
            let Some(beside) = self.digest(beside) else { continue };
            let mut paths = Vec::new();
            self.proofs(below, &mut paths);
            for path in paths {
                let dot = if path.is_empty() { "" } else { "." };
                found.push(format!("{path}{dot}{side}{beside}"));
            }
        }
    }

    fn number(&self, value: &Value) -> Option<i64> {
        Some(match value {
            Value::Bool(held) => i64::from(*held),
            Value::Int(number) | Value::Decimal(number) => *number,
            Value::Time(ticks) => self.ms(*ticks),
            Value::Duration(ticks) => ticks * self.tick_ms,
            _ => return None,
        })
    }
}

/// With two places at least.
fn decimal(millionths: i64) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let value = millionths.unsigned_abs();
    let fraction = format!("{:06}", value % 1_000_000);
    let fraction = fraction.trim_end_matches('0');
    format!("{sign}{}.{fraction:0<2}", value / 1_000_000)
}

/// Some value of a type, for a world outside that agrees to everything.
pub fn any(design: &Design, ty: &Type, range: Option<design::model::Range>) -> Option<Json> {
    Some(match ty.required() {
        Type::Bool => json!(true),
        Type::Int => json!(range.map_or(1, |range| range.low)),
        Type::Decimal => json!("1.00"),
        Type::Enum(id) => json!(design.enumerations[id.index()].constants.first()?),
        Type::Text => json!("agreed"),
        _ => return None,
    })
}
