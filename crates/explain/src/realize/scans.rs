//! Ranges of keys: how the engine finds what is due, and how a read goes through a log.

use design::model::{Expr, ExprKind, OperationKind};
use layout::{KeyForm, Space};

use super::forms::{ScanForm, plain};
use crate::facts::{Facts, ReadOf, Unit, children};

pub fn of(unit: &Unit<'_>, facts: &Facts<'_>) -> Vec<ScanForm> {
    let mut scans = Vec::new();
    let due = |space: Space, what: &str| ScanForm {
        name: "due".into(),
        what: what.into(),
        from: KeyForm::begin(space),
        to: KeyForm::until(space, "now + 1"),
    };
    match &unit.operation.kind {
        OperationKind::Repair { .. } => scans.push(due(Space::RepairDue, "repairs that are due")),
        OperationKind::Effect(_) => {
            scans.push(due(Space::OutboxDue, "outbox entries whose time has come"))
        }
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
        let at = |offset: &str| KeyForm::log_entry(&record, *log, offset);
        scans.push(ScanForm {
            name: plain(&subject.states[log.index()].name),
            what: format!("entries of {}", subject.states[log.index()].name),
            from: at(&from),
            to: at(&format!("{from} + {limit}")),
        });
    }
    children(expr, &mut |child| slices(unit, facts, child, scans));
}
