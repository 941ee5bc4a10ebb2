//! Entries that could not be worked on, and were taken out of their queue.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Response;
use gateway::{Gateway, Problem, Service};
use runtime::Aside;

use crate::fields::{Sent, sent};
use crate::html::{Html, html};
use crate::shell::{self, Tab};
use crate::value::{self, Place};
use crate::visit::Visit;
use crate::{look, session};

/// Entries that are shown.
const LIMIT: usize = 1_000;

pub async fn page(visit: &Visit, service: &Service) -> Result<Html, Problem> {
    look::may_operate(visit)?;
    let place = Place { name: &service.name, design: service.design() };
    let runtime = Arc::clone(&service.runtime);
    let listed = tokio::task::spawn_blocking(move || runtime.set_aside(LIMIT)).await;
    let listed = listed.map_err(|_| Problem::broken())?;
    let listed = listed.map_err(|error| look::problem(service, error))?;
    let mut page = Html::new();
    html!(
        page,
        "<h1>Set aside</h1><p class=\"lead\">An entry that cannot be read, or that panics whoever works \
         on it, leaves its queue so that everything behind it goes on. Mend the cause, then try it \
         again: it goes back exactly as it was.</p>"
    );
    if let Some(done) = sent(&visit.query, "done") {
        let said = if done == "retry" { "It is in its queue again." } else { "It was discarded." };
        html!(page, "<div class=\"note good\" role=\"status\"><p>{}</p></div>", said);
    }
    if listed.is_empty() {
        html!(page, "<p class=\"empty\">Nothing: all entries can be worked on.</p>");
    } else {
        table(&mut page, &place, &listed);
    }
    if listed.len() == LIMIT {
        html!(page, "<p class=\"hint\">{} entries are shown, and there may be more.</p>", LIMIT);
    }
    Ok(shell::of_design(visit, service, Tab::Aside, "Set aside", &page))
}

fn table(page: &mut Html, place: &Place<'_>, list: &[Aside]) {
    html!(
        page,
        "<div class=\"wide\"><table class=\"stack\"><thead><tr><th>when</th><th>what</th><th>key</th>\
         <th>reason</th><th></th></tr></thead><tbody>"
    );
    for one in list {
        html!(page, "<tr><td data-name=\"when\">");
        value::moment(page, one.at);
        html!(page, "</td><td data-name=\"what\">{}", one.space);
        if let Some(operation) = &one.operation {
            html!(page, " <strong>{}</strong>", operation);
        }
        html!(
            page,
            "</td><td class=\"key\" data-name=\"key\"><code>{}</code></td><td \
             data-name=\"reason\">{}</td><td>",
            one.key,
            one.reason
        );
        if one.can_go_back {
            button(page, &place.at("/aside/retry"), &one.id, "Try again");
        } else {
            html!(page, "<span class=\"faint\">of an earlier version of the design</span>");
        }
        button(page, &place.at("/aside/discard"), &one.id, "Discard");
        html!(page, "</td></tr>");
    }
    html!(page, "</tbody></table></div>");
}

fn button(page: &mut Html, action: &str, id: &str, label: &str) {
    html!(
        page,
        "<form method=\"post\" action=\"{}\"><input type=\"hidden\" name=\"id\" \
         value=\"{}\"><button class=\"button second\">{}</button></form>",
        action,
        id,
        label
    );
}

/// A person has an entry tried again or thrown away.
pub async fn resolve(
    gateway: &Arc<Gateway>,
    visit: &Visit,
    service: &Arc<Service>,
    what: &str,
    form: &Sent,
) -> Result<Response<Body>, Problem> {
    look::may_operate(visit)?;
    let Some(id) = sent(form, "id").map(str::to_string) else {
        return Err(Problem::malformed("the form does not say which entry is meant"));
    };
    let (gateway, asked, by) =
        (Arc::clone(gateway), Arc::clone(service), visit.caller.principal.clone());
    let retries = what == "retry";
    let resolved = tokio::task::spawn_blocking(move || match retries {
        true => gateway.try_again(&asked, &id, &by),
        false => gateway.discard(&asked, &id, &by),
    });
    resolved.await.map_err(|_| Problem::broken())??;
    let place = Place { name: &service.name, design: service.design() };
    Ok(session::go(&place.at(&format!("/aside?done={what}"))))
}
