//! What callers notice: operations, parameters, refusals, events, views.

use design::model::*;
use layout::Following;
use layout::following::Site;

use super::truth::{range_change, type_change};
use super::{Change, Follows, Found, pairs};
use crate::spell::Scope;
use crate::types::Types;

pub fn changes(following: &Following<'_>) -> Vec<Change> {
    let (old, new) = (following.old, following.new);
    let mut found = Found::default();
    let called = |op: &&Operation| {
        matches!(op.kind, OperationKind::Step { .. } | OperationKind::Read { .. })
    };
    let name = |design: &Design, op: &Operation| {
        format!("{}[{}]", design.actors[op.actor.index()].name, op.name)
    };
    let before: Vec<&Operation> = old.operations.iter().filter(called).collect();
    let after: Vec<&Operation> = new.operations.iter().filter(called).collect();
    for was in &before {
        let on = name(old, was);
        match after.iter().find(|is| name(new, is) == on) {
            Some(is) => operation(following, &on, was, is, &mut found),
            None => found.add(on, Follows::AsItIs, "is gone: callers get 404"),
        }
    }
    for is in &after {
        let on = name(new, is);
        if !before.iter().any(|was| name(old, was) == on) {
            found.add(on, Follows::AsItIs, "is new");
        }
    }
    events(old, new, &mut found);
    views(old, new, &mut found);
    found.0
}

fn operation(
    following: &Following<'_>,
    on: &str,
    was: &Operation,
    is: &Operation,
    found: &mut Found,
) {
    let (old, new) = (following.old, following.new);
    let (both, gone, added) = pairs(&was.params, &is.params, |param| param.name.clone());
    for param in gone {
        found.add(on, Follows::AsItIs, format!("no longer takes `{}`", param.name));
    }
    for param in added {
        let text = if param.generated.is_some() {
            format!("answers with `{}`, which the server chooses", param.name)
        } else if param.default.is_some() || param.ty.is_optional() {
            format!("takes `{}`, which may be left out", param.name)
        } else {
            format!("needs `{}`: calls without it are refused", param.name)
        };
        found.add(on, Follows::AsItIs, text);
    }
    for (a, b) in both {
        if let Some((_, text)) = type_change(following, &a.ty, &b.ty, Site::Elsewhere) {
            found.add(on, Follows::AsItIs, format!("`{}` {text}", a.name));
        }
        if let Some((follows, _)) = range_change((&a.ty, a.range), (&b.ty, b.range)) {
            let told = match b.range {
                Some(range) => format!("takes {} of `{}`", range.text(&b.ty), a.name),
                None => format!("takes any value of `{}`", a.name),
            };
            let narrower = follows == Follows::IfUnused;
            let then = if narrower { ": calls with another are refused" } else { "" };
            found.add(on, Follows::AsItIs, told + then);
        }
        match (a.new, b.new) {
            (false, true) => found.add(
                on,
                Follows::AsItIs,
                format!("`{}` must be new: who names one that is there is refused", a.name),
            ),
            (true, false) => found.add(
                on,
                Follows::AsItIs,
                format!("`{}` must be there: who names a new one is refused", a.name),
            ),
            _ => {}
        }
        match (&a.generated, &b.generated) {
            (None, Some(_)) => {
                let text = format!("`{}` is chosen by the server: who sends it is refused", a.name);
                found.add(on, Follows::AsItIs, text);
            }
            (Some(_), None) => {
                let text = format!("`{}` is given by the caller, and chosen no longer", a.name);
                found.add(on, Follows::AsItIs, text);
            }
            _ => {}
        }
        if a.default.is_some() && b.default.is_none() {
            found.add(on, Follows::AsItIs, format!("`{}` may no longer be left out", a.name));
        }
    }
    refusals(old, new, on, was, is, found);
    apart(old, new, on, (was, is), found);
    let keyed = |op: &Operation| matches!(op.kind, OperationKind::Step { keyed: true });
    if !keyed(was) && keyed(is) {
        found.add(on, Follows::AsItIs, "needs an idempotency key");
    }
    if let Some(rate) = is.rate.filter(|rate| was.rate != Some(*rate)) {
        let per = crate::spell::duration(rate.per);
        let what = format!("is limited to {} calls per {per} for each caller", rate.count);
        found.add(on, Follows::AsItIs, what);
    }
    let asks = |op: &Operation| op.memory.iter().filter(|used| used.read).count();
    if asks(is) > asks(was) {
        found.add(on, Follows::AsItIs, "asks for more memory: who has none is refused");
    }
}

