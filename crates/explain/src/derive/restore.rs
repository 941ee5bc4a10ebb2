//! Which repairs take over what an operation leaves behind.

use design::model::*;

use super::touch::is_null;
use super::units;
use crate::facts::{Facts, Test, TestKind, Unit, Write};

/// The repairs whose guard tests what this operation writes, and which what it writes can make
/// hold.
pub fn repairs(unit: &Unit<'_>, facts: &Facts<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for repair in units(unit.design) {
        if repair.id == unit.id || !matches!(repair.operation.kind, OperationKind::Repair { .. }) {
            continue;
        }
        let theirs = Facts::of(&repair);
        if leads_to(facts, &theirs) {
            names.push(repair.name());
        }
    }
    names
}

fn leads_to(ours: &Facts<'_>, theirs: &Facts<'_>) -> bool {
    let mut met = false;
    for test in &theirs.tests {
        let subject = theirs.places[test.place].subject;
        // Only what it surely writes last: a branch may or may not be taken.
        let last = ours
            .writes
            .iter()
            .rfind(|w| w.attr == test.attr && ours.places[w.place].subject == subject);
        let Some(write) = last else { continue };
        match agrees(test, write) {
            true => met = true,
            false if test.alternative || !write.when.is_empty() => {}
            false => return false,
        }
    }
    met
}

/// Can the test hold after the write?
fn agrees(test: &Test, write: &Write<'_>) -> bool {
    let constant = match &write.value.kind {
        ExprKind::Literal(Const::Enum(_, which)) => Some(*which),
        _ => None,
    };
    match (&test.kind, constant) {
        (TestKind::OneOf(list), Some(which)) => list.contains(&which),
        (TestKind::NoneOf(list), Some(which)) => !list.contains(&which),
        (TestKind::IsNull, _) => is_null(write.value),
        (TestKind::NotNull | TestKind::Past | TestKind::Live, _) => !is_null(write.value),
        (TestKind::Flag(flag), _) => match write.value.kind {
            ExprKind::Literal(Const::Bool(value)) => value == *flag,
            _ => true,
        },
        _ => true,
    }
}
