//! Records with certain values, in the order of their keys.
//!
//! There is no index behind it: records are looked at one after the other, so many at a time. What is asked often, or of
//! many records, is a view.

use design::model::{Asked, SubjectId, Type};
use layout::{Pool, RecordKey};
use serde_json::Value;
use store::{Key, KeyRange, Scan};

use super::reading::Truth;
use crate::calls::CallError;
use crate::core::{Runtime, Schema};
use crate::sight::Viewer;
use crate::values::{self, BadValue};

/// So many records are looked at for one page.
const LOOKED_AT_MAX: usize = 10_000;
/// So many are fetched at once.
const FETCHED: usize = 500;

/// Which records of a subject are wanted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordQuery {
    pub subject: String,
    /// an attribute, or a part of the key, and its value as it is written in an address
    pub wanted: Vec<(String, String)>,
    /// the key of the record that comes before
    pub after: Option<Vec<Value>>,
    pub limit: usize,
}

/// A page of those that were found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundRecords {
    /// each with its key
    pub records: Vec<(Vec<Value>, Truth)>,
    /// the key after which to go on; none: that was all
    pub next: Option<Vec<Value>>,
}

/// Where a value stands in what is told of a record.
enum Wanted {
    Part(usize, Vec<Value>),
    Attribute { state: String, name: String, is: Value },
}

impl Wanted {
    fn fits(&self, key: &[Value], truth: &Value) -> bool {
        match self {
            Wanted::Part(at, is) => key.get(*at..*at + is.len()) == Some(is),
            // what the viewer does not see is not there, so that nobody finds out by asking
            Wanted::Attribute { state, name, is } => truth[state].get(name) == Some(is),
        }
    }
}

impl Runtime {
    /// The next records that fit, as far as the viewer sees them; none given: all of everything is seen.
    pub async fn find_records(
        &self,
        query: &RecordQuery,
        viewer: Option<&Viewer>,
    ) -> Result<FoundRecords, CallError> {
        let schema = &*self.schema;
        let RecordQuery { subject, wanted, after, limit } = query;
        let Some(id) = schema.subject(subject) else {
            let message = format!("`{}` has no subject `{subject}`", schema.design.name);
            return Err(CallError::Unknown(message));
        };
        let wanted: Result<Vec<Wanted>, BadValue> =
            wanted.iter().map(|(name, value)| wanted_of(schema, id, name, value)).collect();
        let wanted = wanted.map_err(CallError::Bad)?;
        let mut range = KeyRange::prefix(RecordKey::prefix(schema.number, id));
        if let Some(after) = after {
            let mut pool = Pool::new(schema.program.texts());
            let handle = values::read_key(&schema.design, id, &mut after.iter(), &mut pool);
            let handle = handle.map_err(|bad| CallError::Bad(bad.under("after")))?;
            range.start = Key::new(schema.codec().record_key(id, handle, &pool)).next();
        }
        let eye = self.eye(viewer);
        let mut found = FoundRecords::default();
        let (mut looked_at, mut last_seen) = (0, None);
        loop {
            let page = self.store.scan(Scan::new(range.clone(), FETCHED)).await?;
            for (stored_key, stored) in &page.records {
                looked_at += 1;
                if let Some(truth) = self.seen(stored_key, &stored.value, eye.as_ref())? {
                    let key = self.key_of(RecordKey::parse(stored_key)?)?;
                    if wanted.iter().all(|wanted| wanted.fits(&key, &truth)) {
                        if found.records.len() == *limit {
                            // there is one more
                            found.next = found.records.last().map(|(key, _)| key.clone());
                            self.current_anywhere().await?;
                            return Ok(found);
                        }
                        let truth = Truth { version: stored.version.0, truth };
                        found.records.push((key.clone(), truth));
                    }
                    last_seen = Some(key);
                }
                if looked_at == LOOKED_AT_MAX {
                    // the key of a record that is not seen is not told, so nobody can go on after it
                    let Some(last) = last_seen else { return Err(too_many(subject)) };
                    found.next = Some(last);
                    self.current_anywhere().await?;
                    return Ok(found);
                }
            }
            match page.records.last() {
                Some((last, _)) if page.more => range.start = last.clone().next(),
                _ => break,
            }
        }
        self.current_anywhere().await?;
        Ok(found)
    }
}

fn too_many(subject: &str) -> CallError {
    let message = format!(
        "of {LOOKED_AT_MAX} records of `{subject}` the caller sees none: ask for a view that has its own, or go on \
         after another key"
    );
    CallError::Bad(BadValue::new("/after", message))
}

fn wanted_of(schema: &Schema, id: SubjectId, name: &str, given: &str) -> Result<Wanted, BadValue> {
    let subject = &schema.design.subjects[id.index()];
    let pointer = || format!("/{name}");
    let mut at = 0;
    for part in &subject.keys {
        let (value, width) = given_as(schema, &part.ty, given);
        if part.name == name {
            let told = told(schema, &part.ty, &value);
            let told = told.map_err(|bad| BadValue { pointer: pointer(), ..bad })?;
            let parts = match told {
                Value::Array(parts) => parts,
                other => vec![other],
            };
            return Ok(Wanted::Part(at, parts));
        }
        at += width;
    }
    let spelled = |it: &Asked<'_>| {
        it.name() == name || name.split_once('.') == Some((&it.state.name, &it.attribute.name))
    };
    let Some(Asked { state, attribute, .. }) = subject.asked().find(spelled) else {
        let parts = subject.keys.iter().map(|part| part.name.clone());
        let all: Vec<String> = parts.chain(subject.asked().map(|it| it.name())).collect();
        let message = format!(
            "`{}` has no attribute `{name}` that can be asked for; there are: {}",
            subject.name,
            all.join(", ")
        );
        return Err(BadValue::new(pointer(), message));
    };
    let (value, _) = given_as(schema, &attribute.ty, given);
    let is = told(schema, &attribute.ty, &value);
    let is = is.map_err(|bad| BadValue { pointer: pointer(), ..bad })?;
    Ok(Wanted::Attribute { state: state.name.clone(), name: attribute.name.clone(), is })
}

/// A value of an address: nothing at all is null where there may be none, and the parts of a key are separated by
/// commas. Also how many parts of a key a value of this type takes.
fn given_as(schema: &Schema, ty: &Type, given: &str) -> (Value, usize) {
    match ty {
        Type::Optional(_) if given.is_empty() => (Value::Null, 1),
        Type::Optional(inner) => given_as(schema, inner, given),
        Type::Ref(other) => (given.split(',').map(Value::from).collect(), parts_of(schema, *other)),
        _ => (Value::from(given), 1),
    }
}

fn parts_of(schema: &Schema, subject: SubjectId) -> usize {
    let parts = schema.design.subjects[subject.index()].keys.iter();
    parts.map(|part| part.ty.subject().map_or(1, |other| parts_of(schema, other))).sum()
}

/// The value as answers tell it.
fn told(schema: &Schema, ty: &Type, value: &Value) -> Result<Value, BadValue> {
    let (mut pool, mut words) = (Pool::new(schema.program.texts()), Vec::new());
    values::read(&schema.design, ty, value, &mut pool, &mut words)?;
    Ok(values::write(&schema.design, ty, &words, &pool))
}
