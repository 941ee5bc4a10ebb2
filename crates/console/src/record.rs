//! One record: its truth, what may be done with it, and what happened to it.

use design::model::{Param, StateKind, Subject};
use runtime::{Past, Truth};
use serde_json::Value;

use crate::fields::prefill;
use crate::html::{Html, encoded, html};
use crate::records::keys;
use crate::shell::{self, Tab};
use crate::value::{self, Place, key_text};
use crate::visit::Visit;
use crate::{look, trouble};
use gateway::{Problem, Service};

/// Transitions on one page.
const PAGE: usize = 25;

pub async fn page(visit: &Visit, service: &Service, name: &str) -> Result<Html, Problem> {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let Some(subject) = design.subjects.iter().find(|subject| subject.name == name) else {
        return Err(Problem::unknown(format!("`{}` has no subject `{name}`", design.name)));
    };
    let key = keys(visit, "key");
    let found = look::record(visit, service, name, &key).await;
    let found = found.map_err(|error| look::problem(service, error))?;
    let mut page = Html::new();
    html!(
        page,
        "<p class=\"crumbs\"><a href=\"{}\">Records</a> / <a href=\"{}\">{}</a></p><h1>{}</h1>",
        place.at("/records"),
        place.at(&format!("/records/{}", encoded(name))),
        name,
        key_text(&key)
    );
    html!(page, "<div class=\"two\"><section class=\"card\" aria-label=\"Truth\">");
    match &found {
        None => html!(page, "<p class=\"faint\">There is no such record.</p>"),
        Some(found) => truth(&mut page, &place, subject, found),
    }
    html!(page, "</section><section class=\"card\"><h2>Steps on it</h2>");
    steps(&mut page, service, &place, subject, &key, found.is_some());
    html!(page, "</section></div><h2>What happened to it</h2>");
    let before = crate::fields::sent(&visit.query, "before");
    match look::past(visit, service, Some((name, &key)), before, PAGE).await {
        Err(error) => page.add(trouble::note(&look::problem(service, error))),
        Ok(past) => history(&mut page, (visit, service), &place, subject, &key, &past),
    }
    let title = format!("{} {name}", key_text(&key));
    Ok(shell::of_design(visit, service, Tab::Records, &title, &page))
}

/// Each state with its attributes.
pub fn truth(page: &mut Html, place: &Place<'_>, subject: &Subject, found: &Truth) {
    for state in &subject.states {
        let Some(fields) = found.truth.get(&state.name) else {
            if matches!(state.kind, StateKind::Truth) && !state.attributes.is_empty() {
                html!(
                    page,
                    "<div class=\"state\"><h3>{}</h3><p class=\"faint\">not yours to see</p></div>",
                    state.name
                );
            }
            continue;
        };
        html!(page, "<div class=\"state\"><h3>{}</h3><dl class=\"truth\">", state.name);
        if let StateKind::Log { .. } = state.kind {
            let (start, end) = (fields["start"].as_i64(), fields["end"].as_i64());
            let (start, end) = (start.unwrap_or(0), end.unwrap_or(0));
            html!(
                page,
                "<dt>entries</dt><dd>{} <span class=\"faint\">from {} up to {}</span></dd>",
                end - start,
                start,
                end
            );
        } else {
            for attr in &state.attributes {
                let attribute = &subject.attributes[attr.index()];
                html!(page, "<dt>{}</dt><dd>", attribute.name);
                if attribute.ty.is_secret() {
                    html!(page, "<span class=\"faint\">secret</span></dd>");
                    continue;
                }
                let given = fields.get(&attribute.name).unwrap_or(&Value::Null);
                value::value(page, place, &attribute.ty, given);
                html!(page, "</dd>");
            }
        }
        html!(page, "</dl></div>");
    }
    if found.version == 0 {
        html!(page, "<p class=\"hint\">as it is from the start: never written</p>");
    }
}

/// The steps that take this record, with it filled in.
fn steps(
    page: &mut Html,
    service: &Service,
    place: &Place<'_>,
    subject: &Subject,
    key: &[Value],
    present: bool,
) {
    let design = service.design();
    let fits = |param: &Param| {
        param.ty.subject().is_some_and(|id| design.subjects[id.index()].name == subject.name)
    };
    let mut some = false;
    html!(page, "<ul class=\"steps-list\">");
    for operation in design.operations.iter().filter(|operation| service.is_callable(operation)) {
        let Some(param) = operation.params.iter().find(|p| fits(p) && p.new != present) else {
            continue;
        };
        some = true;
        let actor = &design.actors[operation.actor.index()].name;
        let mut address = place.step(actor, &operation.name);
        for (at, (name, text)) in
            prefill(design, param, &Value::Array(key.to_vec())).iter().enumerate()
        {
            address.push(if at == 0 { '?' } else { '&' });
            address.push_str(&format!("{}={}", encoded(name), encoded(text)));
        }
        html!(
            page,
            "<li><a href=\"{}\">{}</a> <span class=\"faint\">as {}</span></li>",
            address,
            operation.name,
            actor
        );
    }
    html!(page, "</ul>");
    if !some {
        html!(page, "<p class=\"faint\">No step takes it as it is.</p>");
    }
}

