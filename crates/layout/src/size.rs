//! How many bytes a stored value takes.

use design::model::{Design, StateKind, Subject, SubjectId, Type};
use serde::Serialize;

use crate::key::PartKind;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Size {
    pub min: u64,
    /// texts of any length not counted
    pub max: u64,
    /// some part is as long as its text
    pub open: bool,
}

impl Size {
    pub const NOTHING: Size = Size { min: 0, max: 0, open: false };

    pub fn exactly(bytes: u64) -> Size {
        Size { min: bytes, max: bytes, open: false }
    }

    pub fn between(min: u64, max: u64) -> Size {
        Size { min, max, open: false }
    }

    pub fn and(self, other: Size) -> Size {
        Size { min: self.min + other.min, max: self.max + other.max, open: self.open || other.open }
    }

    pub fn text(&self) -> String {
        let open = if self.open { " and its texts" } else { "" };
        if self.min == self.max {
            format!("{} bytes{open}", self.min)
        } else {
            format!("{} to {} bytes{open}", self.min, self.max)
        }
    }
}

/// A number of either sign takes one byte for each seven bits.
pub const NUMBER: Size = Size { min: 1, max: 10, open: false };

pub fn of_type(design: &Design, ty: &Type) -> Size {
    let many =
        |one: Size, max: u32| Size { min: 1, max: 5 + one.max * u64::from(max), open: one.open };
    match ty {
        Type::Bool | Type::Enum(_) => Size::between(1, 2),
        Type::Int | Type::Decimal | Type::Money(_) | Type::Time | Type::Duration => NUMBER,
        Type::Optional(inner) => {
            let inner = of_type(design, inner);
            Size { min: 1, max: 1 + inner.max, open: inner.open }
        }
        Type::Ref(subject) => {
            let key = of_key(design, &design.subjects[subject.index()]);
            Size { min: 1 + key.min, max: 5 + key.max, open: key.open }
        }
        Type::List { of, max } | Type::Set { of, max } => many(of_type(design, of), *max),
        Type::Map { key, value, max } => {
            many(of_type(design, key).and(of_type(design, value)), *max)
        }
        Type::Struct(fields) => {
            fields.iter().fold(Size::NOTHING, |sum, field| sum.and(of_type(design, &field.ty)))
        }
        Type::Record(fields) => {
            fields.iter().fold(Size::NOTHING, |sum, (_, ty)| sum.and(of_type(design, ty)))
        }
        _ => Size { min: 1, max: 5, open: true },
    }
}

fn of_key(design: &Design, subject: &Subject) -> Size {
    subject.keys.iter().fold(Size::NOTHING, |sum, key| {
        sum.and(match PartKind::of(&key.ty) {
            PartKind::Parts(other) => of_key(design, &design.subjects[other.index()]),
            PartKind::Text => Size { min: 2, max: 2, open: true },
            PartKind::Number => Size::exactly(8),
        })
    })
}

/// A record: its form, when it was written, when its repairs are due, its truth, its counters, the
/// ends of its logs.
pub fn of_record(design: &Design, subject: SubjectId, repairs: usize) -> Size {
    let subject = &design.subjects[subject.index()];
    let head = Size::exactly(2).and(NUMBER);
    let due = Size::between(0, repairs as u64 * 13);
    let mut size = head.and(due);
    for attribute in &subject.attributes {
        if subject.states[attribute.state.index()].kind == StateKind::Truth {
            size = size.and(of_type(design, &attribute.ty));
        }
    }
    for _ in &subject.counters {
        size = size.and(NUMBER);
    }
    for state in &subject.states {
        if matches!(state.kind, StateKind::Log { .. }) {
            size = size.and(NUMBER).and(NUMBER);
        }
    }
    size
}
