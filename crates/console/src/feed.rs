//! Every transition as it happens.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use design::model::{OperationKind, Type};
use runtime::Transition;

use crate::fields::sent;
use crate::html::{Html, encoded, html};
use crate::shell::{self, Tab};
use crate::value::{self, Place, clock_text};
use crate::visit::Visit;
use crate::{live, look};
use gateway::{Problem, Service};

/// Transitions on one page, and in one event.
const PAGE: usize = 50;
const EVENT: usize = 100;
/// What happens within this is sent together.
const TOGETHER: Duration = Duration::from_millis(100);
const QUIET: Duration = Duration::from_secs(1);

pub async fn page(visit: &Visit, service: &Service) -> Result<Html, Problem> {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let before = sent(&visit.query, "before");
    let subject = sent(&visit.query, "subject").filter(|name| service.is_subject(name));
    let past = look::past(visit, service, None, before, PAGE).await;
    let past = past.map_err(|error| look::problem(service, error))?;
    let mut page = Html::new();
    html!(page, "<h1>Feed</h1><p class=\"lead\">What happened, the newest first. ");
    let following = before.is_none();
    if following {
        html!(page, "<span class=\"live\" id=\"said\">as of now</span>");
    }
    html!(page, "</p>");
    filter(&mut page, &place, subject);
    let shown: Vec<_> = past.transitions.iter().filter(|(_, one)| concerns(one, subject)).collect();
    html!(page, "<ol class=\"feed\"");
    if following {
        let newest = past.transitions.first().map_or("", |(revision, _)| revision);
        let mut address = place.at(&format!("/feed/events?from={}", encoded(newest)));
        if let Some(subject) = subject {
            address.push_str(&format!("&subject={}", encoded(subject)));
        }
        html!(page, " data-live=\"{}\" data-said=\"said\" data-empty=\"nothing\"", address);
    }
    html!(page, ">");
    for (revision, transition) in &shown {
        page.add(row(&place, revision, transition));
    }
    html!(page, "</ol>");
    if shown.is_empty() {
        let nothing = match subject {
            Some(subject) => format!("No change of {subject} among what is on this page."),
            None if following => "Nothing has happened yet that you may see.".into(),
            None => "Nothing that the feed still holds and that you may see.".into(),
        };
        html!(page, "<p class=\"empty\" id=\"nothing\">{}</p>", nothing);
    }
    html!(page, "<p class=\"more\">");
    if !following {
        html!(page, "<a href=\"{}\">Newest</a>", place.at("/feed"));
    }
    if let Some(older) = &past.older {
        let mut address = place.at(&format!("/feed?before={}", encoded(older)));
        if let Some(subject) = subject {
            address.push_str(&format!("&subject={}", encoded(subject)));
        }
        html!(page, "<a href=\"{}\" rel=\"next\">Earlier</a>", address);
    }
    html!(page, "</p>");
    Ok(shell::of_design(visit, service, Tab::Feed, "Feed", &page))
}

fn filter(page: &mut Html, place: &Place<'_>, subject: Option<&str>) {
    html!(
        page,
        "<form class=\"inline\" method=\"get\" action=\"{}\"><div class=\"field\"><label \
         for=\"subject\">Only changes of</label><select id=\"subject\" name=\"subject\"><option \
         value=\"\">anything</option>",
        place.at("/feed")
    );
    for known in &place.design.subjects {
        let chosen = if subject == Some(&known.name) { " selected" } else { "" };
        html!(page, "<option{}>{}</option>", chosen, known.name);
    }
    html!(page, "</select></div><button class=\"button second\">Show</button></form><br>");
}

fn concerns(transition: &Transition, subject: Option<&str>) -> bool {
    subject.is_none_or(|name| transition.changes.iter().any(|change| change.subject == name))
}

