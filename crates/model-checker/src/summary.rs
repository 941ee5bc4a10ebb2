//! The world that was explored, in words: every bound of the verdict.

use std::collections::{BTreeMap, BTreeSet};

use design::model::{
    ActorId, Const, Design, Fault, OperationId, Range, StateKind, StructField, Type, Values,
};

use crate::WorldSummary;
use crate::machine::{Beyond, Machine, is_implied};
use crate::world::flow::PlaceOf;
use crate::world::plan::SlotName;
use crate::world::sizes::{list_room, setting};
use crate::world::slots::Codec;
use crate::world::sorts::SortDomain;

/// `cut`: what the world had no room for. `barred`: sorts that ranks did not do for. `clocks`: what was explored, each
/// with its clock.
pub(crate) fn summary(
    machine: &Machine,
    cut: Vec<String>,
    barred: &[usize],
    clocks: &[&Machine],
) -> WorldSummary {
    let design = &machine.design;
    let mut summary = WorldSummary::default();
    let mut bounds = Vec::new();
    for (index, subject) in design.subjects.iter().enumerate() {
        for (at, key) in subject.keys.iter().enumerate() {
            let values = design.world.keys.get(index).and_then(|parts| parts.get(at));
            if let Some(count) = values.and_then(count)
                && key.ty.subject().is_none()
            {
                bounds.push((subject.name.as_str(), key.name.as_str(), count.to_string()));
            }
        }
    }
    told_apart(&bounds, &mut summary.bounds);
    for (index, actor) in design.actors.iter().enumerate() {
        if actor.continues.is_none() && !actor.is_world {
            let also: Vec<&str> = machine
                .universe
                .sorts
                .meets(ActorId::of(index))
                .into_iter()
                .filter(|other| {
                    let (first, _) = machine.universe.of_actor[index];
                    other.index() != index && machine.universe.acts[other.index()].contains(&first)
                })
                .map(|other| design.actors[other.index()].name.as_str())
                .collect();
            let mut line = format!("{}: {}", actor.name, machine.universe.of_actor[index].1);
            if !also.is_empty() {
                line.push_str(&format!(" (each may also act as {})", also.join(", ")));
            }
            if !summary.bounds.contains(&line) {
                summary.bounds.push(line);
            }
        }
    }
    let mut bounds = Vec::new();
    for (index, operation) in design.operations.iter().enumerate() {
        for (at, param) in operation.params.iter().enumerate() {
            let values = design.world.params.get(index).and_then(|list| list.get(at));
            let told = values.and_then(|values| match param.ty.fields() {
                Some(fields) => shown_records(machine, values, fields),
                None => shown(machine, values),
            });
            let Some(shown) = told else { continue };
            let default = match &param.default {
                Some(value) if *value != Const::Null => {
                    format!(", or {}", constant(machine, value))
                }
                _ => String::new(),
            };
            let line = format!("{shown}{default}");
            bounds.push((operation.name.as_str(), param.name.as_str(), line));
        }
    }
    told_apart(&bounds, &mut summary.bounds);
    for (fault, budget) in &machine.settings.faults {
        summary.faults.push(match budget {
            Some(budget) => format!("{} (at most {budget})", fault.name()),
            None if is_implied(&machine.design, *fault) => {
                let place = match fault {
                    Fault::DoubledEvent => "an event calls something",
                    _ => "there are caches",
                };
                format!("{} (always, where {place})", fault.name())
            }
            None => fault.name().into(),
        });
    }
    let settings = &machine.settings;
    if machine.plan.calls.count > 0 {
        summary.settings.push(format!("calls in flight: {}", settings.calls));
    }
    if machine.plan.effects.iter().any(Option::is_some) {
        let often = if settings.unknowns { "any number of times" } else { "never" };
        summary.settings.push(format!("answers that are `unknown`: {often}"));
    }
    if machine.has_messages() {
        let many = match machine.is_set() {
            true => "any number, each lost, doubled and overtaken at will".into(),
            false => settings.messages.to_string(),
        };
        summary.settings.push(format!("messages on their way: {many}"));
    }
    let logs = design.subjects.iter().flat_map(|subject| &subject.states);
    if logs.into_iter().any(|state| matches!(state.kind, StateKind::Log { .. })) {
        let entries = setting(design, "log", 3);
        summary.settings.push(format!("entries of a log: {entries}"));
    }
    let (mapping, far) = times(clocks);
    summary.time = mapping;
    summary.settings.extend(far);
    summary.symmetry = machine.symmetry_notes.clone();
    for (number, sort) in machine.universe.sorts.list.iter().enumerate() {
        let held_in_truth = sort.places.iter().filter_map(|place| match place {
            PlaceOf::Attr(subject, attr) => Some(machine.attribute_name(*subject, *attr)),
            _ => None,
        });
        let names: Vec<String> = held_in_truth.collect();
        let range = |low: &i64, high: &i64| {
            let ty = sort.places.iter().find_map(|place| type_of(design, place));
            Range { low: *low, high: *high }.text(ty.unwrap_or(&Type::Int))
        };
        match &sort.domain {
            SortDomain::Ranked { global } => summary.normalised.push(format!(
                "{} kept by rank{}",
                names.join(", "),
                if *global { ", all records together" } else { "" }
            )),
            SortDomain::Bounded { low, high } if machine.carried.contains(&number) => {
                summary.normalised.push(format!(
                    "{} has the bound {}: messages carry it",
                    names.join(", "),
                    range(low, high)
                ));
            }
            SortDomain::Bounded { low, high } if barred.contains(&number) => {
                summary.normalised.push(format!(
                    "{} fell back to the bound {}: one that was not the largest advanced",
                    names.join(", "),
                    range(low, high)
                ));
            }
            SortDomain::Bounded { low, high } => {
                summary.bounds.push(format!("{}: {}", names.join(", "), range(low, high)));
            }
            _ => {}
        }
    }
    summary.cut = cut;
    summary.fairness = fairness(machine);
    summary.fairness_of_leads = fairness_of_leads(machine);
    summary
}

