//! How many there can be of something.

use design::model::{Design, StateKind, SubjectId, Type, Values};

/// More digests than this are beyond the small world: histories are cut there.
pub(crate) const TERMS_MAX: usize = 1 << 14;

/// How many records of a subject there can be.
pub(crate) fn records(design: &Design, subject: SubjectId) -> i64 {
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

/// A number from `check`'s other settings.
pub(crate) fn setting(design: &Design, name: &str, otherwise: i64) -> i64 {
    design.world.settings.iter().find(|(n, _)| n == name).map_or(otherwise, |(_, value)| *value)
}

/// How many elements a list may have before a history is cut.
pub(crate) fn list_room(design: &Design) -> u32 {
    setting(design, "list", 4) as u32
}

/// How many elements a collection can have.
pub(crate) fn room(ty: &Type) -> i64 {
    match ty.required() {
        Type::List { max, .. } | Type::Set { max, .. } | Type::Map { max, .. } => i64::from(*max),
        _ => 0,
    }
}

/// How many times a value of this type can hold.
fn times_in(ty: &Type) -> i64 {
    match ty.required() {
        Type::Time => 1,
        Type::List { of, max } | Type::Set { of, max } => times_in(of) * i64::from(*max),
        Type::Map { key, value, max } => (times_in(key) + times_in(value)) * i64::from(*max),
        _ => 0,
    }
}

/// Is it a time, or does it hold some?
pub(crate) fn holds_times(ty: &Type) -> bool {
    times_in(ty) > 0
}

/// How many times truth and memory can hold.
pub(crate) fn stored_times(design: &Design) -> usize {
    let mut stored = 0;
    for (index, subject) in design.subjects.iter().enumerate() {
        let truth = subject
            .attributes
            .iter()
            .filter(|attribute| subject.states[attribute.state.index()].kind == StateKind::Truth);
        let times: i64 = truth.map(|attribute| times_in(&attribute.ty)).sum();
        stored += times * records(design, SubjectId::of(index));
    }
    for (actor, count) in design.actors.iter().zip(&design.world.actors) {
        for held in &actor.memory {
            let records = held.of.map_or(1, |of| records(design, of));
            stored += times_in(&held.ty) * records * i64::from(*count);
        }
    }
    stored as usize
}
