//! Calls to the world outside: on their way, and given up.

use axum::body::Body;
use axum::http::Response;
use design::model::{Design, Operation, OperationKind};
use identity::Act;
use runtime::{CallError, Waiting};
use serde_json::json;

use crate::fields::{Sent, sent};
use crate::html::{Html, html};
use crate::shell::{self, Tab};
use crate::value::{self, Place};
use crate::visit::Visit;
use crate::{look, session};
use gateway::DEAD_LETTER;
use gateway::{Problem, Service};

/// Entries that are looked at.
const LIMIT: usize = 1_000;

pub fn page(visit: &Visit, service: &Service) -> Result<Html, Problem> {
    let design = service.design();
    let place = Place { name: &service.name, design };
    look::may_operate(visit)?;
    let waiting = service.runtime.outbox(LIMIT).map_err(|error| look::problem(service, error))?;
    let mut page = Html::new();
    html!(
        page,
        "<h1>Outbox</h1><p class=\"lead\">Calls to the world outside are committed with the step \
         that sends them, and delivered at least once under their key.</p>"
    );
    if let Some(trouble) = service.runtime.counters().trouble() {
        html!(
            page,
            "<div class=\"note bad\" role=\"alert\"><h2>Work does not go on</h2><p>{}</p></div>",
            trouble
        );
    }
    if let Some(again) = sent(&visit.query, "again") {
        html!(
            page,
            "<div class=\"note good\" role=\"status\"><p>Will be tried again: <code>{}</code></p></div>",
            again
        );
    }
    webhooks(&mut page, visit, service);
    events(&mut page, service, &waiting);
    let sends = design.operations.iter().any(|o| matches!(o.kind, OperationKind::Effect(_)));
    if !sends {
        html!(page, "<p class=\"empty\">This design calls nothing outside.</p>");
        return Ok(shell::of_design(visit, service, Tab::Outbox, "Outbox", &page));
    }
    rounds(&mut page, design, &waiting);
    let is_event = |one: &&Waiting| {
        design
            .operations
            .iter()
            .any(|o| (o.hears.is_some() || o.each.is_some()) && o.name == one.effect)
    };
    let calls = waiting.iter().filter(|one| !is_event(one));
    let (dead, open): (Vec<&Waiting>, Vec<&Waiting>) =
        calls.partition(|one| one.state == DEAD_LETTER);
    html!(page, "<h2>Dead letters</h2>");
    if dead.is_empty() {
        html!(page, "<p class=\"empty\">None: nothing was given up.</p>");
    } else {
        table(&mut page, &place, &dead);
    }
    html!(page, "<h2>On their way</h2>");
    if open.is_empty() {
        html!(page, "<p class=\"empty\">Nothing waits.</p>");
    } else {
        table(&mut page, &place, &open);
    }
    if waiting.len() == LIMIT {
        html!(page, "<p class=\"hint\">The first {} entries are shown.</p>", LIMIT);
    }
    Ok(shell::of_design(visit, service, Tab::Outbox, "Outbox", &page))
}

/// What goes through sets of records, a page at a time.
fn rounds(page: &mut Html, design: &Design, waiting: &[Waiting]) {
    let rounds: Vec<&Operation> = design.operations.iter().filter(|o| o.each.is_some()).collect();
    if rounds.is_empty() {
        return;
    }
    html!(
        page,
        "<h2>To each of a set</h2><p class=\"lead\">A round goes through its set a page at a time, and waits while \
         many of its calls are open.</p><div class=\"wide\"><table class=\"stack\"><thead><tr><th>round</th><th \
         class=\"number\">going on</th></tr></thead><tbody>"
    );
    for operation in rounds {
        let count = waiting.iter().filter(|one| one.effect == operation.name).count();
        html!(
            page,
            "<tr><td><strong>{}</strong></td><td class=\"number\" data-name=\"going on\">{}</td></tr>",
            operation.name,
            count
        );
    }
    html!(page, "</tbody></table></div>");
}

/// Events that call something here, and events of this design that call something elsewhere.
fn events(page: &mut Html, service: &Service, waiting: &[Waiting]) {
    let counted = service.runtime.counters().all();
    let handlers: Vec<_> = service
        .design()
        .operations
        .iter()
        .filter_map(|operation| Some((operation, operation.hears.as_ref()?)))
        .collect();
    if !handlers.is_empty() {
        html!(
            page,
            "<h2>Events</h2><p class=\"lead\">An event that is refused is done with; the next one of its key \
             follows.</p><div class=\"wide\"><table class=\"stack\"><thead><tr><th>event</th><th>calls</th><th \
             class=\"number\">waiting</th><th class=\"number\">taken</th><th>refused \
             by</th></tr></thead><tbody>"
        );
    }
    for (operation, hears) in &handlers {
        let waits = waiting.iter().filter(|one| one.effect == operation.name).count();
        let known = counted.iter().find(|(name, _, _)| *name == operation.name);
        let taken = known.map_or(0, |(_, taken, _)| *taken);
        let refused: Vec<String> = known
            .iter()
            .flat_map(|(_, _, refused)| refused)
            .map(|(clause, times)| format!("{clause}: {times}"))
            .collect();
        html!(
            page,
            "<tr><td><strong>{}</strong></td><td data-name=\"calls\">{}</td><td class=\"number\" \
             data-name=\"waiting\">{}</td><td class=\"number\" data-name=\"taken\">{}</td><td \
             data-name=\"refused by\">{}</td></tr>",
            hears.told(),
            operation.name,
            waits,
            taken,
            refused.join(", ")
        );
    }
    if !handlers.is_empty() {
        html!(page, "</tbody></table></div>");
    }
    for heard in service.runtime.heard() {
        html!(page, "<p>{} is heard by <strong>{}</strong>", heard.event, heard.by);
        match heard.served {
            true => html!(page, ".</p>"),
            false => html!(page, ", which is not served: its events wait.</p>"),
        }
    }
}

