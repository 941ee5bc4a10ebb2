//! Stored truth: subjects, states, attributes, counters, and what is promised of them.
//!
//! What becomes of each thing is decided by [`Following`], which also carries it; here it is told.

use design::model::*;
use layout::Following;
use layout::following::{Rule, Site, Source, attribute_path};

use super::{Change, Follows, Found, pairs};
use crate::spell::{Scope, constant};
use crate::types::Types;

pub fn changes(following: &Following<'_>) -> Vec<Change> {
    let (old, new) = (following.old, following.new);
    let mut found = Found::default();
    if old.name != new.name {
        found.add(&new.name, Follows::Never, format!("is another design than `{}`", old.name));
    }
    for misfit in &following.misfits {
        found.add(&misfit.line, Follows::Never, format!("does not fit: {}", misfit.why));
    }
    for named in &following.named {
        let how = match &named.used {
            Some(used) => format!("is `{}` now, by the noun of `use {used}`", named.new),
            None => format!("is `{}` now, as `from` says", named.new),
        };
        found.add(&named.old, Follows::ByRewriting, how);
    }
    for (at, subject) in old.subjects.iter().enumerate() {
        let id = SubjectId::of(at);
        match following.subject(id) {
            Some(new_id) => subject_changes(following, id, new_id, &mut found),
            None => found.add(
                &subject.name,
                Follows::IfUnused,
                mended(
                    "is gone: no record of it may be left, or it is lost",
                    following.mend_subject(id),
                ),
            ),
        }
    }
    for (at, subject) in new.subjects.iter().enumerate() {
        if following.before(SubjectId::of(at)).is_none() {
            found.add(&subject.name, Follows::AsItIs, "is new: nothing is stored yet");
        }
    }
    goals(old, new, &mut found);
    found.0
}

/// With the line of the new text that would let it follow.
fn mended(text: &str, mend: Option<String>) -> String {
    mend.map_or_else(|| text.to_string(), |mend| format!("{text}; `{mend}` would mend it"))
}

