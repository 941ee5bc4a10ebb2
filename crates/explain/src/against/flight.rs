//! What is on its way when the design changes: memory, open calls, due times.

use design::model::*;

use layout::Following;
use layout::following::{Entry, ParamSource, Rule, Site, operation_path};

use super::truth::type_change;
use super::{Change, Follows, Found};
use crate::spell::{Scope, duration};

pub fn changes(following: &Following<'_>) -> Vec<Change> {
    let mut found = Found::default();
    memory(following, &mut found);
    operations(following, &mut found);
    found.0
}

fn memory(following: &Following<'_>, found: &mut Found) {
    let (old, new) = (following.old, following.new);
    for (at, before) in old.actors.iter().enumerate() {
        let Some(id) = following.actors[at] else {
            if !before.memory.is_empty() {
                let text = "is gone: what it remembers is worth nothing";
                found.add(&before.name, Follows::AsItIs, text);
            }
            continue;
        };
        let after = &new.actors[id.index()];
        let fields = || before.memory.iter().zip(&following.memory[at]);
        let gone = fields().filter(|(_, new)| new.is_none()).map(|(field, _)| field);
        let known = |place: usize| following.memory[at].contains(&Some(MemoryId::of(place)));
        let added = after.memory.iter().enumerate().filter(|(place, _)| !known(*place));
        let added = added.map(|(_, field)| field);
        let kept = fields().filter_map(|(was, new)| Some((was, &after.memory[(*new)?.index()])));
        for field in gone {
            found.add(
                format!("{}.{}", before.name, field.name),
                Follows::AsItIs,
                "is no longer asked for: tokens of it are ignored",
            );
        }
        for field in added {
            found.add(
                format!("{}.{}", before.name, field.name),
                Follows::AsItIs,
                "is new: who has none is refused until it is handed out",
            );
        }
        for (was, is) in kept {
            let of = was.of.map(|subject| following.subject(subject));
            let other = type_change(following, &was.ty, &is.ty, Site::Elsewhere).is_some()
                || of != is.of.map(Some);
            if other {
                found.add(
                    format!("{}.{}", before.name, was.name),
                    Follows::AsItIs,
                    "is of another type or subject: tokens that are out are refused, their holders must begin again",
                );
            }
        }
    }
}

fn operations(following: &Following<'_>, found: &mut Found) {
    let (old, new) = (following.old, following.new);
    let waiting = following.waits();
    for (index, before) in old.operations.iter().enumerate() {
        let id = OperationId::of(index);
        let on = operation_path(old, id);
        let waits = waiting[index] || matches!(before.kind, OperationKind::Repair { .. });
        if waiting[index] {
            entries(following, id, &on, found);
        }
        let Some(place) = following.operation(id) else {
            if let OperationKind::Repair { .. } = before.kind {
                let text = "is gone: its due times are taken out of the index";
                found.add(on, Follows::ByRewriting, text);
            }
            continue;
        };
        let after = &new.operations[place.index()];
        if waits && place != id {
            found.add(&on, Follows::ByRewriting, "has another place among the operations, which is part of its entries in outbox and index");
        }
        match (&before.kind, &after.kind) {
            (OperationKind::Effect(was), OperationKind::Effect(is)) => {
                effect(old, new, &on, (before, was), (after, is), found);
            }
            (
                OperationKind::Repair { after: a, every: e, .. },
                OperationKind::Repair { after: b, every: f, .. },
            ) => {
                if guard(old, before) != guard(new, after) {
                    found.add(
                        &on,
                        Follows::ByRewriting,
                        "its guard has changed: due times are computed anew for every record",
                    );
                }
                if (a, e) != (b, f) {
                    let text = |value: &Option<i64>| value.map_or("nothing".into(), duration);
                    found.add(
                        &on,
                        Follows::AsItIs,
                        format!(
                            "its pace was after {}, every {} and is after {}, every {}",
                            text(a),
                            text(e),
                            text(b),
                            text(f)
                        ),
                    );
                }
            }
            _ => {}
        }
    }
    for (at, after) in new.operations.iter().enumerate() {
        let on = operation_path(new, OperationId::of(at));
        let known = following.operation_before(OperationId::of(at)).is_some();
        if !known && matches!(after.kind, OperationKind::Repair { .. }) {
            found.add(
                on,
                Follows::ByRewriting,
                "is new: the records that are stored get their due times once",
            );
        }
    }
}

/// What is on its way there when the design changes.
fn entries(following: &Following<'_>, id: OperationId, on: &str, found: &mut Found) {
    let sources = match following.entry(id) {
        Entry::Follows(sources) => sources,
        Entry::Gone => {
            let mend = following.mend_operation(id);
            let text = "is gone: no entry of the outbox may be open";
            let text =
                mend.map_or_else(|| text.into(), |mend| format!("{text}; `{mend}` would mend it"));
            found.add(on, Follows::IfUnused, text);
            return;
        }
        Entry::Unlike => {
            let text =
                "its key is another, or its kind: an open call would be made twice, under two keys";
            found.add(on, Follows::IfUnused, text);
            return;
        }
    };
    let Some(new) = following.operation(id) else { return };
    let params = &following.new.operations[new.index()].params;
    for (param, source) in params.iter().zip(sources) {
        let name = &param.name;
        match source {
            ParamSource::Carried { rule: Rule::Same, .. } => {}
            ParamSource::Carried { rule: Rule::Each, .. } => {
                let text = format!("`{name}` of open entries is written anew");
                found.add(on, Follows::ByRewriting, text);
            }
            ParamSource::Carried { .. } => {
                let text = format!(
                    "`{name}` is another: no entry of the outbox may be open that does not fit"
                );
                found.add(on, Follows::IfUnused, text);
            }
            ParamSource::Default | ParamSource::Null => {
                let text = format!("open entries get the default of `{name}`");
                found.add(on, Follows::ByRewriting, text);
            }
            ParamSource::Missing => {
                let text = format!(
                    "`{name}` is new and has no default: no entry of the outbox may be open"
                );
                found.add(on, Follows::IfUnused, text);
            }
        }
    }
}

fn effect(
    old: &Design,
    new: &Design,
    on: &str,
    (before, was): (&Operation, &Effect),
    (after, is): (&Operation, &Effect),
    found: &mut Found,
) {
    if (&was.method, &was.url) != (&is.method, &is.url) {
        found.add(
            on,
            Follows::AsItIs,
            format!("open calls go to {} {} from now on", is.method, is.url),
        );
    }
    if guard(old, before) != guard(new, after) {
        found.add(
            on,
            Follows::AsItIs,
            "its guard has changed: answers to open calls are judged by the new one",
        );
    }
}

fn guard(design: &Design, op: &Operation) -> Vec<String> {
    op.guard.iter().map(|clause| Scope::of(design, op).text(&clause.body)).collect()
}
