//! The designs that are served.

use crate::find::{self, Finder};
use crate::html::{Html, html};
use crate::look;
use crate::pulse::Pulse;
use crate::seen::Seen;
use crate::shell;
use crate::units::count;
use crate::value::{Place, grouped};
use crate::verdict;
use crate::visit::Visit;
use gateway::Service;

pub fn page(visit: &Visit, finder: Option<&Finder>) -> Html {
    let mut page = Html::new();
    html!(page, "<h1>Designs</h1><p class=\"lead\">What this server runs, and how it goes.");
    if look::may_operate(visit).is_ok() {
        html!(
            page,
            " <a href=\"/console/_/servers\">Servers of this store</a>, <a href=\"/console/_/studio\">Studio</a>"
        );
    }
    html!(page, "</p>");
    html!(
        page,
        "<div class=\"cards\" data-live=\"/console/_/overview\" aria-live=\"off\">{}</div>",
        cards(visit)
    );
    if let Some(finder) = finder {
        html!(page, "{}", find::part(finder, &visit.query));
    }
    shell::alone(visit, "", &page)
}

/// A card for each design: the part that changes.
pub fn cards(visit: &Visit) -> Html {
    let mut page = Html::new();
    let store = visit.gateway.store();
    let refuses = store.refuses.map(str::to_owned);
    for what in refuses.into_iter().chain(store.warnings()) {
        let what = crate::trouble::capital(&what);
        html!(
            page,
            "<section class=\"card\" role=\"alert\"><p class=\"bad\">{}</p></section>",
            what
        );
    }
    for service in visit.gateway.services() {
        card(&mut page, &service);
    }
    page
}

fn card(page: &mut Html, service: &Service) {
    let design = service.design();
    let place = Place { name: &service.name, design };
    html!(
        page,
        "<section class=\"card link\"><h2><a href=\"{}\">{}</a> {}</h2><p class=\"faint\">{}</p>",
        place.at(""),
        design.name,
        verdict::tag(service),
        design.title
    );
    let (mut done, mut refused) = (0, 0);
    for (_, times, by_clause) in service.runtime.counters().all() {
        done += times;
        refused += by_clause.values().sum::<u64>();
    }
    let seconds = service.kept::<Seen>().seconds();
    let recent = &seconds[seconds.len().saturating_sub(10)..];
    let last = recent.iter().map(|second| second.done).sum::<u64>() as f64;
    let rate = last / recent.len().max(1) as f64;
    html!(
        page,
        "<dl class=\"figures\"><div><dt>steps a second</dt><dd>{}</dd></div><div><dt>steps \
         done</dt><dd>{}</dd></div><div><dt>refused</dt><dd>{}</dd></div>",
        count(rate),
        grouped(done),
        grouped(refused)
    );
    let dead = service.kept::<Seen>().dead_letters();
    if dead > 0 {
        html!(
            page,
            "<div><dt>dead letters</dt><dd class=\"bad\"><a href=\"{}\">{}</a></dd></div>",
            place.at("/outbox"),
            dead
        );
    }
    let aside = service.kept::<Seen>().set_aside();
    if aside > 0 {
        html!(
            page,
            "<div><dt>set aside</dt><dd class=\"bad\"><a href=\"{}\">{}</a></dd></div>",
            place.at("/aside"),
            aside
        );
    }
    html!(page, "</dl>");
    if let Some(trouble) = service.runtime.counters().trouble() {
        html!(page, "<p class=\"bad\">{}</p>", trouble);
    }
    let values: Vec<f64> = seconds.iter().map(|second| second.done as f64).collect();
    let span = Pulse::span(values.len());
    let spark = drawing::plot::spark(&values, span, "steps a second over the last minutes");
    page.add(Html::trusted(spark));
    html!(page, "</section>");
}
