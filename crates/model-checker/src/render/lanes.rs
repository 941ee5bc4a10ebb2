//! A history as swim lanes: who acts on what, before anything is measured or drawn.

use drawing::lanes::{Lane, LaneKind, Lanes, Reply, Row, Shape};

use super::sentence::call;
use super::state::{is_record, worth_saying};
use super::text_trace::change_text;
use super::words::clean;
use crate::{MemoryLine, StepKind, Trace, TraceStep};

const ENGINE: &str = "engine";
const OUTSIDE: &str = "world outside";

pub(super) fn lanes(trace: &Trace) -> Lanes {
    let columns = Columns(columns(trace));
    let mut rows = Vec::new();
    let mut beliefs: &[MemoryLine] = &[];
    for (at, step) in trace.steps.iter().enumerate() {
        let row = Row {
            shape: columns.shape(step),
            label: label(step),
            warning: step.would_have_refused.as_ref().map(|clause| clean(clause)),
            changes: columns.changes(step),
            beliefs: columns.beliefs(&step.memory, beliefs),
            cycle_start: trace.cycle_start == Some(at),
        };
        beliefs = &step.memory;
        rows.push(row);
    }
    Lanes { lanes: columns.0, rows }
}

/// The lanes, from left to right.
struct Columns(Vec<Lane>);

/// Principals, the engine, records, the world outside: only what the history touches, each kind in
/// the order of its appearance.
fn columns(trace: &Trace) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    let mut add = |kind: LaneKind, name: &str| {
        let lane = Lane { kind, name: clean(name) };
        if !lanes.contains(&lane) {
            lanes.push(lane);
        }
    };
    for step in &trace.steps {
        if let Some(name) = actor(step) {
            add(LaneKind::Principal, name);
        }
        match step.kind {
            StepKind::Repair => add(LaneKind::Engine, ENGINE),
            StepKind::Effect => {
                add(LaneKind::Engine, ENGINE);
                add(LaneKind::World, OUTSIDE);
            }
            StepKind::Answer | StepKind::World => add(LaneKind::World, OUTSIDE),
            _ => {}
        }
        for change in worth_saying(step) {
            match change.record.as_str() {
                "outbox" | "message" => add(LaneKind::Engine, ENGINE),
                "world outside" => add(LaneKind::World, OUTSIDE),
                name if is_record(name) && step.kind != StepKind::Tick => {
                    add(LaneKind::Record, name);
                }
                _ => {}
            }
        }
        for line in &step.memory {
            add(LaneKind::Principal, &line.principal);
        }
        let touches = step.changes.iter().any(|change| is_record(&change.record));
        if !touches && matches!(step.kind, StepKind::Step | StepKind::Delivery) {
            match target(trace, step) {
                Some(record) => add(LaneKind::Record, record),
                None => add(LaneKind::Engine, ENGINE),
            }
        }
    }
    lanes.sort_by_key(|lane| lane.kind);
    lanes
}

/// The principal that acts, if one does.
fn actor(step: &TraceStep) -> Option<&str> {
    match step.kind {
        StepKind::Step | StepKind::Delivery | StepKind::Fault => step.principal.as_deref(),
        _ => None,
    }
}

/// The world outside makes up its mind.
fn decided(step: &TraceStep) -> bool {
    step.kind == StepKind::Effect && step.actor == "world"
}

/// The record that a call without changes is about.
fn target<'a>(trace: &Trace, step: &'a TraceStep) -> Option<&'a str> {
    let known = |name: &str| trace.initial.iter().any(|line| line.record == name);
    step.params.iter().map(|(_, value)| value.as_str()).find(|value| known(value))
}

fn label(step: &TraceStep) -> String {
    let mut text = match (step.kind, step.name.as_str()) {
        (StepKind::Tick, _) => "one tick passes".into(),
        (StepKind::Fault, "crash") => "crash".into(),
        _ => call(step),
    };
    for (field, value) in &step.remembered {
        text.push_str(&format!(" · {} = {}", clean(field), clean(value)));
    }
    match step.fault.as_deref() {
        Some("lost_reply") => text.push_str(" · reply lost"),
        Some("retry_without_key") if step.memory.is_empty() => {
            text.push_str(" · reply lost · sent again without its key");
        }
        Some("retry_without_key") => text.push_str(" · comes again without its key"),
        Some("duplicate" | "doubled_message") => text.push_str(" · a copy stays in flight"),
        Some("pause") if step.remembered.is_empty() => text.push_str(" · a part pauses"),
        Some("pause") => text.push_str(" · after a pause"),
        Some("clock_step") => text.push_str(" · the clock jumped"),
        Some("late") if step.kind == StepKind::Fault => text.push_str(" · stays in flight"),
        Some("late") => text.push_str(" · late"),
        Some("stale") => text.push_str(" · an old copy"),
        Some("older_state") => text.push_str(" · from an older state"),
        _ => {}
    }
    match step.refused.as_deref() {
        Some("dropped") => text.push_str(" · dropped"),
        Some(clause) => text.push_str(&format!(" · refused by {}", clean(clause))),
        None => {}
    }
    text
}

impl Columns {
    fn find(&self, kind: LaneKind, name: &str) -> Option<usize> {
        let name = clean(name);
        self.0.iter().position(|lane| lane.kind == kind && lane.name == name)
    }