/// Each bound once, `name: bound`; what has the name of another and a bound of its own says where it stands.
fn told_apart(bounds: &[(&str, &str, String)], lines: &mut Vec<String>) {
    for (place, name, bound) in bounds {
        let differs = bounds.iter().any(|(_, other, its)| other == name && its != bound);
        let line = match differs {
            true => format!("{place}.{name}: {bound}"),
            false => format!("{name}: {bound}"),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
}

/// What the clocks of some searches make of each duration, and how far they tell times apart.
fn times(machines: &[&Machine]) -> (Vec<String>, Option<String>) {
    let mut durations: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    let mut apart: Vec<String> = Vec::new();
    for machine in machines.iter().filter(|machine| machine.has_time()) {
        let (clock, settings) = (&machine.clock, &machine.settings);
        for (milliseconds, units) in &clock.scale.durations {
            durations.entry(*milliseconds).or_default().insert(*units);
        }
        let words = |units: i64| clock.show(units * clock.per_unit);
        let far =
            format!("now-{} to now+{}", words(settings.horizon), words(settings.duration_max));
        if !apart.contains(&far) {
            apart.push(far);
        }
    }
    let mapping = durations.into_iter().map(|(milliseconds, units)| {
        let units: Vec<String> = units.iter().map(i64::to_string).collect();
        format!("{} is {}", design::model::duration_text(milliseconds), units.join(" or "))
    });
    let far = (!apart.is_empty())
        .then(|| format!("times are told apart from {}", apart.join(", or from ")));
    (mapping.collect(), far)
}

/// What was left out, each with its bound.
pub(crate) fn bounds(machine: &Machine, beyond: &[Beyond]) -> Vec<String> {
    let mut bounds = machine.clock.bounds();
    if !machine.has_time() {
        bounds.clear();
    } else if machine.settings.short_horizon {
        let horizon = machine.settings.horizon * machine.clock.per_unit;
        bounds.push(format!("horizon: {}", machine.clock.show(horizon)));
    }
    bounds.extend(next_taken(machine).map(|taken| format!("schedules: {taken}")));
    let all = beyond.iter().copied().chain(cut_lists(machine));
    for what in all {
        let name = name_of_beyond(machine, what);
        if !bounds.contains(&name) {
            bounds.push(name);
        }
    }
    bounds
}

/// Callers may give longer lists of records than they are let here.
fn cut_lists(machine: &Machine) -> Vec<Beyond> {
    let design = &machine.design;
    let room = list_room(design);
    let mut cut = Vec::new();
    for (index, values) in design.world.params.iter().enumerate() {
        let id = OperationId::of(index);
        let given = values.iter().any(|values| {
            let records = matches!(values, Values::ListOf(inner, max)
                if *max > room && matches!(**inner, Values::Fields(_)));
            records
        });
        if given && machine.instances.iter().any(|instance| instance.operation == id) {
            cut.push(Beyond::List(id));
        }
    }
    cut
}

/// How the next instant of a schedule is taken: no calendar is looked at.
fn next_taken(machine: &Machine) -> Option<String> {
    let longest = machine.gaps.iter().copied().max().filter(|longest| *longest > 0)?;
    let (one, most) = (machine.clock.show(machine.clock.per_unit), machine.clock.show(longest));
    Some(match one == most {
        true => format!("`next` is {most} later, or null"),
        false => format!("`next` is {one} to {most} later, in whole units, or null"),
    })
}

/// What the world had no room for, with how much room there is: `Stock.left: 0..3`.
pub(crate) fn name_of_beyond(machine: &Machine, what: Beyond) -> String {
    let design = &machine.design;
    match what {
        Beyond::Slot(slot) => bound_of_slot(machine, slot),
        Beyond::Key(subject) => {
            let keys = machine.universe.keys[subject.index()].len;
            format!("keys of {}: {keys}", design.subjects[subject.index()].name)
        }
        Beyond::Messages => format!("messages: {}", machine.settings.messages),
        Beyond::Carried(step) => bound_of_message(machine, step),
        Beyond::EffectKey(effect) => {
            format!("keys of {}", design.operations[effect.index()].name)
        }
        Beyond::MovedOn(slot) => {
            let name = match machine.plan.names[slot as usize] {
                SlotName::Attr { subject, attr, .. } => machine.attribute_name(subject, attr),
                _ => "a time".into(),
            };
            let horizon = machine.settings.horizon * machine.clock.per_unit;
            format!("{name} moved on from up to {} ago", machine.clock.show(horizon))
        }
        Beyond::List(operation) => format!(
            "list: {} elements, in {}",
            list_room(design),
            design.operations[operation.index()].name
        ),
    }
}

/// The numbers that messages to a step carry: `accept.number: 0..2`.
fn bound_of_message(machine: &Machine, step: OperationId) -> String {
    let held = &machine.design.operations[step.index()];
    let bounds = held.params.iter().filter_map(|param| {
        let sort = machine.universe.sorts.local(step, param.local)?;
        match &machine.universe.sorts.list[sort].domain {
            SortDomain::Bounded { low, high } => {
                let range = Range { low: *low, high: *high }.text(&param.ty);
                Some(format!("{}.{}: {range}", held.name, param.name))
            }
            _ => None,
        }
    });
    let bounds: Vec<String> = bounds.collect();
    match bounds.is_empty() {
        true => format!("what messages to {} carry", held.name),
        false => bounds.join(", "),
    }
}

fn type_of<'d>(design: &'d Design, place: &PlaceOf) -> Option<&'d Type> {
    match place {
        PlaceOf::Attr(subject, attr) => {
            Some(&design.subjects[subject.index()].attributes[attr.index()].ty)
        }
        _ => None,
    }
}

