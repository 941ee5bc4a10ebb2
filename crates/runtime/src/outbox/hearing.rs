//! Events on their way to their handlers: those of one key in the order in which they were emitted.

use std::ops::ControlFlow;

use design::model::OperationId;
use layout::{OutboxDueKey, OutboxEntry, OutboxKey, event_key};
use store::{KeyRange, Transaction};

use crate::core::Runtime;

impl Runtime {
    /// The place in the index of the entry that is next: of an event, that of the first one of its key, whatever the clock said
    /// when it was emitted.
    pub(super) fn first_of_its_key(&self, due: Vec<u8>, transaction: &dyn Transaction) -> Vec<u8> {
        let hears = |entry: &OutboxKey<'_>| {
            let operation = self.schema.design.operations.get(entry.operation.index());
            operation.is_some_and(|operation| operation.hears.is_some())
        };
        let parsed = OutboxDueKey::parse(&due).ok().map(|due| due.entry).filter(hears);
        let key = parsed.map(|entry| OutboxKey { name: event_key(entry.name), ..entry }.to_bytes());
        let Some(key) = key else { return due };
        let mut first = None;
        transaction.scan(&KeyRange::prefix(key), false, &mut |key, _, value| {
            let at = OutboxEntry::take(value).map(|entry| entry.entry.next_at);
            first = OutboxKey::parse(key).ok().zip(at.ok()).map(|(key, at)| key.due(at).to_bytes());
            ControlFlow::Break(())
        });
        // one that cannot be read is set aside when its own turn comes
        first.unwrap_or(due)
    }

    /// An event that is refused is done with, and somebody may want to know.
    pub(super) fn tell_refused(&self, operation: OperationId, clause: &str) {
        let operation = &self.schema.design.operations[operation.index()];
        let Some(hears) = &operation.hears else { return };
        tracing::warn!(
            design = %self.schema.design.name,
            event = %hears.told(),
            %clause,
            "an event was refused by its handler"
        );
    }
}