/// The newest first; each with what it changed.
fn history(
    page: &mut Html,
    (visit, service): (&Visit, &Service),
    place: &Place<'_>,
    subject: &Subject,
    key: &[Value],
    past: &Past,
) {
    if past.transitions.is_empty() {
        if past.older.is_some() {
            html!(page, "<p class=\"empty\">Nothing in this part of the feed.</p>");
        } else {
            html!(page, "<p class=\"empty\">Nothing that the feed still holds.</p>");
        }
    } else {
        html!(page, "<ol class=\"feed\">");
        // earlier versions of a design are told in their own words
        let before = service.runtime.called_before(&subject.name);
        let is_of = |name: &String| *name == subject.name || before.contains(name);
        for (at, (revision, transition)) in past.transitions.iter().enumerate() {
            let own = |t: &runtime::Transition| {
                let change =
                    t.changes.iter().find(|c| is_of(&c.subject) && same_key(&c.key, key))?;
                Some(change.truth.clone().unwrap_or(Value::Null))
            };
            let after = own(transition).unwrap_or(Value::Null);
            let before = past.transitions.get(at + 1).and_then(|(_, earlier)| own(earlier));
            crate::feed::row_head(page, place, revision, transition);
            html!(page, "<dl class=\"truth\">");
            changed(page, place, subject, before.as_ref(), &after);
            html!(page, "</dl></div></li>");
        }
        html!(page, "</ol>");
    }
    if let Some(older) = &past.older {
        let mut address = place.record(&subject.name, key);
        address.push_str(&format!("&before={}", encoded(older)));
        html!(page, "<p class=\"more\"><a href=\"{}\">Earlier</a></p>", address);
    } else if crate::fields::sent(&visit.query, "before").is_some() {
        let newest = place.record(&subject.name, key);
        html!(page, "<p class=\"more\"><a href=\"{}\">Newest</a></p>", newest);
    }
}

/// Keys that were typed are texts, and those in the feed have their types.
pub fn same_key(one: &[Value], other: &[Value]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(a, b)| value::plain(a) == value::plain(b))
}

/// The attributes that differ; all of them if nothing is known of before.
fn changed(
    page: &mut Html,
    place: &Place<'_>,
    subject: &Subject,
    before: Option<&Value>,
    after: &Value,
) {
    if after.is_null() {
        html!(page, "<dt>record</dt><dd>deleted</dd>");
        return;
    }
    // states that have other names today are shown as they were
    if subject.states.iter().all(|state| after.get(&state.name).is_none()) {
        html!(page, "<dt>was then</dt><dd>");
        value::loose(page, after);
        html!(page, "</dd>");
        return;
    }
    for state in &subject.states {
        for attr in &state.attributes {
            let attribute = &subject.attributes[attr.index()];
            let of = |truth: &Value| truth.get(&state.name)?.get(&attribute.name).cloned();
            let Some(now) = of(after) else { continue };
            let was = before.and_then(of);
            if was.as_ref() == Some(&now) {
                continue;
            }
            html!(page, "<dt>{}</dt><dd>", attribute.name);
            if let Some(was) = was {
                html!(page, "<span class=\"was\">");
                value::value(page, place, &attribute.ty, &was);
                html!(page, "</span> ");
            }
            value::value(page, place, &attribute.ty, &now);
            html!(page, "</dd>");
        }
    }
    gone(page, subject, before, after);
}

/// What an earlier version of the design had and this one has not, as it was called then.
fn gone(page: &mut Html, subject: &Subject, before: Option<&Value>, after: &Value) {
    let is_there = |state: &str, name: &str| {
        let state = subject.states.iter().find(|known| known.name == state);
        let attributes = state.map(|state| state.attributes.iter());
        attributes
            .is_some_and(|mut all| all.any(|attr| subject.attributes[attr.index()].name == name))
    };
    for (state, fields) in after.as_object().into_iter().flatten() {
        for (name, now) in fields.as_object().into_iter().flatten() {
            let was = before.and_then(|truth| truth.get(state)?.get(name));
            if is_there(state, name) || was == Some(now) {
                continue;
            }
            html!(page, "<dt>{} <span class=\"faint\">then</span></dt><dd>", name);
            value::loose(page, now);
            html!(page, "</dd>");
        }
    }
}
