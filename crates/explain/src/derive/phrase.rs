//! The finer name of what an operation does, where its structure shows one.

use design::model::*;

use super::features::Features;
use super::kinds::{Kind, Mechanism, Shape};
use super::touch::{Touch, TouchKind};
use crate::facts::{Answered, Facts, Unit};

pub fn of(
    unit: &Unit<'_>,
    facts: &Facts<'_>,
    features: &Features,
    touches: &[Touch],
    mechanism: Option<Mechanism>,
) -> String {
    let mut phrase = match mechanism {
        None => read(facts, touches),
        Some(Mechanism::Insert) => insert(unit, facts),
        Some(Mechanism::GuardedUpdate) => update(unit, features).to_owned(),
        Some(Mechanism::Workflow) => workflow(unit, features, touches).to_owned(),
        Some(mechanism) => plain(mechanism, features).to_owned(),
    };
    let events = touches.iter().any(|touch| touch.kind == TouchKind::Event);
    if events && mechanism != Some(Mechanism::Workflow) {
        phrase.push_str(" + durable event");
    }
    let sent = |word: &str| {
        let mut sent = touches.iter().filter(|touch| touch.kind == TouchKind::Message);
        sent.any(|touch| touch.state.starts_with(word))
    };
    if sent("message ") {
        phrase.push_str(" + message to another place");
    }
    if sent("inbox ") {
        phrase.push_str(" + entry in an inbox, in the order of its key");
    }
    if let Some((_, next)) = unit.operation.takes() {
        let view = &unit.design.views[next.view.index()].name;
        phrase.push_str(" + the next of `");
        phrase.push_str(view);
        phrase.push_str("`, proposed by the view and judged on truth");
    }
    if asks_next(unit.operation) {
        phrase.push_str(" + the next instant of a schedule, stored as a due time");
    }
    if facts.sends.is_empty() || mechanism == Some(Mechanism::Workflow) {
        return phrase;
    }
    if features.sends {
        phrase.push_str(" + transactional outbox write");
    }
    phrase
}

/// Is the next instant of a schedule asked for?
fn asks_next(operation: &Operation) -> bool {
    !super::next_instants(operation).is_empty()
}

fn read(facts: &Facts<'_>, touches: &[Touch]) -> String {
    let hands =
        if facts.hands.is_empty() { "" } else { ", handing out memory that ages from then on" };
    let log = touches.iter().any(|touch| touch.kind == TouchKind::Log);
    let view = touches.iter().any(|touch| touch.shape == Some(Shape::ReadProjection));
    let what = match (view, log) {
        (true, _) => "read of a projection, which lags",
        (false, true) => "read of a range of the log",
        (false, false) => "read of truth at the latest commit",
    };
    format!("{what}{hands}")
}

fn insert(unit: &Unit<'_>, facts: &Facts<'_>) -> String {
    let mut phrase = "insert, refused if it is there";
    for place in facts.places.iter().filter(|place| place.is_made()) {
        let subject = &unit.design.subjects[place.subject.index()];
        let references = subject.keys.iter().filter(|key| key.ty.subject().is_some()).count();
        let spread = subject.keys.iter().any(|key| key.ty == Type::Int);
        phrase = match (references, spread) {
            (2.., true) => "bucketed relation index write",
            (1, true) if subject.keys.len() > 2 => "bucketed relation index write",
            (2.., _) => "relation edge, made at most once",
            (1, _) => "child record under its parent",
            _ => phrase,
        };
        let future = facts.writes.iter().any(|write| {
            let attribute = facts.attribute(unit.design, write.place, write.attr);
            facts.places[write.place].path == place.path
                && *attribute.ty.required() == Type::Time
                && !matches!(write.value.kind, ExprKind::Now | ExprKind::Literal(_))
        });
        if future {
            phrase = "insert of a run that waits for its time";
        }
    }
    phrase.to_owned()
}

fn update(unit: &Unit<'_>, features: &Features) -> &'static str {
    let all = features.all;
    match (Kind::of(unit), unit.answer) {
        (Kind::Answer, Some(Answered::Unknown)) => {
            return "move into an uncertain state instead of assuming failure";
        }
        (Kind::Answer, _) => return "answer recorded once, with its entry closed",
        (Kind::Repair, _) if all.past && all.deleted => return "expiry scan + guarded removal",
        (Kind::Repair, _) if all.past && all.deadline_set => return "timeout + reassignment",
        (Kind::Repair, _) if all.past => return "expiry scan + guarded release",
        (Kind::Repair, _) => return "guarded repair",
        _ => {}
    }
    if all.best {
        "guarded best-state update"
    } else if (all.deadline_set || all.stamped) && !all.constant_set && !all.payload {
        if all.memory || all.me { "guarded lease renewal" } else { "heartbeat" }
    } else if all.owner_cleared {
        "guarded release"
    } else if all.live && all.constant_set {
        "guarded confirm before the deadline"
    } else if all.memory && all.payload {
        "guarded completion write + owner fencing"
    } else if all.deleted {
        "guarded removal"
    } else if all.version_advanced && !all.constant_set {
        "guarded sequence advance"
    } else if all.reference_set && !all.constant_set {
        "guarded move of a pointer"
    } else {
        "guarded state transition"
    }
}

fn workflow(unit: &Unit<'_>, features: &Features, touches: &[Touch]) -> &'static str {
    let truth = touches.iter().any(|t| t.written && t.kind == TouchKind::Truth);
    match Kind::of(unit) {
        Kind::Effect => "worker retry / idempotent delivery",
        Kind::Repair if features.resends => {
            "reconciliation with the world outside, under the same key"
        }
        _ if !features.sends => "durable event",
        _ if truth => "guarded workflow transition + transactional outbox write",
        _ => "transactional outbox write",
    }
}

fn plain(mechanism: Mechanism, features: &Features) -> &'static str {
    let all = features.all;
    match mechanism {
        Mechanism::VersionedOverwrite if all.memory => {
            "overwrite of the version that the caller saw"
        }
        Mechanism::VersionedOverwrite => "overwrite, the last one wins",
        Mechanism::AppendLog if all.version_advanced || all.memory => "ordered append to the log",
        Mechanism::AppendLog => "append to the log",
        Mechanism::Counter => "atomic counter update",
        Mechanism::Claim if !all.deadline_set => "claim without a deadline",
        Mechanism::Claim if all.version_advanced => "claim/lease, epoch advanced",
        Mechanism::Claim => "claim/lease",
        Mechanism::Hold if features.makes => "guarded exclusive hold + workflow create",
        Mechanism::Hold => "guarded exclusive hold",
        Mechanism::Frontier if all.cursor => "guarded offset commit",
        Mechanism::Frontier => "deduped frontier expansion",
        Mechanism::DueScan => "due item made runnable",
        Mechanism::SnapshotPublication => "monotonic apply of a published version",
        Mechanism::MaterializedView => "cache fill",
        _ => "",
    }
}