fn bound_of_slot(machine: &Machine, slot: u32) -> String {
    let design = &machine.design;
    let range = |name: String| match &machine.plan.slots.list[slot as usize].codec {
        Codec::Range { low, count } if *count > 0 => {
            format!("{name}: {low}..{}", low + *count as i64 - 1)
        }
        Codec::Listed(values) => {
            let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("{name}: {}", shown.join(", "))
        }
        Codec::Time { .. } | Codec::Region { .. } => {
            let ahead = machine.settings.duration_max * machine.clock.per_unit;
            format!("{name}: up to now+{}", machine.clock.show(ahead))
        }
        Codec::Rank { .. } | Codec::Ignored | Codec::Range { .. } => name,
    };
    match machine.plan.names[slot as usize] {
        SlotName::Attr { subject, attr, .. } => {
            let name = machine.attribute_name(subject, attr);
            let ty = &design.subjects[subject.index()].attributes[attr.index()].ty;
            match ty.required() {
                Type::List { .. } => {
                    format!("{name}: {} elements", list_room(design))
                }
                Type::Decimal | Type::Money(_) | Type::Duration => {
                    let shown = |word: i64| machine.show(ty.required(), &[word]);
                    match &machine.plan.slots.list[slot as usize].codec {
                        Codec::Range { low, count } => {
                            format!("{name}: {}..{}", shown(*low), shown(low + *count as i64 - 1))
                        }
                        Codec::Listed(values) => {
                            let shown: Vec<String> = values.iter().map(|w| shown(*w)).collect();
                            format!("{name}: {}", shown.join(", "))
                        }
                        _ => name,
                    }
                }
                _ => range(name),
            }
        }
        SlotName::Log { subject, log, .. } => {
            let name = &design.subjects[subject.index()].states[log.index()].name;
            format!("{name}: {} entries", setting(design, "log", 3))
        }
        SlotName::Counter { subject, .. } => {
            range(format!("a count under {}", design.subjects[subject.index()].name))
        }
        SlotName::Memory { actor, field, .. } => {
            let actor = &design.actors[actor.index()];
            range(format!("{}.{}", actor.name, actor.memory[field.index()].name))
        }
        SlotName::CacheAttr { subject, attr, .. } => range(machine.attribute_name(subject, attr)),
        SlotName::MessageArg => range("what messages carry".into()),
        SlotName::EntryArg | SlotName::WorldArg => range("what calls to the world carry".into()),
        SlotName::CallMemory { .. } => range("what calls in flight carry".into()),
        _ => range("something else".into()),
    }
}

