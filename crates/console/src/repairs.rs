//! Repairs to come: what the engine itself will look at, and when.

use std::time::{SystemTime, UNIX_EPOCH};

use design::model::OperationKind;

use crate::html::{Html, html};
use crate::look;
use crate::seen::Seen;
use crate::shell::{self, Tab};
use crate::value::{self, Place, grouped};
use crate::visit::Visit;
use gateway::{Problem, Service};

const LIMIT: usize = 200;

pub async fn page(visit: &Visit, service: &Service) -> Result<Html, Problem> {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(design);
    let due = look::due(service, LIMIT);
    let due = due.map_err(|error| look::problem(service, error))?;
    let mut page = Html::new();
    html!(
        page,
        "<h1>Repairs</h1><p class=\"lead\">The engine fires a repair whenever its guard holds. The \
         time at which a record is to be looked at is kept with the record: nothing is scanned.</p>"
    );
    let repairs: Vec<_> = design
        .operations
        .iter()
        .filter(|operation| matches!(operation.kind, OperationKind::Repair { .. }))
        .collect();
    if repairs.is_empty() {
        html!(page, "<p class=\"empty\">This design has no repairs.</p>");
        return Ok(shell::of_design(visit, service, Tab::Repairs, "Repairs", &page));
    }
    html!(page, "<div class=\"cards\">");
    for repair in repairs {
        let actor = &design.actors[repair.actor.index()].name;
        let name = format!("{actor}[{}]", repair.name);
        html!(
            page,
            "<section class=\"card\"><h2>{} <span class=\"hint\">by {}</span></h2>",
            repair.name,
            actor
        );
        if let Some(derived) = sheet.operations.iter().find(|one| one.name == name) {
            for clause in derived.guard.iter().filter(|clause| !clause.implicit) {
                html!(page, "<p><code>{}</code></p>", clause.text);
            }
        }
        html!(
            page,
            "<dl class=\"figures\"><div><dt>fired so far</dt><dd>{}</dd></div></dl></section>",
            grouped(service.runtime.counters().done_of(&repair.name))
        );
    }
    html!(page, "</div><h2>Next</h2>");
    if due.is_empty() {
        html!(page, "<p class=\"empty\">Nothing is to be repaired, now or later.</p>");
    } else {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64);
        html!(
            page,
            "<div class=\"wide\"><table class=\"stack\"><thead><tr><th>when</th><th></th><th>repair</th>\
             <th>record</th></tr></thead><tbody>"
        );
        for one in &due {
            if !look::sees(visit, service, &one.subject, &one.key).await {
                continue;
            }
            html!(page, "<tr><td>");
            value::moment(&mut page, one.at);
            html!(page, "</td><td>");
            if one.at <= now {
                html!(page, "<span class=\"tag odd\">due</span>");
            } else {
                html!(page, "<span class=\"faint\">{}</span>", value::distance(now, one.at));
            }
            html!(page, "</td><td><strong>{}</strong></td><td>{} ", one.repair, one.subject);
            value::record_link(&mut page, &place, &one.subject, &one.key);
            html!(page, "</td></tr>");
        }
        html!(page, "</tbody></table></div>");
        if due.len() == LIMIT {
            html!(page, "<p class=\"hint\">The first {} are shown.</p>", LIMIT);
        }
    }
    Ok(shell::of_design(visit, service, Tab::Repairs, "Repairs", &page))
}
