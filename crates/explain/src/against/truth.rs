//! Stored truth: subjects, states, attributes, counters, and what is promised of them.

use design::model::*;

use super::{Change, Follows, Found, pairs};
use crate::spell::{Scope, constant};
use crate::types::Types;

pub fn changes(old: &Design, new: &Design) -> Vec<Change> {
    let mut found = Found::default();
    let (both, gone, added) = pairs(&old.subjects, &new.subjects, |s| s.name.clone());
    for subject in gone {
        found.add(
            &subject.name,
            Follows::IfUnused,
            "is gone: no record of it may be left, or it is lost",
        );
    }
    for subject in added {
        found.add(&subject.name, Follows::AsItIs, "is new: nothing is stored yet");
    }
    for (before, after) in both {
        subject(old, new, before, after, &mut found);
        number(old, new, &before.name, &mut found);
    }
    goals(old, new, &mut found);
    found.0
}

/// Records are stored under the number of their subject.
fn number(old: &Design, new: &Design, name: &str, found: &mut Found) {
    let at = |design: &Design| design.subjects.iter().position(|s| s.name == name);
    if at(old) != at(new) {
        found.add(
            name,
            Follows::ByRewriting,
            "has another place among the subjects, which is part of its keys",
        );
    }
}

fn subject(old: &Design, new: &Design, before: &Subject, after: &Subject, found: &mut Found) {
    let key = |design: &Design, subject: &Subject| -> Vec<String> {
        let types = Types { design };
        subject.keys.iter().map(|k| types.text(&k.ty)).collect()
    };
    let (was, is) = (key(old, before), key(new, after));
    if was != is {
        let text = format!(
            "its key was ({}) and is ({}): records cannot be found under the new one",
            was.join(", "),
            is.join(", ")
        );
        found.add(&before.name, Follows::Never, text);
    }
    match (before.implicit, after.implicit) {
        (true, false) => found.add(
            &before.name,
            Follows::ByRewriting,
            "has to be made now: keys that were never written were there, and must be made first",
        ),
        (false, true) => found.add(&before.name, Follows::AsItIs, "is there from the start now"),
        _ => {}
    }
    let name = |subject: &Subject, attribute: &Attribute| {
        format!("{}.{}", subject.states[attribute.state.index()].name, attribute.name)
    };
    let was: Vec<Named<'_>> = before.attributes.iter().map(|a| (name(before, a), a)).collect();
    let is: Vec<Named<'_>> = after.attributes.iter().map(|a| (name(after, a), a)).collect();
    let gone = was.iter().filter(|(path, _)| find(&is, path).is_none());
    for (path, attribute) in gone {
        let on = format!("{}.{path}", before.name);
        match before.states[attribute.state.index()].kind {
            StateKind::Truth | StateKind::Log { .. } => found.add(
                on,
                Follows::IfUnused,
                "is gone: no record may hold anything there, unless `replace --drop` names it",
            ),
            _ => found.add(on, Follows::AsItIs, "is gone, and was not stored"),
        }
    }
    for (path, attribute) in is.iter().filter(|(path, _)| find(&was, path).is_none()) {
        let on = format!("{}.{path}", before.name);
        match &attribute.default {
            Some(value) => {
                let text =
                    format!("is new: each record gets its default, {}", constant(new, value));
                found.add(on, Follows::ByRewriting, text);
            }
            None if attribute.ty.is_optional() => {
                found.add(on, Follows::ByRewriting, "is new: each record gets null");
            }
            None => found.add(
                on,
                Follows::Never,
                "is new and has no default: give it one, or make it optional",
            ),
        }
    }
    for (path, a) in &was {
        let Some(b) = find(&is, path) else { continue };
        attribute(old, new, &format!("{}.{path}", before.name), (before, a), (after, b), found);
    }
    counters(new, before, after, found);
}

type Named<'a> = (String, &'a Attribute);

fn find<'a>(list: &[Named<'a>], path: &str) -> Option<&'a Attribute> {
    list.iter().find(|(other, _)| other == path).map(|(_, attribute)| *attribute)
}

fn attribute(
    old: &Design,
    new: &Design,
    on: &str,
    (was_of, was): (&Subject, &Attribute),
    (is_of, is): (&Subject, &Attribute),
    found: &mut Found,
) {
    let kind = |subject: &Subject, a: &Attribute| subject.states[a.state.index()].kind;
    let (before, after) = (kind(was_of, was), kind(is_of, is));
    if std::mem::discriminant(&before) != std::mem::discriminant(&after) {
        found.add(
            on,
            Follows::Never,
            "its state is of another kind: what was stored is not where it is looked for",
        );
        return;
    }
    if !matches!(before, StateKind::Truth | StateKind::Log { .. }) {
        return;
    }
    if let Some((follows, text)) = type_change(old, new, &was.ty, &is.ty) {
        found.add(on, follows, text);
    }
    if let Some((follows, text)) = range_change((&was.ty, was.range), (&is.ty, is.range)) {
        found.add(on, follows, text);
    }
    let default =
        |design: &Design, a: &Attribute| a.default.as_ref().map(|value| constant(design, value));
    let (was, is) = (default(old, was), default(new, is));
    if was != is {
        let text = |value: Option<String>| value.unwrap_or_else(|| "nothing".into());
        let then = if is_of.implicit {
            "; records that were never written change with it"
        } else {
            "; what is stored stays"
        };
        found.add(
            on,
            Follows::AsItIs,
            format!("its default was {} and is {}{then}", text(was), text(is)),
        );
    }
}