/// What `recovers` assumes.
pub(crate) fn fairness(machine: &Machine) -> Vec<String> {
    let mut list = vec!["every client is silent, and no more faults strike".to_string()];
    list.extend(owed(machine, "the world outside no longer answers `unknown`"));
    list
}

/// What `leads_to` assumes.
pub(crate) fn fairness_of_leads(machine: &Machine) -> Vec<String> {
    let leads = &machine.design.leads;
    if leads.iter().all(|held| held.parts().is_none()) {
        return Vec::new();
    }
    let mut list = vec![
        "clients go on or stop as they like; each fault strikes finitely often".to_string(),
        "what stays possible from some moment on happens; what is possible only now and then is not \
         owed"
            .to_string(),
    ];
    list.extend(owed(machine, "the world outside answers `unknown` finitely often"));
    for held in leads.iter().filter(|held| held.parts().is_some()) {
        let name = |id: &OperationId| machine.design.operations[id.index()].name.clone();
        let steps: Vec<String> = held.by.iter().map(name).collect();
        if !steps.is_empty() {
            list.push(format!(
                "for {}: each call of {}, by the same caller with the same arguments, that stays \
                 possible is made eventually",
                held.goal.name,
                steps.join(", ")
            ));
        }
    }
    list
}

/// What happens eventually if it can happen all the time, without any client.
///
/// `unknown`: what is said of that answer.
fn owed(machine: &Machine, unknown: &str) -> Vec<String> {
    let mut list = Vec::new();
    if machine.instances.iter().any(|i| i.kind == crate::machine::InstanceKind::Repair) {
        list.push("each repair that stays due on a record that was changed runs eventually".into());
    }
    if machine.plan.effects.iter().any(Option::is_some) {
        list.push("each open outbox entry is attempted eventually, and its answer arrives".into());
        list.push("the world outside decides each call that reached it eventually".into());
        list.push(unknown.into());
    }
    if machine.plan.calls.count > 0 {
        list.push("each call in flight is delivered or dropped eventually".into());
    }
    if machine.is_set() && machine.has_messages() {
        list.push("what was sent before may be lost".into());
        list.push("each message that is sent from then on is delivered once, eventually".into());
    } else if machine.has_messages() {
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

/// `lists of at most 2 of {sku: 2, qty: 1..3}`
fn shown_records(machine: &Machine, values: &Values, fields: &[StructField]) -> Option<String> {
    let Values::ListOf(inner, max) = values else { return None };
    let Values::Fields(columns) = &**inner else { return None };
    let told = fields.iter().zip(columns).filter_map(|(field, values)| {
        shown(machine, values).map(|shown| format!("{}: {shown}", field.name))
    });
    let told: Vec<String> = told.collect();
    let room = list_room(&machine.design).min(*max);
    Some(format!("lists of at most {room} of {{{}}}", told.join(", ")))
}

fn shown(machine: &Machine, values: &Values) -> Option<String> {
    Some(match values {
        Values::Opaque(count) => count.to_string(),
        Values::Range(low, high) => format!("{low}..{high}"),
        Values::Listed(list) => {
            list.iter().map(|value| constant(machine, value)).collect::<Vec<_>>().join(", ")
        }
        Values::OrNull(inner) => format!("{} or null", shown(machine, inner)?),
        Values::SetOf(inner, max) => {
            format!("sets of at most {max} of {}", shown(machine, inner)?)
        }
        Values::ListOf(inner, max) => {
            let room = list_room(&machine.design).min(*max);
            format!("lists of at most {room} of {}", shown(machine, inner)?)
        }
        Values::PrincipalsOf(actors) => {
            let names = actors.iter().map(|actor| &machine.design.actors[actor.index()].name[..]);
            names.collect::<Vec<_>>().join(", ")
        }
        Values::Fields(_)
        | Values::Units(..)
        | Values::Whole
        | Values::Refs(_)
        | Values::Principals
        | Values::Irrelevant => return None,
    })
}

fn constant(machine: &Machine, value: &Const) -> String {
    match value {
        Const::Null => "null".into(),
        Const::Bool(value) => value.to_string(),
        Const::Int(value) => value.to_string(),
        Const::Decimal(value) => machine.show(&Type::Decimal, &[*value]),
        Const::Text(text) => format!("{text:?}"),
        Const::Duration(words) => machine.clock.show(*words),
        Const::Enum(id, at) => {
            let constants = &machine.design.enumerations[id.index()].constants;
            constants.get(*at as usize).cloned().unwrap_or_default()
        }
        Const::Set(_) | Const::List(_) | Const::Map(_) => "…".into(),
    }
}
