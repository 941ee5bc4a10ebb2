//! What is derived on its own.

use design::model::{Design, OperationId, OperationKind};

use crate::facts::{Answered, Unit};

/// Steps, repairs, reads, each call to the world outside and each of its answers.
pub fn units(design: &Design) -> Vec<Unit<'_>> {
    let mut units = Vec::new();
    for (index, operation) in design.operations.iter().enumerate() {
        let unit = Unit { design, id: OperationId::of(index), operation, answer: None };
        units.push(unit);
        if matches!(operation.kind, OperationKind::Effect(_)) {
            units.extend(Answered::ALL.map(|answer| Unit { answer: Some(answer), ..unit }));
        }
    }
    units
}