/// None: the same. A range that was widened takes what is stored.
pub fn range_change(
    (was_ty, was): (&Type, Option<Range>),
    (is_ty, is): (&Type, Option<Range>),
) -> Option<(Follows, String)> {
    let text = |ty: &Type, range: Option<Range>| {
        range.map_or_else(|| "any value".into(), |range| range.text(ty))
    };
    let told = format!("took {} and takes {}", text(was_ty, was), text(is_ty, is));
    match (was, is) {
        _ if was == is => None,
        (_, None) => Some((Follows::ByRewriting, told)),
        (Some(was), Some(is)) if is.low <= was.low && was.high <= is.high => {
            Some((Follows::ByRewriting, told))
        }
        _ => Some((Follows::IfUnused, format!("{told}: no record may have another"))),
    }
}

/// None: the same, as it is stored.
pub fn type_change(old: &Design, new: &Design, was: &Type, is: &Type) -> Option<(Follows, String)> {
    let text = |design: &Design, ty: &Type| Types { design }.text(ty);
    let told = |follows: Follows, why: &str| {
        Some((follows, format!("was {} and is {}: {why}", text(old, was), text(new, is))))
    };
    match (was, is) {
        (Type::Optional(was), Type::Optional(is)) => type_change(old, new, was, is),
        (was, Type::Optional(is)) => match type_change(old, new, was, is) {
            None => told(Follows::ByRewriting, "every value stays"),
            changed => changed,
        },
        (Type::Optional(was), is) => match type_change(old, new, was, is) {
            None => told(Follows::IfUnused, "no record may have null there"),
            changed => changed,
        },
        (Type::Enum(was_id), Type::Enum(is_id)) => {
            let was = &old.enumerations[was_id.index()].constants;
            let is = &new.enumerations[is_id.index()].constants;
            let gone: Vec<&str> =
                was.iter().filter(|c| !is.contains(c)).map(String::as_str).collect();
            if was == is {
                None
            } else if !gone.is_empty() {
                let why = format!("no record may be {}", gone.join(" or "));
                told(Follows::IfUnused, &why)
            } else if is.starts_with(was) {
                told(Follows::AsItIs, "the new constants come after the old ones")
            } else {
                told(Follows::ByRewriting, "constants are stored by their place, which has moved")
            }
        }
        (Type::List { of: was, max: a }, Type::List { of: is, max: b })
        | (Type::Set { of: was, max: a }, Type::Set { of: is, max: b }) => {
            bounded(type_change(old, new, was, is), *a, *b)
        }
        (Type::Map { key: k, value: v, max: a }, Type::Map { key: l, value: w, max: b }) => {
            let inner = type_change(old, new, k, l).or_else(|| type_change(old, new, v, w));
            bounded(inner, *a, *b)
        }
        (Type::Int, Type::Decimal) => told(Follows::ByRewriting, "each number has an exact equal"),
        _ if text(old, was) == text(new, is) => None,
        _ => told(Follows::Never, "there is no rule from the one to the other"),
    }
}

fn bounded(inner: Option<(Follows, String)>, was: u32, is: u32) -> Option<(Follows, String)> {
    inner.or_else(|| {
        (is < was).then(|| {
            (
                Follows::IfUnused,
                format!("held up to {was} and holds up to {is}: no record may have more"),
            )
        })
    })
}

fn counters(new: &Design, before: &Subject, after: &Subject, found: &mut Found) {
    if after.counters.len() > before.counters.len() {
        let children: Vec<&str> =
            after.counters.iter().map(|c| new.subjects[c.child.index()].name.as_str()).collect();
        let text = format!(
            "a guard counts its children ({}) now: they are counted once",
            children.join(", ")
        );
        found.add(&before.name, Follows::ByRewriting, text);
    }
}

/// A promise that is new was never kept for what is stored already.
fn goals(old: &Design, new: &Design, found: &mut Found) {
    let leads = |design: &Design| {
        design.leads.iter().map(|held| held.goal.clone()).collect::<Vec<Invariant>>()
    };
    let text =
        |design: &Design, goal: &Invariant| Scope::plain(design, &goal.locals).text(&goal.body);
    for (was, is, word) in [
        (&old.invariants, &new.invariants, "invariant"),
        (&old.recoveries, &new.recoveries, "recovers"),
        (&leads(old), &leads(new), "leads_to"),
    ] {
        let (both, gone, added) = pairs(was, is, |goal| goal.name.clone());
        for goal in gone {
            found.add(format!("{word} {}", goal.name), Follows::AsItIs, "is no longer promised");
        }
        let changed =
            both.into_iter().filter(|(a, b)| text(old, a) != text(new, b)).map(|(_, b)| b);
        for goal in added.into_iter().chain(changed) {
            if goal.uses_old || word != "invariant" {
                found.add(
                    format!("{word} {}", goal.name),
                    Follows::AsItIs,
                    "is promised from now on",
                );
            } else {
                found.add(
                    format!("{word} {}", goal.name),
                    Follows::IfUnused,
                    "is promised from now on: what is stored was not held to it",
                );
            }
        }
    }
}
