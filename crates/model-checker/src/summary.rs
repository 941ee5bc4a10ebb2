//! The world that was explored, in words: every bound of the verdict.

use design::model::{Const, Fault, StateKind, Values};

use crate::WorldSummary;
use crate::machine::Machine;
use crate::world::plan::SlotName;
use crate::world::sorts::SortDomain;

/// `beyond`: slots whose values went beyond their bound. `barred`: sorts that ranks did not do for.
pub(crate) fn summary(machine: &Machine, beyond: &[u32], barred: &[usize]) -> WorldSummary {
    let design = &machine.design;
    let mut summary = WorldSummary::default();
    for (index, subject) in design.subjects.iter().enumerate() {
        for (at, key) in subject.keys.iter().enumerate() {
            let values = design.world.keys.get(index).and_then(|parts| parts.get(at));
            if let Some(count) = values.and_then(count)
                && key.ty.subject().is_none()
            {
                summary.bounds.push(format!("{}: {count}", key.name));
            }
        }
    }
    for (index, actor) in design.actors.iter().enumerate() {
        if actor.continues.is_none() && !actor.is_world {
            summary.bounds.push(format!("{}: {}", actor.name, machine.universe.of_actor[index].1));
        }
    }
    for (index, operation) in design.operations.iter().enumerate() {
        for (at, param) in operation.params.iter().enumerate() {
            let values = design.world.params.get(index).and_then(|list| list.get(at));
            let Some(shown) = values.and_then(shown) else { continue };
            let line = format!("{}: {shown}", param.name);
            if !summary.bounds.contains(&line) {
                summary.bounds.push(line);
            }
        }
    }
    for (fault, budget) in &machine.settings.faults {
        summary.faults.push(match budget {
            Some(budget) => format!("{} (at most {budget})", fault.name()),
            None => fault.name().into(),
        });
    }
    let settings = &machine.settings;
    if machine.plan.calls.count > 0 {
        summary.settings.push(format!("calls in flight: {}", settings.calls));
    }
    if machine.plan.effects.iter().any(Option::is_some) {
        summary.settings.push(format!("answers `unknown` for each key: {}", settings.unknowns));
    }
    if !machine.plan.messages.is_empty() {
        summary.settings.push(format!("messages on their way: {}", settings.messages));
    }
    let logs = design.subjects.iter().flat_map(|subject| &subject.states);
    if logs.into_iter().any(|state| matches!(state.kind, StateKind::Log { .. })) {
        let entries = crate::world::sorts::setting(design, "log", 3);
        summary.settings.push(format!("entries of a log: {entries}"));
    }
    if machine.has_time() {
        summary.settings.push(format!(
            "times are told apart from now-{} to now+{}",
            settings.horizon + 1,
            settings.duration_max
        ));
    }
    summary.symmetry = machine.symmetry_notes.clone();
    for (number, sort) in machine.universe.sorts.list.iter().enumerate() {
        let held_in_truth = sort.places.iter().filter_map(|place| match place {
            crate::world::flow::PlaceOf::Attr(subject, attr) => {
                Some(machine.attribute_name(*subject, *attr))
            }
            _ => None,
        });
        let names: Vec<String> = held_in_truth.collect();
        match &sort.domain {
            SortDomain::Ranked { global } => summary.normalised.push(format!(
                "{} kept by rank{}",
                names.join(", "),
                if *global { ", all records together" } else { "" }
            )),
            SortDomain::Bounded { low, high } if barred.contains(&number) => {
                summary.normalised.push(format!(
                    "{} fell back to the bound {low}..{high}: one that was not the largest advanced",
                    names.join(", ")
                ));
            }
            SortDomain::Bounded { low, high } => {
                summary.bounds.push(format!("{}: {low}..{high}", names.join(", ")));
            }
            _ => {}
        }
    }
    for slot in beyond {
        let what = match machine.plan.names.get(*slot as usize) {
            Some(SlotName::Attr { subject, attr, .. }) => machine.attribute_name(*subject, *attr),
            Some(SlotName::Log { subject, log, .. }) => {
                design.subjects[subject.index()].states[log.index()].name.clone()
            }
            Some(SlotName::Counter { subject, .. }) => {
                format!("a count under {}", design.subjects[subject.index()].name)
            }
            Some(SlotName::Memory { principal, field, .. }) => {
                machine.memory_field(*principal, *field).name.clone()
            }
            Some(_) => "something else".into(),
            None => "keys or messages beyond the small world".into(),
        };
        if !summary.cut.contains(&what) {
            summary.cut.push(what);
        }
    }
    if machine.has_time() && crate::machine::compares_times(design) {
        summary.cut.push(format!(
            "times further back than now-{}, which the design compares with each other",
            settings.horizon + 1
        ));
    }
    summary.fairness = fairness(machine);
    summary
}

/// What `recovers` assumes.
fn fairness(machine: &Machine) -> Vec<String> {
    let mut list = vec!["every client is silent, and no more faults strike".to_string()];
    if machine.instances.iter().any(|i| i.kind == crate::machine::InstanceKind::Repair) {
        list.push("each repair that stays due on a record that was changed runs eventually".into());
    }
    if machine.plan.effects.iter().any(Option::is_some) {
        list.push("each open outbox entry is attempted eventually, and its answer arrives".into());
        list.push("the world outside decides each call that reached it eventually".into());
        list.push(format!(
            "the answer to one key is `unknown` at most {} times",
            machine.settings.unknowns
        ));
    }
    if machine.plan.calls.count > 0 {
        list.push("each call in flight is delivered or dropped eventually".into());
    }
    if !machine.plan.messages.is_empty() {
        list.push("each message is delivered eventually".into());
    }
    if machine.settings.on(Fault::Partition) {
        list.push("each partition heals eventually".into());
    }
    if machine.has_time() {
        list.push("the clock goes on".into());
    }
    list
}

fn count(values: &Values) -> Option<u32> {
    match values {
        Values::Opaque(count) => Some(*count),
        Values::Listed(list) => Some(list.len() as u32),
        Values::OrNull(inner) => count(inner),
        _ => None,
    }
}

fn shown(values: &Values) -> Option<String> {
    Some(match values {
        Values::Opaque(count) => count.to_string(),
        Values::Range(low, high) => format!("{low}..{high}"),
        Values::Ticks(1) => "1 tick".into(),
        Values::Ticks(ticks) => format!("{ticks} ticks"),
        Values::Listed(list) => list.iter().map(constant).collect::<Vec<_>>().join(", "),
        Values::OrNull(inner) => format!("{} or null", shown(inner)?),
        Values::SetOf(inner, max) => format!("sets of at most {max} of {}", shown(inner)?),
        Values::Whole | Values::Refs(_) | Values::Principals | Values::Irrelevant => return None,
    })
}

fn constant(value: &Const) -> String {
    match value {
        Const::Null => "null".into(),
        Const::Bool(value) => value.to_string(),
        Const::Int(value) => value.to_string(),
        Const::Decimal(value) => format!("{}", *value as f64 / 1e6),
        Const::Text(text) => format!("{text:?}"),
        Const::Duration(ticks) => format!("{ticks} ticks"),
        Const::Enum(_, at) => format!("#{at}"),
        Const::Set(_) | Const::List(_) | Const::Map(_) => "…".into(),
    }
}