/// When, and who did what; the row stays open.
pub fn row_head(page: &mut Html, place: &Place<'_>, revision: &str, transition: &Transition) {
    let at = clock_text(transition.at);
    let (day, rest) = at.split_once('T').unwrap_or((&at, ""));
    let clock = rest.trim_end_matches('Z').split('.').next().unwrap_or_default();
    html!(
        page,
        "<li data-revision=\"{}\"><div class=\"when\"><time datetime=\"{}\">{}</time><small>{} UTC</small>\
         <small>{}</small></div><div class=\"what\"><b>{}</b> <span class=\"faint\">as {}</span>",
        revision,
        at,
        clock,
        day,
        revision,
        transition.operation,
        transition.actor
    );
    if !transition.principal.is_empty() {
        html!(page, " by <b>{}</b>", transition.principal);
    } else if is_called(place, transition) {
        html!(page, " by <span class=\"faint\">somebody whom you may not see</span>");
    } else {
        html!(page, " <span class=\"tag\">engine</span>");
    }
}

/// Somebody called it; an earlier version of the design may have had it alone.
fn is_called(place: &Place<'_>, transition: &Transition) -> bool {
    place.design.operations.iter().any(|operation| {
        operation.name == transition.operation
            && operation.hears.is_none()
            && matches!(operation.kind, OperationKind::Step { .. })
            && place.design.actors[operation.actor.index()].name == transition.actor
    })
}

/// One transition with the records it changed.
pub fn row(place: &Place<'_>, revision: &str, transition: &Transition) -> Html {
    let mut page = Html::new();
    row_head(&mut page, place, revision, transition);
    html!(page, "<ul class=\"changed\">");
    for change in &transition.changes {
        html!(page, "<li>{} ", change.subject);
        value::record_link(&mut page, place, &change.subject, &change.key);
        match &change.truth {
            None => html!(page, " deleted"),
            Some(truth) => tell(&mut page, place, &change.subject, truth),
        }
        html!(page, "</li>");
    }
    for (name, fields) in &transition.events {
        html!(
            page,
            "<li><span class=\"tag accent\">{}</span> <code>{}</code></li>",
            name,
            fields.to_string()
        );
    }
    html!(page, "</ul></div></li>");
    page
}

/// The attributes that say most: enumerations.
fn tell(page: &mut Html, place: &Place<'_>, name: &str, truth: &serde_json::Value) {
    let Some(subject) = place.design.subjects.iter().find(|known| known.name == name) else {
        return;
    };
    for attribute in &subject.attributes {
        if matches!(attribute.ty.required(), Type::Enum(_)) {
            let state = &subject.states[attribute.state.index()].name;
            if let Some(found) = truth.get(state).and_then(|fields| fields.get(&attribute.name)) {
                html!(page, " <span class=\"faint\">{}</span> ", attribute.name);
                value::value(page, place, &attribute.ty, found);
            }
        }
    }
}

/// Rows as they come, from where the page ends.
pub fn events(
    visit: Arc<Visit>,
    service: Arc<Service>,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let from = last.or(sent(&visit.query, "from")).filter(|from| !from.is_empty());
    let from = from.map(str::to_string);
    let subject = sent(&visit.query, "subject").map(str::to_string);
    let gateway = Arc::clone(&visit.gateway);
    live::stream(gateway, TOGETHER, from, move |from: Option<String>| {
        let (visit, service, subject) = (Arc::clone(&visit), Arc::clone(&service), subject.clone());
        async move {
            let found = look::feed(&visit, &service, from.as_deref(), EVENT).await;
            let Ok((list, next)) = found else { return None };
            let place = Place { name: &service.name, design: service.design() };
            let mut text = String::new();
            for (revision, transition) in &list {
                if concerns(transition, subject.as_deref()) {
                    let row = row(&place, revision, transition);
                    text.push_str(&live::event("row", Some(revision), &row));
                }
            }
            if list.is_empty() {
                // until something happens, or it is time for a sign of life
                let changed = service.runtime.changed(&next);
                if let Ok(Err(_)) = tokio::time::timeout(QUIET, changed).await {
                    return None;
                }
            }
            Some((text, Some(next)))
        }
    })
}
