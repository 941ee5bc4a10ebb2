//! The state after each step, from the first state and what each step changed.

use crate::{ChangeLine, StateLine, StepKind, Trace, TraceStep};

/// One value after a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Value {
    pub(super) record: String,
    pub(super) attribute: String,
    pub(super) value: String,
    pub(super) changed: bool,
}

/// The state before the first step, then after each.
pub(super) fn states(trace: &Trace) -> Vec<Vec<Value>> {
    let mut now: Vec<Value> = trace.initial.iter().map(value).collect();
    let mut all = vec![now.clone()];
    for step in &trace.steps {
        for held in &mut now {
            held.changed = false;
        }
        for change in &step.changes {
            apply(&mut now, change);
        }
        all.push(now.clone());
    }
    all
}

/// The same values with those of one record together, in the order in which records first appear.
pub(super) fn by_record(state: &[Value]) -> Vec<&Value> {
    let mut records: Vec<&str> = Vec::new();
    for value in state {
        if !records.contains(&value.record.as_str()) {
            records.push(&value.record);
        }
    }
    let mut result = Vec::new();
    for record in records {
        result.extend(state.iter().filter(|value| value.record == record));
    }
    result
}

fn value(line: &StateLine) -> Value {
    Value {
        record: line.record.clone(),
        attribute: line.attribute.clone(),
        value: line.value.clone(),
        changed: false,
    }
}

fn apply(now: &mut Vec<Value>, change: &ChangeLine) {
    let new = Value {
        record: change.record.clone(),
        attribute: change.attribute.clone(),
        value: change.after.clone(),
        changed: true,
    };
    if change.attribute.is_empty() && change.after == "absent" {
        // a record that is gone takes its attributes with it
        now.retain(|held| held.record != change.record || held.attribute.is_empty());
    }
    let same =
        |held: &&mut Value| held.record == change.record && held.attribute == change.attribute;
    if let Some(held) = now.iter_mut().find(same) {
        *held = new;
        return;
    }
    let last = now.iter().rposition(|held| held.record == change.record);
    now.insert(last.map_or(now.len(), |at| at + 1), new);
}

/// `SeatInventoryState.status` is `status` where the record says the rest.
pub(super) fn short(attribute: &str) -> &str {
    attribute.rsplit('.').next().unwrap_or(attribute)
}

/// Is it a record of the design, rather than something of the world around it?
pub(super) fn is_record(name: &str) -> bool {
    !matches!(name, "outbox" | "world outside" | "call in flight" | "message" | "partition")
}

/// The changes that a reader wants to hear of: not that times come nearer as the clock goes on, nor
/// what a new record has nothing in.
pub(super) fn worth_saying(step: &TraceStep) -> impl Iterator<Item = &ChangeLine> {
    let relative = |value: &str| value.starts_with("now");
    let ticked = step.kind == StepKind::Tick;
    step.changes.iter().filter(move |change| {
        let nearer = ticked && relative(&change.before) && relative(&change.after);
        let empty = change.before == "absent" && change.after == "null";
        !nearer && !empty
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn changes_add_up() {
        let trace = fixture::oversell();
        let states = states(&trace);
        assert_eq!(states.len(), trace.steps.len() + 1);
        let last = states.last().unwrap();
        let status =
            last.iter().find(|v| v.record == "booking-2" && short(&v.attribute) == "status");
        assert_eq!(status.map(|v| v.value.as_str()), Some("CONFIRMED"));
    }

    #[test]
    fn a_record_that_goes_takes_its_attributes_along() {
        let line = |attribute: &str, value: &str| StateLine {
            record: "a".into(),
            attribute: attribute.into(),
            value: value.into(),
        };
        let mut trace = Trace {
            initial: vec![line("", "present"), line("S.x", "1")],
            steps: vec![fixture::step(crate::StepKind::Step, "p", "remove")],
            ..Trace::default()
        };
        trace.steps[0].changes = vec![ChangeLine {
            record: "a".into(),
            attribute: String::new(),
            before: "present".into(),
            after: "absent".into(),
        }];
        let last = states(&trace).pop().unwrap();
        assert_eq!(last.len(), 1);
        assert_eq!(last[0].value, "absent");
    }
}
