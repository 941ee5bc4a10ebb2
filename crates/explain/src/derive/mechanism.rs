//! From features to one of the fourteen.

use design::model::OperationKind;

use super::features::{Features, Of};
use super::kinds::{Mechanism, Shape};
use super::touch::{Touch, TouchKind};
use crate::facts::{Facts, Origin, Unit};

/// Gives each written touch its mechanism.
pub fn of_touches(unit: &Unit<'_>, facts: &Facts<'_>, features: &Features, touches: &mut [Touch]) {
    for touch in touches.iter_mut().filter(|touch| touch.written) {
        touch.mechanism = Some(one(unit, facts, features, touch));
    }
}

/// The one that the operation is named after: what it does to truth, else what the engine keeps.
pub fn of_all(touches: &[Touch]) -> Option<Mechanism> {
    let is_engine = |touch: &Touch| {
        matches!(touch.kind, TouchKind::Outbox | TouchKind::Event | TouchKind::Message)
    };
    let strongest = |engine: bool| {
        touches
            .iter()
            .filter(|touch| touch.kind != TouchKind::Idempotency && is_engine(touch) == engine)
            .filter_map(|touch| touch.mechanism)
            .max_by_key(|mechanism| mechanism.weight())
    };
    strongest(false).or_else(|| strongest(true))
}

fn one(unit: &Unit<'_>, facts: &Facts<'_>, features: &Features, touch: &Touch) -> Mechanism {
    match touch.kind {
        TouchKind::Outbox | TouchKind::Message | TouchKind::Event => return Mechanism::Workflow,
        TouchKind::Idempotency | TouchKind::Blob => return Mechanism::Insert,
        TouchKind::Cache | TouchKind::View => return Mechanism::MaterializedView,
        TouchKind::Counter => return Mechanism::Counter,
        TouchKind::Ephemeral if touch.shape == Some(Shape::Overwrite) => {
            return Mechanism::VersionedOverwrite;
        }
        TouchKind::Truth | TouchKind::Log | TouchKind::Ephemeral => {}
    }
    let Some((place, _)) = touch.at else { return Mechanism::GuardedUpdate };
    let of = Of::place(unit, facts, place);
    match touch.shape {
        Some(Shape::Append) => Mechanism::AppendLog,
        Some(Shape::CreateTarget) => created(unit, features, facts.places[place].origin),
        Some(Shape::Overwrite) => overwritten(of),
        _ => moved(features, of),
    }
}

fn created(unit: &Unit<'_>, features: &Features, origin: Origin) -> Mechanism {
    let repair = matches!(unit.operation.kind, OperationKind::Repair { .. });
    match origin {
        _ if repair && features.all.past => Mechanism::DueScan,
        Origin::Made { in_loop: true } => Mechanism::Frontier,
        _ => Mechanism::Insert,
    }
}

fn overwritten(of: Of) -> Mechanism {
    if of.cursor {
        Mechanism::Frontier
    } else if of.best && of.copied {
        Mechanism::SnapshotPublication
    } else if of.best {
        Mechanism::GuardedUpdate
    } else if of.memory && of.version_advanced || !guarded(of) {
        Mechanism::VersionedOverwrite
    } else {
        Mechanism::GuardedUpdate
    }
}

fn guarded(of: Of) -> bool {
    of.past || of.live || of.memory || of.me || of.free || of.best
}

fn moved(features: &Features, of: Of) -> Mechanism {
    let free = of.free || of.past;
    // A version that nobody has moved since it was seen says as much as a state that is tested.
    let unmoved = of.memory && of.version_advanced;
    if of.owner_taken && (free || unmoved) && (of.deadline_set || !of.memory && !of.me) {
        Mechanism::Claim
    } else if of.deadline_set && free && (of.constant_set || of.reference_set) {
        Mechanism::Hold
    } else if of.counted && !of.constant_set {
        Mechanism::Counter
    } else if of.cursor {
        Mechanism::Frontier
    } else if features.sends {
        Mechanism::Workflow
    } else {
        Mechanism::GuardedUpdate
    }
}
