//! Values of a test as callers write them, and whether an answer is what was expected.

use design::model::{
    Const, Design, Expr, ExprKind, SubjectId, TestField, TestRow, TestValue, Type,
};
use runtime::{decimal_text, time};
use serde_json::{Map, Value as Json, json};

/// What names stand for, and what time it is.
pub struct Values<'d> {
    pub design: &'d Design,
    pub names: &'d [Option<Json>],
    pub now: i64,
    /// what content is known by
    pub digest: &'d dyn Fn(&str) -> String,
}

impl Values<'_> {
    pub fn json(&self, value: &TestValue) -> Json {
        match value {
            TestValue::Const(constant) => self.constant(constant),
            TestValue::Name(at) => self.names[*at as usize].clone().unwrap_or(Json::Null),
            TestValue::Time(ms) => json!(time::write_time(self.now + ms)),
            TestValue::Key(_, parts) => {
                let mut all = Vec::new();
                for part in parts {
                    match self.json(part) {
                        Json::Array(several) => all.extend(several),
                        one => all.push(one),
                    }
                }
                if all.len() == 1 { all.remove(0) } else { Json::Array(all) }
            }
            TestValue::Content(text) => json!((self.digest)(text)),
            TestValue::Json(value) => value.clone(),
            TestValue::List(items) => Json::Array(items.iter().map(|it| self.json(it)).collect()),
            TestValue::Set(items) => sorted(items.iter().map(|it| self.json(it)).collect()),
            TestValue::Record(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.clone(), self.json(value)));
                Json::Object(fields.collect::<Map<_, _>>())
            }
            TestValue::Rows(rows) => {
                Json::Array(rows.iter().map(|row| self.row_as_told(row)).collect())
            }
        }
    }

    fn constant(&self, constant: &Const) -> Json {
        match constant {
            Const::Null => Json::Null,
            Const::Bool(held) => json!(held),
            Const::Int(number) => json!(number),
            Const::Decimal(millionths) => json!(decimal_text(i128::from(*millionths))),
            Const::Text(text) => json!(text),
            Const::Duration(ms) => json!(time::write_duration(*ms)),
            Const::Enum(id, at) => {
                json!(self.design.enumerations[id.index()].constants[*at as usize])
            }
            Const::Set(items) => sorted(items.iter().map(|it| self.constant(it)).collect()),
            Const::List(items) => Json::Array(items.iter().map(|it| self.constant(it)).collect()),
            Const::Map(pairs) => {
                let pairs = pairs.iter().map(|(name, value)| {
                    let name = match self.constant(name) {
                        Json::String(text) => text,
                        other => other.to_string(),
                    };
                    (name, self.constant(value))
                });
                Json::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// Is the answer what was expected? Of a record only the fields that are written are looked at.
    pub fn is(&self, expected: &TestValue, found: &Json) -> bool {
        match expected {
            TestValue::Record(fields) => {
                found.is_object()
                    && fields
                        .iter()
                        .all(|(name, value)| self.is(value, found.get(name).unwrap_or(&Json::Null)))
            }
            TestValue::List(items) => found.as_array().is_some_and(|held| {
                held.len() == items.len()
                    && items.iter().zip(held).all(|(item, held)| self.is(item, held))
            }),
            _ => self.json(expected) == *found,
        }
    }

    /// The same of a view, or of a read that answers with one.
    pub fn is_shown(&self, subject: Option<SubjectId>, expected: &TestValue, found: &Json) -> bool {
        let found = shown(expected, found);
        let (TestValue::Rows(rows), Some(subject)) = (expected, subject) else {
            return self.is(expected, found);
        };
        found.as_array().is_some_and(|held| {
            held.len() == rows.len()
                && rows.iter().zip(held).all(|(row, held)| self.is_row(subject, row, held))
        })
    }

    fn is_row(&self, subject: SubjectId, row: &TestRow, held: &Json) -> bool {
        let declared = &self.design.subjects[subject.index()];
        match row {
            TestRow::Key(key) => match self.json(key) {
                several @ Json::Array(_) => several == held["key"],
                one => held["key"] == json!([one]),
            },
            TestRow::Fields(fields) => fields.iter().all(|(field, value)| {
                let found = match field {
                    TestField::Key(part) => &held["key"][*part as usize],
                    TestField::Attr(attr) => {
                        let attribute = &declared.attributes[attr.index()];
                        let state = &declared.states[attribute.state.index()].name;
                        &held["truth"][state][&attribute.name]
                    }
                };
                self.is(value, found)
            }),
        }
    }

    fn row_as_told(&self, row: &TestRow) -> Json {
        match row {
            TestRow::Key(key) => self.json(key),
            TestRow::Fields(fields) => {
                Json::Array(fields.iter().map(|(_, value)| self.json(value)).collect())
            }
        }
    }
}

fn sorted(mut items: Vec<Json>) -> Json {
    items.sort_by_cached_key(Json::to_string);
    items.dedup();
    Json::Array(items)
}

/// The part of a view's answer that is looked at.
pub fn shown<'j>(expected: &TestValue, found: &'j Json) -> &'j Json {
    if let TestValue::Rows(_) = expected {
        return found.get("rows").unwrap_or(found);
    }
    if found.get("revision").is_none() {
        return found;
    }
    let parts = ["count", "sum", "max", "min", "avg"];
    parts.iter().find_map(|part| found.get(part)).unwrap_or(found)
}

/// What a name stands for, as an expression of the design.
pub fn expression(design: &Design, ty: &Type, value: &Json) -> Expr {
    let literal = |constant| Expr {
        kind: ExprKind::Literal(constant),
        ty: ty.clone(),
        span: design::model::Span::default(),
    };
    match (ty, value) {
        (Type::Ref(subject), _) => {
            let parts = match value {
                Json::Array(parts) => parts.clone(),
                Json::Null => return literal(Const::Null),
                one => vec![one.clone()],
            };
            keyed(design, *subject, &mut parts.iter())
        }
        (_, Json::Bool(held)) => literal(Const::Bool(*held)),
        (_, Json::Number(number)) => literal(Const::Int(number.as_i64().unwrap_or_default())),
        (Type::Enum(id), Json::String(text)) => {
            let constants = &design.enumerations[id.index()].constants;
            match constants.iter().position(|known| known == text) {
                Some(at) => literal(Const::Enum(*id, at as u32)),
                None => literal(Const::Null),
            }
        }
        (_, Json::String(text)) => literal(Const::Text(text.clone())),
        _ => literal(Const::Null),
    }
}

/// A record by the parts of its key, those of the records it refers to among them.
fn keyed<'j>(
    design: &Design,
    subject: SubjectId,
    parts: &mut impl Iterator<Item = &'j Json>,
) -> Expr {
    let mut key = Vec::new();
    for part in &design.subjects[subject.index()].keys {
        key.push(match part.ty.subject() {
            Some(other) => keyed(design, other, parts),
            None => expression(design, part.ty.required(), parts.next().unwrap_or(&Json::Null)),
        });
    }
    let kind = ExprKind::Keyed { subject, key };
    Expr { kind, ty: Type::Ref(subject), span: design::model::Span::default() }
}
