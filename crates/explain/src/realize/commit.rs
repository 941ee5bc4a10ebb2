//! One commit, before any engine, put together.

use design::model::*;
use layout::Size;

use super::forms::CommitForm;
use super::{kept, reached, scans};
use crate::facts::{Facts, Unit};

pub fn form(unit: &Unit<'_>, facts: &Facts<'_>) -> CommitForm {
    let mut form = CommitForm {
        operation: unit.name(),
        scans: scans::of(unit, facts),
        reads: Vec::new(),
        writes: Vec::new(),
        feed: None,
        writes_max: 0,
        events: facts.emits.iter().map(|e| unit.design.events[e.index()].name.clone()).collect(),
    };
    for at in 0..facts.places.len() {
        reached::place(unit, facts, at, &mut form);
    }
    for at in 0..facts.places.len() {
        reached::parent(unit, facts, at, &mut form);
    }
    kept::outbox(unit, facts, &mut form);
    kept::idempotency(unit, &mut form);
    form.writes_max = form.writes.iter().map(|write| write.times).sum();
    if form.writes.iter().any(|write| write.name != "idempotency") && !reads_only(unit) {
        let changed = form
            .writes
            .iter()
            .filter(|w| w.what == "record")
            .fold(Size::exactly(16), |sum, write| sum.and(write.size));
        form.feed = Some(Size { open: true, ..changed });
    }
    form
}

fn reads_only(unit: &Unit<'_>) -> bool {
    matches!(unit.operation.kind, OperationKind::Read { .. })
}
