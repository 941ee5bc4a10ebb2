//! Repairs whose guard follows a reference or asks for content: another record, or an upload, may make
//! them due, and its commit does not know of them.
//!
//! Such a repair is looked at again now and then, but only while its own record says that it might
//! be due. That is asked of a second operation with those clauses alone that look at nothing else;
//! what it refuses, no other record can allow.

use design::model::visit::looks_elsewhere;
use design::model::{Design, Operation, OperationId, OperationKind};
use engine::{Due, NULL, Scratch, Word};

use crate::core::{Loaded, Schema};

/// How long until such a repair is looked at again after its record was written, unless it is set otherwise.
pub const REEXAMINE_MS: i64 = 1_000;

/// Later on it is looked at as seldom as its record is old, and at least once in so many times that.
pub const PATIENCE_MAX: i64 = 60;

/// For each operation, the one that asks its own record only; none: it looks at nothing else.
#[derive(Debug, Default)]
pub struct Elsewhere(Vec<Option<OperationId>>);

impl Elsewhere {
    /// The operations that are to be added to the program, the first of them as number `first`.
    pub fn of(design: &Design, first: usize) -> (Elsewhere, Vec<Operation>) {
        let mut added = Vec::new();
        let own = design.operations.iter().map(|operation| {
            let repairs = matches!(operation.kind, OperationKind::Repair { .. });
            if !repairs || !operation.guard.iter().any(|it| looks_elsewhere(operation, &it.body)) {
                return None;
            }
            let mut own = operation.clone();
            own.guard.retain(|clause| !looks_elsewhere(operation, &clause.body));
            added.push(own);
            Some(OperationId::of(first + added.len() - 1))
        });
        (Elsewhere(own.collect()), added)
    }
}

/// When a repair that is not due by what is known is to be looked at again, not before `soon`; none: not before
/// its own record changes.
pub fn again(
    schema: &Schema,
    loaded: &Loaded<'_>,
    (repair, record): (OperationId, Word),
    (now, soon): (Word, Word),
    scratch: &mut Scratch,
) -> Option<Word> {
    let own = (*schema.elsewhere.0.get(repair.index())?)?;
    match engine::due(&schema.program, loaded, own, record, NULL, now, scratch) {
        Due::Never => None,
        Due::At(at) => Some(at.max(soon)),
        Due::Now | Due::Need => Some(soon),
    }
}