/// Who may no longer act as both, or may again.
fn apart(
    old: &Design,
    new: &Design,
    on: &str,
    (was, is): (&Operation, &Operation),
    found: &mut Found,
) {
    if !matches!(is.kind, OperationKind::Step { .. }) {
        return;
    }
    let names = |design: &Design, op: &Operation| -> Vec<String> {
        let apart = design.actors[op.actor.index()].apart.iter();
        apart.map(|id| design.actors[id.index()].name.clone()).collect()
    };
    let (was, is) = (names(old, was), names(new, is));
    for name in is.iter().filter(|name| !was.contains(name)) {
        let text = format!("is refused by `apart` to whoever acts as `{name}` from now on");
        found.add(on, Follows::AsItIs, text);
    }
    for name in was.iter().filter(|name| !is.contains(name)) {
        found.add(on, Follows::AsItIs, format!("may be taken by whoever acts as `{name}`"));
    }
}

fn refusals(
    old: &Design,
    new: &Design,
    on: &str,
    was: &Operation,
    is: &Operation,
    found: &mut Found,
) {
    let (both, gone, added) = pairs(&was.guard, &is.guard, |clause| clause.name.clone());
    for clause in gone {
        found.add(on, Follows::AsItIs, format!("is no longer refused by `{}`", clause.name));
    }
    for clause in added {
        let text = Scope::of(new, is).text(&clause.body);
        found.add(on, Follows::AsItIs, format!("can be refused by `{}` ({text})", clause.name));
    }
    for (a, b) in both {
        let (before, after) = (Scope::of(old, was).text(&a.body), Scope::of(new, is).text(&b.body));
        if before != after {
            found.add(on, Follows::AsItIs, format!("`{}` was ({before}) and is ({after})", a.name));
        }
    }
}

fn events(old: &Design, new: &Design, found: &mut Found) {
    let fields = |design: &Design, event: &Event| -> Vec<String> {
        let types = Types { design };
        event.fields.iter().map(|(name, ty)| format!("{name}: {}", types.text(ty))).collect()
    };
    let (both, gone, added) = pairs(&old.events, &new.events, |event| event.name.clone());
    for event in gone {
        found.add(
            format!("event {}", event.name),
            Follows::AsItIs,
            "is gone: who waits for it waits in vain",
        );
    }
    for event in added {
        found.add(format!("event {}", event.name), Follows::AsItIs, "is new");
    }
    for (a, b) in both {
        let (was, is) = (fields(old, a), fields(new, b));
        if was != is {
            let text = format!("had {} and has {}", was.join(", "), is.join(", "));
            found.add(format!("event {}", a.name), Follows::AsItIs, text);
        }
    }
}

fn views(old: &Design, new: &Design, found: &mut Found) {
    let (both, gone, added) = pairs(&old.views, &new.views, |view| view.name.clone());
    for view in gone {
        found.add(format!("view {}", view.name), Follows::AsItIs, "is gone: callers get 404");
    }
    for view in added {
        found.add(
            format!("view {}", view.name),
            Follows::AsItIs,
            "is new: it is built from the feed",
        );
    }
    let shape = |design: &Design, view: &View| {
        let scope = Scope::row(design, &view.locals);
        let params: Vec<&str> = view.params.iter().map(|p| p.name.as_str()).collect();
        let filter = view.filter.as_ref().map(|f| scope.text(f));
        let with: Vec<&str> = view.with.iter().map(|column| column.name.as_str()).collect();
        let of = view.caller.as_ref().map(|it| &design.actors[it.actor.index()].name);
        let values: Vec<String> = view.values().into_iter().map(|it| scope.text(it)).collect();
        let form = std::mem::discriminant(&view.form);
        let kind = match &view.form {
            ViewForm::Extreme { greatest, .. } => format!("{greatest}"),
            ViewForm::Average { rounding, .. } => format!("{rounding:?}"),
            _ => String::new(),
        };
        format!("{params:?} {filter:?} {form:?} {kind} {with:?} {of:?} {values:?}")
    };
    for (a, b) in both {
        if shape(old, a) != shape(new, b) {
            found.add(
                format!("view {}", a.name),
                Follows::AsItIs,
                "has changed: it is rebuilt from the feed",
            );
        }
    }
}
