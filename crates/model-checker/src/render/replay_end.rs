//! How a script ends: with the truth that its history promises.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use design::model::{Design, StateKind, SubjectId, Type};
use serde_json::Value;

use super::Shown;
use super::replay::{comment, quoted};
use super::replay_value::{json_of, key};
use super::words::clean;
use crate::world::sorts::message_targets;
use crate::{StepKind, TraceStep};

/// Is it a call that somebody makes?
pub(super) fn is_made(design: &Design, step: &TraceStep) -> bool {
    let landed = step.refused.as_deref() != Some("dropped");
    if step.operation.is_some_and(|id| design.operations[id.index()].hears.is_some()) {
        return false; // only its event calls it
    }
    match step.kind {
        StepKind::Step | StepKind::World => step.operation.is_some(),
        StepKind::Delivery => {
            let message = step.operation.is_some_and(|id| message_targets(design)[id.index()]);
            landed && !message && step.operation.is_some()
        }
        _ => false,
    }
}

/// Can a script do all of it, and as it was done?
fn is_exact(design: &Design, steps: &[TraceStep]) -> bool {
    steps.iter().all(|step| match step.kind {
        StepKind::Tick | StepKind::Repair => step.fault.is_none(),
        StepKind::Fault => step.name == "crash",
        StepKind::Step | StepKind::World => {
            is_made(design, step) && matches!(step.fault.as_deref(), None | Some("lost_reply"))
        }
        StepKind::Effect | StepKind::Answer | StepKind::Delivery => false,
    })
}

/// Reads what the history changed, and says whether it has come true.
pub(super) fn ending(out: &mut String, design: &Design, shown: &Shown<'_>) {
    let steps = &shown.trace.steps;
    comment(out, &shown.trace.ending);
    if shown.trace.cycle_start.is_some() || shown.trace.ending.starts_with("nothing more happens") {
        comment(out, "whatever would recover from this may happen now");
        out.push_str("clock '{\"hold\":false}'\n");
    }
    out.push_str("printf '\\nin the end:\\n'\n");
    for ((subject, record), truth) in left(design, steps) {
        let path = path(design, subject, &record);
        match truth {
            None => {
                let _ = writeln!(out, "expect {} .truth null", quoted(&path));
            }
            Some(truth) => {
                for (part, value) in truth {
                    let _ = writeln!(
                        out,
                        "expect {} {} {}",
                        quoted(&path),
                        quoted(&part),
                        quoted(&value)
                    );
                }
            }
        }
    }
    let promise = clean(&shown.trace.ending);
    let so = quoted(&format!("so: {promise}"));
    if !is_exact(design, steps) {
        let other = "some of this history is not made by calls: compare the end with it";
        let _ = writeln!(out, "printf '%s\\n' {}", quoted(other));
        return;
    }
    let not = quoted(&format!("not so: {promise}"));
    let _ = writeln!(out, "if [ -n \"$differs\" ]; then printf '%s\\n' {not}; exit 1; fi");
    let _ = writeln!(out, "printf '%s\\n' {so}");
}

/// A part of truth, as jq names it, and its value in JSON.
type Parts = BTreeMap<String, String>;

/// Every record that the history changed, with what it left there; none: the record is gone.
fn left(design: &Design, steps: &[TraceStep]) -> BTreeMap<(SubjectId, String), Option<Parts>> {
    let mut left: BTreeMap<(SubjectId, String), Option<Parts>> = BTreeMap::new();
    for change in steps.iter().flat_map(|step| &step.changes) {
        if change.attribute.is_empty() && change.after == "absent" {
            for ((_, record), truth) in &mut left {
                if *record == change.record {
                    *truth = None;
                }
            }
        }
        let Some((state, attribute)) = change.attribute.split_once('.') else { continue };
        let Some((subject, ty)) = place(design, state, attribute) else { continue };
        let part = format!(".truth.{state}.{attribute}");
        let expected = match (ty.required(), change.after.as_str()) {
            (_, "null") => Some((part.clone(), "null".to_string())),
            // when it is depends on when the script runs
            (Type::Time, _) => Some((format!("{part} != null"), "true".to_string())),
            (Type::Set { .. }, shown) => match json_of(design, ty, shown) {
                Value::Array(mut list) => {
                    list.sort_by_cached_key(Value::to_string);
                    Some((part.clone(), Value::Array(list).to_string()))
                }
                _ => None,
            },
            (
                Type::Bool
                | Type::Int
                | Type::Enum(_)
                | Type::Ref(_)
                | Type::Actor
                | Type::Text
                | Type::Duration
                | Type::List { .. },
                shown,
            ) => Some((part.clone(), json_of(design, ty, shown).to_string())),
            _ => None,
        };
        let truth = left.entry((subject, change.record.clone())).or_default();
        let truth = truth.get_or_insert_with(BTreeMap::new);
        truth.remove(&part);
        truth.remove(&format!("{part} != null"));
        truth.extend(expected);
    }
    left
}

/// The subject that has this truth, and the type of the attribute.
fn place<'d>(design: &'d Design, state: &str, attribute: &str) -> Option<(SubjectId, &'d Type)> {
    design.subjects.iter().enumerate().find_map(|(at, subject)| {
        let known = subject.states.iter().find(|known| known.name == state)?;
        (known.kind == StateKind::Truth).then_some(())?;
        let mut attributes = known.attributes.iter().map(|id| &subject.attributes[id.index()]);
        let found = attributes.find(|known| known.name == attribute)?;
        Some((SubjectId::of(at), &found.ty))
    })
}

/// `Seat/seat-1`
fn path(design: &Design, subject: SubjectId, record: &str) -> String {
    let parts = match key(design, subject, record) {
        Value::Array(parts) => parts,
        one => vec![one],
    };
    let mut path = design.subjects[subject.index()].name.clone();
    for part in parts {
        let text = match part {
            Value::String(text) => text,
            other => other.to_string(),
        };
        path.push('/');
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                    path.push(char::from(byte));
                }
                other => {
                    let _ = write!(path, "%{other:02X}");
                }
            }
        }
    }
    path
}