fn subject_changes(following: &Following<'_>, id: SubjectId, new_id: SubjectId, found: &mut Found) {
    let (old, new) = (following.old, following.new);
    let (before, after) = (&old.subjects[id.index()], &new.subjects[new_id.index()]);
    let key = |design: &Design, subject: &Subject| -> String {
        let types = Types { design };
        let parts: Vec<String> =
            subject.keys.iter().map(|k| types.ranged(&k.ty, k.range)).collect();
        parts.join(", ")
    };
    let (was, is) = (key(old, before), key(new, after));
    if !following.same_key(id, new_id) {
        let text =
            format!("its key was ({was}) and is ({is}): records cannot be found under the new one");
        found.add(&before.name, Follows::Never, text);
    } else if following.key_narrower(id, new_id) {
        let text = format!("its key was ({was}) and is ({is}): no record may have another");
        found.add(&before.name, Follows::IfUnused, text);
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
    if id != new_id {
        // records are stored under the number of their subject
        found.add(
            &before.name,
            Follows::ByRewriting,
            "has another place among the subjects, which is part of its keys",
        );
    }
    for attr in (0..before.attributes.len()).map(AttrId::of) {
        if !following.is_carried(id, attr) {
            gone(following, id, attr, found);
        }
    }
    for attr in (0..after.attributes.len()).map(AttrId::of) {
        attribute(following, id, new_id, attr, found);
    }
    if !following.counted_alike(id, new_id) {
        let children: Vec<&str> =
            after.counters.iter().map(|c| new.subjects[c.child.index()].name.as_str()).collect();
        let text = format!(
            "a guard counts its children ({}) in another way, and they are not counted again: no record of it may \
             be there",
            children.join(", ")
        );
        found.add(&before.name, Follows::Never, text);
    }
}

fn is_stored(subject: &Subject, attr: AttrId) -> bool {
    let state = subject.attributes[attr.index()].state;
    matches!(subject.states[state.index()].kind, StateKind::Truth | StateKind::Log { .. })
}

fn gone(following: &Following<'_>, id: SubjectId, attr: AttrId, found: &mut Found) {
    let before = &following.old.subjects[id.index()];
    let on = format!("{}.{}", before.name, attribute_path(before, attr));
    if !is_stored(before, attr) {
        // a cache or an ephemeral of the same name is the same
        let state = before.attributes[attr.index()].state;
        let kept = following.state(id, state).is_some();
        if !kept || following.attributes[id.index()][attr.index()].is_none() {
            found.add(on, Follows::AsItIs, "is gone, and was not stored");
        }
        return;
    }
    let text = "is gone: no record may hold anything there, unless `replace --drop` names it";
    let mend = following.mend_attribute(id, attr);
    found.add(on, Follows::IfUnused, mended(text, mend));
}

fn attribute(
    following: &Following<'_>,
    id: SubjectId,
    new_id: SubjectId,
    attr: AttrId,
    found: &mut Found,
) {
    let (old, new) = (following.old, following.new);
    let (before, after) = (&old.subjects[id.index()], &new.subjects[new_id.index()]);
    let is = &after.attributes[attr.index()];
    let on = format!("{}.{}", after.name, attribute_path(after, attr));
    let source = following.source(id, new_id, attr);
    if !is_stored(after, attr) {
        if !matches!(source, Source::Carried { .. }) {
            found.add(on, Follows::AsItIs, "is new, and is not stored");
        }
        return;
    }
    let log = matches!(after.states[is.state.index()].kind, StateKind::Log { .. });
    if log && !following.states[id.index()].contains(&Some(is.state)) {
        found.add(on, Follows::AsItIs, "is new, and has no entries yet");
        return;
    }
    match source {
        Source::Carried { old: from, .. } => {
            carried(following, (id, from), (after, is), &on, found)
        }
        Source::Converted { by, of } => {
            let names: Vec<&str> =
                of.iter().map(|from| before.attributes[from.index()].name.as_str()).collect();
            let names = names.join(", ");
            let rules = by.params.iter().zip(&of).map(|(param, from)| {
                let was = &before.attributes[from.index()];
                let site = Site::Attr(id, *from);
                following.rule_within((&was.ty, was.range), (&param.ty, param.range), site)
            });
            if rules.max() <= Some(Rule::Each)
                && is.range.is_none()
                && always_has_a_value(&by.value)
            {
                let text = format!("each record gets what `convert` makes of {names}");
                found.add(on, Follows::ByRewriting, text);
            } else {
                let text = format!(
                    "each record gets what `convert` makes of {names}: it must have a value"
                );
                found.add(on, Follows::IfUnused, text);
            }
        }
        Source::Given(value) => {
            let text = format!("is new: each record gets {}, as `from` says", constant(new, value));
            found.add(on, Follows::ByRewriting, text);
        }
        Source::Default(Const::Null) => {
            found.add(on, Follows::ByRewriting, "is new: each record gets null");
        }
        Source::Default(value) => {
            let text = format!("is new: each record gets its default, {}", constant(new, value));
            found.add(on, Follows::ByRewriting, text);
        }
        Source::Missing => {
            let text = "is new and has no default: give it one, or make it optional";
            let mend = following.mend_missing(new_id, attr);
            found.add(on, Follows::Never, mended(text, Some(mend)));
        }
    }
}

/// Whatever the parameters are: nothing in it overflows or is missing.
fn always_has_a_value(value: &Expr) -> bool {
    let mut always = true;
    visit::each(value, &mut |part| {
        always &= matches!(
            part.kind,
            ExprKind::Literal(_)
                | ExprKind::Local(_)
                | ExprKind::If { .. }
                | ExprKind::Compare { .. }
                | ExprKind::And(_)
                | ExprKind::Or(_)
                | ExprKind::Not(_)
                | ExprKind::IsNull(_)
        );
    });
    always
}

fn carried(
    following: &Following<'_>,
    (id, from): (SubjectId, AttrId),
    (is_of, is): (&Subject, &Attribute),
    on: &str,
    found: &mut Found,
) {
    let (old, new) = (following.old, following.new);
    let was = &old.subjects[id.index()].attributes[from.index()];
    let site = Site::Attr(id, from);
    let rule = following.rule_within((&was.ty, was.range), (&is.ty, is.range), site);
    let alone = following.rule(&was.ty, &is.ty, site);
    if let Some((_, text)) = type_change(following, &was.ty, &is.ty, site) {
        // what the type alone asks for may be less once its range is known
        let asks = if rule < alone { rule } else { alone };
        found.add(on, follows(asks), text);
    }
    if let Some((asks, text)) = range_change((&was.ty, was.range), (&is.ty, is.range)) {
        // ends of ranges of another type are counted in another unit
        let looked_at = rule == Rule::Some && alone <= Rule::Each;
        found.add(on, if looked_at { Follows::IfUnused } else { asks }, text);
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

fn follows(rule: Rule) -> Follows {
    match rule {
        Rule::Same => Follows::AsItIs,
        Rule::Each => Follows::ByRewriting,
        Rule::Some => Follows::IfUnused,
        Rule::Never => Follows::Never,
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
pub fn type_change(
    following: &Following<'_>,
    was: &Type,
    is: &Type,
    site: Site,
) -> Option<(Follows, String)> {
    let (old, new) = (following.old, following.new);
    let rule = following.rule(was, is, site);
    let why = reason(following, was, is, site)?;
    let text = |design: &Design, ty: &Type| Types { design }.text(ty);
    Some((follows(rule), format!("was {} and is {}: {why}", text(old, was), text(new, is))))
}

/// Why the type matters; none: nothing changes.
fn reason(following: &Following<'_>, was: &Type, is: &Type, site: Site) -> Option<String> {
    let why = |text: &str| Some(text.to_string());
    let never = "there is no rule from the one to the other";
    if following.rule(was, is, site) == Rule::Never {
        return why(never);
    }
    match (was, is) {
        (Type::Optional(was), Type::Optional(is)) => reason(following, was, is, site),
        (was, Type::Optional(is)) => {
            reason(following, was, is, site).or_else(|| why("every value stays"))
        }
        (Type::Optional(was), is) => {
            let null = "no record may have null there";
            let inner = reason(following, was, is, site);
            Some(inner.map_or_else(|| null.into(), |inner| format!("{null}; {inner}")))
        }
        (Type::Enum(was_id), Type::Enum(is_id)) => {
            let was = &following.old.enumerations[was_id.index()].constants;
            let is = &following.new.enumerations[is_id.index()].constants;
            let word = |word: &String| following.word(word, is, site).to_string();
            let gone: Vec<&str> =
                was.iter().filter(|held| !is.contains(&word(held))).map(String::as_str).collect();
            let named: Vec<String> = was.iter().map(word).collect();
            if was == is {
                None
            } else if !gone.is_empty() {
                Some(format!("no record may be {}", gone.join(" or ")))
            } else if named != *was && is.starts_with(&named) {
                why("words have other names, as `from` says")
            } else if is.starts_with(&named) {
                why("the new constants come after the old ones")
            } else {
                why("constants are stored by their place, which has moved")
            }
        }
        (Type::List { of: was, max: a }, Type::List { of: is, max: b })
        | (Type::Set { of: was, max: a }, Type::Set { of: is, max: b }) => {
            reason(following, was, is, site).or_else(|| bounded(*a, *b))
        }
        (Type::Map { key: k, value: v, max: a }, Type::Map { key: l, value: w, max: b }) => {
            let inner = reason(following, k, l, site).or_else(|| reason(following, v, w, site));
            inner.or_else(|| bounded(*a, *b))
        }
        (Type::Struct(was), Type::Struct(is)) => struct_reason(following, was, is, site),
        (Type::Int, Type::Decimal | Type::Money(_)) => {
            why("each number has an exact equal, up to 9223372036854 on either side of 0")
        }
        _ => None,
    }
}

/// The records of a list: their fields follow by name.
fn struct_reason(
    following: &Following<'_>,
    was: &[StructField],
    is: &[StructField],
    site: Site,
) -> Option<String> {
    let held = |field: &StructField| was.iter().find(|held| held.name == field.name);
    let mut all: Vec<String> = Vec::new();
    for field in is {
        let Some(held) = held(field) else {
            all.push(format!("`{}` is null in what is stored", field.name));
            continue;
        };
        let (before, after) = ((&held.ty, held.range), (&field.ty, field.range));
        let inner = reason(following, &held.ty, &field.ty, site);
        let narrower = || {
            let alone = following.rule(before.0, after.0, site);
            let within = following.rule_within(before, after, site);
            (alone != within).then(|| "no record may lie outside the new range".to_string())
        };
        all.extend(inner.or_else(narrower).map(|why| format!("`{}`: {why}", field.name)));
    }
    let names = |fields: &[StructField]| -> Vec<String> {
        fields.iter().map(|field| field.name.clone()).collect()
    };
    if all.is_empty() && names(was) != names(is) {
        all.push("the fields stand in another order, and follow by name".into());
    }
    (!all.is_empty()).then(|| all.join("; "))
}

fn bounded(was: u32, is: u32) -> Option<String> {
    (is < was).then(|| format!("held up to {was} and holds up to {is}: no record may have more"))
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
            let told = if goal.uses_old || word != "invariant" {
                "is promised from now on"
            } else {
                "is promised from now on: what is stored is not held to it"
            };
            found.add(format!("{word} {}", goal.name), Follows::AsItIs, told);
        }
    }
}
