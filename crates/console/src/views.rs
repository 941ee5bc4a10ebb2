//! Views: what is derived, with the revision it reflects.

use design::model::{View, ViewForm};
use runtime::ViewQuery;
use serde_json::{Map, Value};

use crate::fields::{self, Field, Sent, sent};
use crate::html::{Html, encoded, html};
use crate::seen::Seen;
use crate::shell::{self, Tab};
use crate::value::{self, Place};
use crate::visit::Visit;
use crate::{look, trouble};
use gateway::{Problem, Service};

pub fn page(visit: &Visit, service: &Service) -> Html {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(design);
    let mut page = Html::new();
    html!(
        page,
        "<h1>Views</h1><p class=\"lead\">Derived from the feed, and never decisive: no guard reads \
         a view.</p>"
    );
    if design.views.is_empty() {
        html!(page, "<p class=\"empty\">This design has no views.</p>");
    }
    html!(page, "<div class=\"cards\">");
    for view in &design.views {
        let said = sheet.derived.iter().find(|derived| derived.name == view.name);
        html!(
            page,
            "<section class=\"card link\"><h2><a href=\"{}\">{}</a></h2><p class=\"faint\">{}</p></section>",
            place.at(&format!("/views/{}", encoded(&view.name))),
            view.name,
            said.map(|derived| derived.text.as_str()).unwrap_or_default()
        );
    }
    html!(page, "</div>");
    shell::of_design(visit, service, Tab::Views, "Views", &page)
}

/// One view, for the parameters in the address.
pub async fn one(visit: &Visit, service: &Service, name: &str) -> Result<Html, Problem> {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let Some(view) = design.views.iter().find(|view| view.name == name) else {
        return Err(Problem::unknown(format!("`{}` has no view `{name}`", design.name)));
    };
    let mut page = Html::new();
    html!(
        page,
        "<p class=\"crumbs\"><a href=\"{}\">Views</a></p><h1>{}</h1>",
        place.at("/views"),
        name
    );
    let form: &Sent = &visit.query;
    let here = place.at(&format!("/views/{}", encoded(name)));
    let searched = matches!(view.form, ViewForm::Search { .. });
    if searched || !view.params.is_empty() {
        html!(page, "<form class=\"inline card\" method=\"get\" action=\"{}\">", here);
        for param in &view.params {
            Field::of(design, param).show(&mut page, form);
        }
        if searched {
            let words = sent(form, "q").unwrap_or_default();
            html!(
                page,
                "<div class=\"field\"><label for=\"q\">words</label><input id=\"q\" name=\"q\" value=\"{}\"></div>",
                words
            );
        }
        html!(page, "<button class=\"button\">Show</button></form>");
    }
    let complete = view.params.iter().all(|param| {
        form.iter().any(|(given, _)| {
            *given == format!("p.{}", param.name)
                || given.starts_with(&format!("p.{}.", param.name))
        })
    });
    let words = sent(form, "q").filter(|words| searched && !words.is_empty());
    if !complete || searched && words.is_none() {
        return Ok(shell::of_design(visit, service, Tab::Views, name, &page));
    }
    let mut params = Map::new();
    for param in &view.params {
        let field = format!("p.{}", param.name);
        if let Some(value) = fields::read(design, &field, &param.ty, false, form) {
            params.insert(param.name.clone(), value);
        }
    }
    params.extend(words.map(|words| ("q".to_string(), Value::from(words))));
    let query = ViewQuery {
        view: name.to_string(),
        params,
        limit: Some(100),
        after: sent(form, "after").map(str::to_string),
        me: Some(visit.caller.principal.clone()),
        ..ViewQuery::default()
    };
    match look::view(visit, service, query).await {
        Err(problem) => page.add(trouble::note(&problem)),
        Ok(answer) => show(&mut page, visit, &place, view, &answer, &here),
    }
    Ok(shell::of_design(visit, service, Tab::Views, name, &page))
}

