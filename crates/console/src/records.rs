//! The records of a design, subject by subject, a page at a time.

use design::model::{StateKind, Subject};
use runtime::{RecordPage, Truth};
use serde_json::Value;

use crate::fields::{leaves, sent};
use crate::html::{Html, encoded, html};
use crate::shell::{self, Tab};
use crate::value::{self, Place};
use crate::visit::Visit;
use crate::{look, trouble};
use gateway::{Problem, Service};

/// Records on one page, and attributes shown of each.
const PAGE: usize = 50;
const COLUMNS: usize = 7;

/// Every subject, with its first records.
pub async fn page(visit: &Visit, service: &Service) -> Result<Html, Problem> {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let mut page = Html::new();
    html!(
        page,
        "<h1>Records</h1><p class=\"lead\">The truth that this design keeps, as it is now.</p>\
         <div class=\"cards\">"
    );
    for subject in &design.subjects {
        html!(
            page,
            "<section class=\"card link\"><h2><a href=\"{}\">{}</a></h2><p class=\"faint\">by <span \
             class=\"mono\">{}</span></p>",
            place.at(&format!("/records/{}", encoded(&subject.name))),
            subject.name,
            key_names(service, subject)
        );
        match look::records(visit, service, &subject.name, None, 5).await {
            Err(error) => page.add(trouble::note(&look::problem(service, error))),
            Ok(list) if list.records.is_empty() => {
                html!(page, "<p class=\"faint\">none that was written and that you may see</p>");
            }
            Ok(RecordPage { records, more }) => {
                html!(page, "<ul class=\"legal\">");
                for (key, _) in &records {
                    html!(page, "<li>");
                    value::record_link(&mut page, &place, &subject.name, key);
                    html!(page, "</li>");
                }
                html!(page, "</ul>");
                if more {
                    html!(page, "<p class=\"faint\">and more</p>");
                }
            }
        }
        html!(page, "</section>");
    }
    html!(page, "</div>");
    Ok(shell::of_design(visit, service, Tab::Records, "Records", &page))
}

fn key_names(service: &Service, subject: &Subject) -> String {
    let parts: Vec<String> = subject
        .keys
        .iter()
        .map(|key| format!("{}: {}", key.name, crate::fields::type_text(service.design(), &key.ty)))
        .collect();
    parts.join(", ")
}

/// The records of one subject after a key.
pub async fn of_subject(visit: &Visit, service: &Service, name: &str) -> Result<Html, Problem> {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let at = design.subjects.iter().position(|subject| subject.name == name);
    let Some(at) = at else {
        return Err(Problem::unknown(format!("`{}` has no subject `{name}`", design.name)));
    };
    let subject = &design.subjects[at];
    let after: Vec<Value> = keys(visit, "after");
    let after = (!after.is_empty()).then_some(after);
    let found = look::records(visit, service, name, after.as_deref(), PAGE).await;
    let RecordPage { records: list, more } =
        found.map_err(|error| look::problem(service, error))?;
    let mut page = Html::new();
    html!(
        page,
        "<p class=\"crumbs\"><a href=\"{}\">Records</a></p><h1>{}</h1>",
        place.at("/records"),
        name
    );
    finder(&mut page, visit, service, at, &place);
    if list.is_empty() {
        html!(
            page,
            "<p class=\"empty\">No record {}.</p>",
            if after.is_some() { "after this" } else { "that was written and that you may see" }
        );
    } else {
        table(&mut page, &place, subject, &list);
    }
    html!(page, "<p class=\"more\">");
    let here = place.at(&format!("/records/{}", encoded(name)));
    if after.is_some() {
        html!(page, "<a href=\"{}\">From the beginning</a>", here);
    }
    if let Some((last, _)) = list.last().filter(|_| more) {
        let mut next = format!("{here}?");
        for (at, part) in last.iter().enumerate() {
            next.push_str(if at == 0 { "after=" } else { "&after=" });
            next.push_str(&encoded(&value::plain(part)));
        }
        html!(page, "<a href=\"{}\" rel=\"next\">More</a>", next);
    }
    html!(page, "</p>");
    Ok(shell::of_design(visit, service, Tab::Records, name, &page))
}

/// The values of a query that is a key, part by part.
pub fn keys(visit: &Visit, name: &str) -> Vec<Value> {
    let given = visit.query.iter().filter(|(given, _)| given == name);
    given.map(|(_, part)| Value::from(part.as_str())).collect()
}

/// A form that leads to one record.
fn finder(page: &mut Html, visit: &Visit, service: &Service, subject: usize, place: &Place<'_>) {
    let design = service.design();
    let id = design::model::SubjectId::of(subject);
    let name = &design.subjects[subject].name;
    html!(
        page,
        "<form class=\"inline card\" method=\"get\" action=\"{}\">",
        place.at(&format!("/record/{}", encoded(name)))
    );
    for (at, (label, _, _)) in leaves(design, id).iter().enumerate() {
        html!(
            page,
            "<div class=\"field\"><label for=\"find{}\">{}</label><input id=\"find{}\" name=\"key\" \
             value=\"{}\" autocomplete=\"off\"{}></div>",
            at,
            label,
            at,
            sent(&visit.query, "key").unwrap_or_default(),
            Html::trusted(if at == 0 { " data-jump" } else { "" }.into())
        );
    }
    html!(page, "<button class=\"button second\">Open</button></form>");
}

/// Keys with their most telling attributes.
pub fn table(page: &mut Html, place: &Place<'_>, subject: &Subject, list: &[(Vec<Value>, Truth)]) {
    let shown: Vec<_> = subject
        .states
        .iter()
        .filter(|state| matches!(state.kind, StateKind::Truth))
        .flat_map(|state| state.attributes.iter().map(move |attr| (state, attr)))
        .filter(|(_, attr)| !subject.attributes[attr.index()].ty.is_secret())
        .collect();
    let more = shown.len().saturating_sub(COLUMNS);
    let shown = &shown[..shown.len() - more];
    html!(page, "<div class=\"wide\"><table class=\"stack\"><thead><tr><th>{}</th>", subject.name);
    for (_, attr) in shown {
        html!(page, "<th>{}</th>", subject.attributes[attr.index()].name);
    }
    html!(page, "</tr></thead><tbody>");
    for (key, truth) in list {
        html!(page, "<tr><td class=\"key\">");
        value::record_link(page, place, &subject.name, key);
        html!(page, "</td>");
        for (state, attr) in shown {
            let attribute = &subject.attributes[attr.index()];
            html!(page, "<td data-name=\"{}\">", attribute.name);
            match truth.truth.get(&state.name) {
                // not for this visitor
                None => html!(page, "<span class=\"faint\">hidden</span>"),
                Some(fields) => {
                    let found = fields.get(&attribute.name).unwrap_or(&Value::Null);
                    value::value(page, place, &attribute.ty, found);
                }
            }
            html!(page, "</td>");
        }
        html!(page, "</tr>");
    }
    html!(page, "</tbody></table></div>");
    match more {
        0 => {}
        1 => {
            html!(page, "<p class=\"faint\">One more attribute is on the page of each record.</p>")
        }
        more => html!(
            page,
            "<p class=\"faint\">{} more attributes are on the page of each record.</p>",
            more.to_string()
        ),
    }
}
