//! What a commit writes beside records. It belongs to the partition of the record that it is about; the keys of today's
//! layout say whether it lies there.

use design::model::{Design, OperationId, StateId, SubjectId};
use layout::{KeyForm, Space};
use serde::Serialize;

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Along {
    pub what: String,
    /// which record it belongs to
    pub belongs: &'static str,
    /// as `layout` writes it, for the first subject of the design
    pub key: String,
    /// does its key begin with that of the record?
    pub with_record: bool,
}

pub fn of(design: &Design) -> Vec<Along> {
    let Some(first) = design.subjects.first() else { return Vec::new() };
    let record = KeyForm::record(design, SubjectId::of(0), &first.keys[0].name);
    let operation = OperationId::of(0);
    let outbox = KeyForm::outbox(operation, "its key");
    let outcome = KeyForm::idempotency();
    let stored = [
        (
            Space::LogEntry,
            "the record whose log it is",
            KeyForm::log_entry(&record, StateId::of(0), "offset"),
        ),
        (
            Space::RepairDue,
            "the record that is repaired",
            KeyForm::due(Space::RepairDue, "time", operation, record.tail()),
        ),
        (Space::Outbox, "what the step wrote that sent it", outbox.clone()),
        (
            Space::OutboxDue,
            "what the step wrote that sent it",
            KeyForm::due(Space::OutboxDue, "time", operation, &outbox.tail()[1..]),
        ),
        (Space::Idempotency, "what the call wrote", outcome.clone()),
        (
            Space::IdempotencyDue,
            "what the call wrote",
            KeyForm::due(Space::IdempotencyDue, "time", operation, outcome.tail()),
        ),
    ];
    let along = stored.into_iter().map(|(space, belongs, key)| Along {
        what: space.name().into(),
        belongs,
        with_record: key.tail().starts_with(record.tail()),
        key: key.to_string(),
    });
    let feed = Along {
        what: "entry of the feed".into(),
        belongs: "what the commit wrote",
        key: "its place in one order for the whole store".into(),
        with_record: false,
    };
    along.chain([feed]).collect()
}
