//! What the words of a result mean.

use design::model::Type;

use crate::Field;

/// How the words of a read's answer, an event or the body of a call are laid out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// a scalar or a collection
    Value {
        ty: Type,
        field: Field,
    },
    /// one word: the number of a [`crate::Query`] that the caller answers
    Query {
        ty: Type,
        offset: u32,
    },
    Record(Vec<(String, Shape)>),
}
