//! Throughput and latency over the last minutes.

use drawing::plot::{Line, plot};

use crate::html::{Html, html};
use crate::pulse::Pulse;
use crate::seen::Seen;
use crate::shell::{self, Tab};
use crate::units::{count, latency};
use crate::value::{Place, grouped};
use crate::visit::Visit;
use gateway::Service;

pub fn page(visit: &Visit, service: &Service) -> Html {
    let place = Place { name: &service.name, design: service.design() };
    let mut page = Html::new();
    html!(
        page,
        "<h1>Load</h1><p class=\"lead\">The last minutes, a second at a time. <span class=\"live\" \
         id=\"said\">as of now</span></p><div data-live=\"{}\" data-said=\"said\">{}</div>",
        place.at("/load/events"),
        plots(service)
    );
    shell::of_design(visit, service, Tab::Load, "Load", &page)
}

/// The plots and the table: the part that changes.
pub fn plots(service: &Service) -> Html {
    let seconds = service.kept::<Seen>().seconds();
    let span = Pulse::span(seconds.len());
    let mut page = Html::new();
    let last = seconds.last().copied().unwrap_or_default();
    let line = |label, now: String, values| Line { label, now, values };
    page.add(Html::trusted(plot(
        "Steps a second",
        &[
            line("done", grouped(last.done), seconds.iter().map(|s| Some(s.done as f64)).collect()),
            line(
                "refused",
                grouped(last.refused),
                seconds.iter().map(|s| Some(s.refused as f64)).collect(),
            ),
        ],
        span,
        count,
    )));
    let told = |value: Option<f64>| value.map_or_else(|| "\u{2013}".to_string(), latency);
    page.add(Html::trusted(plot(
        "Latency, until the answer was durable",
        &[
            line("p50", told(last.p50), seconds.iter().map(|s| s.p50).collect()),
            line("p99", told(last.p99), seconds.iter().map(|s| s.p99).collect()),
        ],
        span,
        latency,
    )));
    steps(&mut page, service);
    page
}

fn steps(page: &mut Html, service: &Service) {
    let place = Place { name: &service.name, design: service.design() };
    let design = service.design();
    html!(
        page,
        "<h2>Since the start</h2><div class=\"wide\"><table><thead><tr><th>operation</th><th \
         class=\"number\">done</th><th class=\"number\">refused</th></tr></thead><tbody>"
    );
    let counted = service.runtime.counters().all();
    for (operation, (name, done, by_clause)) in design.operations.iter().zip(&counted) {
        let actor = &design.actors[operation.actor.index()].name;
        html!(page, "<tr><td>");
        if service.is_callable(operation) {
            html!(page, "<a href=\"{}\">{}</a>", place.step(actor, name), name);
        } else {
            page.add(name);
        }
        html!(
            page,
            " <span class=\"faint\">{}</span></td><td class=\"number\">{}</td><td \
             class=\"number\">{}</td></tr>",
            actor,
            grouped(*done),
            grouped(by_clause.values().sum())
        );
    }
    html!(page, "</tbody></table></div>");
}
