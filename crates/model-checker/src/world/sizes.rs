//! How many there can be of something.

use design::model::{Design, SubjectId, Type, Values};

/// How many records of a subject there can be.
pub(super) fn records(design: &Design, subject: SubjectId) -> i64 {
    let held = &design.subjects[subject.index()];
    let parts = held.keys.iter().enumerate().map(|(at, key)| {
        let values = design.world.keys.get(subject.index()).and_then(|parts| parts.get(at));
        match (values, &key.ty) {
            (_, Type::Ref(of)) => records(design, *of),
            (Some(Values::Opaque(count)), _) => i64::from(*count),
            (Some(Values::Range(low, high)), _) => high - low + 1,
            (Some(Values::Listed(list)), _) => list.len() as i64,
            (_, Type::Enum(id)) => design.enumerations[id.index()].constants.len() as i64,
            (_, Type::Actor) => design.world.actors.iter().map(|count| i64::from(*count)).sum(),
            _ => 2,
        }
    });
    parts.product()
}

/// How many elements a collection can have.
pub(super) fn room(ty: &Type) -> i64 {
    match ty.required() {
        Type::List { max, .. } | Type::Set { max, .. } | Type::Map { max, .. } => i64::from(*max),
        _ => 0,
    }
}
