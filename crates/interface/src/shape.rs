//! The forms that values have on the wire, without regard to a language.

use design::model::{Design, SubjectId, Type};

/// The form of a value in JSON.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    Any,
    Null,
    Bool,
    /// a whole number as it is answered
    Whole,
    /// a whole number as it may be sent
    WholeSent,
    Number,
    Text,
    Decimal,
    Time,
    /// a time as it may be sent
    TimeSent,
    Duration,
    DurationSent,
    Const(String),
    OneOf(Vec<String>),
    List(Box<Shape>),
    /// the parts of a key
    Parts(Vec<Shape>),
    Map(Box<Shape>),
    Object(Vec<Member>),
    /// one of the types of the module
    Named(String),
    OrNull(Box<Shape>),
    AnyOf(Vec<Shape>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub name: String,
    pub shape: Shape,
    /// it may be left out
    pub optional: bool,
}

impl Member {
    pub fn new(name: impl Into<String>, shape: Shape) -> Member {
        Member { name: name.into(), shape, optional: false }
    }

    pub fn optional(name: impl Into<String>, shape: Shape) -> Member {
        Member { name: name.into(), shape, optional: true }
    }
}

impl Shape {
    pub fn or_null(self) -> Shape {
        match self {
            Shape::Any | Shape::Null | Shape::OrNull(_) => self,
            other => Shape::OrNull(Box::new(other)),
        }
    }

    /// One of these; a single one is itself.
    pub fn any_of(mut shapes: Vec<Shape>) -> Shape {
        let mut different: Vec<Shape> = Vec::new();
        for shape in shapes.drain(..) {
            if !different.contains(&shape) {
                different.push(shape);
            }
        }
        if different.len() == 1 { different.remove(0) } else { Shape::AnyOf(different) }
    }
}

/// What is answered.
pub fn answered(design: &Design, ty: &Type) -> Shape {
    form(design, ty, false)
}

/// What may be sent.
pub fn sent(design: &Design, ty: &Type) -> Shape {
    form(design, ty, true)
}

fn form(design: &Design, ty: &Type, sent: bool) -> Shape {
    match ty {
        Type::Int if sent => Shape::WholeSent,
        Type::Int => Shape::Whole,
        Type::Bool => Shape::Bool,
        Type::Decimal | Type::Money(_) => Shape::Decimal,
        Type::Time if sent => Shape::TimeSent,
        Type::Time => Shape::Time,
        Type::Duration if sent => Shape::DurationSent,
        Type::Duration => Shape::Duration,
        Type::Enum(id) => Shape::OneOf(design.enumerations[id.index()].constants.clone()),
        Type::Ref(subject) => match key(design, *subject, sent) {
            mut parts if parts.len() == 1 => parts.remove(0),
            parts => Shape::Parts(parts),
        },
        Type::Optional(inner) => form(design, inner, sent).or_null(),
        Type::List { of, .. } | Type::Set { of, .. } => {
            Shape::List(Box::new(form(design, of, sent)))
        }
        Type::Map { value, .. } => Shape::Map(Box::new(form(design, value, sent))),
        Type::Struct(fields) => {
            let member = |field: &design::model::StructField| Member {
                name: field.name.clone(),
                shape: form(design, &field.ty, sent),
                // what is answered is whole
                optional: sent && field.ty.is_optional(),
            };
            Shape::Object(fields.iter().map(member).collect())
        }
        Type::Record(fields) => {
            let member = |(name, ty): &(String, Type)| Member::new(name, form(design, ty, sent));
            Shape::Object(fields.iter().map(member).collect())
        }
        Type::Point => Shape::Parts(vec![Shape::Number, Shape::Number]),
        Type::Json | Type::Rows(_) | Type::Error => Shape::Any,
        Type::Null => Shape::Null,
        Type::Secret if !sent => Shape::Null,
        Type::Text
        | Type::Bytes
        | Type::Schedule
        | Type::Document
        | Type::Actor
        | Type::Digest(_)
        | Type::Hash
        | Type::Signature
        | Type::PublicKey
        | Type::Proof
        | Type::Secret => Shape::Text,
    }
}

/// The parts of a key, those of the records it refers to among them.
pub fn key(design: &Design, subject: SubjectId, sent: bool) -> Vec<Shape> {
    let mut parts = Vec::new();
    for part in &design.subjects[subject.index()].keys {
        match part.ty {
            Type::Ref(other) => parts.extend(key(design, other, sent)),
            ref ty => parts.push(form(design, ty, sent)),
        }
    }
    parts
}

/// The names of the parts of a key.
pub fn key_names(design: &Design, subject: SubjectId) -> Vec<String> {
    let mut names = Vec::new();
    for part in &design.subjects[subject.index()].keys {
        match part.ty {
            Type::Ref(other) => names.extend(key_names(design, other)),
            _ => names.push(part.name.clone()),
        }
    }
    names
}