    fn shape(&self, step: &TraceStep) -> Shape {
        let engine = self.find(LaneKind::Engine, ENGINE);
        let outside = self.find(LaneKind::World, OUTSIDE);
        let principal = actor(step).and_then(|name| self.find(LaneKind::Principal, name));
        let mut to = self.touched(step);
        let (from, reply) = match step.kind {
            StepKind::Tick => return Shape::Band,
            StepKind::Fault if step.operation.is_none() => {
                // a message that is lost was with the engine
                let at = principal.or(engine);
                return at.map_or(Shape::Band, |lane| Shape::Mark { lane, bad: true });
            }
            StepKind::Effect if decided(step) => {
                return outside.map_or(Shape::Band, |lane| Shape::Mark { lane, bad: false });
            }
            StepKind::Effect => {
                to = outside.into_iter().collect();
                (engine, Reply::None)
            }
            StepKind::Repair => (engine, Reply::None),
            StepKind::Answer | StepKind::World => (outside, Reply::None),
            StepKind::Delivery if step.refused.is_some() => (principal, Reply::Refused),
            StepKind::Delivery | StepKind::Fault => (principal, Reply::None),
            StepKind::Step if step.refused.is_some() => (principal, Reply::Refused),
            StepKind::Step if step.fault.as_deref() == Some("lost_reply") => {
                (principal, Reply::Lost)
            }
            StepKind::Step
                if step.fault.as_deref() == Some("retry_without_key") && step.memory.is_empty() =>
            {
                (principal, Reply::Lost)
            }
            StepKind::Step => (principal, Reply::Given),
        };
        let Some(from) = from else { return Shape::Band };
        to.retain(|lane| *lane != from);
        to.sort_by_key(|lane| lane.abs_diff(from));
        if to.is_empty() {
            return Shape::Mark { lane: from, bad: false };
        }
        let doubled = matches!(
            step.fault.as_deref(),
            Some("duplicate" | "doubled_message" | "retry_without_key")
        );
        let in_flight = step.kind == StepKind::Fault
            || step.kind == StepKind::Delivery && step.refused.as_deref() == Some("dropped");
        Shape::Arrow { from, to, reply, doubled, in_flight }
    }

    /// The lanes of the records that a step changed; or of the one that it is about.
    fn touched(&self, step: &TraceStep) -> Vec<usize> {
        let mut lanes: Vec<usize> = Vec::new();
        for change in step.changes.iter().filter(|change| is_record(&change.record)) {
            lanes.extend(self.find(LaneKind::Record, &change.record));
        }
        if lanes.is_empty() {
            let named =
                step.params.iter().find_map(|(_, value)| self.find(LaneKind::Record, value));
            lanes.extend(named.or_else(|| self.find(LaneKind::Engine, ENGINE)));
        }
        lanes.sort_unstable();
        lanes.dedup();
        lanes
    }

    fn changes(&self, step: &TraceStep) -> Vec<(usize, Vec<String>)> {
        let mut list = Vec::new();
        for change in worth_saying(step) {
            let (lane, said) = match change.record.as_str() {
                "outbox" | "message" => {
                    let said = format!("{}: {}", clean(&change.record), change_text(change));
                    (self.find(LaneKind::Engine, ENGINE), said)
                }
                // a decision is a mark of its own
                "world outside" if decided(step) => (None, String::new()),
                "world outside" => (self.find(LaneKind::World, OUTSIDE), change_text(change)),
                name if step.kind != StepKind::Tick => {
                    (self.find(LaneKind::Record, name), change_text(change))
                }
                _ => (None, String::new()),
            };
            if let Some(lane) = lane {
                note(&mut list, lane, said);
            }
        }
        list
    }

    fn beliefs(&self, now: &[MemoryLine], before: &[MemoryLine]) -> Vec<(usize, Vec<String>)> {
        let mut list = Vec::new();
        let mut say = |line: &MemoryLine, said: String| {
            if let Some(lane) = self.find(LaneKind::Principal, &line.principal) {
                note(&mut list, lane, said);
            }
        };
        for line in now.iter().filter(|line| !before.contains(line)) {
            say(line, format!("{} = {}", clean(&line.field), clean(&line.value)));
        }
        for line in before {
            let same = |held: &MemoryLine| {
                held.principal == line.principal
                    && held.field == line.field
                    && held.record == line.record
            };
            if !now.iter().any(same) {
                say(line, format!("forgot {}", clean(&line.field)));
            }
        }
        list
    }
}

fn note(list: &mut Vec<(usize, Vec<String>)>, lane: usize, said: String) {
    match list.iter_mut().find(|(held, _)| *held == lane) {
        Some((_, lines)) => lines.push(said),
        None => list.push((lane, vec![said])),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn lanes_are_what_the_history_touches() {
        let names: Vec<String> =
            lanes(&fixture::oversell()).lanes.into_iter().map(|lane| lane.name).collect();
        assert_eq!(names, ["buyer-1", "buyer-2", "seat-1", "booking-1", "booking-2"]);
    }

    #[test]
    fn a_lost_reply_and_a_missing_guard_are_marked() {
        let drawing = lanes(&fixture::oversell());
        let Shape::Arrow { from, to, reply, .. } = &drawing.rows[0].shape else { panic!() };
        assert_eq!((*from, to.as_slice(), *reply), (0, [2, 3].as_slice(), Reply::Lost));
        assert_eq!(drawing.rows[1].warning.as_deref(), Some("hold.free"));
    }

    #[test]
    fn crashes_are_marks_and_ticks_are_bands() {
        let drawing = lanes(&fixture::orphan());
        assert_eq!(drawing.rows[1].shape, Shape::Mark { lane: 0, bad: true });
        assert_eq!(drawing.rows[1].beliefs, [(0, vec!["forgot my_epoch".to_string()])]);
        assert_eq!(drawing.rows[2].shape, Shape::Band);
        assert!(drawing.rows[2].cycle_start);
    }
}