fn show(
    page: &mut Html,
    visit: &Visit,
    place: &Place<'_>,
    view: &View,
    answer: &Value,
    here: &str,
) {
    html!(
        page,
        "<p class=\"hint\">as of revision <code>{}</code></p>",
        answer["revision"].as_str().unwrap_or("none")
    );
    match &view.form {
        ViewForm::Count
        | ViewForm::Sum { .. }
        | ViewForm::Extreme { .. }
        | ViewForm::Average { .. } => {
            let name = match &view.form {
                ViewForm::Count => "count",
                ViewForm::Extreme { greatest: true, .. } => "max",
                ViewForm::Extreme { .. } => "min",
                ViewForm::Average { .. } => "avg",
                _ => "sum",
            };
            let found = &answer[name];
            html!(
                page,
                "<div class=\"card\"><dl class=\"figures\"><div><dt>{}</dt><dd>{}</dd></div></dl></div>",
                name,
                value::plain(found)
            );
        }
        ViewForm::Window { .. } => stretches(page, &answer["stretches"]),
        _ => rows(page, visit, place, view, answer, here),
    }
}

fn stretches(page: &mut Html, list: &Value) {
    html!(
        page,
        "<div class=\"wide\"><table><thead><tr><th>from</th><th class=\"number\">count</th><th \
         class=\"number\">sum</th></tr></thead><tbody>"
    );
    for stretch in list.as_array().map(Vec::as_slice).unwrap_or_default() {
        html!(page, "<tr><td>");
        value::time(page, stretch["start"].as_str().unwrap_or_default());
        html!(
            page,
            "</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            value::plain(&stretch["count"]),
            value::plain(&stretch["sum"])
        );
    }
    html!(page, "</tbody></table></div>");
}

fn rows(
    page: &mut Html,
    visit: &Visit,
    place: &Place<'_>,
    view: &View,
    answer: &Value,
    here: &str,
) {
    let subject = &place.design.subjects[view.subject.index()];
    let rows = answer["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    // what a row says of itself besides its truth
    let said = match view.form {
        ViewForm::Rank { .. } => Some(("rank", "rank")),
        ViewForm::Near { .. } => Some(("distance_m", "metres")),
        _ => None,
    };
    if rows.is_empty() {
        html!(page, "<p class=\"empty\">No row.</p>");
        return;
    }
    let shown: Vec<_> = subject.attributes.iter().take(6).collect();
    html!(page, "<div class=\"wide\"><table class=\"stack\"><thead><tr>");
    if let Some((_, title)) = said {
        html!(page, "<th class=\"number\">{}</th>", title);
    }
    html!(page, "<th>{}</th>", subject.name);
    for attribute in &shown {
        html!(page, "<th>{}</th>", attribute.name);
    }
    for column in &view.with {
        html!(page, "<th>{}</th>", column.name);
    }
    html!(page, "</tr></thead><tbody>");
    for row in rows {
        html!(page, "<tr>");
        if let Some((name, title)) = said {
            html!(
                page,
                "<td class=\"number\" data-name=\"{}\">{}</td>",
                title,
                value::plain(&row[name])
            );
        }
        html!(page, "<td class=\"key\">");
        let key = row["key"].as_array().map(Vec::as_slice).unwrap_or_default();
        value::record_link(page, place, &subject.name, key);
        html!(page, "</td>");
        for attribute in &shown {
            let state = &subject.states[attribute.state.index()].name;
            html!(page, "<td data-name=\"{}\">", attribute.name);
            match row["truth"].get(state) {
                None => html!(page, "<span class=\"faint\">hidden</span>"),
                Some(fields) => {
                    let found = fields.get(&attribute.name).unwrap_or(&Value::Null);
                    value::value(page, place, &attribute.ty, found);
                }
            }
            html!(page, "</td>");
        }
        for column in &view.with {
            html!(page, "<td data-name=\"{}\">", column.name);
            match row["with"].get(&column.name) {
                None => html!(page, "<span class=\"faint\">hidden</span>"),
                Some(found) => value::value(page, place, &column.value.ty, found),
            }
            html!(page, "</td>");
        }
        html!(page, "</tr>");
    }
    html!(page, "</tbody></table></div>");
    if let Some(total) = answer["total"].as_u64() {
        html!(page, "<p class=\"hint\">{} in all</p>", value::grouped(total));
    }
    if let Some(next) = answer["next"].as_str() {
        let kept: Vec<String> = visit
            .query
            .iter()
            .filter(|(name, _)| name != "after")
            .map(|(name, text)| format!("{}={}&", encoded(name), encoded(text)))
            .collect();
        let address = format!("{here}?{}after={}", kept.concat(), encoded(next));
        html!(page, "<p class=\"more\"><a href=\"{}\" rel=\"next\">More</a></p>", address);
    }
}
