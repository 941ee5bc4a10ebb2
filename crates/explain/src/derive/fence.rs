//! What keeps an actor out whose knowledge is old.

use design::model::*;
use serde::Serialize;

use super::units;
use crate::facts::{Facts, Test, TestKind, Unit};

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fence {
    pub kind: FenceKind,
    pub clause: String,
    /// the attribute that is compared
    pub on: String,
    pub text: String,
    /// the operations after which an older value no longer passes
    pub moved_by: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FenceKind {
    /// what the caller remembers must still be so
    Memory,
    /// only the principal that is named there
    Owner,
    /// only before a deadline
    Deadline,
    /// only from these states: of two that compete, one comes too late
    State,
}

pub fn fences(unit: &Unit<'_>, facts: &Facts<'_>) -> Vec<Fence> {
    let mut fences: Vec<Fence> = Vec::new();
    for test in facts.tests.iter().filter(|test| !test.alternative) {
        let Some(fence) = of_test(unit, facts, test) else { continue };
        if !fences.contains(&fence) {
            fences.push(fence);
        }
    }
    fences
}

fn of_test(unit: &Unit<'_>, facts: &Facts<'_>, test: &Test) -> Option<Fence> {
    let clause = &unit.operation.guard[test.clause];
    let attribute = facts.attribute(unit.design, test.place, test.attr);
    let on = format!("{}.{}", facts.places[test.place].path, attribute.name);
    let (kind, text) = match &test.kind {
        TestKind::Memory(memory) => (
            FenceKind::Memory,
            format!(
                "whoever remembers an older `{}` than `{on}` is refused",
                unit.scope().memory_name(*memory)
            ),
        ),
        TestKind::Me => (FenceKind::Owner, format!("only the principal in `{on}` may")),
        TestKind::Live => (FenceKind::Deadline, format!("after `{on}` it is too late")),
        TestKind::OneOf(constants) => {
            let Type::Enum(id) = attribute.ty.required() else { return None };
            let names = &unit.design.enumerations[id.index()].constants;
            let names: Vec<&str> = constants.iter().map(|c| names[*c as usize].as_str()).collect();
            (FenceKind::State, format!("only while `{on}` is {}", names.join(" or ")))
        }
        _ => return None,
    };
    let subject = facts.places[test.place].subject;
    let moved_by = writers(unit.design, subject, test.attr);
    Some(Fence { kind, clause: clause.name.clone(), on, text, moved_by })
}

/// Every operation that writes an attribute of an existing record.
pub fn writers(design: &Design, subject: SubjectId, attr: AttrId) -> Vec<String> {
    let mut names = Vec::new();
    for unit in units(design) {
        let facts = Facts::of(&unit);
        let writes = facts.writes.iter().any(|write| {
            let place = &facts.places[write.place];
            write.attr == attr && place.subject == subject && !place.is_made()
        });
        if writes {
            names.push(unit.name());
        }
    }
    names
}
