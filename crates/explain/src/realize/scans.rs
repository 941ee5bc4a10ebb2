//! Ranges of keys: how the engine finds what is due, and how a read goes through a log.

use design::model::{Expr, ExprKind, OperationKind};

use super::commit::{ScanForm, plain};
use super::key::{KeyForm, Part};
use crate::facts::{Facts, ReadOf, Unit, children};

pub fn of(unit: &Unit<'_>, facts: &Facts<'_>) -> Vec<ScanForm> {
    let mut scans = Vec::new();
    let due = |letter: char, what: &str| ScanForm {
        name: "due".into(),
        what: what.into(),
        from: KeyForm(vec![Part::Design, Part::Letter(letter)]),
        to: KeyForm(vec![Part::Design, Part::Letter(letter), Part::Sorted("now + 1".into())]),
    };
    match &unit.operation.kind {
        OperationKind::Repair { .. } => scans.push(due('t', "repairs that are due")),
        OperationKind::Effect(_) => scans.push(due('p', "outbox entries whose time has come")),
        OperationKind::Read { result } => slices(unit, facts, result, &mut scans),
        OperationKind::Step { .. } => {}
    }
    scans
}

fn slices(unit: &Unit<'_>, facts: &Facts<'_>, expr: &Expr, scans: &mut Vec<ScanForm>) {
    if let ExprKind::LogSlice { log, from, limit, .. } = &expr.kind {
        let read = facts.reads.iter().find(|read| read.of == ReadOf::LogEntries(*log));
        let Some(place) = read.map(|read| &facts.places[read.place]) else { return };
        let subject = &unit.design.subjects[place.subject.index()];
        let record = KeyForm::record(unit.design, place.subject, &place.path);
        let scope = unit.scope();
        let (from, limit) = (scope.text(from), scope.text(limit));
        let at = |offset: String| {
            let mut key = KeyForm::log_entry(&record, *log, &place.path);
            key.0.pop();
            key.0.push(Part::Offset(offset));
            key
        };
        scans.push(ScanForm {
            name: plain(&subject.states[log.index()].name),
            what: format!("entries of {}", subject.states[log.index()].name),
            from: at(from.clone()),
            to: at(format!("{from} + {limit}")),
        });
    }
    children(expr, &mut |child| slices(unit, facts, child, scans));
}
