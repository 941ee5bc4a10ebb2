//! What is on its way when the design changes: memory, open calls, due times.

use design::model::*;

use super::truth::type_change;
use super::{Change, Follows, Found, pairs};
use crate::spell::{Scope, duration};

pub fn changes(old: &Design, new: &Design) -> Vec<Change> {
    let mut found = Found::default();
    memory(old, new, &mut found);
    operations(old, new, &mut found);
    found.0
}

fn memory(old: &Design, new: &Design, found: &mut Found) {
    let (both, gone, _) = pairs(&old.actors, &new.actors, |actor| actor.name.clone());
    for actor in gone.iter().filter(|actor| !actor.memory.is_empty()) {
        found.add(&actor.name, Follows::AsItIs, "is gone: what it remembers is worth nothing");
    }
    for (before, after) in both {
        let (kept, gone, added) = pairs(&before.memory, &after.memory, |field| field.name.clone());
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
            let of = |design: &Design, field: &Memory| {
                field.of.map(|s| design.subjects[s.index()].name.clone())
            };
            let other =
                type_change(old, new, &was.ty, &is.ty).is_some() || of(old, was) != of(new, is);
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

fn operations(old: &Design, new: &Design, found: &mut Found) {
    let name = |design: &Design, op: &Operation| {
        format!("{}[{}]", design.actors[op.actor.index()].name, op.name)
    };
    for (index, before) in old.operations.iter().enumerate() {
        let on = name(old, before);
        let after = new.operations.iter().enumerate().find(|(_, op)| name(new, op) == on);
        let waits = before.hears.is_some()
            || matches!(before.kind, OperationKind::Effect(_) | OperationKind::Repair { .. });
        let Some((place, after)) = after else {
            match before.kind {
                OperationKind::Effect(_) => {
                    found.add(on, Follows::IfUnused, "is gone: no entry of the outbox may be open")
                }
                OperationKind::Repair { .. } => found.add(
                    on,
                    Follows::ByRewriting,
                    "is gone: its due times are taken out of the index",
                ),
                _ if before.hears.is_some() => {
                    found.add(on, Follows::IfUnused, "is gone: no event may wait for it")
                }
                _ => {}
            }
            continue;
        };
        if waits && place != index {
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
    for after in &new.operations {
        let on = name(new, after);
        let known = old.operations.iter().any(|op| name(old, op) == on);
        if !known && matches!(after.kind, OperationKind::Repair { .. }) {
            found.add(
                on,
                Follows::ByRewriting,
                "is new: the records that are stored get their due times once",
            );
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
    let list = |design: &Design, op: &Operation, exprs: &[Expr]| -> Vec<String> {
        exprs.iter().map(|e| Scope::of(design, op).text(e)).collect()
    };
    if list(old, before, &was.key) != list(new, after, &is.key) {
        found.add(
            on,
            Follows::IfUnused,
            "its key is another: an open call would be made twice, under two keys",
        );
    }
    let params = |op: &Operation| op.params.len();
    let types = params(before) == params(after)
        && before
            .params
            .iter()
            .zip(&after.params)
            .all(|(a, b)| type_change(old, new, &a.ty, &b.ty).is_none());
    if !types {
        found.add(
            on,
            Follows::IfUnused,
            "its parameters are others: no entry of the outbox may be open",
        );
    }
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