/// Who is told of events, and how far each is.
fn webhooks(page: &mut Html, visit: &Visit, service: &Service) {
    let told = visit.gateway.told(&service.name);
    if told.is_empty() {
        return;
    }
    let now_ms = jiff::Timestamp::now().as_millisecond();
    html!(
        page,
        "<h2>Webhooks</h2><div class=\"wide\"><table class=\"stack\"><thead><tr><th>told</th><th \
         class=\"number\">events taken</th><th>behind</th><th class=\"number\">attempts</th><th>last \
         trouble</th></tr></thead><tbody>"
    );
    for one in &told {
        html!(
            page,
            "<tr><td><strong>{}</strong></td><td class=\"number\" data-name=\"events \
             taken\">{}</td><td data-name=\"behind\">",
            one.url,
            one.delivered
        );
        match one.since {
            None => html!(page, "<span class=\"tag good\">told of everything</span>"),
            Some(_) => {
                html!(page, "<span class=\"tag bad\">{} s</span>", one.lag_ms(now_ms) / 1_000)
            }
        }
        html!(
            page,
            "</td><td class=\"number\" data-name=\"attempts\">{}</td><td data-name=\"last \
             trouble\">{}</td></tr>",
            one.attempts,
            one.trouble
        );
        if one.gaps > 0 {
            html!(
                page,
                "<tr><td></td><td colspan=\"4\">The feed had forgotten events before they were told: {} \
                 times.</td></tr>",
                one.gaps
            );
        }
    }
    html!(page, "</tbody></table></div>");
}

fn table(page: &mut Html, place: &Place<'_>, list: &[&Waiting]) {
    html!(
        page,
        "<div class=\"wide\"><table class=\"stack\"><thead><tr><th>call</th><th>key</th><th \
         class=\"number\">attempts</th><th>next</th><th>last trouble</th><th></th></tr></thead><tbody>"
    );
    for one in list {
        let dead = one.state == DEAD_LETTER;
        html!(
            page,
            "<tr><td><strong>{}</strong></td><td class=\"key\" data-name=\"key\">{}</td><td \
             class=\"number\" data-name=\"attempts\">{}</td><td data-name=\"next\">",
            one.effect,
            one.key,
            one.attempts
        );
        if dead {
            html!(page, "<span class=\"tag bad\">given up</span>");
        } else {
            value::moment(page, one.next_at);
        }
        html!(
            page,
            "</td><td data-name=\"last trouble\">{}</td><td><form method=\"post\" action=\"{}\"><input \
             type=\"hidden\" name=\"effect\" value=\"{}\"><input type=\"hidden\" name=\"key\" \
             value=\"{}\"><button class=\"button second\">Try again</button></form></td></tr>",
            one.trouble,
            place.at("/outbox/retry"),
            one.effect,
            one.key
        );
    }
    html!(page, "</tbody></table></div>");
}

/// A person asks for another attempt.
pub async fn retry(
    visit: &Visit,
    service: &Service,
    form: &Sent,
) -> Result<Response<Body>, Problem> {
    look::may_operate(visit)?;
    let (effect, key) = (sent(form, "effect"), sent(form, "key"));
    let waiting = service.runtime.outbox(LIMIT).map_err(|error| look::problem(service, error))?;
    let found = waiting
        .into_iter()
        .find(|one| Some(one.effect.as_str()) == effect && Some(one.key.as_str()) == key);
    let Some(found) = found else {
        return Err(Problem::unknown("this entry is not in the outbox any more"));
    };
    let place = Place { name: &service.name, design: service.design() };
    let runtime = std::sync::Arc::clone(&service.runtime);
    let key = found.key.clone();
    let retried = tokio::task::spawn_blocking(move || runtime.retry(&found)).await;
    match retried {
        Ok(Ok(())) => {
            let of = json!({ "design": service.name, "effect": effect, "key": key });
            // it is under way, whether or not the log takes the line
            let _ = visit.gateway.auditor.done(Act::DeadLetterRetried, &visit.caller.principal, of);
        }
        // it cannot be read, so it was set aside: that page says why
        Ok(Err(CallError::Damaged(_))) => return Ok(session::go(&place.at("/aside"))),
        Ok(Err(error)) => return Err(look::problem(service, error)),
        Err(_) => return Err(Problem::broken()),
    }
    let again = format!("/outbox?again={}", crate::html::encoded(&key));
    Ok(session::go(&place.at(&again)))
}
